// Inference of the element-wise operators. Integer vectors carry their elements through arithmetic,
// comparison and selection, as computed shapes need.
#include <algorithm>
#include <string>

#include "ir_bridge/graph.h"
#include "ir_bridge/infer.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/infer_util.h"

namespace retuple::internal {
namespace {

using Elements = std::vector<Dim>;

// A symbol stands for a size: it is not negative.
std::optional<Dim> Arithmetic(const std::string& op, Dim a, Dim b) {
  const bool numbers = a.known() && b.known();
  if (op == "Add" || op == "Sum") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") {
    if (b.Is(0)) return std::nullopt;
    if (numbers) {
      if (a.value() == INT64_MIN && b.value() == -1) return std::nullopt;
      return Dim(a.value() / b.value());
    }
    if (b.known() && b.value() < 0) return std::nullopt;
    if (a.known() && a.value() < 0) return std::nullopt;
    return FloorDiv(a, b);
  }
  if (op == "Mod") {
    if (!numbers || a.value() < 0 || b.value() <= 0) return std::nullopt;
    return Dim(a.value() % b.value());
  }
  if (op == "Max" || op == "Min") {
    const bool max = op == "Max";
    if (a == b) return a;
    if (numbers) return Dim(max ? std::max(a.value(), b.value()) : std::min(a.value(), b.value()));
    if (a.known()) std::swap(a, b);
    if (b.known() && b.value() <= 0) return max ? a : b;
    if (max) return Dim::Fresh();
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Dim> Comparison(const std::string& op, Dim a, Dim b) {
  const bool numbers = a.known() && b.known();
  if (op == "Equal") {
    if (a == b) return Dim(1);
    if (numbers) return Dim(0);
    if ((a.known() && a.value() < 0) || (b.known() && b.value() < 0)) return Dim(0);
    return std::nullopt;
  }
  if (op == "And" || op == "Or" || op == "Xor") {
    if (!numbers) return std::nullopt;
    const bool x = a.value() != 0, y = b.value() != 0;
    return Dim(op == "And" ? (x && y) : op == "Or" ? (x || y) : x != y);
  }
  if (!numbers) return std::nullopt;
  const int64_t x = a.value(), y = b.value();
  return Dim(op == "Greater"          ? x > y
             : op == "Less"           ? x < y
             : op == "GreaterOrEqual" ? x >= y
                                      : x <= y);
}

// Broadcasts the elements of inputs [0, n) and combines them with f, unless some are unknown or a
// result is.
template <typename F>
void CarryElements(InferContext& c, int n, F f) {
  if (c.num_outputs() == 0) return;
  const Type& out = c.outputs()[0].type;
  if (!out.has_shape() || out.rank() > 1 || !out.is_static()) return;
  const int64_t size = out.rank() == 0 ? 1 : out.shape()[0].value();
  if (size > kMaxCarriedElements) return;
  std::vector<Elements> operands;
  for (int i = 0; i < n; ++i) {
    auto e = c.elements(i);
    if (!e || (static_cast<int64_t>(e->size()) != size && e->size() != 1)) return;
    operands.push_back(*std::move(e));
  }
  Elements result;
  for (int64_t k = 0; k < size; ++k) {
    Elements row;
    for (const Elements& e : operands)
      row.push_back(e.size() == 1 ? e[0] : e[static_cast<size_t>(k)]);
    const std::optional<Dim> r = f(row);
    if (!r || (out.dtype() != DType::kBool && !FitsElement(out.dtype(), *r))) return;
    result.push_back(*r);
  }
  c.set_elements(0, std::move(result));
}

absl::Status BroadcastTo(InferContext& c, DType dtype, int n) {
  RETUPLE_ASSIGN_OR_RETURN(std::optional<Shape> shape, BroadcastInputs(c, n));
  c.set_type(0, TensorType(dtype, std::move(shape)));
  return absl::OkStatus();
}

// Before opset 7 the result has the shape of A; with `broadcast`, B aligns with A from `axis` on
// (default: at the end).
absl::Status CheckLegacyBroadcast(const InferContext& c) {
  const Shape* a = c.shape(0);
  const Shape* b = c.shape(1);
  if (a == nullptr || b == nullptr) return absl::OkStatus();
  const int64_t rank_a = static_cast<int64_t>(a->size()), rank_b = static_cast<int64_t>(b->size());
  int64_t offset = rank_a - rank_b;
  if (AttrOr<int64_t>(c.attrs(), "broadcast", 0) != 0) {
    if (const int64_t* axis = FindAttr<int64_t>(c.attrs(), "axis")) {
      offset = *axis < 0 ? *axis + rank_a : *axis;
    }
  } else if (offset != 0) {
    return Contradiction("shapes %s and %s differ and broadcast is off", ShapeToString(*a),
                         ShapeToString(*b));
  }
  if (offset < 0 || offset > rank_a - rank_b) {
    return Contradiction("shape %s does not align with %s", ShapeToString(*b), ShapeToString(*a));
  }
  for (int64_t i = 0; i < rank_b; ++i) {
    const Dim x = (*a)[static_cast<size_t>(offset + i)], y = (*b)[static_cast<size_t>(i)];
    if (x.known() && y.known() && x != y && !y.Is(1)) {
      return Contradiction("shape %s does not align with %s", ShapeToString(*b), ShapeToString(*a));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InferUnary(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  c.set_type(0, c.type(0));
  const std::string& op = c.op().name;
  if (op == "Neg") {
    CarryElements(c, 1, [](const Elements& e) { return std::optional<Dim>(Dim(0) - e[0]); });
  } else if (op == "Abs") {
    CarryElements(c, 1, [](const Elements& e) -> std::optional<Dim> {
      return e[0].known() && e[0].value() < 0 ? Dim(0) - e[0] : e[0];
    });
  }
  return absl::OkStatus();
}

absl::Status InferIdentity(InferContext& c) {
  if (c.input(0) != nullptr && c.num_outputs() > 0) c.outputs()[0] = *c.input(0);
  return absl::OkStatus();
}

absl::Status InferNot(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 0, DType::kBool));
  SetLike(c, 0, DType::kBool, 0);
  CarryElements(c, 1, [](const Elements& e) -> std::optional<Dim> {
    if (!e[0].known()) return std::nullopt;
    return Dim(e[0].Is(0) ? 1 : 0);
  });
  return absl::OkStatus();
}

absl::Status InferPredicate(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  SetLike(c, 0, DType::kBool, 0);
  return absl::OkStatus();
}

absl::Status InferClip(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  for (int i : {1, 2}) {
    if (c.input(i) == nullptr) continue;
    RETUPLE_RETURN_IF_ERROR(CommonDType(c, 0, i).status());
    const Shape* s = c.shape(i);  // [1] is tolerated, as runtimes do
    if (s != nullptr && s->size() > 1) {
      return Contradiction("bound (input %d) has shape %s, expected a scalar", i,
                           ShapeToString(*s));
    }
  }
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferPReluV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(CommonDType(c, 0, 1).status());
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferPRelu(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(CommonDType(c, 0, 1).status());
  if (const Shape* x = c.shape(0), *slope = c.shape(1); x != nullptr && slope != nullptr) {
    RETUPLE_ASSIGN_OR_RETURN(const Shape both, BroadcastShapes(*x, *slope));
    bool grows = both.size() != x->size();
    for (size_t i = 0; i < x->size() && !grows; ++i) {
      grows = (*x)[i].known() && both[i].known() && (*x)[i] != both[i];
    }
    if (grows) {
      return Contradiction("slope of shape %s does not broadcast to %s", ShapeToString(*slope),
                           ShapeToString(*x));
    }
  }
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferBinaryV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, CommonDType(c, 0, 1));
  RETUPLE_RETURN_IF_ERROR(CheckLegacyBroadcast(c));
  SetLike(c, 0, dtype, 0);
  return absl::OkStatus();
}

absl::Status InferLogicalV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  for (int i : {0, 1}) RETUPLE_RETURN_IF_ERROR(ExpectDType(c, i, DType::kBool));
  RETUPLE_RETURN_IF_ERROR(CheckLegacyBroadcast(c));
  SetLike(c, 0, DType::kBool, 0);
  return absl::OkStatus();
}

absl::Status InferCompareV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(CommonDType(c, 0, 1).status());
  RETUPLE_RETURN_IF_ERROR(CheckLegacyBroadcast(c));
  SetLike(c, 0, DType::kBool, 0);
  return absl::OkStatus();
}

absl::Status InferBinary(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, CommonDType(c, 0, 1));
  RETUPLE_RETURN_IF_ERROR(BroadcastTo(c, dtype, 2));
  const std::string& op = c.op().name;
  CarryElements(c, 2, [&](const Elements& e) { return Arithmetic(op, e[0], e[1]); });
  return absl::OkStatus();
}

absl::Status InferPow(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  return BroadcastTo(c, c.dtype(0), 2);
}

absl::Status InferVariadic(InferContext& c) {
  const int n = c.num_inputs();
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, n));
  DType dtype = c.dtype(0);
  for (int i = 1; i < n; ++i) {
    RETUPLE_ASSIGN_OR_RETURN(const DType pair, CommonDType(c, 0, i));
    if (dtype == DType::kUndefined) dtype = pair;
  }
  RETUPLE_RETURN_IF_ERROR(BroadcastTo(c, dtype, n));
  const std::string& op = c.op().name;
  if (n == 0 || op == "Mean") return absl::OkStatus();
  CarryElements(c, n, [&](const Elements& e) {
    std::optional<Dim> r = e[0];
    for (size_t i = 1; i < e.size() && r; ++i) r = Arithmetic(op, *r, e[i]);
    return r;
  });
  return absl::OkStatus();
}

