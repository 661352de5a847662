// Attributes of the element-wise operators: arithmetic, logic, comparison, activations.
#ifndef RETUPLE_IR_BRIDGE_ATTRS_MATH_H_
#define RETUPLE_IR_BRIDGE_ATTRS_MATH_H_

#include "ir_bridge/attrs/reflect.h"

namespace retuple::attrs {

// the binary operators before opset 7: B is aligned at `axis` of A
struct LegacyAttrs {
  std::optional<int64_t> axis;
  int64_t broadcast = 0;
};

using AddV1Attrs = LegacyAttrs;
using SubV1Attrs = LegacyAttrs;
using MulV1Attrs = LegacyAttrs;
using DivV1Attrs = LegacyAttrs;
using PowV1Attrs = LegacyAttrs;
using AndV1Attrs = LegacyAttrs;
using OrV1Attrs = LegacyAttrs;
using XorV1Attrs = LegacyAttrs;
using EqualV1Attrs = LegacyAttrs;
using GreaterV1Attrs = LegacyAttrs;
using LessV1Attrs = LegacyAttrs;

struct AlphaAttrs {
  float alpha = 1.0f;
};

using EluAttrs = AlphaAttrs;
using CeluAttrs = AlphaAttrs;
using ThresholdedReluAttrs = AlphaAttrs;

struct LeakyReluAttrs {
  float alpha = 0.01f;
};

struct HardSigmoidAttrs {
  float alpha = 0.2f;
  float beta = 0.5f;
};

struct SeluAttrs {
  float alpha = 1.67326319217681884765625f;
  float gamma = 1.05070102214813232421875f;
};

struct ShrinkAttrs {
  float bias = 0.0f;
  float lambd = 0.5f;
};

struct GeluAttrs {
  std::string approximate = "none";
};

struct ClipV1Attrs {
  float max = 3.402823466e+38f;
  float min = -3.402823466e+38f;
};

struct CastV1Attrs {
  Required<std::string> to;
};

// saturate: 8-bit floats, opset 19
struct CastAttrs {
  int64_t saturate = 1;
  Required<int64_t> to;
};

struct BitShiftAttrs {
  Required<std::string> direction;
};

struct ModAttrs {
  int64_t fmod = 0;
};

struct IsInfAttrs {
  int64_t detect_negative = 1;
  int64_t detect_positive = 1;
};

}  // namespace retuple::attrs

BOOST_HANA_ADAPT_STRUCT(retuple::attrs::LegacyAttrs, axis, broadcast);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::AlphaAttrs, alpha);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::LeakyReluAttrs, alpha);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::HardSigmoidAttrs, alpha, beta);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::SeluAttrs, alpha, gamma);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ShrinkAttrs, bias, lambd);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GeluAttrs, approximate);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ClipV1Attrs, max, min);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::CastV1Attrs, to);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::CastAttrs, saturate, to);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::BitShiftAttrs, direction);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ModAttrs, fmod);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::IsInfAttrs, detect_negative, detect_positive);

#endif  // RETUPLE_IR_BRIDGE_ATTRS_MATH_H_
