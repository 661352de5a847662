// Geometry of convolutions and poolings: attributes parsed once, sizes worked out and checked for
// given operands.
//
// One to three spatial axes; with fewer than three the leading ones are 1, so that everything below
// is [D, H, W].
#ifndef RETUPLE_KERNELS_DENSE_CONV_SHAPE_H_
#define RETUPLE_KERNELS_DENSE_CONV_SHAPE_H_

#include <array>
#include <span>

#include "kernels/dense/util.h"

namespace retuple::internal {

using Spatial = std::array<int64_t, 3>;

// The attributes that convolutions and poolings share, as they stand in the node.
struct WindowAttrs {
  enum class AutoPad : uint8_t { kNotSet, kSameUpper, kSameLower, kValid };
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  int64_t group = 1;
  Ints kernel_shape, strides, dilations, pads;

  // InvalidArgument for an unknown auto_pad, a non-positive stride, dilation or group, a negative
  // pad, or numbers beyond 2^31.
  static absl::StatusOr<WindowAttrs> Read(const Op& op);
};

// A sliding window over the spatial axes.
struct Window {
  int rank = 0;  // spatial axes of the operand, 1 to 3
  Spatial in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  Spatial pad_begin{0, 0, 0}, pad_end{0, 0, 0};

  // `in` and `kernel` list the spatial sizes of operand and window. With ceil_mode the output
  // counts partial windows, but none that starts in the padding behind the operand.
  static absl::StatusOr<Window> Make(const KernelContext& ctx, const WindowAttrs& attrs,
                                     std::span<const int64_t> in, std::span<const int64_t> kernel);
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
  bool padded() const { return pad_begin != Spatial{0, 0, 0} || pad_end != Spatial{0, 0, 0}; }
};

// x: [batch, groups · in_channels, spatial…], w: [groups · out_channels, in_channels, kernel…].
struct ConvShape {
  int64_t batch = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // a group
  Window window;
  Dims out_dims;

  static absl::StatusOr<ConvShape> Make(const KernelContext& ctx, const WindowAttrs& attrs,
                                        std::span<const int64_t> x, std::span<const int64_t> w);
  // Products in one output element.
  int64_t depth() const { return in_channels * window.kernel_size(); }
};

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_CONV_SHAPE_H_
