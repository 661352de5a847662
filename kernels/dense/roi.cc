// RoiAlign (both forms) and MaxRoiPool: regions of a feature map brought to one size.
#include <cmath>
#include <limits>

#include "kernels/dense/register.h"
#include "kernels/dense/util.h"

namespace retuple::internal {
namespace {

constexpr double kMaxCoordinate = 1e9;

struct RoiGrid {
  int64_t height = 0, width = 0, channels = 0, out_h = 1, out_w = 1;
};

// Four elements around (y, x) and their weights; none when the point lies more than one element
// outside.
struct Corners {
  bool inside = false;
  int64_t at[4];
  double weight[4];
};

Corners Around(const RoiGrid& g, double y, double x) {
  Corners c;
  const auto h = static_cast<double>(g.height), w = static_cast<double>(g.width);
  if (!(y >= -1) || y > h || !(x >= -1) || x > w) return c;
  c.inside = true;
  y = std::min(std::max(y, 0.0), h - 1);
  x = std::min(std::max(x, 0.0), w - 1);
  const auto y0 = static_cast<int64_t>(y), x0 = static_cast<int64_t>(x);
  const int64_t y1 = std::min(y0 + 1, g.height - 1), x1 = std::min(x0 + 1, g.width - 1);
  const double ly = y - static_cast<double>(y0), lx = x - static_cast<double>(x0);
  const int64_t at[4] = {y0 * g.width + x0, y0 * g.width + x1, y1 * g.width + x0,
                         y1 * g.width + x1};
  const double weight[4] = {(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx};
  std::copy(at, at + 4, c.at);
  std::copy(weight, weight + 4, c.weight);
  return c;
}

absl::Status RoiAlign(KernelContext& ctx, bool half_pixel) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* rois, InputOf(ctx, 1, x->dtype()));
  RT_ASSIGN_OR_RETURN(const auto batch, RequiredInts(ctx, 2));
  if (x->rank() != 4 || rois->rank() != 2 || rois->dim(1) != 4 ||
      static_cast<int64_t>(batch.size()) != rois->dim(0)) {
    return Bad(ctx, "operand %s, rois %s and %d batch indices do not agree",
               DimsToString(x->dims()), DimsToString(rois->dims()), batch.size());
  }
  RoiGrid g{x->dim(2), x->dim(3), x->dim(1), IntAttr(ctx, "output_height", 1),
            IntAttr(ctx, "output_width", 1)};
  const int64_t sampling = IntAttr(ctx, "sampling_ratio", 0);
  const double scale = static_cast<double>(FloatAttr(ctx, "spatial_scale", 1.0f));
  const std::string mode = StringAttr(ctx, "mode", "avg");
  if (mode != "avg" && mode != "max") return Bad(ctx, "mode '%s' is unknown", mode);
  const bool max = mode == "max";
  constexpr int64_t kMaxSize = 1 << 16;
  if (g.out_h < 1 || g.out_w < 1 || g.out_h > kMaxSize || g.out_w > kMaxSize || sampling < 0 ||
      sampling > 1024) {
    return Bad(ctx, "output of %d by %d with %d samples", g.out_h, g.out_w, sampling);
  }
  const int64_t count = rois->dim(0), plane = g.height * g.width;
  if (count > 0 && x->size() == 0) return Bad(ctx, "the operand is empty");
  if (x->dtype() != DType::kF32 && x->dtype() != DType::kF64 && !Is16Bit(x->dtype())) {
    return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
  }
  // Computed from f32 or f64 elements, summed in f64.
  const bool f64 = x->dtype() == DType::kF64;
  const float* px = nullptr;
  Tensor* y64 = nullptr;
  FloatOutput y32;
  const Dims out{count, g.channels, g.out_h, g.out_w};
  if (f64) {
    RT_ASSIGN_OR_RETURN(y64, ctx.Output(0, x->dtype(), out));
  } else {
    RT_ASSIGN_OR_RETURN(px, AsFloats(ctx, *x));
    RT_ASSIGN_OR_RETURN(y32, FloatOutput::Make(ctx, 0, x->dtype(), out));
  }
  for (int64_t r = 0; r < count; ++r) {
    const int64_t b = batch[static_cast<size_t>(r)];
    if (b < 0 || b >= x->dim(0)) return Bad(ctx, "batch index %d of %d", b, x->dim(0));
    const double shift = half_pixel ? 0.5 : 0.0;
    double box[4];
    for (int i = 0; i < 4; ++i) {
      box[i] = rois->At(r * 4 + i) * scale - shift;
      if (!(std::abs(box[i]) < kMaxCoordinate))
        return Bad(ctx, "a region has coordinate %g", box[i]);
    }
    double roi_w = box[2] - box[0], roi_h = box[3] - box[1];
    if (!half_pixel) {  // malformed regions count as 1 by 1
      roi_w = std::max(roi_w, 1.0);
      roi_h = std::max(roi_h, 1.0);
    }
    const double bin_h = roi_h / static_cast<double>(g.out_h),
                 bin_w = roi_w / static_cast<double>(g.out_w);
    const auto samples = [&](double bin) {
      return sampling > 0 ? sampling
                          : std::clamp<int64_t>(static_cast<int64_t>(std::ceil(bin)), 0, 4096);
    };
    const int64_t sh = samples(bin_h), sw = samples(bin_w);
    const double divisor = static_cast<double>(std::max<int64_t>(sh * sw, 1));
    for (int64_t oh = 0; oh < g.out_h; ++oh) {
      for (int64_t ow = 0; ow < g.out_w; ++ow) {
        for (int64_t c = 0; c < g.channels; ++c) {
          const int64_t base = (b * g.channels + c) * plane;
          double value = 0;
          bool first = true;
          for (int64_t i = 0; i < sh; ++i) {
            const double py = box[1] + (static_cast<double>(oh) +
                                        (static_cast<double>(i) + 0.5) / static_cast<double>(sh)) *
                                           bin_h;
            for (int64_t j = 0; j < sw; ++j) {
              const double pos =
                  box[0] + (static_cast<double>(ow) +
                            (static_cast<double>(j) + 0.5) / static_cast<double>(sw)) *
                               bin_w;
              const Corners k = Around(g, py, pos);
              double sample = 0;
              if (k.inside) {
                for (int q = 0; q < 4; ++q) {
                  const double e = f64 ? x->data<double>()[base + k.at[q]]
                                       : static_cast<double>(px[base + k.at[q]]);
                  const double v = k.weight[q] * e;
                  sample = max ? (q == 0 ? v : std::max(sample, v)) : sample + v;
                }
              }
              value = max ? (first ? sample : std::max(value, sample)) : value + sample;
              first = false;
            }
          }
          if (!max) value /= divisor;
          const int64_t at = ((r * g.channels + c) * g.out_h + oh) * g.out_w + ow;
          if (f64) {
            y64->mutable_data<double>()[at] = value;
          } else {
            y32.data()[at] = static_cast<float>(value);
          }
        }
      }
    }
  }
  if (!f64) y32.Finish();
  return absl::OkStatus();
}

absl::Status RoiAlign16(KernelContext& ctx) {
  const std::string mode = StringAttr(ctx, "coordinate_transformation_mode", "half_pixel");
  if (mode != "half_pixel" && mode != "output_half_pixel") {
    return Bad(ctx, "coordinate_transformation_mode '%s' is unknown", mode);
  }
  return RoiAlign(ctx, mode == "half_pixel");
}

absl::Status RoiAlign10(KernelContext& ctx) { return RoiAlign(ctx, false); }

// rois: [n, 5], batch index and inclusive corners x1, y1, x2, y2 in the coordinates of the image.
absl::Status MaxRoiPool(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* rois, InputOf(ctx, 1, x->dtype()));
  const Ints* shape = IntsAttr(ctx, "pooled_shape");
  if (shape == nullptr || shape->size() != 2 || (*shape)[0] < 1 || (*shape)[1] < 1)
    return Bad(ctx, "pooled_shape is not two sizes");
  if (x->rank() != 4 || rois->rank() != 2 || rois->dim(1) != 5) {
    return Bad(ctx, "operand %s and rois %s do not agree", DimsToString(x->dims()),
               DimsToString(rois->dims()));
  }
  if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype()) && x->dtype() != DType::kF64) {
    return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
  }
  const double scale = static_cast<double>(FloatAttr(ctx, "spatial_scale", 1.0f));
  const int64_t ph = (*shape)[0], pw = (*shape)[1], channels = x->dim(1), height = x->dim(2),
                width = x->dim(3);
  RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), {rois->dim(0), channels, ph, pw}));
  for (int64_t r = 0; r < rois->dim(0); ++r) {
    double v[5];
    for (int i = 0; i < 5; ++i) {
      v[i] = i == 0 ? rois->At(r * 5) : std::round(rois->At(r * 5 + i) * scale);
      if (!(std::abs(v[i]) < kMaxCoordinate)) return Bad(ctx, "a region has coordinate %g", v[i]);
    }
    const auto b = static_cast<int64_t>(v[0]);
    if (b < 0 || b >= x->dim(0)) return Bad(ctx, "batch index %d of %d", b, x->dim(0));
    const double bin_w = std::max(v[3] - v[1] + 1, 1.0) / static_cast<double>(pw);
    const double bin_h = std::max(v[4] - v[2] + 1, 1.0) / static_cast<double>(ph);
    auto bound = [](double at, double first, int64_t n) {
      return static_cast<int64_t>(std::clamp(at + first, 0.0, static_cast<double>(n)));
    };
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t i = 0; i < ph; ++i) {
        const int64_t y0 = bound(std::floor(static_cast<double>(i) * bin_h), v[2], height);
        const int64_t y1 = bound(std::ceil(static_cast<double>(i + 1) * bin_h), v[2], height);
        for (int64_t j = 0; j < pw; ++j) {
          const int64_t x0 = bound(std::floor(static_cast<double>(j) * bin_w), v[1], width);
          const int64_t x1 = bound(std::ceil(static_cast<double>(j + 1) * bin_w), v[1], width);
          double best = y1 > y0 && x1 > x0 ? -std::numeric_limits<double>::infinity() : 0;
          int64_t at = -1;
          for (int64_t h = y0; h < y1; ++h) {
            for (int64_t w = x0; w < x1; ++w) {
              const int64_t k = ((b * channels + c) * height + h) * width + w;
              const double e = x->At(k);
              if (at < 0 || e > best) {
                best = e;
                at = k;
              }
            }
          }
          const size_t size = DTypeSize(x->dtype());
          char* to = y->mutable_data<char>() +
                     static_cast<size_t>(((r * channels + c) * ph + i) * pw + j) * size;
          if (at >= 0) {
            std::memcpy(to, x->data<char>() + static_cast<size_t>(at) * size, size);
          } else {
            std::memset(to, 0, size);
          }
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

void RegisterRoi(KernelRegistry& r) {
  r.Add("RoiAlign", RoiAlign16);
  r.Add("RoiAlign-10", RoiAlign10);
  r.Add("MaxRoiPool", MaxRoiPool);
}

}  // namespace retuple::internal
