// Inference of data movement: joining, splitting, slicing, padding, gathering, scattering.
#include <algorithm>
#include <numeric>
#include <string>

#include "ir_bridge/graph.h"
#include "ir_bridge/infer.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/infer_util.h"

namespace retuple::internal {
namespace {

// An end beyond every real size: exporters write 2^31 - 1 or 2^63 - 1 for "to the end".
constexpr int64_t kFar = INT32_MAX;

absl::StatusOr<std::vector<int64_t>> IntsAttr(const InferContext& c, std::string_view name) {
  const Ints* v = FindAttr<Ints>(c.attrs(), name);
  if (v == nullptr) return Contradiction("attribute '%s' is missing", std::string(name));
  return *v;
}

// One axis of a slice with known step.
struct Cut {
  Dim start, end;
  int64_t step = 1;
};

// The size that a cut leaves of a dim. Symbolic bounds, and bounds of a symbolic dim that count
// from its end, are taken to lie inside it: a model that computes them does so from sizes.
Dim CutSize(Dim dim, const Cut& cut) {
  const int64_t step = cut.step;
  if (dim.known() && dim.value() < 0) return Dim::Fresh();
  if (dim.known() && cut.start.known() && cut.end.known()) {
    const int64_t n = dim.value();
    auto place = [n](int64_t i, int64_t lo, int64_t hi) {
      return std::clamp(i < 0 ? i + n : i, lo, hi);
    };
    if (step > 0) {
      const int64_t s = place(cut.start.value(), 0, n), e = place(cut.end.value(), 0, n);
      return e > s ? 1 + (e - s - 1) / step : 0;
    }
    const int64_t s = place(cut.start.value(), -1, n - 1);
    int64_t e = cut.end.value();
    e = e < 0 ? std::max<int64_t>(e < -n ? -1 : e + n, -1) : std::min(e, n - 1);
    const uint64_t stride = 0 - static_cast<uint64_t>(step);
    return s > e ? Dim(1 + static_cast<int64_t>(static_cast<uint64_t>(s - e - 1) / stride))
                 : Dim(0);
  }
  if (step < 0) {
    const bool whole = cut.start.known() && (cut.start.Is(-1) || cut.start.value() >= kFar) &&
                       cut.end.known() && cut.end.value() <= -kFar;
    return whole && step > INT64_MIN ? CeilDiv(dim, Dim(-step)) : Dim::Fresh();
  }
  Dim start = cut.start, end = cut.end;
  if (start.known() && start.value() < 0) start = start.value() <= -kFar ? Dim(0) : dim + start;
  if (end.known() && end.value() >= kFar) end = dim;
  if (end.known() && end.value() < 0) end = dim + end;
  if (end == dim || cut.end.Is(0)) {
    if (cut.end.Is(0) && end != dim) return Dim(0);
    return CeilDiv(end - start, Dim(step));
  }
  const bool from_back = cut.end.known() && cut.end.value() < 0;
  if (from_back || !cut.end.known()) return CeilDiv(end - start, Dim(step));
  return Dim::Fresh();
}

absl::Status SliceBy(InferContext& c, const std::vector<Dim>& starts, const std::vector<Dim>& ends,
                     const std::optional<std::vector<int64_t>>& axes,
                     const std::optional<std::vector<int64_t>>& steps) {
  const Shape* in = c.shape(0);
  if (in == nullptr) {
    c.set_type(0, TensorType(c.dtype(0), std::nullopt));
    return absl::OkStatus();
  }
  if (starts.size() != ends.size() || (axes && axes->size() != starts.size()) ||
      (steps && steps->size() != starts.size())) {
    return Contradiction("starts, ends, axes and steps differ in length");
  }
  std::vector<int64_t> all(starts.size());
  std::iota(all.begin(), all.end(), 0);
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<int> which,
                           NormalizeAxes(axes ? *axes : all, static_cast<int>(in->size())));
  Shape out = *in;
  for (size_t i = 0; i < which.size(); ++i) {
    const int64_t step = steps ? (*steps)[i] : 1;
    if (step == 0) return Contradiction("step 0");
    Dim& d = out[static_cast<size_t>(which[i])];
    d = CutSize(d, {starts[i], ends[i], step});
  }
  const auto e = c.elements(0);
  const bool whole = e && in->size() == 1 && (*in)[0].Is(static_cast<int64_t>(e->size()));
  if (whole && which.size() == 1 && starts[0].known() && ends[0].known() && out[0].known()) {
    const int64_t n = static_cast<int64_t>(e->size()), step = steps ? (*steps)[0] : 1;
    int64_t at = starts[0].value();
    at = std::clamp<int64_t>(at < 0 ? at + n : at, step > 0 ? 0 : -1, step > 0 ? n : n - 1);
    std::vector<Dim> picked;
    for (int64_t k = 0; k < out[0].value(); ++k) {  // CutSize keeps at inside [0, n)
      picked.push_back((*e)[static_cast<size_t>(at)]);
      if (k + 1 < out[0].value()) at += step;
    }
    c.set_elements(0, std::move(picked));
  }
  c.set_type(0, Type::Tensor(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

// The scalar or [1] dtype-preserving split of a dimension into `parts` outputs.
absl::StatusOr<std::vector<Dim>> SplitSizes(const InferContext& c, Dim dim, int64_t parts) {
  std::optional<std::vector<Dim>> given = c.elements(1);
  if (const Ints* attr = FindAttr<Ints>(c.attrs(), "split")) given = {attr->begin(), attr->end()};
  if (given && !given->empty()) {
    if (static_cast<int64_t>(given->size()) != parts) {
      return Contradiction("%d sizes for %d outputs", given->size(), parts);
    }
    Dim sum = 0;
    for (const Dim& d : *given) {
      if (d.known() && d.value() < 0) return Contradiction("negative size %d", d.value());
      sum = sum + d;
    }
    if (sum.known() && dim.known() && sum != dim) {
      return Contradiction("sizes add up to %d, but the axis has size %d", sum.value(),
                           dim.value());
    }
    return *given;
  }
  if (c.input(1) != nullptr) {  // sizes are computed elsewhere
    const Shape fresh = FreshShape(static_cast<int>(parts));
    return std::vector<Dim>(fresh.begin(), fresh.end());
  }
  if (parts <= 0) return std::vector<Dim>();
  const Dim chunk = CeilDiv(dim, Dim(parts));
  const bool uneven = FindAttr<int64_t>(c.attrs(), "num_outputs") != nullptr;
  if (!dim.known()) {
    const Dim even = FloorDiv(dim, Dim(parts));
    if (!uneven || even == chunk) {
      return std::vector<Dim>(static_cast<size_t>(parts), even);
    }
    std::vector<Dim> sizes(static_cast<size_t>(parts), chunk);
    sizes.back() = dim - chunk * Dim(parts - 1);
    return sizes;
  }
  if (!uneven && dim.value() % parts != 0) {
    return Contradiction("axis of size %d does not split evenly into %d outputs", dim.value(),
                         parts);
  }
  std::vector<Dim> sizes;
  int64_t left = dim.value();
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t size = std::min(left, chunk.value());
    sizes.push_back(size);
    left -= size;
  }
  return sizes;
}

}  // namespace

absl::Status InferConcat(InferContext& c) {
  const int n = c.num_inputs();
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, n));
  DType dtype = c.dtype(0);
  const Shape* first = nullptr;
  for (int i = 0; i < n; ++i) {
    RETUPLE_ASSIGN_OR_RETURN(const DType pair, CommonDType(c, 0, i));
    if (dtype == DType::kUndefined) dtype = pair;
    if (first == nullptr) first = c.shape(i);
  }
  if (first == nullptr) {
    c.set_type(0, TensorType(dtype, std::nullopt));
    return absl::OkStatus();
  }
  const int rank = static_cast<int>(first->size());
  RETUPLE_ASSIGN_OR_RETURN(const int axis,
                           NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", 1), rank));
  const auto at = static_cast<size_t>(axis);
  Shape out = *first;
  out[at] = 0;
  std::optional<std::vector<Dim>> elements = std::vector<Dim>();
  for (int i = 0; i < n; ++i) {
    const Shape* s = c.shape(i);
    RETUPLE_RETURN_IF_ERROR(ExpectRank(c, i, rank));
    const auto e = c.elements(i);
    if (!e || rank != 1) elements.reset();
    if (elements) elements->insert(elements->end(), e->begin(), e->end());
    if (s == nullptr) {
      out[at] = Dim::Fresh();
      continue;
    }
    for (size_t k = 0; k < s->size(); ++k) {
      if (k == at) continue;
      RETUPLE_RETURN_IF_ERROR(ExpectSameDim(out[k], (*s)[k], absl::StrFormat("axis %d", k)));
      out[k] = Better(out[k], (*s)[k]);
    }
    out[at] = out[at] + (*s)[at];
  }
  c.set_type(0, Type::Tensor(dtype, std::move(out)));
  if (elements && static_cast<int64_t>(elements->size()) <= kMaxCarriedElements) {
    c.set_elements(0, *std::move(elements));
  }
  return absl::OkStatus();
}

absl::Status InferSplit(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  const Shape* in = c.shape(0);
  const int parts = c.num_outputs();
  if (const int64_t* n = FindAttr<int64_t>(c.attrs(), "num_outputs"); n != nullptr && *n != parts) {
    return Contradiction("num_outputs is %d, but there are %d outputs", *n, parts);
  }
  if (in == nullptr) {
    for (int i = 0; i < parts; ++i) c.set_type(i, TensorType(c.dtype(0), std::nullopt));
    return absl::OkStatus();
  }
  RETUPLE_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", 0),
                                                         static_cast<int>(in->size())));
  const auto at = static_cast<size_t>(axis);
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<Dim> sizes, SplitSizes(c, (*in)[at], parts));
  const auto elements = in->size() == 1 ? c.elements(0) : std::nullopt;
  size_t offset = 0;
  for (int i = 0; i < parts; ++i) {
    Shape s = *in;
    const Dim size = sizes[static_cast<size_t>(i)];
    s[at] = size;
    c.set_type(i, Type::Tensor(c.dtype(0), std::move(s)));
    if (!elements || !size.known() ||
        offset + static_cast<size_t>(size.value()) > elements->size()) {
      offset = elements ? elements->size() + 1 : 0;
      continue;
    }
    const auto begin = elements->begin() + static_cast<int64_t>(offset);
    c.set_elements(i, {begin, begin + size.value()});
    offset += static_cast<size_t>(size.value());
  }
  return absl::OkStatus();
}

