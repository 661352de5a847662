// Attributes of the operators that move, select or make elements without computing on them.
#ifndef RETUPLE_IR_BRIDGE_ATTRS_MOVE_H_
#define RETUPLE_IR_BRIDGE_ATTRS_MOVE_H_

#include "ir_bridge/attrs/reflect.h"

namespace retuple::attrs {

struct ReshapeV1Attrs {
  std::optional<Ints> shape;
};

struct ReshapeAttrs {
  int64_t allowzero = 0;
};

struct FlattenAttrs {
  int64_t axis = 1;
};

struct AxesV1Attrs {
  std::optional<Ints> axes;
};

using SqueezeV1Attrs = AxesV1Attrs;

struct UnsqueezeV1Attrs {
  Required<Ints> axes;
};

struct ConcatV1Attrs {
  int64_t axis = 1;
};

struct ConcatAttrs {
  Required<int64_t> axis;
};

struct SplitV1Attrs {
  int64_t axis = 0;
  std::optional<Ints> split;
};

using SplitV2Attrs = SplitV1Attrs;

// num_outputs: opset 18
struct SplitAttrs {
  int64_t axis = 0;
  std::optional<int64_t> num_outputs;
};

struct SliceV1Attrs {
  std::optional<Ints> axes;
  Required<Ints> ends;
  Required<Ints> starts;
};

struct PadV1Attrs {
  std::string mode = "constant";
  Required<Ints> paddings;
  float value = 0.0f;
};

struct PadV2Attrs {
  std::string mode = "constant";
  Required<Ints> pads;
  float value = 0.0f;
};

struct PadAttrs {
  std::string mode = "constant";
};

struct TransposeAttrs {
  std::optional<Ints> perm;
};

struct AxisAttrs {
  int64_t axis = 0;
};

using GatherAttrs = AxisAttrs;
using GatherElementsAttrs = AxisAttrs;
using ScatterAttrs = AxisAttrs;

struct ScatterElementsAttrs {
  int64_t axis = 0;
  std::string reduction = "none";
};

struct ScatterNDAttrs {
  std::string reduction = "none";
};

struct GatherNDAttrs {
  int64_t batch_dims = 0;
};

struct CompressAttrs {
  std::optional<int64_t> axis;
};

struct OneHotAttrs {
  int64_t axis = -1;
};

struct DepthToSpaceAttrs {
  Required<int64_t> blocksize;
  std::string mode = "DCR";
};

struct SpaceToDepthAttrs {
  Required<int64_t> blocksize;
};

struct ReverseSequenceAttrs {
  int64_t batch_axis = 1;
  int64_t time_axis = 0;
};

struct TriluAttrs {
  int64_t upper = 1;
};

struct EyeLikeAttrs {
  std::optional<int64_t> dtype;
  int64_t k = 0;
};

struct ShapeAttrs {
  std::optional<int64_t> end;
  int64_t start = 0;
};

// exactly one is given; importers densify sparse_value
struct ConstantAttrs {
  std::optional<Tensor> value;
  std::optional<float> value_float;
  std::optional<Floats> value_floats;
  std::optional<int64_t> value_int;
  std::optional<Ints> value_ints;
  std::optional<std::string> value_string;
  std::optional<Strings> value_strings;
};

struct ConstantOfShapeAttrs {
  std::optional<Tensor> value;
};

}  // namespace retuple::attrs

BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ReshapeV1Attrs, shape);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ReshapeAttrs, allowzero);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::FlattenAttrs, axis);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::AxesV1Attrs, axes);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::UnsqueezeV1Attrs, axes);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ConcatV1Attrs, axis);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ConcatAttrs, axis);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::SplitV1Attrs, axis, split);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::SplitAttrs, axis, num_outputs);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::SliceV1Attrs, axes, ends, starts);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::PadV1Attrs, mode, paddings, value);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::PadV2Attrs, mode, pads, value);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::PadAttrs, mode);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::TransposeAttrs, perm);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::AxisAttrs, axis);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ScatterElementsAttrs, axis, reduction);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ScatterNDAttrs, reduction);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GatherNDAttrs, batch_dims);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::CompressAttrs, axis);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::OneHotAttrs, axis);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::DepthToSpaceAttrs, blocksize, mode);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::SpaceToDepthAttrs, blocksize);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ReverseSequenceAttrs, batch_axis, time_axis);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::TriluAttrs, upper);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::EyeLikeAttrs, dtype, k);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ShapeAttrs, end, start);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ConstantAttrs,
                        value, value_float, value_floats, value_int, value_ints, value_string,
                        value_strings);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ConstantOfShapeAttrs, value);

#endif  // RETUPLE_IR_BRIDGE_ATTRS_MOVE_H_
