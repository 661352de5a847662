// Inference of normalisation, matrix products, recurrent layers and resampling.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "ir_bridge/graph.h"
#include "ir_bridge/infer.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/infer_util.h"

namespace retuple::internal {
namespace {

// Input i is a vector with one entry a channel of input 0: [N, C, …].
absl::Status ExpectPerChannel(const InferContext& c, int i) {
  const Shape *x = c.shape(0), *v = c.shape(i);
  if (v == nullptr) return absl::OkStatus();
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, i, 1));
  if (x == nullptr) return absl::OkStatus();
  const Dim channels = x->size() > 1 ? (*x)[1] : Dim(1);
  return ExpectSameDim((*v)[0], channels, absl::StrFormat("channels of input %d", i));
}

// a: […, m, k], b: […, k, n] → […, m, n]; a vector stands for one row or column, which the result
// lacks.
absl::StatusOr<std::optional<Shape>> MatMulShape(const InferContext& c, int ia, int ib) {
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, ia, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, ib, 1));
  if (c.shape(ia) == nullptr || c.shape(ib) == nullptr) return std::optional<Shape>();
  Shape a = *c.shape(ia), b = *c.shape(ib);
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  const Dim m = a[a.size() - 2], n = b.back(), ka = a.back(), kb = b[b.size() - 2];
  if (!ExpectSameDim(ka, kb, "").ok()) {
    return Contradiction("cannot multiply shapes %s and %s", ShapeToString(*c.shape(ia)),
                         ShapeToString(*c.shape(ib)));
  }
  RETUPLE_ASSIGN_OR_RETURN(
      Shape out, BroadcastShapes(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2)));
  if (!row) out.push_back(m);
  if (!column) out.push_back(n);
  return std::optional<Shape>(std::move(out));
}

// Outputs of RNN, GRU and LSTM. W: [directions, gates·hidden, input], R: [directions, gates·hidden,
// hidden].
absl::Status InferRecurrent(InferContext& c, int gates) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, c.num_inputs()));
  for (int i : {0, 1, 2}) RETUPLE_RETURN_IF_ERROR(ExpectRank(c, i, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 4, DType::kI32));
  const std::string direction = AttrOr<std::string>(c.attrs(), "direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return Contradiction("direction is '%s'", direction);
  }
  const Dim directions = direction == "bidirectional" ? 2 : 1;
  const bool batch_first = AttrOr<int64_t>(c.attrs(), "layout", 0) != 0;
  const Shape *x = c.shape(0), *w = c.shape(1), *r = c.shape(2);
  Dim hidden = r ? (*r)[2] : Dim::Fresh();
  if (const int64_t* h = FindAttr<int64_t>(c.attrs(), "hidden_size")) {
    if (*h < 1) return Contradiction("hidden_size is %d", *h);
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim(*h, hidden, "hidden_size and R"));
    hidden = *h;
  }
  for (int i : {1, 2}) {
    const Shape* s = c.shape(i);
    if (s == nullptr) continue;
    RETUPLE_RETURN_IF_ERROR(
        ExpectSameDim((*s)[0], directions, absl::StrFormat("directions of input %d", i)));
    RETUPLE_RETURN_IF_ERROR(
        ExpectSameDim((*s)[1], hidden * Dim(gates), absl::StrFormat("gates of input %d", i)));
  }
  if (x != nullptr && w != nullptr) {
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*x)[2], (*w)[2], "input size"));
  }
  Dim length = x ? (*x)[batch_first ? 1 : 0] : Dim::Fresh();
  Dim batch = x ? (*x)[batch_first ? 0 : 1] : Dim::Fresh();
  const Shape state =
      batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  const Shape all = batch_first ? Shape{batch, length, directions, hidden}
                                : Shape{length, directions, batch, hidden};
  c.set_type(0, Type::Tensor(c.dtype(0), all));
  c.set_type(1, Type::Tensor(c.dtype(0), state));
  c.set_type(2, Type::Tensor(c.dtype(0), state));
  return absl::OkStatus();
}