absl::Status InferSliceV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, IntsAttr(c, "starts"));
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<int64_t> ends, IntsAttr(c, "ends"));
  const Ints* axes = FindAttr<Ints>(c.attrs(), "axes");
  return SliceBy(c, {starts.begin(), starts.end()}, {ends.begin(), ends.end()},
                 axes ? std::optional(*axes) : std::nullopt, std::nullopt);
}

absl::Status InferSlice(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 5));
  for (int i = 1; i < 5; ++i) RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, i));
  const auto starts = c.elements(1), ends = c.elements(2);
  const auto axes = c.ints(3), steps = c.ints(4);
  const bool axes_open = c.input(3) != nullptr && !axes;
  const bool steps_open = c.input(4) != nullptr && !steps;
  if (starts && ends && !axes_open && !steps_open) return SliceBy(c, *starts, *ends, axes, steps);
  const Shape* in = c.shape(0);
  std::optional<Shape> out;
  if (in != nullptr) {
    out = FreshShape(static_cast<int>(in->size()));
    if (!axes_open && axes) {  // the other axes stay
      RETUPLE_ASSIGN_OR_RETURN(const std::vector<int> which,
                               NormalizeAxes(*axes, static_cast<int>(in->size())));
      std::vector<bool> cut(in->size());
      for (int a : which) cut[static_cast<size_t>(a)] = true;
      for (size_t i = 0; i < cut.size(); ++i) {
        if (!cut[i]) (*out)[i] = (*in)[i];
      }
    }
  }
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferPad(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 4));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 3));
  if (c.input(2) != nullptr) RETUPLE_RETURN_IF_ERROR(CommonDType(c, 0, 2).status());
  const Shape* in = c.shape(0);
  std::optional<std::vector<Dim>> pads = c.elements(1);
  for (const char* name : {"pads", "paddings"}) {
    if (const Ints* v = FindAttr<Ints>(c.attrs(), name)) pads = {v->begin(), v->end()};
  }
  if (in == nullptr) {
    c.set_type(0, TensorType(c.dtype(0), std::nullopt));
    return absl::OkStatus();
  }
  const int rank = static_cast<int>(in->size());
  const bool some_axes = c.input(3) != nullptr;
  const auto axes = c.ints(3);
  if (!pads || (some_axes && !axes)) {
    c.set_type(0, Type::Tensor(c.dtype(0), FreshShape(rank)));
    return absl::OkStatus();
  }
  std::vector<int64_t> all(in->size());
  std::iota(all.begin(), all.end(), 0);
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<int> which,
                           NormalizeAxes(some_axes ? *axes : all, rank));
  if (pads->size() != 2 * which.size()) {
    return Contradiction("%d pads for %d axes, expected twice as many", pads->size(), which.size());
  }
  Shape out = *in;
  for (size_t i = 0; i < which.size(); ++i) {
    Dim& d = out[static_cast<size_t>(which[i])];
    d = d + (*pads)[i] + (*pads)[i + which.size()];
    if (d.known() && d.value() < 0) {
      return Contradiction("pads take more from axis %d than shape %s has", which[i],
                           ShapeToString(*in));
    }
  }
  c.set_type(0, Type::Tensor(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferDepthToSpace(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 0, 4));
  const int64_t b = AttrOr<int64_t>(c.attrs(), "blocksize", 0);
  if (b <= 0 || b > kFar) return Contradiction("blocksize is %d", b);
  std::optional<Shape> s = ShapeOf(c, 0);
  if (s) {
    if ((*s)[1].known() && (*s)[1].value() % (b * b) != 0) {
      return Contradiction("%d channels do not divide by blocksize² = %d", (*s)[1].value(), b * b);
    }
    s = Shape{(*s)[0], FloorDiv((*s)[1], Dim(b * b)), (*s)[2] * Dim(b), (*s)[3] * Dim(b)};
  }
  c.set_type(0, TensorType(c.dtype(0), s));
  return absl::OkStatus();
}

