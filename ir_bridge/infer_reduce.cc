// Inference of reductions, scans and searches along an axis, softmax, losses.
#include <algorithm>
#include <numeric>
#include <string>

#include "ir_bridge/graph.h"
#include "ir_bridge/infer.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/infer_util.h"

namespace retuple::internal {
namespace {

// The shape after reducing `axes` of `in`.
Shape ReducedShape(const Shape& in, const std::vector<int>& axes, bool keepdims) {
  std::vector<bool> reduced(in.size());
  for (int a : axes) reduced[static_cast<size_t>(a)] = true;
  Shape out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!reduced[i]) {
      out.push_back(in[i]);
    } else if (keepdims) {
      out.push_back(1);
    }
  }
  return out;
}

std::vector<int> AllAxes(size_t rank) {
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// The sum or product of a carried vector: the size of something that Shape began.
void CarryReduction(InferContext& c, const std::vector<int>& axes, bool keepdims) {
  const auto e = c.elements(0);
  if (!e || axes.size() != 1) return;
  const std::string& op = c.op().name;
  Dim acc = op == "ReduceProd" ? 1 : 0;
  if (op != "ReduceProd" && op != "ReduceSum") return;
  for (const Dim& d : *e) acc = op == "ReduceProd" ? acc * d : acc + d;
  if (FitsElement(c.dtype(0), acc)) c.set_elements(0, {acc});
}

absl::Status Reduce(InferContext& c, const std::optional<std::vector<int64_t>>& axes,
                    bool keepdims) {
  const Shape* in = c.shape(0);
  if (in == nullptr) {
    c.set_type(0, TensorType(c.dtype(0), axes || keepdims ? std::nullopt : std::optional(Shape{})));
    return absl::OkStatus();
  }
  std::vector<int> which = AllAxes(in->size());
  if (axes) {
    RETUPLE_ASSIGN_OR_RETURN(which, NormalizeAxes(*axes, static_cast<int>(in->size())));
  }
  c.set_type(0, Type::Tensor(c.dtype(0), ReducedShape(*in, which, keepdims)));
  CarryReduction(c, which, keepdims);
  return absl::OkStatus();
}

// TopK along `axis`, keeping k.
absl::Status TopK(InferContext& c, Dim k) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 1));
  std::optional<Shape> shape = ShapeOf(c, 0);
  if (shape) {
    RETUPLE_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", -1),
                                                           static_cast<int>(shape->size())));
    Dim& d = (*shape)[static_cast<size_t>(axis)];
    if (k.known() && (k.value() < 0 || (d.known() && k.value() > d.value()))) {
      return Contradiction("k is %d, but axis %d has size %s", k.value(), axis, d.ToString());
    }
    d = k;
  }
  c.set_type(0, TensorType(c.dtype(0), shape));
  c.set_type(1, TensorType(DType::kI64, shape));
  return absl::OkStatus();
}

// Labels have the shape of scores [N, C, d1 …] without C.
absl::StatusOr<std::optional<Shape>> LossShape(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 1));
  const Shape* scores = c.shape(0);
  const Shape* labels = c.shape(1);
  if (const Shape* w = c.shape(2)) {
    RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 2, 1));
    if (scores != nullptr) RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*scores)[1], (*w)[0], "classes"));
  }
  std::optional<Shape> expected;
  if (scores != nullptr) {
    expected = *scores;
    expected->erase(expected->begin() + 1);
  }
  if (labels != nullptr && expected) {
    if (labels->size() != expected->size()) {
      return Contradiction("labels of shape %s do not fit scores of shape %s",
                           ShapeToString(*labels), ShapeToString(*scores));
    }
    for (size_t i = 0; i < labels->size(); ++i) {
      RETUPLE_RETURN_IF_ERROR(
          ExpectSameDim((*labels)[i], (*expected)[i], "sizes of labels and scores"));
      (*expected)[i] = Better((*expected)[i], (*labels)[i]);
    }
  } else if (labels != nullptr) {
    expected = *labels;
  }
  const std::string reduction = AttrOr<std::string>(c.attrs(), "reduction", "mean");
  if (reduction == "none") return expected;
  if (reduction != "mean" && reduction != "sum") {
    return Contradiction("reduction is '%s', expected none, mean or sum", reduction);
  }
  return std::optional<Shape>(Shape{});
}

}  // namespace

absl::Status InferReduceV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  std::optional<std::vector<int64_t>> axes;
  if (const Ints* a = FindAttr<Ints>(c.attrs(), "axes"); a != nullptr && !a->empty()) axes = *a;
  return Reduce(c, axes, AttrOr<int64_t>(c.attrs(), "keepdims", 1) != 0);
}