// ⌊dim · scale⌋ in single precision, as the reference computes it; of a symbol where the factor or
// its inverse is whole.
Dim ScaledDim(Dim dim, float scale) {
  if (!(scale > 0) || !std::isfinite(scale)) return Dim::Fresh();
  if (dim.known()) {
    const float size = std::floor(static_cast<float>(dim.value()) * scale);
    return size < 9e18f ? Dim(static_cast<int64_t>(size)) : Dim::Fresh();
  }
  if (scale == std::floor(scale) && scale < 1e6f) return dim * Dim(static_cast<int64_t>(scale));
  const float inverse = 1 / scale;
  if (inverse == std::floor(inverse) && inverse < 1e6f && 1 / inverse == scale) {
    return FloorDiv(dim, Dim(static_cast<int64_t>(inverse)));
  }
  return Dim::Fresh();
}

absl::Status ScaleBy(InferContext& c, const std::vector<float>& scales,
                     const std::vector<int>& axes) {
  Shape out = *c.shape(0);
  if (scales.size() != axes.size()) {
    return Contradiction("%d scales for %d axes", scales.size(), axes.size());
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!(scales[i] > 0)) return Contradiction("scale %g is not positive", scales[i]);
    Dim& d = out[static_cast<size_t>(axes[i])];
    d = ScaledDim(d, scales[i]);
  }
  c.set_type(0, Type::Tensor(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

std::vector<int> AllAxes(int rank) {
  std::vector<int> axes(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) axes[static_cast<size_t>(i)] = i;
  return axes;
}

std::optional<std::vector<float>> FloatsOf(const Tensor* t) {
  if (t == nullptr || !IsFloat(t->dtype()) || t->size() > 4096) return std::nullopt;
  std::vector<float> v;
  for (int64_t i = 0; i < t->size(); ++i) v.push_back(static_cast<float>(t->At(i)));
  return v;
}

bool IsEmpty(const InferContext& c, int i) {
  const Shape* s = c.shape(i);
  return c.input(i) == nullptr || (s != nullptr && s->size() == 1 && (*s)[0].Is(0));
}

}  // namespace

absl::Status InferBatchNormalization(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 5));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 1));
  if (AttrOr<int64_t>(c.attrs(), "spatial", 1) != 0) {
    for (int i = 1; i < 5; ++i) RETUPLE_RETURN_IF_ERROR(ExpectPerChannel(c, i));
  }
  c.set_type(0, c.type(0));
  for (int i = 1; i < c.num_outputs();
       ++i) {  // running mean and variance, and the saved ones before opset 14
    c.set_type(i, c.type(i % 2 == 1 ? 3 : 4));
  }
  return absl::OkStatus();
}

absl::Status InferInstanceNormalization(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 2));
  for (int i : {1, 2}) RETUPLE_RETURN_IF_ERROR(ExpectPerChannel(c, i));
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferLayerNormalization(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 1));
  std::optional<Shape> stats = ShapeOf(c, 0);
  if (stats) {
    RETUPLE_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", -1),
                                                           static_cast<int>(stats->size())));
    for (int i : {1, 2}) {  // scale and bias broadcast to the normalised part
      if (c.shape(i) == nullptr) continue;
      RETUPLE_RETURN_IF_ERROR(BroadcastShapes(*stats, *c.shape(i)).status());
    }
    std::fill(stats->begin() + axis, stats->end(), Dim(1));
  }
  RETUPLE_ASSIGN_OR_RETURN(
      const DType stash, DTypeFromAttr(AttrOr<int64_t>(c.attrs(), "stash_type", 1), "stash_type"));
  c.set_type(0, c.type(0));
  c.set_type(1, TensorType(stash, stats));
  c.set_type(2, TensorType(stash, stats));
  return absl::OkStatus();
}

absl::Status InferGroupNormalization(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 2));
  const int64_t groups = AttrOr<int64_t>(c.attrs(), "num_groups", 1);
  if (groups < 1) return Contradiction("num_groups is %d", groups);
  if (const Shape* x = c.shape(0);
      x != nullptr && (*x)[1].known() && (*x)[1].value() % groups != 0) {
    return Contradiction("%d channels do not divide into %d groups", (*x)[1].value(), groups);
  }
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferMeanVarianceNormalization(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  if (const Shape* x = c.shape(0)) {
    RETUPLE_RETURN_IF_ERROR(
        NormalizeAxes(AttrOr<Ints>(c.attrs(), "axes", {}), static_cast<int>(x->size())).status());
  }
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferDropoutV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  c.set_type(0, c.type(0));
  c.set_type(1, c.type(0));  // the mask had the type of the data before opset 7
  return absl::OkStatus();
}

