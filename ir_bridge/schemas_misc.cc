// Quantisation, random numbers, signal processing, text, and the training domain.
#include "ir_bridge/attrs/misc.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/register_schemas.h"
#include "ir_bridge/internal/schema_builder.h"

namespace retuple::internal {

using namespace attrs;  // NOLINT: the family's own structs

namespace {

void RegisterRandom(Registry& r) {
  Form(r, "Bernoulli", {15})
      .In("input").Out("output").Attrs<BernoulliAttrs>().Infer(InferRandomLike).Random();
  Form(r, "Multinomial", {7})
      .In("input").Out("output").Attrs<MultinomialAttrs>().Infer(InferMultinomial).Random();
  Form(r, "RandomNormal", {1}).Out("output").Attrs<RandomNormalAttrs>().Infer(InferRandom).Random();
  Form(r, "RandomUniform", {1}).Out("output").Attrs<RandomUniformAttrs>().Infer(InferRandom).Random();
  Form(r, "RandomNormalLike", {1})
      .In("input").Out("output").Attrs<RandomNormalLikeAttrs>().Infer(InferRandomLike).Random();
  Form(r, "RandomUniformLike", {1})
      .In("input").Out("output").Attrs<RandomUniformLikeAttrs>().Infer(InferRandomLike).Random();
}

void RegisterSignal(Registry& r) {
  Form(r, "DFT", {17}).In("input dft_length?").Out("output").Attrs<DftAttrs>().Infer(InferDft);
  Form(r, "STFT", {17})
      .In("signal frame_step window? frame_length?").Out("output").Attrs<StftAttrs>().Infer(InferStft);
  for (const char* name : {"BlackmanWindow", "HammingWindow", "HannWindow"}) {
    Form(r, name, {17}).In("size").Out("output").Attrs<WindowAttrs>().Infer(InferWindow);
  }
  Form(r, "MelWeightMatrix", {17})
      .In("num_mel_bins dft_length sample_rate lower_edge_hertz upper_edge_hertz").Out("output")
      .Attrs<MelWeightMatrixAttrs>().Infer(InferMelWeightMatrix);
}

void RegisterTraining(Registry& r) {
  Form(r, "ai.onnx.preview.training::Adagrad", {1})
      .In("R T inputs+").Out("outputs+").Attrs<AdagradAttrs>().Infer(InferAdagrad);
  Form(r, "ai.onnx.preview.training::Adam", {1})
      .In("R T inputs+").Out("outputs+").Attrs<AdamAttrs>().Infer(InferAdam);
  Form(r, "ai.onnx.preview.training::Momentum", {1})
      .In("R T inputs+").Out("outputs+").Attrs<MomentumAttrs>().Infer(InferMomentum);
  Form(r, "ai.onnx.preview.training::Gradient", {1})
      .In("Inputs+").Out("Outputs+").Attrs<GradientAttrs>().Infer(InferGradient);
}

}  // namespace

void RegisterMiscSchemas(Registry& r) {
  Form(r, "QuantizeLinear", {10, 13, 19, 21})
      .In("x y_scale y_zero_point?").Out("y").Attrs<QuantizeLinearAttrs>().Infer(InferQuantizeLinear);
  Form(r, "DequantizeLinear", {10, 13, 19, 21})
      .In("x x_scale x_zero_point?").Out("y")
      .Attrs<DequantizeLinearAttrs>().Infer(InferDequantizeLinear);
  Form(r, "DynamicQuantizeLinear", {11})
      .In("x").Out("y y_scale y_zero_point").Infer(InferDynamicQuantizeLinear);
  RegisterRandom(r);
  RegisterSignal(r);
  Form(r, "StringNormalizer", {10})
      .In("X").Out("Y").Attrs<StringNormalizerAttrs>().Infer(InferStringNormalizer);
  Form(r, "TfIdfVectorizer", {9})
      .In("X").Out("Y").Attrs<TfIdfVectorizerAttrs>().Infer(InferTfIdfVectorizer);
  RegisterTraining(r);
}

}  // namespace retuple::internal
