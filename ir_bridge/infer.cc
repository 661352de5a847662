#include "ir_bridge/infer.h"

#include "absl/strings/str_format.h"

namespace retuple {
namespace {

// Bodies nested deeper than this are not looked into: their outputs stay unknown.
constexpr int kMaxBodyDepth = 48;

// A loop body is inferred until its states settle, so that nested loops multiply: beyond this many
// applications within one outermost call, bodies are not looked into any more.
constexpr int64_t kMaxBodyWork = 5'000'000;

thread_local int body_depth = 0;
thread_local int64_t body_work = 0;

struct DepthGuard {
  DepthGuard() {
    if (body_depth++ == 0) body_work = 0;
  }
  ~DepthGuard() { --body_depth; }
};

std::string NodeLabel(const Graph& g, ApplyId a) {
  const std::string& name = g.apply_name(a);
  return name.empty() ? absl::StrFormat("node %d", a) : absl::StrFormat("node '%s'", name);
}

// Fills infos of all live variables; those of the inputs stand there already.
absl::Status InferAll(const Graph& g, std::vector<ValueInfo>& infos) {
  std::vector<const ValueInfo*> operands;
  auto fill_constant = [&](VarId v) {
    if (g.var(v).kind == Variable::Kind::kConstant && infos[v].constant == nullptr) {
      infos[v] = InfoOf(g.constant(v));
    }
  };
  for (ApplyId a : g.LiveApplies()) {
    const Apply& apply = g.apply(a);
    operands.clear();
    for (VarId v : apply.inputs) {
      if (v != kNoVar) fill_constant(v);
      operands.push_back(v == kNoVar ? nullptr : &infos[v]);
    }
    auto outputs = InferOp(g.op_of(apply), operands);
    if (!outputs.ok()) {
      return absl::Status(
          outputs.status().code(),
          absl::StrFormat("%s: %s", NodeLabel(g, a), std::string(outputs.status().message())));
    }
    for (size_t i = 0; i < outputs->size(); ++i) {
      infos[apply.first_output + i] = std::move((*outputs)[i]);
    }
  }
  for (const GraphOutput& o : g.outputs()) {
    if (o.var != kNoVar) fill_constant(o.var);
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> MergeShapes(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("shapes %s and %s differ in rank", ShapeToString(a), ShapeToString(b)));
  }
  Shape out = a;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].known() && b[i].known() && a[i] != b[i]) {
      return absl::InvalidArgumentError(
          absl::StrFormat("shapes %s and %s differ", ShapeToString(a), ShapeToString(b)));
    }
    if (b[i].known() || (!a[i].known() && !a[i].named() && b[i].named())) out[i] = b[i];
  }
  return out;
}

bool HasElement(const Type& t) {
  return t.kind() == Type::Kind::kSequence || t.kind() == Type::Kind::kOptional;
}

}  // namespace

std::optional<std::vector<Dim>> ElementsOf(const Tensor& t) {
  if (t.rank() > 1 || t.size() > kMaxCarriedElements ||
      !(IsInteger(t.dtype()) || t.dtype() == DType::kBool)) {
    return std::nullopt;
  }
  std::vector<Dim> out;
  out.reserve(static_cast<size_t>(t.size()));
  for (int64_t i = 0; i < t.size(); ++i) out.emplace_back(t.IntAt(i));
  return out;
}

ValueInfo InfoOf(const Tensor& constant) {
  ValueInfo info;
  info.type = constant.type();
  info.elements = ElementsOf(constant);
  info.constant = &constant;
  return info;
}

