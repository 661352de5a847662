// The native Graph as the first adapter.
//
// Every op is kPure here: random and effectful ops carry an identity in their head, so they never merge. New applications are appended to the
// graph; dead ones are left for LiveApplies to skip.
#ifndef RETUPLE_IR_BRIDGE_GRAPH_ADAPTER_H_
#define RETUPLE_IR_BRIDGE_GRAPH_ADAPTER_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "ir_bridge/bridge.h"
#include "ir_bridge/graph.h"
#include "ir_bridge/term_codec.h"

namespace retuple {

class GraphAdapter {
 public:
  using Value = VarId;
  using Op = uint32_t;  // 1 + ApplyId; 0 is none

  // `body`: inputs are the parameters of a lambda, whose first types are declared and whose last ones (captures) are `capture_types`.
  GraphAdapter(Graph& graph, TermCodec& codec) : graph_(graph), codec_(codec) {}
  GraphAdapter(Graph& graph, TermCodec& codec, std::span<const Type> capture_types)
      : graph_(graph), codec_(codec), body_(true), capture_types_(capture_types.begin(), capture_types.end()) {}

  Op DefiningOp(VarId v) const { return graph_.var(v).producer == kNoApply ? 0 : graph_.var(v).producer + 1; }
  int ResultIndex(VarId v) const { return static_cast<int>(graph_.var(v).index); }
  std::string_view Name(Op op) const { return graph_.op_of(apply(op)).name; }
  std::span<const VarId> Operands(Op op) const { return {apply(op).inputs.data(), apply(op).inputs.size()}; }
  int NumResults(Op op) const { return graph_.op_of(apply(op)).num_outputs; }
  AdapterEffect EffectOf(Op) const { return AdapterEffect::kPure; }
  bool SameHead(Op a, Op b) const { return apply(a).op == apply(b).op; }
  absl::StatusOr<Op> Clone(Op op, std::span<const VarId> args) { return Append(apply(op).op, args); }
  absl::StatusOr<Op> Create(std::string_view name, std::span<const VarId> args) {
    return CreateFromHead(codec_.ctx().Sym(name), args);
  }
  VarId Result(Op op, int i) const { return graph_.output(op - 1, i); }

  bool IsTuple(Op op) const { return graph_.op_of(apply(op)).multi_output(); }
  VarId NoValue() const { return kNoVar; }
  Term HeadTerm(Context& ctx, Op op);
  std::optional<Term> LeafTerm(Context& ctx, VarId v);
  bool IsLeaf(Term t) const;
  absl::StatusOr<VarId> LeafValue(Term t);
  absl::StatusOr<Op> CreateFromHead(Term head, std::span<const VarId> args);

 private:
  const Apply& apply(Op op) const { return graph_.apply(op - 1); }
  absl::StatusOr<Op> Append(OpId op, std::span<const VarId> args);

  Graph& graph_;
  TermCodec& codec_;
  bool body_ = false;
  std::vector<Type> capture_types_;
  std::vector<Term> heads_;  // by OpId; nil: not made yet
  absl::flat_hash_map<Term, OpId> op_ids_;
  absl::flat_hash_map<std::string, VarId> inputs_by_name_;
  size_t inputs_seen_ = 0;
};

static_assert(IrAdapter<GraphAdapter>);

using GraphBridge = Bridge<GraphAdapter>;

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_GRAPH_ADAPTER_H_
