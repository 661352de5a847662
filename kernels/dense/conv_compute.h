// Convolution of typed memory: x: [batch, channels, spatial…] with w: [maps, channels / groups,
// kernel…].
//
// The method is chosen by shape:
//   depthwise   one channel a group, few maps: summed directly, rows at a time;
//   winograd    3×3, stride 1, many channels (f32): products of transformed tiles;
//   rows        few output pixels: pixels as rows, maps as columns of one matrix product;
//   flat        few maps: the rows of the right factor are read where they lie, in the operand or
//               its padded copy, over the padded pitch; surplus columns are dropped;
//   patches     everything else: weights: [maps, depth] times patches: [depth, pixels]. Patches
//               are never stored whole: a slice of depth and a block of pixels is gathered into
//               panels, from the operand or its padded copy, and multiplied at once.
#ifndef RETUPLE_KERNELS_DENSE_CONV_COMPUTE_H_
#define RETUPLE_KERNELS_DENSE_CONV_COMPUTE_H_

#include <optional>
#include <vector>

#include "kernels/dense/activation.h"
#include "kernels/dense/conv_shape.h"
#include "kernels/dense/gemm.h"
#include "kernels/dense/padded_planes.h"

namespace retuple::internal {

enum class ConvMethod : uint8_t { kDepthwise, kWinograd, kRows, kFlat, kPatches };

// Everything about one shape that does not depend on the data.
template <typename T>
class ConvPlan {
 public:
  ConvPlan() = default;
  explicit ConvPlan(const ConvShape& s);

  const ConvShape& shape() const { return s_; }
  ConvMethod method() const { return method_; }

  // Elements of the packed weights; 0 when the method reads them as they are. nullopt on overflow.
  std::optional<int64_t> packed_size() const;
  void Pack(const T* w, T* packed) const;

  // y: shape().out_dims. w: the weights, `packed`: the same packed (either may be null if the other
  // is not needed); bias: [maps] or null. `post` is applied to the result (f32 only); `add`: as y,
  // added before `post`, or null.
  absl::Status Run(KernelContext& ctx, const T* x, const T* w, const T* packed, const T* bias,
                   const Activation& post, const T* add, T* y) const;

 private:
  void ChooseMethod();
  bool FlatServes() const;
  absl::Status RunRows(KernelContext& ctx, const T* x, const T* packed, const T* bias,
                       const Clamp<T>& clamp, const Activation& post, const T* add, T* y) const;
  absl::Status RunPatches(KernelContext& ctx, const T* x, const T* packed, const T* bias,
                          const Clamp<T>& clamp, const Activation& post, const T* add, T* y) const;
  absl::Status RunFlat(KernelContext& ctx, const T* x, const T* packed, const T* bias,
                       const Clamp<T>& clamp, const Activation& post, const T* add, T* y) const;
  // The copy of one image's group, or the operand itself. `first`: the padding is still to be
  // filled.
  const T* Patchable(ThreadPool& threads, const T* x, T* copied, bool first) const;

  ConvShape s_;
  ConvMethod method_ = ConvMethod::kPatches;
  bool pointwise_ = false;
  std::optional<PaddedPlanes> planes_;
  int64_t channel_ = 0;           // elements of a channel as read; −1: overflow
  std::vector<int64_t> offsets_;  // [depth]
};

// One call with weights that are not constant.
template <typename T>
absl::Status Convolve(KernelContext& ctx, const ConvShape& s, const T* x, const T* w, const T* bias,
                      T* y);

// conv_depthwise.cc
template <typename T>
absl::Status ConvolveDepthwise(KernelContext& ctx, const ConvShape& s, const PaddedPlanes& planes,
                               const T* x, const T* w, const T* bias, const Clamp<T>& clamp,
                               const Activation& post, const T* add, T* y);

// conv_winograd.cc
bool WinogradServes(const ConvShape& s);
int64_t WinogradPackedSize(const ConvShape& s);
void WinogradPack(const ConvShape& s, const float* w, float* packed);
absl::Status ConvolveWinograd(KernelContext& ctx, const ConvShape& s, const float* x,
                              const float* packed, const float* bias, const Clamp<float>& clamp,
                              const Activation& post, const float* add, float* y);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_CONV_COMPUTE_H_
