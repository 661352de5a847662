#include "kernels/dense/register.h"

#include "kernels/internal/register.h"

namespace retuple::internal {

void RegisterDenseKernels(KernelRegistry& r) {
  RegisterControlFlow(r);
  RegisterMatMul(r);
  RegisterGemm(r);
  RegisterQuantizedMatMul(r);
  RegisterConv(r);
  RegisterConvTranspose(r);
  RegisterQuantizedConv(r);
  RegisterPool(r);
  RegisterGlobalPool(r);
  RegisterMaxUnpool(r);
  RegisterRoi(r);
  RegisterBatchNormalization(r);
  RegisterInstanceNormalization(r);
  RegisterLayerNormalization(r);
  RegisterLocalNormalization(r);
  RegisterSoftmax(r);
  RegisterRecurrent(r);
  RegisterResize(r);
  RegisterGridSample(r);
  RegisterEinsum(r);
  RegisterSpectral(r);
  RegisterOptimizers(r);
}

}  // namespace retuple::internal
