#include "ir_bridge/graph_adapter.h"

#include "absl/strings/str_format.h"
#include "ir_bridge/tensor_object.h"

namespace retuple {

Term GraphAdapter::HeadTerm(Context&, Op op) {
  const Apply& a = apply(op);
  const retuple::Op& o = graph_.op_of(a);
  if (o.num_captures > 0) {
    // The types of captures belong to the application, so such a head is made each time.
    std::vector<Type> types;
    for (size_t i = a.inputs.size() - static_cast<size_t>(o.num_captures); i < a.inputs.size(); ++i) {
      types.push_back(graph_.type(a.inputs[i]));
    }
    const Term head = codec_.Head(o, types);
    codec_.Remember(head, graph_.op_ptr(a.op));
    return head;
  }
  if (a.op >= heads_.size()) heads_.resize(std::max<size_t>(graph_.num_ops(), size_t{a.op} + 1));
  Term& head = heads_[a.op];
  if (head.is_nil()) {
    head = codec_.Head(o);
    codec_.Remember(head, graph_.op_ptr(a.op));
  }
  return head;
}

std::optional<Term> GraphAdapter::LeafTerm(Context& ctx, VarId v) {
  const Variable& var = graph_.var(v);
  if (var.kind == Variable::Kind::kConstant) return TensorTerm(ctx, graph_.constant(v));
  if (!body_) return codec_.Input(graph_.var_name(v), graph_.type(v));
  const auto inputs = graph_.inputs();
  size_t i = 0;
  while (inputs[i] != v) ++i;
  const size_t formals = inputs.size() - std::min(inputs.size(), capture_types_.size());
  Type type = graph_.type(v);
  if (i >= formals && !capture_types_[i - formals].is_unknown()) type = capture_types_[i - formals];
  return codec_.Bound(static_cast<int>(i), type);
}

bool GraphAdapter::IsLeaf(Term t) const {
  return codec_.IsInput(t) || codec_.IsBound(t) || TensorOf(codec_.ctx(), t) != nullptr;
}

absl::StatusOr<VarId> GraphAdapter::LeafValue(Term t) {
  if (const Tensor* tensor = TensorOf(codec_.ctx(), t)) return graph_.AddConstant(*tensor);
  if (codec_.IsBound(t)) {
    auto i = codec_.BoundIndex(t);
    if (!i.ok()) return i.status();
    if (!body_ || *i < 0 || static_cast<size_t>(*i) >= graph_.inputs().size()) {
      return absl::InvalidArgumentError(absl::StrFormat("parameter %d is bound by no lambda here", *i));
    }
    return graph_.inputs()[static_cast<size_t>(*i)];
  }
  if (body_) return absl::InvalidArgumentError("an input of the graph stands inside a body");
  auto name = codec_.InputName(t);
  if (!name.ok()) return name.status();
  for (; inputs_seen_ < graph_.inputs().size(); ++inputs_seen_) {
    const VarId v = graph_.inputs()[inputs_seen_];
    inputs_by_name_.emplace(graph_.var_name(v), v);
  }
  if (auto it = inputs_by_name_.find(*name); it != inputs_by_name_.end()) return it->second;
  auto type = codec_.LeafType(t);
  if (!type.ok()) return type.status();
  return graph_.AddInput(*name, *type);
}

absl::StatusOr<GraphAdapter::Op> GraphAdapter::Append(OpId op, std::span<const VarId> args) {
  const retuple::Op& o = graph_.op(op);
  if (o.schema != nullptr) {
    const int n = static_cast<int>(args.size()) - o.num_captures;
    if (n < o.schema->min_inputs || n > o.schema->max_inputs) {
      return absl::InvalidArgumentError(absl::StrFormat("%s takes %d operands at least, not %d", o.form(), o.schema->min_inputs, n));
    }
  }
  absl::InlinedVector<VarId, 6> inputs(args.begin(), args.end());
  if (o.num_captures == 0) {
    while (!inputs.empty() && inputs.back() == kNoVar) inputs.pop_back();
  }
  return graph_.AddApply(op, inputs) + 1;
}

absl::StatusOr<GraphAdapter::Op> GraphAdapter::CreateFromHead(Term head, std::span<const VarId> args) {
  auto it = op_ids_.find(head);
  if (it == op_ids_.end()) {
    auto op = codec_.OpOf(head);
    if (!op.ok()) return op.status();
    it = op_ids_.emplace(head, graph_.InternOp(**op)).first;
  }
  return Append(it->second, args);
}

}  // namespace retuple