absl::Status InferDropout(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 2, DType::kBool));
  c.set_type(0, c.type(0));
  SetLike(c, 1, DType::kBool, 0);
  return absl::OkStatus();
}

absl::Status InferMatMul(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, CommonDType(c, 0, 1));
  RETUPLE_ASSIGN_OR_RETURN(std::optional<Shape> out, MatMulShape(c, 0, 1));
  c.set_type(0, TensorType(dtype, std::move(out)));
  return absl::OkStatus();
}

absl::Status InferMatMulInteger(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 4));
  RETUPLE_ASSIGN_OR_RETURN(std::optional<Shape> out, MatMulShape(c, 0, 1));
  c.set_type(0, TensorType(DType::kI32, std::move(out)));
  return absl::OkStatus();
}

absl::Status InferQLinearMatMul(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 8));
  RETUPLE_ASSIGN_OR_RETURN(std::optional<Shape> out, MatMulShape(c, 0, 3));
  c.set_type(0, TensorType(c.dtype(7), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferGemm(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, CommonDType(c, 0, 1));
  for (int i : {0, 1}) RETUPLE_RETURN_IF_ERROR(ExpectRank(c, i, 2));
  const bool ta = AttrOr<int64_t>(c.attrs(), "transA", 0) != 0;
  const bool tb = AttrOr<int64_t>(c.attrs(), "transB", 0) != 0;
  const Shape *a = c.shape(0), *b = c.shape(1);
  if (a != nullptr && b != nullptr) {
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*a)[ta ? 0 : 1], (*b)[tb ? 1 : 0], "inner dimension"));
  }
  const Shape out = {a ? (*a)[ta ? 1 : 0] : Dim::Fresh(), b ? (*b)[tb ? 0 : 1] : Dim::Fresh()};
  if (const Shape* bias = c.shape(2)) {
    RETUPLE_ASSIGN_OR_RETURN(const Shape both, BroadcastShapes(out, *bias));
    if (both.size() != 2 || !ExpectSameDim(both[0], out[0], "").ok() ||
        !ExpectSameDim(both[1], out[1], "").ok()) {
      return Contradiction("C of shape %s does not broadcast to %s", ShapeToString(*bias),
                           ShapeToString(out));
    }
  }
  c.set_type(0, Type::Tensor(dtype, out));
  return absl::OkStatus();
}

// One term of an einsum equation: letters, with the ellipsis as '.'.
absl::StatusOr<std::string> EinsumTerm(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char ch = text[i];
    if (ch == ' ') continue;
    if (ch == '.') {
      if (text.substr(i, 3) != "..." || out.find('.') != std::string::npos) {
        return Contradiction("malformed ellipsis in '%s'", std::string(text));
      }
      out += '.';
      i += 2;
    } else if ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z')) {
      out += ch;
    } else {
      return Contradiction("character '%c' in the equation", ch);
    }
  }
  return out;
}