absl::Status InferSpaceToDepth(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 0, 4));
  const int64_t b = AttrOr<int64_t>(c.attrs(), "blocksize", 0);
  if (b <= 0 || b > kFar) return Contradiction("blocksize is %d", b);
  std::optional<Shape> s = ShapeOf(c, 0);
  if (s) {
    for (size_t i : {2, 3}) {
      if ((*s)[i].known() && (*s)[i].value() % b != 0) {
        return Contradiction("axis %d of shape %s does not divide by blocksize %d", i,
                             ShapeToString(*s), b);
      }
    }
    s = Shape{(*s)[0], (*s)[1] * Dim(b * b), FloorDiv((*s)[2], Dim(b)), FloorDiv((*s)[3], Dim(b))};
  }
  c.set_type(0, TensorType(c.dtype(0), s));
  return absl::OkStatus();
}

absl::Status InferReverseSequence(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 1, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kI64));
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferTrilu(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kI64));
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferGather(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 1));
  const Shape *data = c.shape(0), *indices = c.shape(1);
  if (data == nullptr) {
    c.set_type(0, TensorType(c.dtype(0), std::nullopt));
    return absl::OkStatus();
  }
  RETUPLE_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", 0),
                                                         static_cast<int>(data->size())));
  const auto at = static_cast<size_t>(axis);
  const auto picks = c.ints(1);
  if (picks && (*data)[at].known()) {
    for (int64_t i : *picks) {
      const int64_t n = (*data)[at].value();
      if (i < -n || i >= n) return Contradiction("index %d is out of range for size %d", i, n);
    }
  }
  if (indices == nullptr) {
    c.set_type(0, TensorType(c.dtype(0), std::nullopt));
    return absl::OkStatus();
  }
  Shape out(data->begin(), data->begin() + axis);
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), data->begin() + axis + 1, data->end());
  c.set_type(0, Type::Tensor(c.dtype(0), std::move(out)));
  if (const auto e = c.elements(0); e && picks && data->size() == 1) {
    std::vector<Dim> picked;
    for (int64_t i : *picks) {
      const int64_t k = i < 0 ? i + static_cast<int64_t>(e->size()) : i;
      if (k < 0 || k >= static_cast<int64_t>(e->size())) return absl::OkStatus();
      picked.push_back((*e)[static_cast<size_t>(k)]);
    }
    c.set_elements(0, std::move(picked));
  }
  return absl::OkStatus();
}

