// DFT, STFT, MelWeightMatrix and the Hann, Hamming and Blackman windows. Computed in f64 whatever
// the element type.
#include <cmath>
#include <numbers>

#include "kernels/dense/fft.h"
#include "kernels/dense/register.h"
#include "kernels/dense/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

constexpr int64_t kMaxLength = int64_t{1} << 26;

bool IsServedFloat(DType t) { return t == DType::kF32 || t == DType::kF64 || Is16Bit(t); }

void Put(Tensor& t, int64_t i, double v) {
  switch (t.dtype()) {
    case DType::kF64:
      t.mutable_data<double>()[i] = v;
      return;
    case DType::kF16:
      t.mutable_data<uint16_t>()[i] = FloatToF16(static_cast<float>(v));
      return;
    case DType::kBF16:
      t.mutable_data<uint16_t>()[i] = FloatToBF16(static_cast<float>(v));
      return;
    default:
      t.mutable_data<float>()[i] = static_cast<float>(v);
  }
}

// x: […, n, …, 1 or 2]: the last axis holds real or complex numbers. The axis is an attribute, or
// input 2.
absl::Status Dft(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  if (!IsServedFloat(x->dtype()))
    return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
  const int r = x->rank();
  if (r < 2 || (x->dim(r - 1) != 1 && x->dim(r - 1) != 2)) {
    return Bad(ctx, "operand %s does not end in an axis of 1 or 2", DimsToString(x->dims()));
  }
  int64_t a = IntAttr(ctx, "axis", 1);
  if (ctx.has(2)) {
    RT_ASSIGN_OR_RETURN(a, IntInput(ctx, 2));
  }
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, a, r));
  if (axis == r - 1) return Bad(ctx, "the axis is that of real and imaginary parts");
  const bool inverse = IntAttr(ctx, "inverse", 0) != 0, onesided = IntAttr(ctx, "onesided", 0) != 0;
  if (inverse && onesided) return Unserved(ctx, "a one-sided inverse");
  int64_t n = x->dim(axis);
  if (ctx.has(1)) {
    RT_ASSIGN_OR_RETURN(n, IntInput(ctx, 1));
  }
  if (n < 1 || n > kMaxLength) return Bad(ctx, "a transform of length %d", n);
  const int64_t length = x->dim(axis), parts = x->dim(r - 1);
  const int64_t outer = Product(x->dims(), 0, axis), inner = Product(x->dims(), axis + 1, r - 1);
  const int64_t bins = onesided ? n / 2 + 1 : n;
  Dims dims = x->dims();
  dims[static_cast<size_t>(axis)] = bins;
  dims[static_cast<size_t>(r) - 1] = 2;
  RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), std::move(dims)));
  if (y->size() == 0) return absl::OkStatus();
  Fft fft(n, inverse);
  std::vector<std::complex<double>> line(static_cast<size_t>(n));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = 0; c < inner; ++c) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = ((o * length + i) * inner + c) * parts;
        line[static_cast<size_t>(i)] =
            i < length ? std::complex<double>(x->At(at), parts == 2 ? x->At(at + 1) : 0.0) : 0.0;
      }
      fft.Run(line.data());
      for (int64_t i = 0; i < bins; ++i) {
        const int64_t at = ((o * bins + i) * inner + c) * 2;
        Put(*y, at, line[static_cast<size_t>(i)].real());
        Put(*y, at + 1, line[static_cast<size_t>(i)].imag());
      }
    }
  }
  return absl::OkStatus();
}

// signal: [batch, length, 1 or 2] → [batch, frames, bins, 2].
absl::Status Stft(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const int64_t step, IntInput(ctx, 1));
  if (!IsServedFloat(x->dtype()))
    return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
  if (x->rank() < 2 || x->rank() > 3)
    return Bad(ctx, "signal %s is not [batch, length, parts]", DimsToString(x->dims()));
  const int64_t parts = x->rank() == 3 ? x->dim(2) : 1;
  if (parts != 1 && parts != 2)
    return Bad(ctx, "signal %s does not end in an axis of 1 or 2", DimsToString(x->dims()));
  const Tensor* window = nullptr;
  if (ctx.has(2)) {
    RT_ASSIGN_OR_RETURN(window, InputOf(ctx, 2, x->dtype()));
    if (window->rank() != 1) return Bad(ctx, "the window is not a vector");
  }
  int64_t n = window != nullptr ? window->size() : 0;
  if (ctx.has(3)) {
    RT_ASSIGN_OR_RETURN(n, IntInput(ctx, 3));
    if (window != nullptr && window->size() != n)
      return Bad(ctx, "a window of %d for frames of %d", window->size(), n);
  }
  const int64_t length = x->dim(1);
  if (n < 1 || n > kMaxLength || step < 1) return Bad(ctx, "frames of %d with step %d", n, step);
  const int64_t frames = length < n ? 0 : (length - n) / step + 1;
  const bool onesided = IntAttr(ctx, "onesided", 1) != 0;
  if (onesided && parts == 2) return Bad(ctx, "a one-sided transform of complex numbers");
  const int64_t bins = onesided ? n / 2 + 1 : n;
  RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), {x->dim(0), frames, bins, 2}));
  if (y->size() == 0) return absl::OkStatus();
  Fft fft(n, false);
  std::vector<std::complex<double>> line(static_cast<size_t>(n));
  int64_t at = 0;
  for (int64_t b = 0; b < x->dim(0); ++b) {
    for (int64_t f = 0; f < frames; ++f) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t from = (b * length + f * step + i) * parts;
        const double w = window != nullptr ? window->At(i) : 1.0;
        line[static_cast<size_t>(i)] = {x->At(from) * w, parts == 2 ? x->At(from + 1) * w : 0.0};
      }
      fft.Run(line.data());
      for (int64_t i = 0; i < bins; ++i) {
        Put(*y, at++, line[static_cast<size_t>(i)].real());
        Put(*y, at++, line[static_cast<size_t>(i)].imag());
      }
    }
  }
  return absl::OkStatus();
}

