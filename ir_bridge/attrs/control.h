// Attributes of control flow, sequences and optionals.
#ifndef RETUPLE_IR_BRIDGE_ATTRS_CONTROL_H_
#define RETUPLE_IR_BRIDGE_ATTRS_CONTROL_H_

#include "ir_bridge/attrs/reflect.h"

namespace retuple::attrs {

struct IfAttrs {
  Required<GraphPtr> else_branch;
  Required<GraphPtr> then_branch;
};

struct BodyAttrs {
  Required<GraphPtr> body;
};

using LoopAttrs = BodyAttrs;
using SequenceMapAttrs = BodyAttrs;

struct ScanV8Attrs {
  Required<GraphPtr> body;
  std::optional<Ints> directions;
  Required<int64_t> num_scan_inputs;
};

struct ScanAttrs {
  Required<GraphPtr> body;
  Required<int64_t> num_scan_inputs;
  std::optional<Ints> scan_input_axes;
  std::optional<Ints> scan_input_directions;
  std::optional<Ints> scan_output_axes;
  std::optional<Ints> scan_output_directions;
};

struct ConcatFromSequenceAttrs {
  Required<int64_t> axis;
  int64_t new_axis = 0;
};

struct SplitToSequenceAttrs {
  int64_t axis = 0;
  int64_t keepdims = 1;
};

struct SequenceEmptyAttrs {
  std::optional<int64_t> dtype;
};

struct OptionalAttrs {
  std::optional<Type> type;
};

}  // namespace retuple::attrs

BOOST_HANA_ADAPT_STRUCT(retuple::attrs::IfAttrs, else_branch, then_branch);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::BodyAttrs, body);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ScanV8Attrs, body, directions, num_scan_inputs);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ScanAttrs,
                        body, num_scan_inputs, scan_input_axes, scan_input_directions,
                        scan_output_axes, scan_output_directions);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ConcatFromSequenceAttrs, axis, new_axis);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::SplitToSequenceAttrs, axis, keepdims);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::SequenceEmptyAttrs, dtype);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::OptionalAttrs, type);

#endif  // RETUPLE_IR_BRIDGE_ATTRS_CONTROL_H_
