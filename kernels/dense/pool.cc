// MaxPool, AveragePool and LpPool over sliding windows.
//
// Floats without indices go through padded planes: every output vector folds one contiguous read a
// tap. Indices and integers take the plain loop over windows.
#include <cmath>
#include <limits>

#include "kernels/core/fast_math.h"
#include "kernels/dense/gemm.h"
#include "kernels/dense/padded_planes.h"
#include "kernels/dense/register.h"
#include "kernels/dense/simd.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

struct PoolShape {
  int64_t batch = 0, channels = 0;
  Window window;
  Dims out_dims;
};

absl::StatusOr<PoolShape> MakeShape(const KernelContext& ctx, const WindowAttrs& a,
                                    std::span<const int64_t> x) {
  if (x.size() < 3) return Bad(ctx, "operand %s has no spatial axis", DimsToString(x));
  if (a.kernel_shape.empty()) return Bad(ctx, "attribute kernel_shape is missing");
  PoolShape s;
  s.batch = x[0];
  s.channels = x[1];
  RT_ASSIGN_OR_RETURN(s.window, Window::Make(ctx, a, x.subspan(2), a.kernel_shape));
  s.out_dims = {x[0], x[1]};
  for (int i = 3 - s.window.rank; i < 3; ++i)
    s.out_dims.push_back(s.window.out[static_cast<size_t>(i)]);
  return s;
}

struct MaxFold {
  template <typename V>
  static V Fold(V a, V b) {
    return a < b ? b : a;
  }
};
struct SumFold {
  template <typename V>
  static V Fold(V a, V b) {
    return a + b;
  }
};

// y[x] = fold over taps of in[tap + x], for x < n. With kSlack reads may pass the end by a vector.
template <typename T, typename Op, bool kSlack>
void FoldRun(const T* in, const std::vector<int64_t>& taps, T* y, int64_t n) {
  constexpr int kL = kLanes<T>;
  int64_t x = 0;
  for (; x + 2 * kL <= n; x += 2 * kL) {
    Vec<T> a = Load(in + taps[0] + x), b = Load(in + taps[0] + x + kL);
    for (size_t t = 1; t < taps.size(); ++t) {
      a = Op::Fold(a, static_cast<Vec<T>>(Load(in + taps[t] + x)));
      b = Op::Fold(b, static_cast<Vec<T>>(Load(in + taps[t] + x + kL)));
    }
    Store(y + x, a);
    Store(y + x + kL, b);
  }
  for (; x < n; x += kL) {
    const int len = static_cast<int>(std::min<int64_t>(kL, n - x));
    auto read = [&](const T* p) { return kSlack ? Load(p) : LoadN(p, len); };
    Vec<T> a = read(in + taps[0] + x);
    for (size_t t = 1; t < taps.size(); ++t)
      a = Op::Fold(a, static_cast<Vec<T>>(read(in + taps[t] + x)));
    StoreN(y + x, a, len);
  }
}

