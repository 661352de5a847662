// Conv with what the plan fuses behind it.
#ifndef RETUPLE_KERNELS_DENSE_CONV_H_
#define RETUPLE_KERNELS_DENSE_CONV_H_

#include "kernels/dense/activation.h"
#include "kernels/kernel.h"

namespace retuple::internal {

// Conv whose result goes through `post`. With `adds` the node's last input is added to the result
// before that; it broadcasts.
absl::StatusOr<std::unique_ptr<Kernel>> MakeConvolution(const KernelInit& init,
                                                        const Activation& post, bool adds);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_CONV_H_
