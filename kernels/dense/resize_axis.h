// One axis of a resampling: from which elements of the input, with which weights, each output
// element is made.
#ifndef RETUPLE_KERNELS_DENSE_RESIZE_AXIS_H_
#define RETUPLE_KERNELS_DENSE_RESIZE_AXIS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir_bridge/graph.h"

namespace retuple::internal {

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };

enum class CoordinateMode : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfCropAndResize,
  kTfHalfPixelForNn,
};

enum class NearestMode : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

struct ResizeOptions {
  ResizeMode mode = ResizeMode::kNearest;
  CoordinateMode coordinates = CoordinateMode::kHalfPixel;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  float cubic_a = -0.75f, extrapolation = 0;
  bool exclude_outside = false, antialias = false;

  // From the attributes; InvalidArgument for an unknown word.
  static absl::StatusOr<ResizeOptions> Read(const Op& op);
};

struct ResizeAxis {
  int64_t in = 1, out = 1;
  double scale = 1;
  double roi_begin = 0, roi_end = 1;
};

// Output i is Σ weights[i · taps + k] · input[indices[i · taps + k]]; all indices are in range.
// `outside` marks outputs that take the extrapolation value (tf_crop_and_resize); empty when there
// is none.
struct AxisTaps {
  int taps = 1;
  std::vector<int64_t> indices;
  std::vector<float> weights;
  std::vector<uint8_t> outside;
  // Every output is the input element of the same number.
  bool identity = false;
};

AxisTaps MakeTaps(const ResizeOptions& o, const ResizeAxis& axis);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_RESIZE_AXIS_H_