// Folds every window of every channel, padding counting as `fill`; then calls finish(output plane).
template <typename T, typename Op, typename Finish>
absl::Status FoldPlanes(KernelContext& ctx, const PoolShape& s, const T* x, T fill, T* y,
                        Finish finish) {
  Window w = s.window;
  const int64_t total = s.batch * s.channels, in_size = w.in_size(), out_size = w.out_size();
  if (total == 0 || out_size == 0) return absl::OkStatus();
  for (size_t d = 0; d < 3; ++d) {  // a partial window of ceil_mode
    const int64_t last = (w.out[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
    w.pad_end[d] = std::max(w.pad_end[d], last - w.in[d] - w.pad_begin[d]);
  }
  if (w.kernel_size() > (int64_t{1} << 24))
    return Unserved(ctx, "a window of %d elements", w.kernel_size());
  constexpr int kL = kLanes<T>;
  // Narrow planes are folded flat, over the padded pitch, and the surplus columns dropped.
  const bool single = w.in[0] == 1 && w.out[0] == 1 && w.pad_begin[0] == 0 && w.pad_end[0] == 0;
  const PaddedPlanes planes(w, single);
  const std::optional<int64_t> channel = planes.channel_size();
  if (!channel) return Bad(ctx, "sizes overflow");
  const int64_t width = w.out[2], height = w.out[1], pitch = planes.row_pitch();
  const int64_t flat_size = (height - 1) * pitch + width;
  const bool flat =
      single && height > 1 && RoundUp(flat_size, kL) * 10 < height * RoundUp(width, kL) * 9;
  const bool copy = !planes.in_place();
  const int64_t copy_size = copy ? RoundUp(*channel, kL) + kL : 0,
                sums_size = flat ? RoundUp(flat_size, kL) : 0;
  const int64_t batch =
      std::clamp<int64_t>(4096 / std::max<int64_t>(copy_size + sums_size, 1), 1, 16);
  const int64_t slots = std::min<int64_t>(ctx.threads().threads(), total),
                slot_size = batch * (copy_size + sums_size) + kL;
  int64_t size = 0;
  if (MulOverflows(slot_size, slots, &size)) return Bad(ctx, "sizes overflow");
  RT_ASSIGN_OR_RETURN(T * scratch, ScratchOf<T>(ctx, size));
  const int64_t batches = (total + batch - 1) / batch;
  ctx.threads().ParallelFor(slots, 1, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      T* copies = scratch + slot * slot_size;
      T* sums = copies + batch * copy_size;
      for (int64_t k = 0; copy && k < batch; ++k) planes.Fill(copies + k * copy_size, fill);
      for (int64_t j = slot; j < batches; j += slots) {
        const int64_t first = j * batch, count = std::min(batch, total - first);
        for (int64_t k = 0; copy && k < count; ++k)
          planes.Copy(x + (first + k) * in_size, copies + k * copy_size);
        for (int64_t k = 0; k < count; ++k) {
          const T* in = copy ? copies + k * copy_size : x + (first + k) * in_size;
          T* out = y + (first + k) * out_size;
          if (flat) {
            if (copy) {
              FoldRun<T, Op, true>(in, planes.taps(), sums + k * sums_size, flat_size);
            } else {
              FoldRun<T, Op, false>(in, planes.taps(), sums + k * sums_size, flat_size);
            }
            continue;
          }
          for (int64_t r = 0; r < w.out[0] * height; ++r, out += width) {
            const T* row =
                in + r / height * planes.out_plane_step() + r % height * planes.out_row_step();
            if (copy) {
              FoldRun<T, Op, true>(row, planes.taps(), out, width);
            } else {
              FoldRun<T, Op, false>(row, planes.taps(), out, width);
            }
          }
        }
        for (int64_t k = 0; k < count; ++k) {
          T* out = y + (first + k) * out_size;
          for (int64_t r = 0; flat && r < height; ++r) {
            const T* from = sums + k * sums_size + r * pitch;
            if (width <= kL) {
              StoreN(out + r * width, LoadN(from, static_cast<int>(width)),
                     static_cast<int>(width));
            } else {
              std::copy_n(from, width, out + r * width);
            }
          }
          finish(out);
        }
      }
    }
  });
  return absl::OkStatus();
}

// For each output position of axis d: how many taps fall on elements (and, if `pads`, on declared
// padding).
std::vector<int64_t> Counts(const Window& w, size_t d, bool pads) {
  std::vector<int64_t> n(static_cast<size_t>(w.out[d]));
  const int64_t lo = pads ? -w.pad_begin[d] : 0, hi = w.in[d] + (pads ? w.pad_end[d] : 0);
  for (int64_t o = 0; o < w.out[d]; ++o) {
    const int64_t start = o * w.stride[d] - w.pad_begin[d], step = w.dilation[d];
    const int64_t first = start < lo ? (lo - start + step - 1) / step : 0;
    const int64_t end = hi > start ? std::min(w.kernel[d], (hi - start + step - 1) / step) : 0;
    n[static_cast<size_t>(o)] = std::max<int64_t>(0, end - first);
  }
  return n;
}

template <typename T>
absl::Status Average(KernelContext& ctx, const PoolShape& s, bool pads, const T* x, T* y) {
  const Window& w = s.window;
  const std::vector<int64_t> nd = Counts(w, 0, pads), nh = Counts(w, 1, pads),
                             nw = Counts(w, 2, pads);
  bool uniform = true;
  for (const auto* n : {&nd, &nh, &nw}) {
    for (int64_t c : *n) uniform = uniform && c == (*n)[0];
  }
  return FoldPlanes<T, SumFold>(ctx, s, x, T{0}, y, [&](T* out) {
    if (uniform) {
      const T f = T{1} / static_cast<T>(nd[0] * nh[0] * nw[0]);
      for (int64_t i = 0; i < w.out_size(); ++i) out[i] *= f;
      return;
    }
    for (size_t z = 0; z < nd.size(); ++z) {
      for (size_t r = 0; r < nh.size(); ++r) {
        const T rows = static_cast<T>(nd[z] * nh[r]);
        for (size_t c = 0; c < nw.size(); ++c, ++out)
          *out /= std::max(T{1}, rows * static_cast<T>(nw[c]));
      }
    }
  });
}