absl::Status InferLogical(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  for (int i : {0, 1}) RETUPLE_RETURN_IF_ERROR(ExpectDType(c, i, DType::kBool));
  RETUPLE_RETURN_IF_ERROR(BroadcastTo(c, DType::kBool, 2));
  const std::string& op = c.op().name;
  CarryElements(c, 2, [&](const Elements& e) { return Comparison(op, e[0], e[1]); });
  return absl::OkStatus();
}

absl::Status InferCompare(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(CommonDType(c, 0, 1).status());
  RETUPLE_RETURN_IF_ERROR(BroadcastTo(c, DType::kBool, 2));
  const std::string& op = c.op().name;
  CarryElements(c, 2, [&](const Elements& e) { return Comparison(op, e[0], e[1]); });
  return absl::OkStatus();
}

absl::Status InferWhere(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 0, DType::kBool));
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, CommonDType(c, 1, 2));
  RETUPLE_RETURN_IF_ERROR(BroadcastTo(c, dtype, 3));
  CarryElements(c, 3, [](const Elements& e) -> std::optional<Dim> {
    if (e[1] == e[2]) return e[1];
    if (!e[0].known()) return std::nullopt;
    return e[0].Is(0) ? e[2] : e[1];
  });
  return absl::OkStatus();
}

