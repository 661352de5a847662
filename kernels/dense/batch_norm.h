// Per-channel scale and shift of an inference-mode BatchNormalization.
#ifndef RETUPLE_KERNELS_DENSE_BATCH_NORM_H_
#define RETUPLE_KERNELS_DENSE_BATCH_NORM_H_

#include "kernels/dense/activation.h"
#include "kernels/kernel.h"

namespace retuple::internal {

// A BatchNormalization whose result goes through `post`; used by the plan's fusion.
absl::StatusOr<std::unique_ptr<Kernel>> MakeBatchNormalization(const KernelInit& init, const Activation& post);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_BATCH_NORM_H_
