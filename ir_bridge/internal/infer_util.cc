#include "ir_bridge/internal/infer_util.h"

#include <algorithm>

namespace retuple::internal {

Type TensorType(DType dtype, std::optional<Shape> shape) {
  if (shape) return Type::Tensor(dtype, *std::move(shape));
  return dtype == DType::kUndefined ? Type() : Type::Tensor(dtype);
}

std::optional<Shape> ShapeOf(const InferContext& c, int i) {
  const Shape* s = c.shape(i);
  return s ? std::optional<Shape>(*s) : std::nullopt;
}

void SetLike(InferContext& c, int out, DType t, int i) {
  c.set_type(out, TensorType(t, ShapeOf(c, i)));
}

void SetVector(InferContext& c, int out, DType t, std::vector<Dim> elements) {
  c.set_type(out, Type::Tensor(t, Shape{static_cast<int64_t>(elements.size())}));
  c.set_elements(out, std::move(elements));
}

Shape FreshShape(int rank) {
  Shape s;
  s.reserve(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) s.push_back(Dim::Fresh());
  return s;
}

absl::Status ExpectTensors(const InferContext& c, int n) {
  for (int i = 0; i < std::min(n, c.num_inputs()); ++i) {
    if (!c.type(i).is_unknown() && !c.type(i).is_tensor()) {
      return Contradiction("input %d is %s, expected a tensor", i, c.type(i).ToString());
    }
  }
  return absl::OkStatus();
}

absl::Status ExpectRank(const InferContext& c, int i, int rank) {
  const Shape* s = c.shape(i);
  if (s == nullptr || static_cast<int>(s->size()) == rank) return absl::OkStatus();
  return Contradiction("input %d has shape %s, expected rank %d", i, ShapeToString(*s), rank);
}

absl::Status ExpectRankAtLeast(const InferContext& c, int i, int rank) {
  const Shape* s = c.shape(i);
  if (s == nullptr || static_cast<int>(s->size()) >= rank) return absl::OkStatus();
  return Contradiction("input %d has shape %s, expected rank %d or more", i, ShapeToString(*s),
                       rank);
}

absl::Status ExpectDType(const InferContext& c, int i, DType t) {
  if (c.dtype(i) == DType::kUndefined || c.dtype(i) == t) return absl::OkStatus();
  return Contradiction("input %d is %s, expected %s", i, c.type(i).ToString(),
                       std::string(DTypeName(t)));
}

absl::Status ExpectIndices(const InferContext& c, int i) {
  const DType t = c.dtype(i);
  if (t == DType::kUndefined || t == DType::kI32 || t == DType::kI64) return absl::OkStatus();
  return Contradiction("input %d is %s, expected i32 or i64 indices", i, c.type(i).ToString());
}

absl::StatusOr<DType> CommonDType(const InferContext& c, int i, int j) {
  const DType a = c.dtype(i), b = c.dtype(j);
  if (a == DType::kUndefined) return b;
  if (b == DType::kUndefined || a == b) return a;
  return Contradiction("inputs %d and %d have element types %s and %s, expected the same", i, j,
                       std::string(DTypeName(a)), std::string(DTypeName(b)));
}

absl::Status ExpectSameDim(Dim a, Dim b, std::string_view what) {
  if (!a.known() || !b.known() || a == b) return absl::OkStatus();
  return Contradiction("%s: %d and %d differ", std::string(what), a.value(), b.value());
}

Dim Better(Dim a, Dim b) {
  if (a.known()) return a;
  if (b.known()) return b;
  return !a.named() && b.named() ? b : a;
}

absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank, std::string_view what) {
  if (axis < -static_cast<int64_t>(rank) || axis >= rank) {
    return Contradiction("%s %d is out of range for rank %d", std::string(what), axis, rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<std::vector<int>> NormalizeAxes(const std::vector<int64_t>& axes, int rank) {
  std::vector<int> out;
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (int64_t axis : axes) {
    RETUPLE_ASSIGN_OR_RETURN(const int a, NormalizeAxis(axis, rank, "axis"));
    if (seen[static_cast<size_t>(a)]) return Contradiction("axis %d is repeated", axis);
    seen[static_cast<size_t>(a)] = true;
    out.push_back(a);
  }
  return out;
}

absl::StatusOr<Dim> BroadcastDim(Dim a, Dim b) {
  if (a == b || b.Is(1)) return a;
  if (a.Is(1)) return b;
  if (a.known() && b.known()) {
    return Contradiction("dimensions %d and %d do not broadcast", a.value(), b.value());
  }
  // A number other than 1 decides: the symbol is that number or 1.
  if (a.known()) return a;
  if (b.known()) return b;
  return BroadcastSymbols(a, b);
}

absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    auto dim = BroadcastDim(longer[offset + i], shorter[i]);
    if (!dim.ok()) {
      return Contradiction("shapes %s and %s do not broadcast", ShapeToString(a), ShapeToString(b));
    }
    out[offset + i] = *dim;
  }
  return out;
}

absl::StatusOr<std::optional<Shape>> BroadcastInputs(const InferContext& c, int n) {
  std::optional<Shape> out = Shape{};
  bool unknown = false;
  for (int i = 0; i < n; ++i) {
    const Shape* s = c.shape(i);
    if (s == nullptr) {
      unknown = true;
      continue;
    }
    RETUPLE_ASSIGN_OR_RETURN(out, BroadcastShapes(*out, *s));
  }
  if (unknown) return std::optional<Shape>();
  return out;
}

Dim ProductOf(const Shape& s, size_t begin, size_t end) {
  Dim product = 1;
  for (size_t i = begin; i < std::min(end, s.size()); ++i) product = product * s[i];
  return product;
}

Dim QuotientOf(std::vector<Dim> numerator, std::vector<Dim> denominator) {
  for (auto d = denominator.begin(); d != denominator.end();) {
    auto n = std::find(numerator.begin(), numerator.end(), *d);
    if (n == numerator.end() || d->Is(0)) {
      ++d;
      continue;
    }
    numerator.erase(n);
    d = denominator.erase(d);
  }
  return FloorDiv(ProductOf(numerator), ProductOf(denominator));
}

bool FitsElement(DType t, Dim d) {
  switch (t) {
    case DType::kI64:
      return true;
    case DType::kI32:
      return !d.known() || (d.value() >= INT32_MIN && d.value() <= INT32_MAX);
    default:
      return false;
  }
}

absl::StatusOr<DType> DTypeFromAttr(int64_t value, std::string_view what) {
  if (value >= 1 && value <= static_cast<int64_t>(DType::kI4)) return static_cast<DType>(value);
  return Contradiction("%s: %d is not an element type", std::string(what), value);
}

}  // namespace retuple::internal
