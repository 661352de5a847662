// One registration function a file of kernels/dense/.
#ifndef RETUPLE_KERNELS_DENSE_REGISTER_H_
#define RETUPLE_KERNELS_DENSE_REGISTER_H_

#include "kernels/kernel.h"

namespace retuple::internal {

void RegisterControlFlow(KernelRegistry& r);
void RegisterMatMul(KernelRegistry& r);
void RegisterGemm(KernelRegistry& r);
void RegisterQuantizedMatMul(KernelRegistry& r);
void RegisterConv(KernelRegistry& r);
void RegisterConvTranspose(KernelRegistry& r);
void RegisterQuantizedConv(KernelRegistry& r);
void RegisterPool(KernelRegistry& r);
void RegisterGlobalPool(KernelRegistry& r);
void RegisterMaxUnpool(KernelRegistry& r);
void RegisterRoi(KernelRegistry& r);
void RegisterBatchNormalization(KernelRegistry& r);
void RegisterInstanceNormalization(KernelRegistry& r);
void RegisterLayerNormalization(KernelRegistry& r);
void RegisterLocalNormalization(KernelRegistry& r);
void RegisterSoftmax(KernelRegistry& r);
void RegisterRecurrent(KernelRegistry& r);
void RegisterResize(KernelRegistry& r);
void RegisterGridSample(KernelRegistry& r);
void RegisterEinsum(KernelRegistry& r);
void RegisterSpectral(KernelRegistry& r);
void RegisterOptimizers(KernelRegistry& r);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_REGISTER_H_