absl::Status UnservedPool(const KernelContext& ctx, DType t) {
  return Unserved(ctx, "element type %s", std::string(DTypeName(t)));
}

class AveragePoolKernel final : public Kernel {
 public:
  AveragePoolKernel(WindowAttrs a, bool pads) : attrs_(std::move(a)), pads_(pads) {}
  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    RT_ASSIGN_OR_RETURN(const PoolShape s, MakeShape(ctx, attrs_, x->dims()));
    if (x->dtype() == DType::kF64) {
      RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), s.out_dims));
      return Average<double>(ctx, s, pads_, x->data<double>(), y->mutable_data<double>());
    }
    if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) return UnservedPool(ctx, x->dtype());
    RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x->dtype(), s.out_dims));
    RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
    RT_RETURN_IF_ERROR(Average<float>(ctx, s, pads_, px, y.data()));
    y.Finish();
    return absl::OkStatus();
  }

 private:
  WindowAttrs attrs_;
  bool pads_;
};

class LpPoolKernel final : public Kernel {
 public:
  LpPoolKernel(WindowAttrs a, float p) : attrs_(std::move(a)), p_(p) {}
  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    RT_ASSIGN_OR_RETURN(const PoolShape s, MakeShape(ctx, attrs_, x->dims()));
    if (x->dtype() == DType::kF64) {
      RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), s.out_dims));
      return Compute<double>(ctx, s, x->size(), x->data<double>(), y->mutable_data<double>());
    }
    if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) return UnservedPool(ctx, x->dtype());
    RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x->dtype(), s.out_dims));
    RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
    RT_RETURN_IF_ERROR(Compute<float>(ctx, s, x->size(), px, y.data()));
    y.Finish();
    return absl::OkStatus();
  }

 private:
  template <typename T>
  absl::Status Compute(KernelContext& ctx, const PoolShape& s, int64_t n, const T* x, T* y) const {
    const T p = static_cast<T>(p_);
    RT_ASSIGN_OR_RETURN(T * powers, ScratchOf<T>(ctx, n));
    for (int64_t i = 0; i < n; ++i) {
      const T a = std::abs(x[i]);
      powers[i] = p == 2 ? a * a : p == 1 ? a : std::pow(a, p);
    }
    const int64_t size = s.window.out_size();
    return FoldPlanes<T, SumFold>(ctx, s, powers, T{0}, y, [&](T* out) {
      if (p == 1) return;
      for (int64_t i = 0; i < size; ++i)
        out[i] = p == 2 ? std::sqrt(out[i]) : std::pow(out[i], T{1} / p);
    });
  }

  WindowAttrs attrs_;
  float p_;
};

// Window by window, with the position of the maximum (the first of equals). Index of an element:
// the channel's offset in x plus its position in the plane, row-major or column-major.
template <typename T>
void MaxWindows(const PoolShape& s, bool column_major, const T* x, T* y, int64_t* indices) {
  const Window& w = s.window;
  const int64_t total = s.batch * s.channels, in_size = w.in_size();
  constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                             : std::numeric_limits<T>::lowest();
  for (int64_t i = 0; i < total; ++i, x += in_size) {
    for (int64_t z = 0; z < w.out[0]; ++z) {
      for (int64_t r = 0; r < w.out[1]; ++r) {
        for (int64_t c = 0; c < w.out[2]; ++c) {
          T best = kLowest;
          int64_t at = -1;
          for (int64_t kd = 0; kd < w.kernel[0]; ++kd) {
            const int64_t d = z * w.stride[0] - w.pad_begin[0] + kd * w.dilation[0];
            if (d < 0 || d >= w.in[0]) continue;
            for (int64_t kh = 0; kh < w.kernel[1]; ++kh) {
              const int64_t h = r * w.stride[1] - w.pad_begin[1] + kh * w.dilation[1];
              if (h < 0 || h >= w.in[1]) continue;
              for (int64_t kw = 0; kw < w.kernel[2]; ++kw) {
                const int64_t v = c * w.stride[2] - w.pad_begin[2] + kw * w.dilation[2];
                if (v < 0 || v >= w.in[2]) continue;
                const T e = x[(d * w.in[1] + h) * w.in[2] + v];
                if (at >= 0 && !(e > best)) continue;
                best = e;
                at = column_major ? (v * w.in[1] + h) * w.in[0] + d
                                  : (d * w.in[1] + h) * w.in[2] + v;
              }
            }
          }
          *y++ = best;
          if (indices != nullptr) *indices++ = i * in_size + std::max<int64_t>(at, 0);
        }
      }
    }
  }
}