absl::StatusOr<Type> MergeTypes(const Type& a, const Type& b) {
  if (a.is_unknown()) return b;
  if (b.is_unknown()) return a;
  auto contradiction = [&] {
    return absl::InvalidArgumentError(
        absl::StrFormat("types %s and %s contradict each other", a.ToString(), b.ToString()));
  };
  if (a.kind() != b.kind()) return contradiction();
  if (HasElement(a)) {
    auto element = MergeTypes(a.element(), b.element());
    if (!element.ok()) return element.status();
    return a.kind() == Type::Kind::kSequence ? Type::Sequence(*std::move(element))
                                             : Type::Optional(*std::move(element));
  }
  const DType dtype = a.dtype() == DType::kUndefined ? b.dtype() : a.dtype();
  if (b.dtype() != DType::kUndefined && b.dtype() != dtype) return contradiction();
  if (!a.has_shape()) return b.has_shape() ? Type::Tensor(dtype, b.shape()) : Type::Tensor(dtype);
  if (!b.has_shape()) return Type::Tensor(dtype, a.shape());
  auto shape = MergeShapes(a.shape(), b.shape());
  if (!shape.ok()) return shape.status();
  return Type::Tensor(dtype, *std::move(shape));
}

Type JoinTypes(const Type& a, const Type& b) {
  if (a == b) return a;
  if (a.kind() != b.kind() || a.is_unknown()) return Type();
  if (HasElement(a)) {
    Type element = JoinTypes(a.element(), b.element());
    return a.kind() == Type::Kind::kSequence ? Type::Sequence(std::move(element))
                                             : Type::Optional(std::move(element));
  }
  const DType dtype = a.dtype() == b.dtype() ? a.dtype() : DType::kUndefined;
  if (a.rank() != b.rank() || a.rank() < 0) return Type::Tensor(dtype);
  Shape shape = a.shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != b.shape()[i]) shape[i] = Dim::Fresh();
  }
  return Type::Tensor(dtype, std::move(shape));
}

absl::StatusOr<std::vector<ValueInfo>> InferOp(const Op& op,
                                               std::span<const ValueInfo* const> inputs) {
  InferContext context(op, inputs);
  if (op.schema != nullptr && op.schema->infer != nullptr) {
    if (absl::Status s = op.schema->infer(context); !s.ok()) {
      return absl::Status(s.code(), absl::StrFormat("%s: %s", op.form(), std::string(s.message())));
    }
  }
  return std::move(context.outputs());
}

absl::StatusOr<std::vector<ValueInfo>> InferBody(const Graph& body,
                                                 std::span<const ValueInfo* const> inputs) {
  std::vector<ValueInfo> results(body.outputs().size());
  if (body_depth >= kMaxBodyDepth) return results;
  DepthGuard guard;
  body_work += static_cast<int64_t>(body.num_applies()) + 1;
  if (body_work > kMaxBodyWork) return results;
  std::vector<ValueInfo> infos(body.num_vars());
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    const VarId v = body.inputs()[i];
    infos[v].type = body.type(v);
    if (i >= inputs.size() || inputs[i] == nullptr) continue;
    auto merged = MergeTypes(inputs[i]->type, body.type(v));
    if (!merged.ok()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "input '%s' of the body: %s", body.var_name(v), std::string(merged.status().message())));
    }
    infos[v] = *inputs[i];
    infos[v].type = *std::move(merged);
  }
  if (absl::Status s = InferAll(body, infos); !s.ok()) return s;
  for (size_t i = 0; i < results.size(); ++i) {
    const GraphOutput& o = body.outputs()[i];
    if (o.var == kNoVar) continue;
    results[i] = infos[o.var];
    if (auto merged = MergeTypes(results[i].type, o.type); merged.ok()) {
      results[i].type = *std::move(merged);
    }
  }
  return results;
}

absl::Status InferTypes(Graph& g, std::vector<ValueInfo>* out) {
  std::vector<ValueInfo> infos(g.num_vars());
  for (VarId v : g.inputs()) {
    infos[v].type = g.type(v);
    if (!g.type(v).has_shape()) continue;
    for (const Dim& d : g.type(v).shape()) {
      if (d.known() && d.value() < 0) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "input '%s' has type %s: negative dimension", g.var_name(v), g.type(v).ToString()));
      }
    }
  }
  if (absl::Status s = InferAll(g, infos); !s.ok()) return s;
  for (VarId v = 0; v < infos.size(); ++v) {
    if (g.var(v).kind == Variable::Kind::kOutput && !infos[v].type.is_unknown()) {
      g.set_type(v, infos[v].type);
    }
  }
  if (out != nullptr) *out = std::move(infos);
  return absl::OkStatus();
}

}  // namespace retuple