absl::Status InferReduce(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 1));
  const bool keepdims = AttrOr<int64_t>(c.attrs(), "keepdims", 1) != 0;
  const bool noop = AttrOr<int64_t>(c.attrs(), "noop_with_empty_axes", 0) != 0;
  const Shape* axes_shape = c.shape(1);
  const bool none = c.input(1) == nullptr ||
                    (axes_shape != nullptr && axes_shape->size() == 1 && (*axes_shape)[0].Is(0));
  if (none) {
    if (!noop) return Reduce(c, std::nullopt, keepdims);
    c.set_type(0, c.type(0));
    return absl::OkStatus();
  }
  if (auto axes = c.ints(1)) {
    return Reduce(c, *axes, keepdims);
  }
  // Which axes go is open: the rank may still be known.
  std::optional<Shape> shape;
  if (const Shape* in = c.shape(0)) {
    if (keepdims) {
      shape = *in;
      for (Dim& d : *shape) d = d.Is(1) ? d : Dim::Fresh();
    } else if (axes_shape != nullptr && axes_shape->size() == 1 && (*axes_shape)[0].known()) {
      const int64_t rank = static_cast<int64_t>(in->size()) - (*axes_shape)[0].value();
      if (rank < 0) return Contradiction("more axes than the rank %d of the input", in->size());
      shape = FreshShape(static_cast<int>(rank));
    }
  }
  c.set_type(0, TensorType(c.dtype(0), shape));
  return absl::OkStatus();
}

absl::Status InferArgReduce(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  std::optional<Shape> shape;
  if (const Shape* in = c.shape(0)) {
    RETUPLE_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", 0),
                                                           static_cast<int>(in->size())));
    shape = ReducedShape(*in, {axis}, AttrOr<int64_t>(c.attrs(), "keepdims", 1) != 0);
  }
  c.set_type(0, TensorType(DType::kI64, shape));
  return absl::OkStatus();
}

absl::Status InferCumSum(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 1));
  if (const auto axis = c.ints(1); axis && axis->size() == 1 && c.shape(0) != nullptr) {
    RETUPLE_RETURN_IF_ERROR(
        NormalizeAxis((*axis)[0], static_cast<int>(c.shape(0)->size())).status());
  }
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferTopKV1(InferContext& c) { return TopK(c, AttrOr<int64_t>(c.attrs(), "k", 0)); }

absl::Status InferTopK(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kI64));
  const auto k = c.elements(1);
  if (k && k->size() != 1) return Contradiction("K has %d elements, expected 1", k->size());
  return TopK(c, k ? (*k)[0] : Dim::Fresh());
}

absl::Status InferUnique(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  const Dim count = Dim::Fresh();
  std::optional<Shape> shape = Shape{count};
  Dim all = Dim::Fresh();
  if (const int64_t* axis = FindAttr<int64_t>(c.attrs(), "axis")) {
    shape = ShapeOf(c, 0);
    if (shape) {
      RETUPLE_ASSIGN_OR_RETURN(const int a, NormalizeAxis(*axis, static_cast<int>(shape->size())));
      all = (*shape)[static_cast<size_t>(a)];
      (*shape)[static_cast<size_t>(a)] = count;
    }
  } else if (const Shape* in = c.shape(0)) {
    all = ProductOf(*in);
  }
  c.set_type(0, TensorType(c.dtype(0), shape));
  c.set_type(1, Type::Tensor(DType::kI64, {count}));
  c.set_type(2, Type::Tensor(DType::kI64, {all}));
  c.set_type(3, Type::Tensor(DType::kI64, {count}));
  return absl::OkStatus();
}

absl::Status InferNonZero(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  const Shape* in = c.shape(0);
  const Dim rank = in ? Dim(static_cast<int64_t>(in->size())) : Dim::Fresh();
  c.set_type(0, Type::Tensor(DType::kI64, {rank, Dim::Fresh()}));
  return absl::OkStatus();
}

absl::Status InferSoftmaxV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  if (const Shape* in = c.shape(0)) {  // the axis may be the rank itself: all dimensions lead
    const int64_t rank = static_cast<int64_t>(in->size());
    const int64_t axis = AttrOr<int64_t>(c.attrs(), "axis", 1);
    if (axis < -rank || axis > rank)
      return Contradiction("axis %d is out of range for rank %d", axis, rank);
  }
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferSoftmax(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  if (const Shape* in = c.shape(0); in != nullptr && !in->empty()) {
    RETUPLE_RETURN_IF_ERROR(
        NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", -1), static_cast<int>(in->size()))
            .status());
  }
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferNegativeLogLikelihoodLoss(InferContext& c) {
  RETUPLE_ASSIGN_OR_RETURN(std::optional<Shape> shape, LossShape(c));
  c.set_type(0, TensorType(c.dtype(0), std::move(shape)));
  return absl::OkStatus();
}

absl::Status InferSoftmaxCrossEntropyLoss(InferContext& c) {
  RETUPLE_ASSIGN_OR_RETURN(std::optional<Shape> shape, LossShape(c));
  c.set_type(0, TensorType(c.dtype(0), std::move(shape)));
  c.set_type(1, c.type(0));
  return absl::OkStatus();
}

}  // namespace retuple::internal