class MaxPoolKernel final : public Kernel {
 public:
  MaxPoolKernel(WindowAttrs a, bool column_major)
      : attrs_(std::move(a)), column_major_(column_major) {}
  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    RT_ASSIGN_OR_RETURN(const PoolShape s, MakeShape(ctx, attrs_, x->dims()));
    int64_t* indices = nullptr;
    if (ctx.output_used(1)) {
      RT_ASSIGN_OR_RETURN(Tensor * t, ctx.Output(1, DType::kI64, s.out_dims));
      indices = t->mutable_data<int64_t>();
    }
    switch (x->dtype()) {
      case DType::kF32:
      case DType::kF16:
      case DType::kBF16: {
        RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x->dtype(), s.out_dims));
        RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
        RT_RETURN_IF_ERROR(Floats<float>(ctx, s, px, y.data(), indices));
        y.Finish();
        return absl::OkStatus();
      }
      case DType::kF64: {
        RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), s.out_dims));
        return Floats<double>(ctx, s, x->data<double>(), y->mutable_data<double>(), indices);
      }
      default:
        return Dispatch<kInts>(ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
          if constexpr (std::is_integral_v<T>) {
            RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), s.out_dims));
            MaxWindows<T>(s, column_major_, x->data<T>(), y->mutable_data<T>(), indices);
          }
          return absl::OkStatus();
        });
    }
  }

 private:
  template <typename T>
  absl::Status Floats(KernelContext& ctx, const PoolShape& s, const T* x, T* y,
                      int64_t* indices) const {
    if (indices != nullptr) {
      MaxWindows<T>(s, column_major_, x, y, indices);
      return absl::OkStatus();
    }
    return FoldPlanes<T, MaxFold>(ctx, s, x, -std::numeric_limits<T>::infinity(), y, [](T*) {});
  }

  WindowAttrs attrs_;
  bool column_major_;
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeMaxPool(const KernelInit& init) {
  RT_ASSIGN_OR_RETURN(WindowAttrs a, WindowAttrs::Read(init.op));
  const bool column_major = AttrOr<int64_t>(init.op.attrs, "storage_order", 0) != 0;
  return std::make_unique<MaxPoolKernel>(std::move(a), column_major);
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeAveragePool(const KernelInit& init) {
  RT_ASSIGN_OR_RETURN(WindowAttrs a, WindowAttrs::Read(init.op));
  const bool pads = AttrOr<int64_t>(init.op.attrs, "count_include_pad", 0) != 0;
  return std::make_unique<AveragePoolKernel>(std::move(a), pads);
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeLpPool(const KernelInit& init) {
  RT_ASSIGN_OR_RETURN(WindowAttrs a, WindowAttrs::Read(init.op));
  const int64_t* integer = FindAttr<int64_t>(init.op.attrs, "p");
  const float p =
      integer != nullptr ? static_cast<float>(*integer) : AttrOr<float>(init.op.attrs, "p", 2.0f);
  if (!(p > 0))
    return absl::InvalidArgumentError(absl::StrFormat("%s: p is %g", init.op.form(), p));
  return std::make_unique<LpPoolKernel>(std::move(a), p);
}

}  // namespace

void RegisterPool(KernelRegistry& r) {
  r.AddFactory("MaxPool", MakeMaxPool);
  r.AddFactory("AveragePool", MakeAveragePool);
  r.AddFactory("LpPool", MakeLpPool);
  r.AddFactory("LpPool-1", MakeLpPool);
}

}  // namespace retuple::internal
