// Resize, its form of opset 10, and Upsample.
//
// Resampling is separable: axes are resampled one after the other, last first, each by a table of
// taps. Nearest neighbours are copies and serve every element type; linear and cubic compute in f32
// (f64 in f64).
#include <algorithm>
#include <cmath>

#include "kernels/dense/register.h"
#include "kernels/dense/resize_axis.h"
#include "kernels/dense/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

struct ResizePlan {
  ResizeOptions options;
  std::vector<ResizeAxis> axes;
  Dims out;
};

absl::Status SetOut(const KernelContext& ctx, ResizePlan& p, size_t d, double size) {
  if (!(size >= 0) || size > 1e12) return Bad(ctx, "axis %d would get size %g", d, size);
  p.axes[d].out = p.out[d] = static_cast<int64_t>(size);
  if (p.axes[d].in == 0 && p.out[d] > 0) return Bad(ctx, "axis %d is empty", d);
  return absl::OkStatus();
}

ResizePlan StartPlan(const Tensor& x, const ResizeOptions& options) {
  ResizePlan p;
  p.options = options;
  p.out = x.dims();
  p.axes.resize(x.dims().size());
  for (size_t d = 0; d < p.axes.size(); ++d) p.axes[d].in = p.axes[d].out = x.dims()[d];
  return p;
}

// scales[i] belongs to axis axes[i].
absl::Status ApplyScales(const KernelContext& ctx, ResizePlan& p, std::span<const float> scales,
                         std::span<const int64_t> axes) {
  if (scales.size() != axes.size())
    return Bad(ctx, "%d scales for %d axes", scales.size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<size_t>(axes[i]);
    ResizeAxis& a = p.axes[d];
    if (!(scales[i] > 0) || !std::isfinite(scales[i])) return Bad(ctx, "a scale of %g", scales[i]);
    a.scale = static_cast<double>(scales[i]);
    // In f32, as exporters compute it: 10 · 0.7f is 7.
    double size = std::floor(static_cast<float>(a.in) * scales[i]);
    if (p.options.coordinates == CoordinateMode::kTfCropAndResize) {
      size = std::floor(static_cast<double>(a.in) * (a.roi_end - a.roi_begin) * a.scale);
    }
    RT_RETURN_IF_ERROR(SetOut(ctx, p, d, size));
  }
  return absl::OkStatus();
}

absl::Status ApplySizes(const KernelContext& ctx, ResizePlan& p, std::span<const int64_t> sizes,
                        std::span<const int64_t> axes) {
  if (sizes.size() != axes.size())
    return Bad(ctx, "%d sizes for %d axes", sizes.size(), axes.size());
  const std::string policy = StringAttr(ctx, "keep_aspect_ratio_policy", "stretch");
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const ResizeAxis& a = p.axes[static_cast<size_t>(axes[i])];
    if (a.in == 0) continue;
    const double scale = static_cast<double>(sizes[i]) / static_cast<double>(a.in);
    if (policy == "not_larger") {
      common = i == 0 ? scale : std::min(common, scale);
    } else if (policy == "not_smaller") {
      common = i == 0 ? scale : std::max(common, scale);
    } else if (policy != "stretch") {
      return Bad(ctx, "keep_aspect_ratio_policy '%s' is unknown", policy);
    }
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<size_t>(axes[i]);
    ResizeAxis& a = p.axes[d];
    if (policy == "stretch") {
      RT_RETURN_IF_ERROR(SetOut(ctx, p, d, static_cast<double>(sizes[i])));
      a.scale = a.in == 0 ? 1 : static_cast<double>(a.out) / static_cast<double>(a.in);
    } else {
      RT_RETURN_IF_ERROR(SetOut(ctx, p, d, std::floor(common * static_cast<double>(a.in) + 0.5)));
      a.scale = common;
    }
    if (a.out > 0 && !(a.scale > 0)) return Bad(ctx, "a scale of %g", a.scale);
  }
  return absl::OkStatus();
}

