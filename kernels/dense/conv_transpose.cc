// ConvTranspose: the gradient of Conv with respect to its operand.
//
// With x: [channels, pixels] and w: [channels, maps · taps] a group, wᵀ · x holds what every input
// pixel adds to each output that its window touches; the columns are computed a block of input rows
// at a time and added into y.
#include "kernels/dense/conv_compute.h"
#include "kernels/dense/matmul_core.h"
#include "kernels/dense/register.h"

namespace retuple::internal {
namespace {

struct TransposedWindow {
  Spatial in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1},
      pad{0, 0, 0};
};

struct TransposeAttrs {
  WindowAttrs window;
  Ints output_padding, output_shape;
};

constexpr int64_t kLimit = int64_t{1} << 31;

absl::StatusOr<TransposedWindow> MakeWindow(const KernelContext& ctx, const TransposeAttrs& a,
                                            std::span<const int64_t> in,
                                            std::span<const int64_t> kernel) {
  const size_t r = in.size();
  if (r > 3) return Unserved(ctx, "%d spatial axes", r);
  auto fits = [&](const Ints& v, size_t n) { return v.empty() || v.size() == n; };
  Ints shape = a.output_shape;
  if (shape.size() > r)
    shape.erase(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(r));  // batch and channels
  if (!fits(a.window.strides, r) || !fits(a.window.dilations, r) || !fits(a.window.pads, 2 * r) ||
      !fits(a.output_padding, r) || !fits(shape, r)) {
    return Bad(ctx, "an attribute does not have %d axes", r);
  }
  TransposedWindow w;
  for (size_t i = 0; i < r; ++i) {
    const size_t d = 3 - r + i;
    w.in[d] = in[i];
    w.kernel[d] = kernel[i];
    if (kernel[i] < 1 || kernel[i] > kLimit || in[i] < 1 || in[i] > kLimit / 2) {
      return Bad(ctx, "window of %d over an axis of %d", kernel[i], in[i]);
    }
    if (!a.window.strides.empty()) w.stride[d] = a.window.strides[i];
    if (!a.window.dilations.empty()) w.dilation[d] = a.window.dilations[i];
    const int64_t extra = a.output_padding.empty() ? 0 : a.output_padding[i];
    if (extra < 0 || extra > kLimit) return Bad(ctx, "output_padding of %d", extra);
    // Each factor is at most 2^31, the sum below 2^63.
    const int64_t full = w.stride[d] * (in[i] - 1) + extra + (kernel[i] - 1) * w.dilation[d] + 1;
    using AutoPad = WindowAttrs::AutoPad;
    const bool same =
        a.window.auto_pad == AutoPad::kSameUpper || a.window.auto_pad == AutoPad::kSameLower;
    if (!shape.empty() || same) {
      w.out[d] = shape.empty() ? in[i] * w.stride[d] : shape[i];
      const int64_t total = std::max<int64_t>(0, full - w.out[d]);
      w.pad[d] = a.window.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    } else {
      const bool given = a.window.auto_pad == AutoPad::kNotSet && !a.window.pads.empty();
      w.pad[d] = given ? a.window.pads[i] : 0;
      w.out[d] = full - w.pad[d] - (given ? a.window.pads[r + i] : 0);
    }
    if (w.out[d] < 0 || w.out[d] > int64_t{1} << 40)
      return Bad(ctx, "output axis %d would be %d", i, w.out[d]);
  }
  const std::optional<int64_t> window = CheckedNumElements(w.kernel);
  if (!window || *window > int64_t{1} << 26)
    return Unserved(ctx, "a window of %s", DimsToString(kernel));
  if (!CheckedNumElements(w.out) || !CheckedNumElements(w.in))
    return Bad(ctx, "the result is too large");
  return w;
}

// Adds one map's columns of input row (z, y) into its output: out[y · s − pad + k · d, …] += cols.
template <typename T>
void AddRow(const TransposedWindow& w, int64_t z, int64_t y, const T* cols, int64_t tap_step,
            T* out) {
  for (int64_t kd = 0; kd < w.kernel[0]; ++kd) {
    const int64_t oz = z * w.stride[0] - w.pad[0] + kd * w.dilation[0];
    for (int64_t kh = 0; kh < w.kernel[1]; ++kh) {
      const int64_t oy = y * w.stride[1] - w.pad[1] + kh * w.dilation[1];
      const T* tap = cols + (kd * w.kernel[1] + kh) * w.kernel[2] * tap_step;
      if (oz < 0 || oz >= w.out[0] || oy < 0 || oy >= w.out[1]) continue;
      T* row = out + (oz * w.out[1] + oy) * w.out[2];
      if (w.kernel[2] == 2 && w.stride[2] == 2 && w.dilation[2] == 1 && w.pad[2] == 0 &&
          w.out[2] >= 2 * w.in[2]) {
        const T* even = tap;
        const T* odd = tap + tap_step;
        for (int64_t x = 0; x < w.in[2]; ++x) {
          row[2 * x] += even[x];
          row[2 * x + 1] += odd[x];
        }
        continue;
      }
      for (int64_t kw = 0; kw < w.kernel[2]; ++kw, tap += tap_step) {
        const int64_t first = kw * w.dilation[2] - w.pad[2], s = w.stride[2];
        // x · s + first in [0, out)
        const int64_t lo = first < 0 ? (-first + s - 1) / s : 0;
        const int64_t hi = w.out[2] > first ? std::min(w.in[2], (w.out[2] - first + s - 1) / s) : 0;
        if (s == 1) {
          for (int64_t x = lo; x < hi; ++x) row[x + first] += tap[x];
        } else {
          for (int64_t x = lo; x < hi; ++x) row[x * s + first] += tap[x];
        }
      }
    }
  }
}

class ConvTransposeKernel final : public Kernel {
 public:
  explicit ConvTransposeKernel(TransposeAttrs a) : attrs_(std::move(a)) {}

  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    RT_ASSIGN_OR_RETURN(const Tensor* w, InputOf(ctx, 1, x->dtype()));
    const Tensor* b = nullptr;
    if (ctx.has(2)) {
      RT_ASSIGN_OR_RETURN(b, InputOf(ctx, 2, x->dtype()));
    }
    const int64_t groups = attrs_.window.group;
    if (x->rank() < 3 || x->rank() != w->rank() || x->dim(1) != w->dim(0) ||
        x->dim(1) % groups != 0) {
      return Bad(ctx, "operand %s and weights %s do not agree for %d groups",
                 DimsToString(x->dims()), DimsToString(w->dims()), groups);
    }
    int64_t maps = 0;
    if (MulOverflows(w->dim(1), groups, &maps)) return Bad(ctx, "sizes overflow");
    if (b != nullptr && b->size() != maps)
      return Bad(ctx, "%d biases for %d maps", b->size(), maps);
    const std::span<const int64_t> xd(x->dims()), wd(w->dims());
    RT_ASSIGN_OR_RETURN(const TransposedWindow win,
                        MakeWindow(ctx, attrs_, xd.subspan(2), wd.subspan(2)));
    Dims out{x->dim(0), maps};
    for (int i = 5 - x->rank(); i < 3; ++i) out.push_back(win.out[static_cast<size_t>(i)]);
    if (x->dtype() == DType::kF64) {
      RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), std::move(out)));
      return Compute<double>(ctx, win, x->dim(0), x->dim(1), maps, x->data<double>(),
                             w->data<double>(), b != nullptr ? b->data<double>() : nullptr,
                             y->mutable_data<double>());
    }
    if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) {
      return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
    }
    RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x->dtype(), std::move(out)));
    RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
    RT_ASSIGN_OR_RETURN(const float* pw, AsFloats(ctx, *w));
    const float* pb = nullptr;
    if (b != nullptr) {
      RT_ASSIGN_OR_RETURN(pb, AsFloats(ctx, *b));
    }
    RT_RETURN_IF_ERROR(Compute<float>(ctx, win, x->dim(0), x->dim(1), maps, px, pw, pb, y.data()));
    y.Finish();
    return absl::OkStatus();
  }

 private:
  template <typename T>
  absl::Status Compute(KernelContext& ctx, const TransposedWindow& w, int64_t batch,
                       int64_t channels, int64_t maps, const T* x, const T* weights, const T* bias,
                       T* y) const {
    const int64_t groups = attrs_.window.group, cg = channels / groups, mg = maps / groups;
    const int64_t taps = w.kernel[0] * w.kernel[1] * w.kernel[2], rows = mg * taps;
    const int64_t in_size = w.in[0] * w.in[1] * w.in[2], out_size = w.out[0] * w.out[1] * w.out[2];
    for (int64_t i = 0; i < batch * maps; ++i) {
      std::fill(y + i * out_size, y + (i + 1) * out_size, bias != nullptr ? bias[i % maps] : T{0});
    }
    if (batch == 0 || rows == 0 || cg == 0 || out_size == 0) return absl::OkStatus();
    // Whole input rows, about as many as keep the columns in the second-level cache.
    const int64_t lines = w.in[0] * w.in[1];
    const int64_t line_cost = std::max<int64_t>(1, (rows + cg) * w.in[2]);
    const int64_t block = std::clamp<int64_t>((int64_t{1} << 17) / line_cost, 1, lines);
    RT_ASSIGN_OR_RETURN(T * packed, ScratchOf<T>(ctx, PackedASize<T>(rows, cg)));
    RT_ASSIGN_OR_RETURN(T * panels, ScratchOf<T>(ctx, PackedBSize<T>(cg, block * w.in[2])));
    RT_ASSIGN_OR_RETURN(T * cols, ScratchOf<T>(ctx, rows * block * w.in[2]));
    for (int64_t g = 0; g < groups; ++g) {
      PackA<T>(rows, cg, weights + g * cg * rows, 1, rows, packed);
      for (int64_t n = 0; n < batch; ++n) {
        const T* xg = x + (n * channels + g * cg) * in_size;
        T* yg = y + (n * maps + g * mg) * out_size;
        for (int64_t l0 = 0; l0 < lines; l0 += block) {
          const int64_t count = std::min(block, lines - l0), pixels = count * w.in[2];
          PackB<T>(cg, pixels, xg + l0 * w.in[2], in_size, 1, panels);
          GemmBlock<T>(rows, pixels, cg, 0, cg, packed, panels, nullptr, false, cols, pixels);
          ctx.threads().ParallelFor(
              mg, 1 + 20000 / (taps * pixels), [&](int64_t begin, int64_t end) {
                for (int64_t m = begin; m < end; ++m) {
                  for (int64_t l = 0; l < count; ++l) {
                    AddRow(w, (l0 + l) / w.in[1], (l0 + l) % w.in[1],
                           cols + m * taps * pixels + l * w.in[2], pixels, yg + m * out_size);
                  }
                }
              });
        }
      }
    }
    return absl::OkStatus();
  }

  TransposeAttrs attrs_;
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeConvTranspose(const KernelInit& init) {
  TransposeAttrs a;
  RT_ASSIGN_OR_RETURN(a.window, WindowAttrs::Read(init.op));
  a.output_padding = AttrOr<Ints>(init.op.attrs, "output_padding", {});
  a.output_shape = AttrOr<Ints>(init.op.attrs, "output_shape", {});
  return std::make_unique<ConvTransposeKernel>(std::move(a));
}

}  // namespace

void RegisterConvTranspose(KernelRegistry& r) { r.AddFactory("ConvTranspose", MakeConvTranspose); }

}  // namespace retuple::internal
