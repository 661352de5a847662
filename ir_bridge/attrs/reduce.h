// Attributes of reductions and of the operators that scan or search along an axis.
#ifndef RETUPLE_IR_BRIDGE_ATTRS_REDUCE_H_
#define RETUPLE_IR_BRIDGE_ATTRS_REDUCE_H_

#include "ir_bridge/attrs/reflect.h"

namespace retuple::attrs {

struct ReduceV1Attrs {
  std::optional<Ints> axes;
  int64_t keepdims = 1;
};

struct ReduceAttrs {
  int64_t keepdims = 1;
  int64_t noop_with_empty_axes = 0;
};

struct ArgReduceAttrs {
  int64_t axis = 0;
  int64_t keepdims = 1;
  int64_t select_last_index = 0;
};

using ArgMaxAttrs = ArgReduceAttrs;
using ArgMinAttrs = ArgReduceAttrs;

struct CumSumAttrs {
  int64_t exclusive = 0;
  int64_t reverse = 0;
};

struct TopKV1Attrs {
  int64_t axis = -1;
  Required<int64_t> k;
};

struct TopKAttrs {
  int64_t axis = -1;
  int64_t largest = 1;
  int64_t sorted = 1;
};

// flattens to 2-D at `axis`
struct SoftmaxV1Attrs {
  int64_t axis = 1;
};

using LogSoftmaxV1Attrs = SoftmaxV1Attrs;
using HardmaxV1Attrs = SoftmaxV1Attrs;

struct SoftmaxAttrs {
  int64_t axis = -1;
};

using LogSoftmaxAttrs = SoftmaxAttrs;
using HardmaxAttrs = SoftmaxAttrs;

struct UniqueAttrs {
  std::optional<int64_t> axis;
  int64_t sorted = 1;
};

struct NegativeLogLikelihoodLossAttrs {
  std::optional<int64_t> ignore_index;
  std::string reduction = "mean";
};

using SoftmaxCrossEntropyLossAttrs = NegativeLogLikelihoodLossAttrs;

}  // namespace retuple::attrs

BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ReduceV1Attrs, axes, keepdims);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ReduceAttrs, keepdims, noop_with_empty_axes);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ArgReduceAttrs, axis, keepdims, select_last_index);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::CumSumAttrs, exclusive, reverse);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::TopKV1Attrs, axis, k);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::TopKAttrs, axis, largest, sorted);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::SoftmaxV1Attrs, axis);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::SoftmaxAttrs, axis);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::UniqueAttrs, axis, sorted);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::NegativeLogLikelihoodLossAttrs, ignore_index, reduction);

#endif  // RETUPLE_IR_BRIDGE_ATTRS_REDUCE_H_
