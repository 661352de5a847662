// Element-wise operators: arithmetic, logic, comparison, bits, activations, casts.
#include "ir_bridge/attrs/math.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/register_schemas.h"
#include "ir_bridge/internal/schema_builder.h"

namespace retuple::internal {

using namespace attrs;  // NOLINT: the family's own structs

namespace {

void RegisterUnary(Registry& r) {
  for (const char* name : {"Abs", "Ceil", "Floor", "Neg", "Reciprocal", "Sqrt"}) {
    Form(r, name, {1, 6, 13}).In("X").Out("Y").Infer(InferUnary);
  }
  for (const char* name : {"Exp", "Log", "Tanh"}) {
    Form(r, name, {1, 6, 13}).In("input").Out("output").Infer(InferUnary);
  }
  for (const char* name : {"Acos", "Asin", "Atan", "Cos", "Sin", "Tan"}) {
    Form(r, name, {7}).In("input").Out("output").Infer(InferUnary);
  }
  for (const char* name : {"Acosh", "Asinh", "Atanh", "Cosh", "Sinh"}) {
    Form(r, name, {9}).In("input").Out("output").Infer(InferUnary);
  }
  for (const char* name : {"Erf", "Sign"}) {
    Form(r, name, {9, 13}).In("input").Out("output").Infer(InferUnary);
  }
  Form(r, "Round", {11}).In("X").Out("Y").Infer(InferUnary);
  Form(r, "Identity", {1, 13, 14, 16}).In("input").Out("output").Infer(InferIdentity);
  Form(r, "Not", {1}).In("X").Out("Y").Infer(InferNot);
  Form(r, "BitwiseNot", {18}).In("X").Out("Y").Infer(InferUnary);
  Form(r, "IsNaN", {9, 13}).In("X").Out("Y").Infer(InferPredicate);
  Form(r, "IsInf", {10}).In("X").Out("Y").Attrs<IsInfAttrs>().Infer(InferPredicate);
}

void RegisterActivations(Registry& r) {
  Form(r, "Relu", {1, 6, 13, 14}).In("X").Out("Y").Infer(InferUnary);
  Form(r, "Sigmoid", {1, 6, 13}).In("X").Out("Y").Infer(InferUnary);
  Form(r, "Softplus", {1}).In("X").Out("Y").Infer(InferUnary);
  Form(r, "Softsign", {1}).In("input").Out("output").Infer(InferUnary);
  Form(r, "HardSwish", {14}).In("X").Out("Y").Infer(InferUnary);
  Form(r, "Mish", {18}).In("X").Out("Y").Infer(InferUnary);
  Form(r, "Elu", {1, 6}).In("X").Out("Y").Attrs<EluAttrs>().Infer(InferUnary);
  Form(r, "Celu", {12}).In("X").Out("Y").Attrs<CeluAttrs>().Infer(InferUnary);
  Form(r, "ThresholdedRelu", {10}).In("X").Out("Y").Attrs<ThresholdedReluAttrs>().Infer(InferUnary);
  Form(r, "LeakyRelu", {1, 6, 16}).In("X").Out("Y").Attrs<LeakyReluAttrs>().Infer(InferUnary);
  Form(r, "HardSigmoid", {1, 6}).In("X").Out("Y").Attrs<HardSigmoidAttrs>().Infer(InferUnary);
  Form(r, "Selu", {1, 6}).In("X").Out("Y").Attrs<SeluAttrs>().Infer(InferUnary);
  Form(r, "Gelu", {20}).In("X").Out("Y").Attrs<GeluAttrs>().Infer(InferUnary);
  Form(r, "Shrink", {9}).In("input").Out("output").Attrs<ShrinkAttrs>().Infer(InferUnary);
  Form(r, "Clip-1", {1, 6}).In("input").Out("output").Attrs<ClipV1Attrs>().Infer(InferUnary);
  Form(r, "Clip", {11, 12, 13}).In("input min? max?").Out("output").Infer(InferClip);
  Form(r, "PRelu-1", {1, 6}).In("X slope").Out("Y").Infer(InferPReluV1);
  Form(r, "PRelu", {7, 9, 16}).In("X slope").Out("Y").Infer(InferPRelu);
}

void RegisterArithmetic(Registry& r) {
  for (const char* name : {"Add-1", "Sub-1", "Mul-1", "Div-1"}) {
    Form(r, name, {1, 6}).In("A B").Out("C").Attrs<LegacyAttrs>().Infer(InferBinaryV1);
  }
  Form(r, "Add", {7, 13, 14}).In("A B").Out("C").Infer(InferBinary).Commutative().Associative().Unit(0);
  Form(r, "Sub", {7, 13, 14}).In("A B").Out("C").Infer(InferBinary);
  Form(r, "Mul", {7, 13, 14})
      .In("A B").Out("C").Infer(InferBinary).Commutative().Associative().Unit(1).Zero(0);
  Form(r, "Div", {7, 13, 14}).In("A B").Out("C").Infer(InferBinary);
  Form(r, "Pow-1", {1}).In("X Y").Out("Z").Attrs<LegacyAttrs>().Infer(InferBinaryV1);
  Form(r, "Pow", {7, 12, 13, 15}).In("X Y").Out("Z").Infer(InferPow);
  Form(r, "Mod", {10, 13}).In("A B").Out("C").Attrs<ModAttrs>().Infer(InferBinary);
  Form(r, "BitShift", {11}).In("X Y").Out("Z").Attrs<BitShiftAttrs>().Infer(InferBinary);
  Form(r, "Sum", {1, 6, 8, 13})
      .In("data_0+").Out("sum").Infer(InferVariadic).Commutative().Associative().Unit(0);
  Form(r, "Mean", {1, 6, 8, 13}).In("data_0+").Out("mean").Infer(InferVariadic).Commutative();
  Form(r, "Max", {1, 6, 8, 12, 13})
      .In("data_0+").Out("max").Infer(InferVariadic).Commutative().Associative();
  Form(r, "Min", {1, 6, 8, 12, 13})
      .In("data_0+").Out("min").Infer(InferVariadic).Commutative().Associative();
}

void RegisterLogic(Registry& r) {
  for (const char* name : {"And-1", "Or-1", "Xor-1"}) {
    Form(r, name, {1}).In("A B").Out("C").Attrs<LegacyAttrs>().Infer(InferLogicalV1);
  }
  for (const char* name : {"Equal-1", "Greater-1", "Less-1"}) {
    Form(r, name, {1}).In("A B").Out("C").Attrs<LegacyAttrs>().Infer(InferCompareV1);
  }
  Form(r, "And", {7}).In("A B").Out("C").Infer(InferLogical).Commutative().Associative().Unit(1).Zero(0);
  Form(r, "Or", {7}).In("A B").Out("C").Infer(InferLogical).Commutative().Associative().Unit(0).Zero(1);
  Form(r, "Xor", {7}).In("A B").Out("C").Infer(InferLogical).Commutative().Associative().Unit(0);
  Form(r, "BitwiseAnd", {18}).In("A B").Out("C").Infer(InferBinary).Commutative().Associative().Zero(0);
  Form(r, "BitwiseOr", {18}).In("A B").Out("C").Infer(InferBinary).Commutative().Associative().Unit(0);
  Form(r, "BitwiseXor", {18}).In("A B").Out("C").Infer(InferBinary).Commutative().Associative().Unit(0);
  Form(r, "Equal", {7, 11, 13, 19}).In("A B").Out("C").Infer(InferCompare).Commutative();
  Form(r, "Greater", {7, 9, 13}).In("A B").Out("C").Infer(InferCompare);
  Form(r, "Less", {7, 9, 13}).In("A B").Out("C").Infer(InferCompare);
  Form(r, "GreaterOrEqual", {12, 16}).In("A B").Out("C").Infer(InferCompare);
  Form(r, "LessOrEqual", {12, 16}).In("A B").Out("C").Infer(InferCompare);
  Form(r, "Where", {9, 16}).In("condition X Y").Out("output").Infer(InferWhere);
}

}  // namespace

void RegisterMathSchemas(Registry& r) {
  RegisterUnary(r);
  RegisterActivations(r);
  RegisterArithmetic(r);
  RegisterLogic(r);
  Form(r, "Cast-1", {1}).In("input").Out("output").Attrs<CastV1Attrs>().Infer(InferCastV1);
  Form(r, "Cast", {6, 9, 13, 19, 21}).In("input").Out("output").Attrs<CastAttrs>().Infer(InferCast);
  Form(r, "CastLike", {15}).In("input target_type").Out("output").Infer(InferCastLike);
}

}  // namespace retuple::internal
