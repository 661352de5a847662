#include "kernels/dense/resize_axis.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/core/util.h"

namespace retuple::internal {
namespace {

template <typename E>
struct Word {
  const char* name;
  E value;
};

template <typename E, size_t n>
absl::Status ReadWord(const Op& op, const char* attr, const Word<E> (&words)[n], E* value) {
  const std::string* s = FindAttr<std::string>(op.attrs, attr);
  if (s == nullptr || s->empty()) return absl::OkStatus();
  for (const Word<E>& w : words) {
    if (*s == w.name) {
      *value = w.value;
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(absl::StrFormat("%s: %s '%s' is unknown", op.form(), attr, *s));
}

// The position in the input of output i.
double Position(const ResizeOptions& o, const ResizeAxis& a, int64_t i) {
  const auto x = static_cast<double>(i), in = static_cast<double>(a.in),
             out = static_cast<double>(a.out);
  switch (o.coordinates) {
    case CoordinateMode::kHalfPixel:
      return (x + 0.5) / a.scale - 0.5;
    case CoordinateMode::kHalfPixelSymmetric: {
      const double adjustment = out / (a.scale * in);
      return in / 2 * (1 - adjustment) + (x + 0.5) / a.scale - 0.5;
    }
    case CoordinateMode::kPytorchHalfPixel:
      return a.out > 1 ? (x + 0.5) / a.scale - 0.5 : 0;
    case CoordinateMode::kAlignCorners: {
      const double length = a.scale * in;  // not rounded
      return a.out == 1 || length == 1 ? 0 : x * (in - 1) / (length - 1);
    }
    case CoordinateMode::kAsymmetric:
      return x / a.scale;
    case CoordinateMode::kTfCropAndResize:
      return a.out > 1
                 ? a.roi_begin * (in - 1) + x * (a.roi_end - a.roi_begin) * (in - 1) / (out - 1)
                 : 0.5 * (a.roi_begin + a.roi_end) * (in - 1);
    case CoordinateMode::kTfHalfPixelForNn:
      return (x + 0.5) / a.scale;
  }
  return 0;
}

double Nearest(NearestMode m, double x) {
  switch (m) {
    case NearestMode::kRoundPreferFloor:
      return std::ceil(x - 0.5);
    case NearestMode::kRoundPreferCeil:
      return std::floor(x + 0.5);
    case NearestMode::kFloor:
      return std::floor(x);
    case NearestMode::kCeil:
      return std::ceil(x);
  }
  return x;
}

// The kernel at distance d.
double Weight(const ResizeOptions& o, double d) {
  d = std::abs(d);
  if (o.mode == ResizeMode::kLinear) return std::max(0.0, 1 - d);
  const double a = o.cubic_a;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

}  // namespace

absl::StatusOr<ResizeOptions> ResizeOptions::Read(const Op& op) {
  ResizeOptions o;
  constexpr Word<ResizeMode> kModes[] = {{"nearest", ResizeMode::kNearest},
                                         {"linear", ResizeMode::kLinear},
                                         {"bilinear", ResizeMode::kLinear},
                                         {"cubic", ResizeMode::kCubic}};
  constexpr Word<CoordinateMode> kCoordinates[] = {
      {"half_pixel", CoordinateMode::kHalfPixel},
      {"half_pixel_symmetric", CoordinateMode::kHalfPixelSymmetric},
      {"pytorch_half_pixel", CoordinateMode::kPytorchHalfPixel},
      {"align_corners", CoordinateMode::kAlignCorners},
      {"asymmetric", CoordinateMode::kAsymmetric},
      {"tf_crop_and_resize", CoordinateMode::kTfCropAndResize},
      {"tf_half_pixel_for_nn", CoordinateMode::kTfHalfPixelForNn}};
  constexpr Word<NearestMode> kNearest[] = {{"round_prefer_floor", NearestMode::kRoundPreferFloor},
                                            {"round_prefer_ceil", NearestMode::kRoundPreferCeil},
                                            {"floor", NearestMode::kFloor},
                                            {"ceil", NearestMode::kCeil}};
  RT_RETURN_IF_ERROR(ReadWord(op, "mode", kModes, &o.mode));
  RT_RETURN_IF_ERROR(ReadWord(op, "coordinate_transformation_mode", kCoordinates, &o.coordinates));
  RT_RETURN_IF_ERROR(ReadWord(op, "nearest_mode", kNearest, &o.nearest));
  o.cubic_a = AttrOr<float>(op.attrs, "cubic_coeff_a", -0.75f);
  o.extrapolation = AttrOr<float>(op.attrs, "extrapolation_value", 0.0f);
  o.exclude_outside = AttrOr<int64_t>(op.attrs, "exclude_outside", 0) != 0;
  o.antialias = AttrOr<int64_t>(op.attrs, "antialias", 0) != 0;
  return o;
}

AxisTaps MakeTaps(const ResizeOptions& o, const ResizeAxis& a) {
  AxisTaps t;
  // An antialiased kernel widens with the step when the axis shrinks.
  const double stretch =
      o.antialias && o.mode != ResizeMode::kNearest ? std::min(a.scale, 1.0) : 1.0;
  const double radius = (o.mode == ResizeMode::kLinear ? 1.0 : 2.0) / stretch;
  const auto start =
      o.mode == ResizeMode::kNearest ? 0 : static_cast<int64_t>(std::floor(-radius)) + 1;
  if (o.mode != ResizeMode::kNearest) {
    t.taps = stretch == 1 ? static_cast<int>(2 * radius)
                          : static_cast<int>(std::min<int64_t>(2 - 2 * start, 1 << 20));
  }
  const auto count = static_cast<size_t>(a.out) * static_cast<size_t>(t.taps);
  t.indices.resize(count);
  t.weights.assign(count, 1.0f);
  const bool crop = o.coordinates == CoordinateMode::kTfCropAndResize;
  bool identity = a.in == a.out;
  const auto top = static_cast<double>(a.in - 1);
  std::vector<double> w(static_cast<size_t>(t.taps));
  for (int64_t i = 0; i < a.out; ++i) {
    double x = Position(o, a, i);
    if (crop && (x < 0 || x > top)) {
      t.outside.resize(static_cast<size_t>(a.out), 0);
      t.outside[static_cast<size_t>(i)] = 1;
    }
    if (!(std::abs(x) < 1e15)) x = 0;  // not a position
    int64_t* index = t.indices.data() + i * t.taps;
    if (o.mode == ResizeMode::kNearest) {
      index[0] = static_cast<int64_t>(std::clamp(Nearest(o.nearest, x), 0.0, top));
      identity = identity && index[0] == i;
      continue;
    }
    const double base = std::floor(x), ratio = x - base;
    double sum = 0;
    for (int k = 0; k < t.taps; ++k) {
      const double at = base + static_cast<double>(start + k);
      w[static_cast<size_t>(k)] = Weight(o, (static_cast<double>(start + k) - ratio) * stretch);
      if (o.exclude_outside && (at < 0 || at > top)) w[static_cast<size_t>(k)] = 0;
      sum += w[static_cast<size_t>(k)];
      index[k] = static_cast<int64_t>(std::clamp(at, 0.0, top));
    }
    const bool normalise = (o.exclude_outside || stretch != 1) && sum != 0;
    for (int k = 0; k < t.taps; ++k) {
      const double v = normalise ? w[static_cast<size_t>(k)] / sum : w[static_cast<size_t>(k)];
      t.weights[static_cast<size_t>(i * t.taps + k)] = static_cast<float>(v);
      identity = identity && (v == 0 || (v == 1 && index[k] == i));
    }
  }
  t.identity = identity && t.outside.empty();
  return t;
}

}  // namespace retuple::internal