absl::Status InferEinsum(InferContext& c) {
  const int n = c.num_inputs();
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, n));
  DType dtype = c.dtype(0);
  for (int i = 1; i < n; ++i) {
    RETUPLE_ASSIGN_OR_RETURN(const DType pair, CommonDType(c, 0, i));
    if (dtype == DType::kUndefined) dtype = pair;
  }
  const std::string equation = AttrOr<std::string>(c.attrs(), "equation", "");
  const size_t arrow = equation.find("->");
  std::string_view left = std::string_view(equation).substr(0, arrow);
  std::vector<std::string> terms;
  for (size_t begin = 0;;) {
    const size_t comma = left.find(',', begin);
    RETUPLE_ASSIGN_OR_RETURN(std::string term, EinsumTerm(left.substr(begin, comma - begin)));
    terms.push_back(std::move(term));
    if (comma == std::string_view::npos) break;
    begin = comma + 1;
  }
  if (static_cast<int>(terms.size()) != n) {
    return Contradiction("equation '%s' has %d terms for %d inputs", equation, terms.size(), n);
  }
  std::map<char, Dim> size;
  std::map<char, int> uses;
  std::optional<Shape> ellipsis = Shape{};
  bool complete = true;
  for (int i = 0; i < n; ++i) {
    const std::string& term = terms[static_cast<size_t>(i)];
    for (char ch : term) ++uses[ch];
    const Shape* s = c.shape(i);
    const bool has_ellipsis = term.find('.') != std::string::npos;
    if (s == nullptr) {
      complete = false;
      if (has_ellipsis) ellipsis.reset();
      continue;
    }
    const size_t letters = term.size() - (has_ellipsis ? 1 : 0);
    if (s->size() < letters || (!has_ellipsis && s->size() != letters)) {
      return Contradiction("input %d has shape %s, but its term has %d letters", i,
                           ShapeToString(*s), letters);
    }
    size_t axis = 0;
    for (char ch : term) {
      if (ch == '.') {
        const size_t width = s->size() - letters;
        const auto begin = s->begin() + static_cast<int64_t>(axis);
        const Shape middle(begin, begin + static_cast<int64_t>(width));
        axis += width;
        if (!ellipsis) continue;
        RETUPLE_ASSIGN_OR_RETURN(ellipsis, BroadcastShapes(*ellipsis, middle));
        continue;
      }
      const Dim d = (*s)[axis++];
      auto [it, inserted] = size.try_emplace(ch, d);
      if (inserted) continue;
      RETUPLE_ASSIGN_OR_RETURN(const Dim both, BroadcastDim(it->second, d));
      it->second = both.known() || it->second.known() ? both : it->second;
    }
  }
  std::string result;
  if (arrow != std::string::npos) {
    RETUPLE_ASSIGN_OR_RETURN(result, EinsumTerm(std::string_view(equation).substr(arrow + 2)));
  } else {  // implicit: the ellipsis, then the letters that occur once, sorted
    if (uses.contains('.')) result += '.';
    for (const auto& [ch, count] : uses) {
      if (ch != '.' && count == 1) result += ch;
    }
  }
  std::optional<Shape> out = Shape{};
  for (char ch : result) {
    if (!uses.contains(ch)) return Contradiction("'%c' of the result is in no term", ch);
    if (ch == '.') {
      if (!ellipsis) {
        out.reset();
        break;
      }
      out->insert(out->end(), ellipsis->begin(), ellipsis->end());
    } else {
      auto it = size.find(ch);
      out->push_back(it != size.end() && (complete || !it->second.Is(1)) ? it->second
                                                                         : Dim::Fresh());
    }
  }
  c.set_type(0, TensorType(dtype, std::move(out)));
  return absl::OkStatus();
}

absl::Status InferDet(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 2));
  std::optional<Shape> out = ShapeOf(c, 0);
  if (out) {
    RETUPLE_RETURN_IF_ERROR(
        ExpectSameDim((*out)[out->size() - 2], out->back(), "rows and columns"));
    out->resize(out->size() - 2);
  }
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferRnn(InferContext& c) { return InferRecurrent(c, 1); }
absl::Status InferGru(InferContext& c) { return InferRecurrent(c, 3); }
absl::Status InferLstm(InferContext& c) { return InferRecurrent(c, 4); }

absl::Status InferUpsampleV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 0, 4));
  if (c.shape(0) == nullptr) {
    c.set_type(0, TensorType(c.dtype(0), std::nullopt));
    return absl::OkStatus();
  }
  return ScaleBy(
      c, {AttrOr(c.attrs(), "height_scale", 1.0f), AttrOr(c.attrs(), "width_scale", 1.0f)}, {2, 3});
}

absl::Status InferUpsampleV7(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  if (c.shape(0) == nullptr) {
    c.set_type(0, TensorType(c.dtype(0), std::nullopt));
    return absl::OkStatus();
  }
  return ScaleBy(c, AttrOr<Floats>(c.attrs(), "scales", {}),
                 AllAxes(static_cast<int>(c.shape(0)->size())));
}

absl::Status InferUpsample(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 1, 1));
  const Shape* in = c.shape(0);
  const auto scales = FloatsOf(c.constant(1));
  if (in != nullptr && scales) return ScaleBy(c, *scales, AllAxes(static_cast<int>(in->size())));
  c.set_type(0, TensorType(c.dtype(0), in ? std::optional(FreshShape(static_cast<int>(in->size())))
                                          : std::nullopt));
  return absl::OkStatus();
}

