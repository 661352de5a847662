// GridSample: y[n, c, position] = x[n, c] at the coordinates that grid[n, position] gives, in [−1,
// 1] for each axis (last axis first). Linear, nearest and cubic interpolation over one to three
// spatial axes.
#include <array>
#include <cmath>

#include "kernels/dense/register.h"
#include "kernels/dense/util.h"

namespace retuple::internal {
namespace {

enum class Mode { kLinear, kNearest, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

struct Sampler {
  Mode mode = Mode::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
  int axes = 2;
  std::array<int64_t, 3> size{1, 1, 1}, stride{1, 1, 1};

  // Folds x into [lo, hi] by reflection at both ends.
  static double Reflect(double x, double lo, double hi) {
    const double range = hi - lo;
    if (!(range > 0)) return lo;
    double d = std::fmod(std::abs(x - lo), 2 * range);
    return d > range ? hi - (d - range) : lo + d;
  }
  double Fold(double x, int64_t n) const {
    return align_corners ? Reflect(x, 0, static_cast<double>(n - 1))
                         : Reflect(x, -0.5, static_cast<double>(n) - 0.5);
  }
  // The element index for a tap; −1 where zeros are read.
  int64_t Index(double at, int64_t n) const {
    const auto top = static_cast<double>(n - 1);
    if (at >= 0 && at <= top) return static_cast<int64_t>(at);
    if (padding == Padding::kZeros) return -1;
    if (padding == Padding::kReflection) at = Fold(at, n);
    return static_cast<int64_t>(std::clamp(at, 0.0, top));
  }

  struct Taps {
    int count = 0;
    std::array<int64_t, 4> offset{};  // −1: zero
    std::array<double, 4> weight{};
  };

  Taps AxisTaps(double g, int d) const {
    const auto i = static_cast<size_t>(d);
    const int64_t n = size[i];
    const auto len = static_cast<double>(n);
    double x = align_corners ? (g + 1) / 2 * (len - 1) : ((g + 1) * len - 1) / 2;
    if (!(std::abs(x) < 1e15)) x = -1e15 < x ? 1e15 : -1e15;  // also NaN: far outside
    if (mode != Mode::kCubic) {
      if (padding == Padding::kBorder) x = std::clamp(x, 0.0, len - 1);
      if (padding == Padding::kReflection) x = Fold(x, n);
    }
    Taps t;
    auto add = [&](double at, double w) {
      const int64_t index = Index(at, n);
      t.offset[static_cast<size_t>(t.count)] = index < 0 ? -1 : index * stride[i];
      t.weight[static_cast<size_t>(t.count++)] = w;
    };
    if (mode == Mode::kNearest) {
      add(std::nearbyint(x), 1);
      return t;
    }
    const double base = std::floor(x), r = x - base;
    if (mode == Mode::kLinear) {
      add(base, 1 - r);
      add(base + 1, r);
      return t;
    }
    constexpr double a = -0.75;
    for (int k = -1; k <= 2; ++k) {
      const double v = std::abs(k - r);
      const double w =
          v <= 1 ? ((a + 2) * v - (a + 3)) * v * v + 1 : ((a * v - 5 * a) * v + 8 * a) * v - 4 * a;
      add(base + k, w);
    }
    return t;
  }
};

template <typename T>
void Sample(const Sampler& s, int64_t batch, int64_t channels, int64_t positions, const T* x,
            const T* grid, T* y) {
  const int64_t plane = s.size[0] * s.size[1] * s.size[2];
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t p = 0; p < positions; ++p) {
      std::array<Sampler::Taps, 3> taps;
      for (int d = 0; d < s.axes; ++d) {
        // The last coordinate of the grid is the first axis.
        const T g = grid[(n * positions + p) * s.axes + (s.axes - 1 - d)];
        taps[static_cast<size_t>(d)] = s.AxisTaps(static_cast<double>(g), d);
      }
      for (int d = s.axes; d < 3; ++d) {
        taps[static_cast<size_t>(d)].count = 1;
        taps[static_cast<size_t>(d)].offset[0] = 0;
        taps[static_cast<size_t>(d)].weight[0] = 1;
      }
      for (int64_t c = 0; c < channels; ++c) {
        const T* from = x + (n * channels + c) * plane;
        double sum = 0;
        for (int i = 0; i < taps[0].count; ++i) {
          for (int j = 0; j < taps[1].count; ++j) {
            for (int k = 0; k < taps[2].count; ++k) {
              const auto ui = static_cast<size_t>(i), uj = static_cast<size_t>(j),
                         uk = static_cast<size_t>(k);
              const int64_t a = taps[0].offset[ui], b = taps[1].offset[uj], e = taps[2].offset[uk];
              const double w = taps[0].weight[ui] * taps[1].weight[uj] * taps[2].weight[uk];
              if (a < 0 || b < 0 || e < 0 || w == 0) continue;
              sum += w * static_cast<double>(from[a + b + e]);
            }
          }
        }
        y[(n * channels + c) * positions + p] = static_cast<T>(sum);
      }
    }
  }
}

absl::Status GridSample(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* grid, Input(ctx, 1));
  Sampler s;
  s.axes = x->rank() - 2;
  if (s.axes < 1 || s.axes > 3 || grid->rank() != x->rank() || grid->dim(0) != x->dim(0) ||
      grid->dim(grid->rank() - 1) != s.axes) {
    return Bad(ctx, "operand %s and grid %s do not agree", DimsToString(x->dims()),
               DimsToString(grid->dims()));
  }
  if (grid->dtype() != x->dtype()) return Bad(ctx, "grid and operand have different types");
  const std::string mode = StringAttr(ctx, "mode", "linear"),
                    padding = StringAttr(ctx, "padding_mode", "zeros");
  if (mode == "nearest") {
    s.mode = Mode::kNearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    s.mode = Mode::kCubic;
  } else if (mode != "linear" && mode != "bilinear") {
    return Bad(ctx, "mode '%s' is unknown", mode);
  }
  if (padding == "border") {
    s.padding = Padding::kBorder;
  } else if (padding == "reflection") {
    s.padding = Padding::kReflection;
  } else if (padding != "zeros") {
    return Bad(ctx, "padding_mode '%s' is unknown", padding);
  }
  s.align_corners = IntAttr(ctx, "align_corners", 0) != 0;
  Dims out{x->dim(0), x->dim(1)};
  int64_t stride = 1;
  for (int d = s.axes - 1; d >= 0; --d) {
    const auto i = static_cast<size_t>(d);
    s.size[i] = x->dim(d + 2);
    s.stride[i] = stride;
    stride *= s.size[i];
  }
  for (int d = 0; d < s.axes; ++d) out.push_back(grid->dim(d + 1));
  const int64_t positions = Product(grid->dims(), 1, grid->rank() - 1);
  if (x->size() == 0 && x->dim(0) * x->dim(1) * positions > 0)
    return Bad(ctx, "the operand is empty");
  if (x->dtype() == DType::kF64) {
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), std::move(out)));
    Sample(s, x->dim(0), x->dim(1), positions, x->data<double>(), grid->data<double>(),
           y->mutable_data<double>());
    return absl::OkStatus();
  }
  if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) {
    return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
  }
  RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
  RT_ASSIGN_OR_RETURN(const float* pg, AsFloats(ctx, *grid));
  RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x->dtype(), std::move(out)));
  Sample(s, x->dim(0), x->dim(1), positions, px, pg, y.data());
  y.Finish();
  return absl::OkStatus();
}

}  // namespace

void RegisterGridSample(KernelRegistry& r) { r.Add("GridSample", GridSample); }

}  // namespace retuple::internal
