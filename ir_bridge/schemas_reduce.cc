// Reductions, scans and searches along an axis, softmax, losses.
#include <string>

#include "ir_bridge/attrs/reduce.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/register_schemas.h"
#include "ir_bridge/internal/schema_builder.h"

namespace retuple::internal {

using namespace attrs;  // NOLINT: the family's own structs

void RegisterReduceSchemas(Registry& r) {
  for (const char* name : {"ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
                           "ReduceLogSumExp", "ReduceSumSquare"}) {
    Form(r, std::string(name) + "-1", {1, 11, 13})
        .In("data").Out("reduced").Attrs<ReduceV1Attrs>().Infer(InferReduceV1);
    Form(r, name, {18}).In("data axes?").Out("reduced").Attrs<ReduceAttrs>().Infer(InferReduce);
  }
  for (const char* name : {"ReduceMax", "ReduceMin"}) {
    Form(r, std::string(name) + "-1", {1, 11, 12, 13})
        .In("data").Out("reduced").Attrs<ReduceV1Attrs>().Infer(InferReduceV1);
    Form(r, name, {18, 20}).In("data axes?").Out("reduced").Attrs<ReduceAttrs>().Infer(InferReduce);
  }
  Form(r, "ReduceSum-1", {1, 11}).In("data").Out("reduced").Attrs<ReduceV1Attrs>().Infer(InferReduceV1);
  Form(r, "ReduceSum", {13}).In("data axes?").Out("reduced").Attrs<ReduceAttrs>().Infer(InferReduce);
  for (const char* name : {"ArgMax", "ArgMin"}) {
    Form(r, name, {1, 11, 12, 13})
        .In("data").Out("reduced").Attrs<ArgReduceAttrs>().Infer(InferArgReduce);
  }
  Form(r, "CumSum", {11, 14}).In("x axis").Out("y").Attrs<CumSumAttrs>().Infer(InferCumSum);
  Form(r, "TopK-1", {1}).In("X").Out("Values Indices").Attrs<TopKV1Attrs>().Infer(InferTopKV1);
  Form(r, "TopK", {10, 11}).In("X K").Out("Values Indices").Attrs<TopKAttrs>().Infer(InferTopK);
  Form(r, "Unique", {11})
      .In("X").Out("Y indices? inverse_indices? counts?").Attrs<UniqueAttrs>().Infer(InferUnique);
  Form(r, "NonZero", {9, 13}).In("X").Out("Y").Infer(InferNonZero);
  for (const char* name : {"Softmax", "LogSoftmax", "Hardmax"}) {
    Form(r, std::string(name) + "-1", {1, 11})
        .In("input").Out("output").Attrs<SoftmaxV1Attrs>().Infer(InferSoftmaxV1);
    Form(r, name, {13}).In("input").Out("output").Attrs<SoftmaxAttrs>().Infer(InferSoftmax);
  }
  Form(r, "NegativeLogLikelihoodLoss", {12, 13})
      .In("input target weight?").Out("loss")
      .Attrs<NegativeLogLikelihoodLossAttrs>().Infer(InferNegativeLogLikelihoodLoss);
  Form(r, "SoftmaxCrossEntropyLoss", {12, 13})
      .In("scores labels weights?").Out("output log_prob?")
      .Attrs<SoftmaxCrossEntropyLossAttrs>().Infer(InferSoftmaxCrossEntropyLoss);
}

}  // namespace retuple::internal