absl::Status InferResize(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 4));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 3, DType::kI64));
  const Shape* in = c.shape(0);
  const bool by_sizes = !IsEmpty(c, 3);
  if (by_sizes && !IsEmpty(c, 2) && c.shape(2) != nullptr && (*c.shape(2)).size() == 1 &&
      (*c.shape(2))[0].known()) {
    return Contradiction("both scales and sizes are given");
  }
  if (in == nullptr) {
    c.set_type(0, TensorType(c.dtype(0), std::nullopt));
    return absl::OkStatus();
  }
  const int rank = static_cast<int>(in->size());
  std::vector<int> axes = AllAxes(rank);
  if (const Ints* a = FindAttr<Ints>(c.attrs(), "axes"); a != nullptr && !a->empty()) {
    RETUPLE_ASSIGN_OR_RETURN(axes, NormalizeAxes(*a, rank));
  }
  Shape out = *in;
  for (int a : axes) out[static_cast<size_t>(a)] = Dim::Fresh();
  if (!by_sizes) {
    if (const auto scales = FloatsOf(c.constant(2))) return ScaleBy(c, *scales, axes);
    c.set_type(0, Type::Tensor(c.dtype(0), std::move(out)));
    return absl::OkStatus();
  }
  const std::string policy = AttrOr<std::string>(c.attrs(), "keep_aspect_ratio_policy", "stretch");
  const auto sizes = c.elements(3);
  if (sizes && sizes->size() != axes.size()) {
    return Contradiction("%d sizes for %d axes", sizes->size(), axes.size());
  }
  if (sizes && policy == "stretch") {
    for (size_t i = 0; i < axes.size(); ++i) {
      const Dim d = (*sizes)[i];
      if (d.known() && d.value() < 0) return Contradiction("size %d is negative", d.value());
      out[static_cast<size_t>(axes[i])] = d;
    }
  } else if (sizes) {  // one scale for all axes, the least or the greatest that the sizes ask for
    std::optional<float> scale;
    bool known = true;
    for (size_t i = 0; i < axes.size(); ++i) {
      const Dim from = (*in)[static_cast<size_t>(axes[i])], to = (*sizes)[i];
      known = known && from.known() && to.known() && from.value() > 0;
      if (!known) break;
      const float s = static_cast<float>(to.value()) / static_cast<float>(from.value());
      if (!scale) scale = s;
      scale = policy == "not_larger" ? std::min(*scale, s) : std::max(*scale, s);
    }
    for (size_t i = 0; known && scale && i < axes.size(); ++i) {
      const auto at = static_cast<size_t>(axes[i]);
      out[at] = static_cast<int64_t>(std::round(*scale * static_cast<float>((*in)[at].value())));
    }
  }
  c.set_type(0, Type::Tensor(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

// X: [N, C, d1 …], grid: [N, o1 …, r] → [N, C, o1 …].
absl::Status InferGridSample(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 3));
  const Shape *x = c.shape(0), *grid = c.shape(1);
  std::optional<Shape> out;
  if (x != nullptr) RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 1, static_cast<int>(x->size())));
  if (x != nullptr && grid != nullptr) {
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*x)[0], (*grid)[0], "batch"));
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim(grid->back(), static_cast<int64_t>(x->size()) - 2,
                                          "coordinates of the grid"));
    out = Shape{Better((*x)[0], (*grid)[0]), (*x)[1]};
    out->insert(out->end(), grid->begin() + 1, grid->end() - 1);
  }
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferNonMaxSuppression(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 5));
  for (int i : {0, 1}) RETUPLE_RETURN_IF_ERROR(ExpectRank(c, i, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 2, DType::kI64));
  if (const Shape* boxes = c.shape(0)) {
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*boxes)[2], 4, "coordinates of a box"));
    if (const Shape* scores = c.shape(1)) {
      RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*boxes)[0], (*scores)[0], "batch"));
      RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*boxes)[1], (*scores)[2], "number of boxes"));
    }
  }
  c.set_type(0, Type::Tensor(DType::kI64, {Dim::Fresh(), 3}));
  return absl::OkStatus();
}

}  // namespace retuple::internal
