// Convolution, pooling, normalisation, matrix products, recurrent layers, resampling of images.
#include <string>

#include "ir_bridge/attrs/nn.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/register_schemas.h"
#include "ir_bridge/internal/schema_builder.h"

namespace retuple::internal {

using namespace attrs;  // NOLINT: the family's own structs

namespace {

void RegisterConvolution(Registry& r) {
  Form(r, "Conv", {1, 11}).In("X W B?").Out("Y").Attrs<ConvAttrs>().Infer(InferConv);
  Form(r, "ConvInteger", {10})
      .In("x w x_zero_point? w_zero_point?").Out("y").Attrs<ConvIntegerAttrs>().Infer(InferConvInteger);
  Form(r, "QLinearConv", {10})
      .In("x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B?").Out("y")
      .Attrs<QLinearConvAttrs>().Infer(InferQLinearConv);
  Form(r, "ConvTranspose", {1, 11})
      .In("X W B?").Out("Y").Attrs<ConvTransposeAttrs>().Infer(InferConvTranspose);
}

void RegisterPooling(Registry& r) {
  Form(r, "AveragePool", {1, 7, 10, 11, 19})
      .In("X").Out("Y").Attrs<AveragePoolAttrs>().Infer(InferPool);
  Form(r, "MaxPool", {1, 8, 10, 11, 12})
      .In("X").Out("Y Indices?").Attrs<MaxPoolAttrs>().Infer(InferMaxPool);
  Form(r, "LpPool-1", {1}).In("X").Out("Y").Attrs<LpPoolV1Attrs>().Infer(InferPool);
  Form(r, "LpPool", {2, 11, 18}).In("X").Out("Y").Attrs<LpPoolAttrs>().Infer(InferPool);
  Form(r, "GlobalAveragePool", {1}).In("X").Out("Y").Infer(InferGlobalPool);
  Form(r, "GlobalMaxPool", {1}).In("X").Out("Y").Infer(InferGlobalPool);
  Form(r, "GlobalLpPool-1", {1}).In("X").Out("Y").Attrs<GlobalLpPoolV1Attrs>().Infer(InferGlobalPool);
  Form(r, "GlobalLpPool", {2}).In("X").Out("Y").Attrs<GlobalLpPoolAttrs>().Infer(InferGlobalPool);
  Form(r, "MaxUnpool", {9, 11})
      .In("X I output_shape?").Out("output").Attrs<MaxUnpoolAttrs>().Infer(InferMaxUnpool);
  Form(r, "MaxRoiPool", {1}).In("X rois").Out("Y").Attrs<MaxRoiPoolAttrs>().Infer(InferMaxRoiPool);
  Form(r, "RoiAlign-10", {10})
      .In("X rois batch_indices").Out("Y").Attrs<RoiAlignV10Attrs>().Infer(InferRoiAlign);
  Form(r, "RoiAlign", {16})
      .In("X rois batch_indices").Out("Y").Attrs<RoiAlignAttrs>().Infer(InferRoiAlign);
}

void RegisterNormalization(Registry& r) {
  constexpr const char* kFiveOutputs = "Y mean? var? saved_mean? saved_var?";
  Form(r, "BatchNormalization-1", {1, 6})
      .In("X scale B mean var").Out(kFiveOutputs)
      .Attrs<BatchNormalizationV1Attrs>().Infer(InferBatchNormalization);
  Form(r, "BatchNormalization-7", {7})
      .In("X scale B mean var").Out(kFiveOutputs)
      .Attrs<BatchNormalizationV7Attrs>().Infer(InferBatchNormalization);
  Form(r, "BatchNormalization-9", {9})
      .In("X scale B mean var").Out(kFiveOutputs)
      .Attrs<BatchNormalizationV9Attrs>().Infer(InferBatchNormalization);
  Form(r, "BatchNormalization", {14, 15})
      .In("X scale B input_mean input_var").Out("Y running_mean? running_var?")
      .Attrs<BatchNormalizationAttrs>().Infer(InferBatchNormalization);
  Form(r, "InstanceNormalization", {1, 6})
      .In("input scale B").Out("output")
      .Attrs<InstanceNormalizationAttrs>().Infer(InferInstanceNormalization);
  Form(r, "LayerNormalization", {17})
      .In("X Scale B?").Out("Y Mean? InvStdDev?")
      .Attrs<LayerNormalizationAttrs>().Infer(InferLayerNormalization);
  Form(r, "GroupNormalization-18", {18})
      .In("X scale bias").Out("Y").Attrs<GroupNormalizationV18Attrs>().Infer(InferGroupNormalization);
  Form(r, "GroupNormalization", {21})
      .In("X scale bias").Out("Y").Attrs<GroupNormalizationAttrs>().Infer(InferGroupNormalization);
  Form(r, "MeanVarianceNormalization", {9, 13})
      .In("X").Out("Y").Attrs<MeanVarianceNormalizationAttrs>().Infer(InferMeanVarianceNormalization);
  Form(r, "LpNormalization", {1})
      .In("input").Out("output").Attrs<LpNormalizationAttrs>().Infer(InferSoftmax);
  Form(r, "LRN", {1, 13}).In("X").Out("Y").Attrs<LrnAttrs>().Infer(InferUnary);
  Form(r, "Dropout-1", {1, 6})
      .In("data").Out("output mask?").Attrs<DropoutV1Attrs>().Infer(InferDropoutV1);
  Form(r, "Dropout-7", {7, 10})
      .In("data").Out("output mask?").Attrs<DropoutV7Attrs>().Infer(InferDropout);
  Form(r, "Dropout", {12, 13})
      .In("data ratio? training_mode?").Out("output mask?").Attrs<DropoutAttrs>().Infer(InferDropout);
}

void RegisterProducts(Registry& r) {
  Form(r, "MatMul", {1, 9, 13}).In("A B").Out("Y").Infer(InferMatMul);
  Form(r, "MatMulInteger", {10})
      .In("A B a_zero_point? b_zero_point?").Out("Y").Infer(InferMatMulInteger);
  Form(r, "QLinearMatMul", {10})
      .In("a a_scale a_zero_point b b_scale b_zero_point y_scale y_zero_point").Out("y")
      .Infer(InferQLinearMatMul);
  Form(r, "Gemm-1", {1, 6}).In("A B C").Out("Y").Attrs<GemmV1Attrs>().Infer(InferGemm);
  Form(r, "Gemm", {7, 9, 11, 13}).In("A B C?").Out("Y").Attrs<GemmAttrs>().Infer(InferGemm);
  Form(r, "Einsum", {12}).In("Inputs+").Out("Output").Attrs<EinsumAttrs>().Infer(InferEinsum);
  Form(r, "Det", {11}).In("X").Out("Y").Infer(InferDet);
}

void RegisterRecurrent(Registry& r) {
  constexpr const char* kSix = "X W R B? sequence_lens? initial_h?";
  constexpr const char* kEight = "X W R B? sequence_lens? initial_h? initial_c? P?";
  Form(r, "RNN-1", {1}).In(kSix).Out("Y? Y_h?").Attrs<RnnV1Attrs>().Infer(InferRnn);
  Form(r, "RNN", {7, 14}).In(kSix).Out("Y? Y_h?").Attrs<RnnAttrs>().Infer(InferRnn);
  Form(r, "GRU-1", {1, 3}).In(kSix).Out("Y? Y_h?").Attrs<GruV1Attrs>().Infer(InferGru);
  Form(r, "GRU", {7, 14}).In(kSix).Out("Y? Y_h?").Attrs<GruAttrs>().Infer(InferGru);
  Form(r, "LSTM-1", {1}).In(kEight).Out("Y? Y_h? Y_c?").Attrs<LstmV1Attrs>().Infer(InferLstm);
  Form(r, "LSTM", {7, 14}).In(kEight).Out("Y? Y_h? Y_c?").Attrs<LstmAttrs>().Infer(InferLstm);
}

void RegisterResampling(Registry& r) {
  Form(r, "Upsample-1", {1}).In("X").Out("Y").Attrs<UpsampleV1Attrs>().Infer(InferUpsampleV1);
  Form(r, "Upsample-7", {7}).In("X").Out("Y").Attrs<UpsampleV7Attrs>().Infer(InferUpsampleV7);
  Form(r, "Upsample", {9}).In("X scales").Out("Y").Attrs<UpsampleAttrs>().Infer(InferUpsample);
  Form(r, "Resize-10", {10}).In("X scales").Out("Y").Attrs<ResizeV10Attrs>().Infer(InferUpsample);
  Form(r, "Resize", {11, 13, 18, 19})
      .In("X roi? scales? sizes?").Out("Y").Attrs<ResizeAttrs>().Infer(InferResize);
  Form(r, "GridSample", {16}).In("X grid").Out("Y").Attrs<GridSampleAttrs>().Infer(InferGridSample);
  Form(r, "NonMaxSuppression", {10, 11})
      .In("boxes scores max_output_boxes_per_class? iou_threshold? score_threshold?")
      .Out("selected_indices").Attrs<NonMaxSuppressionAttrs>().Infer(InferNonMaxSuppression);
}

}  // namespace

void RegisterNnSchemas(Registry& r) {
  RegisterConvolution(r);
  RegisterPooling(r);
  RegisterNormalization(r);
  RegisterProducts(r);
  RegisterRecurrent(r);
  RegisterResampling(r);
}

}  // namespace retuple::internal
