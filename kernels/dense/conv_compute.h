// Convolution of typed memory: x: [batch, channels, spatial…] with w: [maps, channels / groups, kernel…].
//
// Three methods, chosen by shape. A window with few maps a group and one channel (depthwise) is summed directly, rows
// at a time. Everything else is a matrix product, weights: [maps, depth] times patches: [depth, pixels], where
// patches are never stored whole: a slice of `depth` rows and a block of pixels is gathered into panels, from the
// operand itself or from its padded copy, and multiplied at once. One output pixel (after a global pooling) is a
// matrix-vector product.
#ifndef RETUPLE_KERNELS_DENSE_CONV_COMPUTE_H_
#define RETUPLE_KERNELS_DENSE_CONV_COMPUTE_H_

#include <vector>

#include "kernels/dense/activation.h"
#include "kernels/dense/conv_shape.h"
#include "kernels/dense/gemm.h"

namespace retuple::internal {

// Weights in tiles of rows, a group after the other.
template <typename T>
struct PackedFilters {
  std::vector<T> data;
  bool empty() const { return data.empty(); }
  // w: [groups · maps, depth].
  static PackedFilters Pack(int64_t groups, int64_t maps, int64_t depth, const T* w);
};

// Whether Convolve takes the direct way, which reads `w` and needs no packed filters.
bool IsDepthwise(const ConvShape& s);

// y: s.out_dims. `packed` may be null (then packed into scratch); `bias`: [maps] or null. `post` is applied to each
// element of the result (floats only).
template <typename T>
absl::Status Convolve(KernelContext& ctx, const ConvShape& s, const T* x, const T* w,
                      const PackedFilters<T>* packed, const T* bias, const Activation& post, T* y);

// The depthwise method; conv_depthwise.cc.
template <typename T>
absl::Status ConvolveDepthwise(KernelContext& ctx, const ConvShape& s, const T* x, const T* w, const T* bias,
                               const Activation& post, T* y);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_CONV_COMPUTE_H_
