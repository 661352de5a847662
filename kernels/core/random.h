// The random stream of an application.
#ifndef RETUPLE_KERNELS_CORE_RANDOM_H_
#define RETUPLE_KERNELS_CORE_RANDOM_H_

#include "kernels/kernel.h"

namespace retuple::internal {

// From the attribute `seed` (float or int) where given, else from the identity of the Op.
uint64_t StreamSeed(const KernelContext& ctx);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_CORE_RANDOM_H_
