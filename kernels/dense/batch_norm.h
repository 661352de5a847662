// Per-channel scale and shift of an inference-mode BatchNormalization.
#ifndef RETUPLE_KERNELS_DENSE_BATCH_NORM_H_
#define RETUPLE_KERNELS_DENSE_BATCH_NORM_H_

#include "kernels/kernel.h"

namespace retuple::internal {

// A BatchNormalization, with `relu` followed by a Relu; used by the plan's fusion.
absl::StatusOr<std::unique_ptr<Kernel>> MakeBatchNormalization(const KernelInit& init, bool relu);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_BATCH_NORM_H_