// x: [outer, in, inner] → y: [outer, out, inner].
template <typename T>
void Resample(int64_t outer, int64_t in, int64_t inner, const AxisTaps& t, int64_t out, const T* x,
              T* y) {
  const auto taps = static_cast<int64_t>(t.taps);
  for (int64_t o = 0; o < outer; ++o, x += in * inner, y += out * inner) {
    if (inner == 1) {
      if (taps == 2) {
        for (int64_t i = 0; i < out; ++i) {
          y[i] = x[t.indices[2 * i]] * static_cast<T>(t.weights[2 * i]) +
                 x[t.indices[2 * i + 1]] * static_cast<T>(t.weights[2 * i + 1]);
        }
        continue;
      }
      for (int64_t i = 0; i < out; ++i) {
        T s = 0;
        for (int64_t k = 0; k < taps; ++k)
          s += x[t.indices[i * taps + k]] * static_cast<T>(t.weights[i * taps + k]);
        y[i] = s;
      }
      continue;
    }
    for (int64_t i = 0; i < out; ++i) {
      T* row = y + i * inner;
      if (taps == 2) {
        const T *a = x + t.indices[2 * i] * inner, *b = x + t.indices[2 * i + 1] * inner;
        const T wa = static_cast<T>(t.weights[2 * i]), wb = static_cast<T>(t.weights[2 * i + 1]);
        for (int64_t c = 0; c < inner; ++c) row[c] = a[c] * wa + b[c] * wb;
        continue;
      }
      std::fill(row, row + inner, T{0});
      for (int64_t k = 0; k < taps; ++k) {
        const T* from = x + t.indices[i * taps + k] * inner;
        const T w = static_cast<T>(t.weights[i * taps + k]);
        for (int64_t c = 0; c < inner; ++c) row[c] += from[c] * w;
      }
    }
  }
}

template <typename T>
absl::Status Interpolate(KernelContext& ctx, const ResizePlan& p, const std::vector<AxisTaps>& taps,
                         const T* x, T* y) {
  Dims dims;
  for (const ResizeAxis& a : p.axes) dims.push_back(a.in);
  size_t passes = 0;
  for (const AxisTaps& t : taps) passes += !t.identity;
  if (passes == 0) {
    std::copy(x, x + NumElements(dims), y);
    return absl::OkStatus();
  }
  const T* from = x;
  for (size_t d = p.axes.size(); d-- > 0;) {
    if (taps[d].identity) continue;
    const int64_t outer = Product(dims, 0, static_cast<int>(d));
    const int64_t inner = Product(dims, static_cast<int>(d) + 1, static_cast<int>(dims.size()));
    const int64_t in = dims[d], out = p.out[d];
    dims[d] = out;
    const std::optional<int64_t> size = CheckedNumElements(dims);
    if (!size) return Bad(ctx, "an intermediate result is too large");
    T* to = y;
    if (--passes > 0) {
      RT_ASSIGN_OR_RETURN(to, ScratchOf<T>(ctx, *size));
    }
    ctx.threads().ParallelFor(outer, 1 + 20000 / std::max<int64_t>(1, out * inner),
                              [&](int64_t begin, int64_t end) {
                                Resample<T>(end - begin, in, inner, taps[d], out,
                                            from + begin * in * inner, to + begin * out * inner);
                              });
    from = to;
  }
  return absl::OkStatus();
}

// Copies rows by index; the last axis element by element.
template <typename E>
void CopyNearest(const ResizePlan& p, const std::vector<AxisTaps>& taps, const E* x, E* y) {
  const size_t r = p.axes.size();
  Dims in_dims;
  for (const ResizeAxis& a : p.axes) in_dims.push_back(a.in);
  const Dims strides = StridesOf(in_dims);
  const int64_t width = p.out[r - 1];
  const std::span<const int64_t> lead(p.out.data(), r - 1);
  const int64_t rows = NumElements(lead);
  Dims index(r - 1, 0);
  const int64_t* columns = taps[r - 1].indices.data();
  int64_t last = -1;
  for (int64_t i = 0; i < rows; ++i, y += width) {
    int64_t at = 0;
    for (size_t d = 0; d + 1 < r; ++d)
      at += taps[d].indices[static_cast<size_t>(index[d])] * strides[d];
    if (at == last) {
      std::copy(y - width, y, y);  // the row above again
    } else if (taps[r - 1].identity) {
      std::copy(x + at, x + at + width, y);
    } else {
      const E* row = x + at;
      for (int64_t c = 0; c < width; ++c) y[c] = row[columns[c]];
    }
    last = at;
    NextIndex(lead, index);
  }
}