namespace {

void SetCast(InferContext& c, DType to) {
  SetLike(c, 0, to, 0);
  if (to != DType::kBool && !IsInteger(to)) return;
  CarryElements(c, 1, [&](const Elements& e) -> std::optional<Dim> {
    if (to != DType::kBool) return e[0];
    if (!e[0].known()) return std::nullopt;
    return Dim(e[0].Is(0) ? 0 : 1);
  });
}

}  // namespace

absl::Status InferCastV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  static constexpr std::pair<std::string_view, DType> kNames[] = {
      {"FLOAT", DType::kF32},   {"UINT8", DType::kU8},      {"INT8", DType::kI8},
      {"UINT16", DType::kU16},  {"INT16", DType::kI16},     {"INT32", DType::kI32},
      {"INT64", DType::kI64},   {"STRING", DType::kString}, {"BOOL", DType::kBool},
      {"FLOAT16", DType::kF16}, {"DOUBLE", DType::kF64},    {"UINT32", DType::kU32},
      {"UINT64", DType::kU64},  {"COMPLEX64", DType::kC64}, {"COMPLEX128", DType::kC128}};
  const std::string* to = FindAttr<std::string>(c.attrs(), "to");
  for (const auto& [name, dtype] : kNames) {
    if (to != nullptr && *to == name) {
      SetCast(c, dtype);
      return absl::OkStatus();
    }
  }
  return Contradiction("to: '%s' is not an element type", to ? *to : "");
}

absl::Status InferCast(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_ASSIGN_OR_RETURN(const DType to,
                           DTypeFromAttr(AttrOr<int64_t>(c.attrs(), "to", 0), "to"));
  SetCast(c, to);
  return absl::OkStatus();
}

absl::Status InferCastLike(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  SetCast(c, c.dtype(1));
  return absl::OkStatus();
}

}  // namespace retuple::internal
