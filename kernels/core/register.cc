#include "kernels/core/util.h"
#include "kernels/internal/register.h"

namespace retuple::internal {

void RegisterCoreKernels(KernelRegistry& r) {
  RegisterUnary(r);
  RegisterActivations(r);
  RegisterArithmetic(r);
  RegisterComparison(r);
  RegisterLogic(r);
  RegisterPower(r);
  RegisterVariadic(r);
  RegisterWhere(r);
  RegisterReductions(r);
  RegisterLogReductions(r);
  RegisterArgReductions(r);
  RegisterCumSum(r);
  RegisterViews(r);
  RegisterTranspose(r);
  RegisterConcatSplit(r);
  RegisterSlice(r);
  RegisterGather(r);
  RegisterScatter(r);
  RegisterPad(r);
  RegisterTileExpand(r);
  RegisterSpaceDepth(r);
  RegisterSelection(r);
  RegisterGenerators(r);
  RegisterTopK(r);
  RegisterUnique(r);
  RegisterDet(r);
  RegisterNonMaxSuppression(r);
  RegisterCast(r);
  RegisterQuantize(r);
  RegisterSequences(r);
  RegisterStringNormalizer(r);
  RegisterTfIdf(r);
  RegisterLosses(r);
  RegisterDropout(r);
  RegisterRandom(r);
}

}  // namespace retuple::internal
