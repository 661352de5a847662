// Inference of quantisation, random numbers, signal processing, text, and the training domain.
#include <algorithm>
#include <string>

#include "ir_bridge/graph.h"
#include "ir_bridge/infer.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/infer_util.h"

namespace retuple::internal {
namespace {

absl::StatusOr<DType> AttrDType(const InferContext& c, const char* name, DType fallback) {
  const int64_t* t = FindAttr<int64_t>(c.attrs(), name);
  if (t == nullptr) return fallback;
  return DTypeFromAttr(*t, name);
}

// A size given by a scalar operand.
absl::StatusOr<Dim> ScalarSize(const InferContext& c, int i) {
  const auto e = c.elements(i);
  if (!e) return Dim::Fresh();
  if (e->size() != 1) return Contradiction("input %d has %d elements, expected 1", i, e->size());
  if ((*e)[0].known() && (*e)[0].value() < 0)
    return Contradiction("input %d is %d", i, (*e)[0].value());
  return (*e)[0];
}

// Optimisers: inputs R, T, then `in` groups of n tensors; output group k has the types of input
// group from[k].
absl::Status InferOptimizer(InferContext& c, int in, std::initializer_list<int> from) {
  const int tensors = c.num_inputs() - 2;
  if (tensors < in || tensors % in != 0) {
    return Contradiction("%d inputs after R and T, expected a multiple of %d", tensors, in);
  }
  const int n = tensors / in;
  if (c.num_outputs() != n * static_cast<int>(from.size())) {
    return Contradiction("%d outputs for %d optimised tensors", c.num_outputs(), n);
  }
  int out = 0;
  for (int group : from) {
    for (int i = 0; i < n; ++i) c.set_type(out++, c.type(2 + group * n + i));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InferQuantizeLinear(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  DType dtype = c.input(2) != nullptr ? c.dtype(2) : DType::kU8;
  if (const int64_t t = AttrOr<int64_t>(c.attrs(), "output_dtype", 0); t != 0) {
    RETUPLE_ASSIGN_OR_RETURN(dtype, DTypeFromAttr(t, "output_dtype"));
  }
  SetLike(c, 0, dtype, 0);
  return absl::OkStatus();
}

absl::Status InferDequantizeLinear(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  SetLike(c, 0, c.dtype(1) == DType::kUndefined ? DType::kF32 : c.dtype(1), 0);
  return absl::OkStatus();
}

absl::Status InferDynamicQuantizeLinear(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  SetLike(c, 0, DType::kU8, 0);
  c.set_type(1, Type::Tensor(DType::kF32, Shape{}));
  c.set_type(2, Type::Tensor(DType::kU8, Shape{}));
  return absl::OkStatus();
}

absl::Status InferRandom(InferContext& c) {
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, AttrDType(c, "dtype", DType::kF32));
  const Ints shape = AttrOr<Ints>(c.attrs(), "shape", {});
  for (int64_t d : shape) {
    if (d < 0) return Contradiction("shape has the entry %d", d);
  }
  c.set_type(0, Type::Tensor(dtype, Shape(shape.begin(), shape.end())));
  return absl::OkStatus();
}

absl::Status InferRandomLike(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, AttrDType(c, "dtype", c.dtype(0)));
  SetLike(c, 0, dtype, 0);
  return absl::OkStatus();
}

absl::Status InferMultinomial(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 0, 2));
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, AttrDType(c, "dtype", DType::kI32));
  const int64_t samples = AttrOr<int64_t>(c.attrs(), "sample_size", 1);
  if (samples < 0) return Contradiction("sample_size is %d", samples);
  const Shape* in = c.shape(0);
  c.set_type(0, Type::Tensor(dtype, {in ? (*in)[0] : Dim::Fresh(), samples}));
  return absl::OkStatus();
}

// [batch, d1 …, 1 or 2] → complex numbers in a last axis of 2; half the frequencies when onesided.
absl::Status InferDft(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 2));
  std::optional<Shape> out = ShapeOf(c, 0);
  if (out) {
    RETUPLE_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", 1),
                                                           static_cast<int>(out->size())));
    if (axis == static_cast<int>(out->size()) - 1)
      return Contradiction("axis %d holds the complex parts", axis);
    const bool onesided = AttrOr<int64_t>(c.attrs(), "onesided", 0) != 0;
    if (onesided && AttrOr<int64_t>(c.attrs(), "inverse", 0) != 0) {
      return Contradiction("onesided and inverse exclude each other");
    }
    const Dim last = out->back();
    if (last.known() && !last.Is(1) && !last.Is(2)) {
      return Contradiction("last axis has size %d, expected 1 or 2", last.value());
    }
    Dim& n = (*out)[static_cast<size_t>(axis)];
    if (c.input(1) != nullptr) {
      RETUPLE_ASSIGN_OR_RETURN(n, ScalarSize(c, 1));
    }
    if (onesided) n = FloorDiv(n, 2) + 1;
    out->back() = 2;
  }
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