// Writes the extrapolation value wherever some axis lies outside.
template <typename E>
void FillOutside(const ResizePlan& p, const std::vector<AxisTaps>& taps, E value, E* y) {
  Dims index(p.out.size(), 0);
  const int64_t n = NumElements(p.out);
  for (int64_t i = 0; i < n; ++i) {
    for (size_t d = 0; d < index.size(); ++d) {
      if (!taps[d].outside.empty() && taps[d].outside[static_cast<size_t>(index[d])] != 0) {
        y[i] = value;
        break;
      }
    }
    NextIndex(p.out, index);
  }
}

template <typename T>
T FromFloat(float v) {
  if constexpr (std::is_integral_v<T>) {
    constexpr auto lo = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto hi = static_cast<double>(std::numeric_limits<T>::max());
    const double d = static_cast<double>(v);
    if (!(d > lo)) return d == d ? std::numeric_limits<T>::min() : T{0};
    return d >= hi ? std::numeric_limits<T>::max() : static_cast<T>(d);
  } else {
    return static_cast<T>(v);
  }
}

absl::Status Execute(KernelContext& ctx, const Tensor& x, const ResizePlan& p) {
  const std::optional<int64_t> n = CheckedNumElements(p.out);
  if (!n) return Bad(ctx, "the result is too large");
  std::vector<AxisTaps> taps;
  for (const ResizeAxis& a : p.axes) {
    if (a.out > int64_t{1} << 27) return Unserved(ctx, "an axis of %d", a.out);
  }
  if (*n > 0) {
    for (const ResizeAxis& a : p.axes) taps.push_back(MakeTaps(p.options, a));
  }
  bool outside = false;
  for (const AxisTaps& t : taps) outside = outside || !t.outside.empty();
  if (p.options.mode == ResizeMode::kNearest) {
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x.dtype(), p.out));
    if (*n == 0) return absl::OkStatus();
    if (x.rank() == 0) return Bad(ctx, "the operand is a scalar");
    RT_RETURN_IF_ERROR(
        DispatchBySize(ctx.op(), x.dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
          CopyNearest<E>(p, taps, x.data<E>(), y->mutable_data<E>());
          return absl::OkStatus();
        }));
    if (!outside) return absl::OkStatus();
    return Dispatch<kNumeric>(ctx.op(), x.dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
      if constexpr (!std::is_same_v<T, std::string>) {
        FillOutside<T>(p, taps, FromFloat<T>(p.options.extrapolation), y->mutable_data<T>());
      }
      return absl::OkStatus();
    });
  }
  if (x.dtype() == DType::kF64) {
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x.dtype(), p.out));
    if (*n == 0) return absl::OkStatus();
    RT_RETURN_IF_ERROR(
        Interpolate<double>(ctx, p, taps, x.data<double>(), y->mutable_data<double>()));
    if (outside)
      FillOutside<double>(p, taps, static_cast<double>(p.options.extrapolation),
                          y->mutable_data<double>());
    return absl::OkStatus();
  }
  if (x.dtype() == DType::kF32 || Is16Bit(x.dtype())) {
    RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, x));
    RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x.dtype(), p.out));
    if (*n == 0) return absl::OkStatus();
    RT_RETURN_IF_ERROR(Interpolate<float>(ctx, p, taps, px, y.data()));
    if (outside) FillOutside<float>(p, taps, p.options.extrapolation, y.data());
    y.Finish();
    return absl::OkStatus();
  }
  return Dispatch<kInts>(ctx.op(), x.dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    if constexpr (std::is_integral_v<T>) {
      RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x.dtype(), p.out));
      if (*n == 0) return absl::OkStatus();
      RT_ASSIGN_OR_RETURN(float* wide, ScratchOf<float>(ctx, x.size()));
      RT_ASSIGN_OR_RETURN(float* result, ScratchOf<float>(ctx, *n));
      for (int64_t i = 0; i < x.size(); ++i) wide[i] = static_cast<float>(x.data<T>()[i]);
      RT_RETURN_IF_ERROR(Interpolate<float>(ctx, p, taps, wide, result));
      if (outside) FillOutside<float>(p, taps, p.options.extrapolation, result);
      for (int64_t i = 0; i < *n; ++i) y->mutable_data<T>()[i] = FromFloat<T>(result[i]);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<float>> FloatsInput(const KernelContext& ctx, int i) {
  std::vector<float> v;
  if (!ctx.has(i)) return v;
  RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, i));
  if (!IsFloat(t->dtype()))
    return Bad(ctx, "input %d is %s", i, std::string(DTypeName(t->dtype())));
  if (t->size() > 64) return Bad(ctx, "input %d has %d elements", i, t->size());
  for (int64_t k = 0; k < t->size(); ++k) v.push_back(static_cast<float>(t->At(k)));
  return v;
}

