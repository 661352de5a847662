// The inference functions that schemas refer to, by the file that defines them.
#ifndef RETUPLE_IR_BRIDGE_INTERNAL_INFER_FNS_H_
#define RETUPLE_IR_BRIDGE_INTERNAL_INFER_FNS_H_

#include "absl/status/status.h"
#include "ir_bridge/schema.h"

namespace retuple::internal {

// math
absl::Status InferUnary(InferContext& c);
absl::Status InferIdentity(InferContext& c);
absl::Status InferNot(InferContext& c);
absl::Status InferPredicate(InferContext& c);
absl::Status InferClip(InferContext& c);
absl::Status InferPReluV1(InferContext& c);
absl::Status InferPRelu(InferContext& c);
absl::Status InferBinaryV1(InferContext& c);
absl::Status InferBinary(InferContext& c);
absl::Status InferPow(InferContext& c);
absl::Status InferVariadic(InferContext& c);
absl::Status InferLogicalV1(InferContext& c);
absl::Status InferCompareV1(InferContext& c);
absl::Status InferLogical(InferContext& c);
absl::Status InferCompare(InferContext& c);
absl::Status InferWhere(InferContext& c);
absl::Status InferCastV1(InferContext& c);
absl::Status InferCast(InferContext& c);
absl::Status InferCastLike(InferContext& c);

// reduce
absl::Status InferReduceV1(InferContext& c);
absl::Status InferReduce(InferContext& c);
absl::Status InferArgReduce(InferContext& c);
absl::Status InferCumSum(InferContext& c);
absl::Status InferTopKV1(InferContext& c);
absl::Status InferTopK(InferContext& c);
absl::Status InferUnique(InferContext& c);
absl::Status InferNonZero(InferContext& c);
absl::Status InferSoftmaxV1(InferContext& c);
absl::Status InferSoftmax(InferContext& c);
absl::Status InferNegativeLogLikelihoodLoss(InferContext& c);
absl::Status InferSoftmaxCrossEntropyLoss(InferContext& c);

// nn
absl::Status InferConv(InferContext& c);
absl::Status InferConvInteger(InferContext& c);
absl::Status InferQLinearConv(InferContext& c);
absl::Status InferConvTranspose(InferContext& c);
absl::Status InferPool(InferContext& c);
absl::Status InferMaxPool(InferContext& c);
absl::Status InferGlobalPool(InferContext& c);
absl::Status InferMaxUnpool(InferContext& c);
absl::Status InferMaxRoiPool(InferContext& c);
absl::Status InferRoiAlign(InferContext& c);
absl::Status InferBatchNormalization(InferContext& c);
absl::Status InferInstanceNormalization(InferContext& c);
absl::Status InferLayerNormalization(InferContext& c);
absl::Status InferGroupNormalization(InferContext& c);
absl::Status InferMeanVarianceNormalization(InferContext& c);
absl::Status InferDropoutV1(InferContext& c);
absl::Status InferDropout(InferContext& c);
absl::Status InferMatMul(InferContext& c);
absl::Status InferMatMulInteger(InferContext& c);
absl::Status InferQLinearMatMul(InferContext& c);
absl::Status InferGemm(InferContext& c);
absl::Status InferEinsum(InferContext& c);
absl::Status InferDet(InferContext& c);
absl::Status InferRnn(InferContext& c);
absl::Status InferGru(InferContext& c);
absl::Status InferLstm(InferContext& c);
absl::Status InferUpsampleV1(InferContext& c);
absl::Status InferUpsampleV7(InferContext& c);
absl::Status InferUpsample(InferContext& c);
absl::Status InferResize(InferContext& c);
absl::Status InferGridSample(InferContext& c);
absl::Status InferNonMaxSuppression(InferContext& c);

// move
absl::Status InferShape(InferContext& c);
absl::Status InferSize(InferContext& c);
absl::Status InferReshapeV1(InferContext& c);
absl::Status InferReshape(InferContext& c);
absl::Status InferFlatten(InferContext& c);
absl::Status InferSqueezeV1(InferContext& c);
absl::Status InferSqueeze(InferContext& c);
absl::Status InferUnsqueezeV1(InferContext& c);
absl::Status InferUnsqueeze(InferContext& c);
absl::Status InferTranspose(InferContext& c);
absl::Status InferExpand(InferContext& c);
absl::Status InferTileV1(InferContext& c);
absl::Status InferTile(InferContext& c);
absl::Status InferConcat(InferContext& c);
absl::Status InferSplit(InferContext& c);
absl::Status InferSliceV1(InferContext& c);
absl::Status InferSlice(InferContext& c);
absl::Status InferPad(InferContext& c);
absl::Status InferDepthToSpace(InferContext& c);
absl::Status InferSpaceToDepth(InferContext& c);
absl::Status InferReverseSequence(InferContext& c);
absl::Status InferTrilu(InferContext& c);
absl::Status InferGather(InferContext& c);
absl::Status InferGatherElements(InferContext& c);
absl::Status InferGatherND(InferContext& c);
absl::Status InferScatterElements(InferContext& c);
absl::Status InferScatterND(InferContext& c);
absl::Status InferCompress(InferContext& c);
absl::Status InferOneHot(InferContext& c);
absl::Status InferConstant(InferContext& c);
absl::Status InferConstantOfShape(InferContext& c);
absl::Status InferEyeLike(InferContext& c);
absl::Status InferRange(InferContext& c);

// control
absl::Status InferIf(InferContext& c);
absl::Status InferLoop(InferContext& c);
absl::Status InferScanV8(InferContext& c);
absl::Status InferScan(InferContext& c);
absl::Status InferSequenceConstruct(InferContext& c);
absl::Status InferSequenceEmpty(InferContext& c);
absl::Status InferSequenceAt(InferContext& c);
absl::Status InferSequenceInsert(InferContext& c);
absl::Status InferSequenceErase(InferContext& c);
absl::Status InferSequenceLength(InferContext& c);
absl::Status InferSequenceMap(InferContext& c);
absl::Status InferConcatFromSequence(InferContext& c);
absl::Status InferSplitToSequence(InferContext& c);
absl::Status InferOptional(InferContext& c);
absl::Status InferOptionalGetElement(InferContext& c);
absl::Status InferOptionalHasElement(InferContext& c);

// misc
absl::Status InferRandomLike(InferContext& c);
absl::Status InferMultinomial(InferContext& c);
absl::Status InferRandom(InferContext& c);
absl::Status InferDft(InferContext& c);
absl::Status InferStft(InferContext& c);
absl::Status InferWindow(InferContext& c);
absl::Status InferMelWeightMatrix(InferContext& c);
absl::Status InferAdagrad(InferContext& c);
absl::Status InferAdam(InferContext& c);
absl::Status InferMomentum(InferContext& c);
absl::Status InferGradient(InferContext& c);
absl::Status InferQuantizeLinear(InferContext& c);
absl::Status InferDequantizeLinear(InferContext& c);
absl::Status InferDynamicQuantizeLinear(InferContext& c);
absl::Status InferStringNormalizer(InferContext& c);
absl::Status InferTfIdfVectorizer(InferContext& c);

}  // namespace retuple::internal

#endif  // RETUPLE_IR_BRIDGE_INTERNAL_INFER_FNS_H_
