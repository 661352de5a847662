// The families of kernels, called once by KernelRegistry::Get().
#ifndef RETUPLE_KERNELS_INTERNAL_REGISTER_H_
#define RETUPLE_KERNELS_INTERNAL_REGISTER_H_

#include "kernels/kernel.h"

namespace retuple::internal {

void RegisterDenseKernels(KernelRegistry& r);  // Conv, Gemm, pooling, normalisation, recurrent, control flow
void RegisterCoreKernels(KernelRegistry& r);   // element-wise, reductions, data movement, sequences, strings

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_INTERNAL_REGISTER_H_