std::vector<int64_t> AllAxes(int rank) {
  std::vector<int64_t> v;
  for (int i = 0; i < rank; ++i) v.push_back(i);
  return v;
}

// Inputs X, roi, scales, sizes; the last three are optional or empty, one of scales and sizes is
// given.
class ResizeKernel final : public Kernel {
 public:
  explicit ResizeKernel(ResizeOptions o) : options_(o) {}
  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    std::vector<int64_t> axes = AllAxes(x->rank());
    if (const Ints* given = IntsAttr(ctx, "axes"); given != nullptr && !given->empty()) {
      RT_RETURN_IF_ERROR(AxisFlags(ctx, *given, x->rank()).status());
      axes.assign(given->begin(), given->end());
      for (int64_t& a : axes) a = a < 0 ? a + x->rank() : a;
    }
    ResizePlan p = StartPlan(*x, options_);
    if (options_.coordinates == CoordinateMode::kTfCropAndResize) {
      RT_ASSIGN_OR_RETURN(const std::vector<float> roi, FloatsInput(ctx, 1));
      if (roi.size() != 2 * axes.size())
        return Bad(ctx, "%d roi numbers for %d axes", roi.size(), axes.size());
      for (size_t i = 0; i < axes.size(); ++i) {
        p.axes[static_cast<size_t>(axes[i])].roi_begin = static_cast<double>(roi[i]);
        p.axes[static_cast<size_t>(axes[i])].roi_end = static_cast<double>(roi[i + axes.size()]);
      }
    }
    RT_ASSIGN_OR_RETURN(const std::vector<float> scales, FloatsInput(ctx, 2));
    RT_ASSIGN_OR_RETURN(const auto sizes, IntsInput(ctx, 3));
    if (!scales.empty()) {
      RT_RETURN_IF_ERROR(ApplyScales(ctx, p, scales, axes));
    } else if (sizes && !sizes->empty()) {
      RT_RETURN_IF_ERROR(ApplySizes(ctx, p, *sizes, axes));
    } else if (x->rank() > 0) {
      return Bad(ctx, "neither scales nor sizes are given");
    }
    return Execute(ctx, *x, p);
  }

 private:
  ResizeOptions options_;
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeResize(const KernelInit& init) {
  RT_ASSIGN_OR_RETURN(const ResizeOptions o, ResizeOptions::Read(init.op));
  return std::make_unique<ResizeKernel>(o);
}

// Resize-10 and Upsample: asymmetric coordinates, nearest by floor; scales as input 1, as `scales`,
// or as height_scale and width_scale.
absl::Status Upsample(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(ResizeOptions o, ResizeOptions::Read(ctx.op()));
  o.coordinates = CoordinateMode::kAsymmetric;
  o.nearest = NearestMode::kFloor;
  std::vector<float> scales;
  if (ctx.has(1)) {
    RT_ASSIGN_OR_RETURN(scales, FloatsInput(ctx, 1));
  } else if (const Floats* attr = FindAttr<Floats>(ctx.op().attrs, "scales")) {
    scales = *attr;
  } else {
    if (x->rank() != 4) return Bad(ctx, "operand %s is not an image", DimsToString(x->dims()));
    scales = {1, 1, FloatAttr(ctx, "height_scale", 1), FloatAttr(ctx, "width_scale", 1)};
  }
  ResizePlan p = StartPlan(*x, o);
  RT_RETURN_IF_ERROR(ApplyScales(ctx, p, scales, AllAxes(x->rank())));
  return Execute(ctx, *x, p);
}

}  // namespace

void RegisterResize(KernelRegistry& r) {
  r.AddFactory("Resize", MakeResize);
  r.Add("Resize-10", Upsample);
  r.Add("Upsample", Upsample);
  r.Add("Upsample-7", Upsample);
  r.Add("Upsample-1", Upsample);
}

}  // namespace retuple::internal