// Fills output 0, of the attribute's type and the given shape, with value(i).
template <typename F>
absl::Status Generate(KernelContext& ctx, Dims dims, F value) {
  const auto type =
      static_cast<DType>(IntAttr(ctx, "output_datatype", static_cast<int64_t>(DType::kF32)));
  return Dispatch<kNumeric>(ctx.op(), type, [&]<typename T>(TypeTag<T>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, type, std::move(dims)));
    for (int64_t i = 0; i < y->size(); ++i) {
      const double v = value(i);
      if constexpr (kIs16BitFloat<T>) {
        y->mutable_data<T>()[i] = static_cast<T>(static_cast<float>(v));
      } else if constexpr (!std::is_same_v<T, std::string>) {
        y->mutable_data<T>()[i] = static_cast<T>(v);
      }
    }
    return absl::OkStatus();
  });
}

// a − b cos(2πi/n) + c cos(4πi/n); n is the length, or one less when the window is symmetric.
absl::Status CosineWindow(KernelContext& ctx, double a, double b, double c) {
  RT_ASSIGN_OR_RETURN(const int64_t size, IntInput(ctx, 0));
  if (size < 0) return Bad(ctx, "a window of %d", size);
  const bool periodic = IntAttr(ctx, "periodic", 1) != 0;
  const auto n = static_cast<double>(std::max<int64_t>(1, periodic ? size : size - 1));
  return Generate(ctx, {size}, [=](int64_t i) {
    const double phase = 2 * std::numbers::pi * static_cast<double>(i) / n;
    return a - b * std::cos(phase) + c * std::cos(2 * phase);
  });
}

absl::Status Hann(KernelContext& ctx) { return CosineWindow(ctx, 0.5, 0.5, 0); }
absl::Status Hamming(KernelContext& ctx) { return CosineWindow(ctx, 25.0 / 46, 21.0 / 46, 0); }
absl::Status Blackman(KernelContext& ctx) { return CosineWindow(ctx, 0.42, 0.5, 0.08); }

// [dft_length / 2 + 1, bands]: triangles between bin numbers that lie evenly on the mel scale, 2595
// log10(1 + f / 700).
absl::Status MelWeightMatrix(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const int64_t bands, IntInput(ctx, 0));
  RT_ASSIGN_OR_RETURN(const int64_t length, IntInput(ctx, 1));
  RT_ASSIGN_OR_RETURN(const int64_t rate, IntInput(ctx, 2));
  double edge[2];
  for (int i = 0; i < 2; ++i) {
    RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, 3 + i));
    if (t->size() != 1 || !IsFloat(t->dtype())) return Bad(ctx, "input %d is not one float", 3 + i);
    edge[i] = t->At(0);
  }
  if (bands < 0 || bands > kMaxLength || length < 1 || length > kMaxLength || rate < 1 ||
      !(edge[0] >= 0) || !(edge[1] < 1e12)) {
    return Bad(ctx, "%d bands over a transform of %d at rate %d", bands, length, rate);
  }
  const int64_t bins = length / 2 + 1;
  auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  const double low = mel(edge[0]), step = (mel(edge[1]) - low) / static_cast<double>(bands + 2);
  std::vector<int64_t> at(static_cast<size_t>(bands) + 2);
  for (size_t i = 0; i < at.size(); ++i) {
    const double f = 700 * (std::pow(10.0, (static_cast<double>(i) * step + low) / 2595) - 1);
    at[i] = static_cast<int64_t>(
        std::floor(static_cast<double>(length + 1) * f / static_cast<double>(rate)));
  }
  return Generate(ctx, {bins, bands}, [&](int64_t i) {
    const int64_t j = i / bands;
    const auto b = static_cast<size_t>(i % bands);
    const int64_t left = at[b], center = at[b + 1], right = at[b + 2];
    if (j >= center && j < right)
      return static_cast<double>(right - j) / static_cast<double>(right - center);
    if (left == center) return j == center ? 1.0 : 0.0;
    return j >= left && j <= center
               ? static_cast<double>(j - left) / static_cast<double>(center - left)
               : 0.0;
  });
}

}  // namespace

void RegisterSpectral(KernelRegistry& r) {
  r.Add("DFT", Dft);
  r.Add("STFT", Stft);
  r.Add("HannWindow", Hann);
  r.Add("HammingWindow", Hamming);
  r.Add("BlackmanWindow", Blackman);
  r.Add("MelWeightMatrix", MelWeightMatrix);
}

}  // namespace retuple::internal