absl::Status InferGatherElements(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 1));
  if (const Shape* data = c.shape(0)) {
    RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 1, static_cast<int>(data->size())));
    RETUPLE_RETURN_IF_ERROR(
        NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", 0), static_cast<int>(data->size()))
            .status());
  }
  SetLike(c, 0, c.dtype(0), 1);
  return absl::OkStatus();
}

absl::Status InferGatherND(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kI64));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 1, 1));
  const Shape *data = c.shape(0), *indices = c.shape(1);
  const int64_t batch = AttrOr<int64_t>(c.attrs(), "batch_dims", 0);
  std::optional<Shape> out;
  if (data != nullptr && indices != nullptr && indices->back().known()) {
    const int64_t last = indices->back().value();
    const int64_t rank = static_cast<int64_t>(data->size());
    if (batch < 0 || batch >= static_cast<int64_t>(indices->size()) || batch >= rank || last < 1 ||
        last > rank - batch) {
      return Contradiction("indices of shape %s with batch_dims %d do not fit data of shape %s",
                           ShapeToString(*indices), batch, ShapeToString(*data));
    }
    for (size_t i = 0; i < static_cast<size_t>(batch); ++i) {
      RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*data)[i], (*indices)[i], "batch dimensions"));
    }
    out = Shape(indices->begin(), indices->end() - 1);
    out->insert(out->end(), data->begin() + batch + last, data->end());
  }
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferScatterElements(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 1));
  RETUPLE_RETURN_IF_ERROR(CommonDType(c, 0, 2).status());
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 1));
  if (const Shape* data = c.shape(0)) {
    const int rank = static_cast<int>(data->size());
    RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 1, rank));
    RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 2, rank));
    RETUPLE_RETURN_IF_ERROR(NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", 0), rank).status());
  }
  if (const Shape* i = c.shape(1), *u = c.shape(2); i != nullptr && u != nullptr) {
    for (size_t k = 0; k < std::min(i->size(), u->size()); ++k) {
      RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*i)[k], (*u)[k], "sizes of indices and updates"));
    }
  }
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferScatterND(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kI64));
  RETUPLE_RETURN_IF_ERROR(CommonDType(c, 0, 2).status());
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 1, 1));
  const Shape *data = c.shape(0), *indices = c.shape(1), *updates = c.shape(2);
  if (data != nullptr && indices != nullptr && indices->back().known()) {
    const int64_t last = indices->back().value();
    if (last < 0 || last > static_cast<int64_t>(data->size())) {
      return Contradiction("indices of shape %s do not fit data of shape %s",
                           ShapeToString(*indices), ShapeToString(*data));
    }
    if (updates != nullptr) {
      Shape expected(indices->begin(), indices->end() - 1);
      expected.insert(expected.end(), data->begin() + last, data->end());
      bool fits = expected.size() == updates->size();
      for (size_t i = 0; fits && i < expected.size(); ++i) {
        fits = ExpectSameDim(expected[i], (*updates)[i], "updates").ok();
      }
      if (!fits) {
        return Contradiction("updates have shape %s, expected %s", ShapeToString(*updates),
                             ShapeToString(expected));
      }
    }
  }
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferCompress(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kBool));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 1, 1));
  std::optional<Shape> out = Shape{Dim::Fresh()};
  if (const int64_t* axis = FindAttr<int64_t>(c.attrs(), "axis")) {
    out = ShapeOf(c, 0);
    if (out) {
      RETUPLE_ASSIGN_OR_RETURN(const int a, NormalizeAxis(*axis, static_cast<int>(out->size())));
      (*out)[static_cast<size_t>(a)] = Dim::Fresh();
    }
  }
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferOneHot(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  if (const Shape* v = c.shape(2)) {
    RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 2, 1));
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*v)[0], 2, "length of values"));
  }
  Dim depth = Dim::Fresh();
  if (const auto e = c.elements(1)) {
    if (e->size() != 1) return Contradiction("depth has %d elements, expected 1", e->size());
    depth = (*e)[0];
  } else if (const Tensor* t = c.constant(1); t != nullptr && t->size() == 1) {
    depth = t->IntAt(0);
  }
  if (depth.known() && depth.value() < 0) return Contradiction("depth is %d", depth.value());
  std::optional<Shape> out = ShapeOf(c, 0);
  if (out) {
    RETUPLE_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", -1),
                                                           static_cast<int>(out->size()) + 1));
    out->insert(out->begin() + axis, depth);
  }
  c.set_type(0, TensorType(c.dtype(2), std::move(out)));
  return absl::OkStatus();
}

}  // namespace retuple::internal
