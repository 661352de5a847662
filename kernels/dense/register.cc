#include "kernels/dense/register.h"

#include "kernels/internal/register.h"

namespace retuple::internal {

void RegisterDenseKernels(KernelRegistry& r) {
  RegisterControlFlow(r);
  RegisterMatMul(r);
  RegisterGemm(r);
  RegisterConv(r);
  RegisterConvTranspose(r);
  RegisterPool(r);
  RegisterGlobalPool(r);
  RegisterBatchNormalization(r);
  RegisterInstanceNormalization(r);
  RegisterLayerNormalization(r);
  RegisterLocalNormalization(r);
  RegisterSoftmax(r);
  RegisterRecurrent(r);
}

}  // namespace retuple::internal