// signal: [batch, length, 1 or 2] → [batch, frames, bins, 2].
absl::Status InferStft(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 4));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 2, 1));
  const Shape *signal = c.shape(0), *window = c.shape(2);
  if (signal != nullptr && signal->size() != 2 && signal->size() != 3) {
    return Contradiction("signal has shape %s, expected [batch, length, 1 or 2]",
                         ShapeToString(*signal));
  }
  const Dim step = c.elements(1) && c.elements(1)->size() == 1 ? (*c.elements(1))[0] : Dim::Fresh();
  if (step.known() && step.value() <= 0) return Contradiction("frame_step is %d", step.value());
  Dim frame = Dim::Fresh();
  if (c.input(3) != nullptr) {
    RETUPLE_ASSIGN_OR_RETURN(frame, ScalarSize(c, 3));
    if (window != nullptr) {
      RETUPLE_RETURN_IF_ERROR(ExpectSameDim(frame, (*window)[0], "frame_length and window"));
      frame = Better(frame, (*window)[0]);
    }
  } else if (window != nullptr) {
    frame = (*window)[0];
  }
  const bool onesided = AttrOr<int64_t>(c.attrs(), "onesided", 1) != 0;
  const Dim bins = onesided ? FloorDiv(frame, 2) + 1 : frame;
  Dim frames = Dim::Fresh();
  if (signal != nullptr) {
    frames = FloorDiv((*signal)[1] - frame, step) + 1;
    if (frames.known() && frames.value() < 0) frames = 0;
  }
  c.set_type(0, Type::Tensor(c.dtype(0), {signal ? (*signal)[0] : Dim::Fresh(), frames, bins, 2}));
  return absl::OkStatus();
}

absl::Status InferWindow(InferContext& c) {
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, AttrDType(c, "output_datatype", DType::kF32));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 0));
  RETUPLE_ASSIGN_OR_RETURN(const Dim n, ScalarSize(c, 0));
  c.set_type(0, Type::Tensor(dtype, {n}));
  return absl::OkStatus();
}

absl::Status InferMelWeightMatrix(InferContext& c) {
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, AttrDType(c, "output_datatype", DType::kF32));
  RETUPLE_ASSIGN_OR_RETURN(const Dim bins, ScalarSize(c, 0));
  RETUPLE_ASSIGN_OR_RETURN(const Dim length, ScalarSize(c, 1));
  c.set_type(0, Type::Tensor(dtype, {FloorDiv(length, 2) + 1, bins}));
  return absl::OkStatus();
}

absl::Status InferStringNormalizer(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 0, DType::kString));
  const Shape* in = c.shape(0);
  const bool drops = !AttrOr<Strings>(c.attrs(), "stopwords", {}).empty();
  std::optional<Shape> out = ShapeOf(c, 0);
  if (in != nullptr && in->size() != 1 &&
      !(in->size() == 2 && (!(*in)[0].known() || (*in)[0].Is(1)))) {
    return Contradiction("input has shape %s, expected [C] or [1,C]", ShapeToString(*in));
  }
  // With every word dropped one empty string is left, so that only the absence of stop words keeps
  // the size.
  if (out && (drops || !out->back().known() || out->back().Is(0))) out->back() = Dim::Fresh();
  c.set_type(0, TensorType(DType::kString, std::move(out)));
  return absl::OkStatus();
}

absl::Status InferTfIdfVectorizer(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  const Ints indexes = AttrOr<Ints>(c.attrs(), "ngram_indexes", {});
  int64_t most = -1;
  for (int64_t i : indexes) {
    if (i < 0 || i == INT64_MAX) return Contradiction("ngram_indexes has the entry %d", i);
    most = std::max(most, i);
  }
  std::optional<Shape> out = ShapeOf(c, 0);
  if (out && out->size() != 1 && out->size() != 2) {
    return Contradiction("input has shape %s, expected rank 1 or 2", ShapeToString(*out));
  }
  if (out) out->back() = most + 1;
  c.set_type(0, TensorType(DType::kF32, std::move(out)));
  return absl::OkStatus();
}

absl::Status InferAdagrad(InferContext& c) { return InferOptimizer(c, 3, {0, 2}); }
absl::Status InferAdam(InferContext& c) { return InferOptimizer(c, 4, {0, 2, 3}); }
absl::Status InferMomentum(InferContext& c) { return InferOptimizer(c, 3, {0, 2}); }

// The inputs are xs then zs; output i is dy/dxs[i].
absl::Status InferGradient(InferContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_type(i, c.type(i));
  return absl::OkStatus();
}

}  // namespace retuple::internal
