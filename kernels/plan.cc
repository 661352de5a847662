// Compiling: slots, kernels, lifetimes.
#include "kernels/plan.h"

#include <algorithm>
#include <array>
#include <exception>

#include "absl/strings/str_format.h"

namespace retuple::internal {
namespace {

constexpr uint32_t kNoSlot = 0xffffffffu;

// Operators whose inputs or outputs may be sequences or optionals.
bool TakesAnyValue(const Op& op) {
  static constexpr std::array<std::string_view, 16> kNames = {"Identity",
                                                              "If",
                                                              "Loop",
                                                              "Scan",
                                                              "SequenceMap",
                                                              "SequenceAt",
                                                              "SequenceErase",
                                                              "SequenceInsert",
                                                              "SequenceLength",
                                                              "SequenceConstruct",
                                                              "SequenceEmpty",
                                                              "Optional",
                                                              "OptionalHasElement",
                                                              "OptionalGetElement",
                                                              "ConcatFromSequence",
                                                              "SplitToSequence"};
  if (op.schema == nullptr) return true;
  return op.domain.empty() && std::find(kNames.begin(), kNames.end(), op.name) != kNames.end();
}

}  // namespace

const Slot* AbsentSlot() {
  static const Slot slot;
  return &slot;
}

PlanImpl::~PlanImpl() = default;

absl::Status PlanImpl::NameError(const PlanNode& n, const absl::Status& s) const {
  const std::string form = n.op->form();
  std::string name = graph_.apply_name(n.apply);
  if (name.empty()) {
    const Apply& a = graph_.apply(n.apply);
    for (int i = 0; i < static_cast<int>(n.num_outputs) && name.empty(); ++i) {
      name = graph_.var_name(a.first_output + static_cast<VarId>(i));
    }
    if (name.empty()) name = absl::StrFormat("#%d", n.apply);
  }
  return absl::Status(s.code(),
                      absl::StrFormat("%s '%s': %s", form, name, std::string(s.message())));
}

absl::StatusOr<std::unique_ptr<PlanImpl>> PlanImpl::Make(const Graph& graph,
                                                         const PlanOptions& options,
                                                         std::shared_ptr<PlanShared> shared,
                                                         int depth,
                                                         std::span<const Value* const> captured) {
  if (depth > kMaxDepth) {
    return absl::InvalidArgumentError(
        absl::StrFormat("subgraphs nest more than %d deep", kMaxDepth));
  }
  std::unique_ptr<PlanImpl> plan(new PlanImpl(graph));
  plan->shared_ = shared != nullptr ? std::move(shared) : std::make_shared<PlanShared>(options);
  absl::Status s = plan->Compile(depth, captured);
  if (!s.ok()) return s;
  return plan;
}

absl::Status PlanImpl::Compile(int depth, std::span<const Value* const> captured) {
  const std::vector<ApplyId> order = graph_.LiveApplies();
  std::vector<uint32_t> slot_of(graph_.num_vars(), kNoSlot);
  uint32_t count = 0;
  auto slot = [&](VarId v) {
    if (slot_of[v] == kNoSlot) slot_of[v] = count++;
    return slot_of[v];
  };
  for (VarId v : graph_.inputs()) graph_inputs_.push_back(slot(v));
  for (ApplyId id : order) {
    const Apply& a = graph_.apply(id);
    for (VarId v : a.inputs) {
      if (v != kNoVar) slot(v);
    }
    const int n = graph_.op_of(a).num_outputs;
    for (int i = 0; i < n; ++i) {
      const VarId v = a.first_output + static_cast<VarId>(i);
      if (slot_of[v] != kNoSlot) return absl::InternalError("applies are not in order");
      slot_of[v] = count++;  // outputs of an apply are consecutive
    }
  }
  for (const GraphOutput& o : graph_.outputs()) {
    if (o.var >= graph_.num_vars()) {
      return absl::InvalidArgumentError(absl::StrFormat("output '%s' has no value", o.name));
    }
    graph_outputs_.push_back(slot(o.var));
  }
  slots_.resize(count);
  for (VarId v = 0; v < graph_.num_vars(); ++v) {
    if (slot_of[v] == kNoSlot || graph_.var(v).kind != Variable::Kind::kConstant) continue;
    Slot& s = slots_[slot_of[v]];
    const Tensor& t = graph_.constant(v);
    int64_t product = 1;
    for (int64_t d : t.dims()) {
      if (d > 0 && __builtin_mul_overflow(product, d, &product)) {
        return absl::InvalidArgumentError(
            absl::StrFormat("constant '%s' has an impossible shape", graph_.var_name(v)));
      }
    }
    s.value = Value(t);
    s.constant = true;
  }
  for (size_t i = 0; i < captured.size() && i < graph_inputs_.size(); ++i) {
    Slot& s = slots_[graph_inputs_[graph_inputs_.size() - 1 - i]];
    const Value* v = captured[captured.size() - 1 - i];
    if (v == nullptr || !v->is_tensor()) continue;
    s.value = *v;
    s.constant = true;
  }
  size_t num_inputs = 0;
  for (ApplyId id : order) num_inputs += graph_.apply(id).inputs.size();
  inputs_.reserve(num_inputs);
  nodes_.reserve(order.size());
  // First what constants alone determine, then chains, then the rest.
  std::vector<bool> done(graph_.num_applies(), false);
  for (ApplyId id : order) {
    const Apply& a = graph_.apply(id);
    bool constant = graph_.op_of(a).effect == Effect::kPure && graph_.op_of(a).num_captures == 0;
    for (VarId v : a.inputs) constant = constant && (v == kNoVar || slots_[slot_of[v]].constant);
    if (!constant) continue;
    bool folded = false;
    absl::Status s = CompileNode(id, nullptr, true, slot_of, depth, &folded);
    if (!s.ok()) return s;
    done[id] = folded;
  }
  std::vector<ApplyId> rest;
  for (ApplyId id : order) {
    if (!done[id]) rest.push_back(id);
  }
  const Fusions fusions = FindFusions(graph_, rest, [&](VarId v) -> const Tensor* {
    const Slot& s = slots_[slot_of[v]];
    return s.constant ? &s.value.tensor : nullptr;
  });
  for (ApplyId id : rest) {
    if (fusions.skipped[id]) continue;
    auto it = fusions.by_last.find(id);
    absl::Status s = CompileNode(id, it == fusions.by_last.end() ? nullptr : &it->second, false,
                                 slot_of, depth, nullptr);
    if (!s.ok()) return s;
  }
  for (Slot& s : slots_) s.used = false;
  for (const Slot* s : inputs_) {
    if (s != AbsentSlot()) slots_[static_cast<size_t>(s - slots_.data())].used = true;
  }
  for (uint32_t s : graph_outputs_) slots_[s].used = true;
  for (Slot& s : slots_) {
    if (s.constant && !s.used) Release(s);
  }
  ComputeLifetimes();
  if (shared_->options.profile && depth == 0) {
    for (const PlanNode& n : nodes_) profile_.push_back({n.apply, 0, 0});
  }
  return absl::OkStatus();
}

absl::Status PlanImpl::CompileNode(ApplyId id, const Fused* chain, bool fold,
                                   const std::vector<uint32_t>& slot_of, int depth, bool* folded) {
  const ApplyId head = chain != nullptr ? chain->head : id;
  const Apply& a = graph_.apply(head);
  const Op& op = graph_.op_of(a);
  PlanNode n;
  n.op = &op;
  n.apply = head;
  n.first_input = static_cast<uint32_t>(inputs_.size());
  n.num_outputs = chain != nullptr ? 1 : static_cast<uint32_t>(op.num_outputs);
  n.first_output = n.num_outputs == 0 ? 0 : slot_of[graph_.apply(id).first_output];
  const auto captures = static_cast<size_t>(std::max(op.num_captures, 0));
  if (captures > a.inputs.size()) {
    return NameError(n, absl::InvalidArgumentError("fewer inputs than captures"));
  }
  std::vector<VarId> operands(a.inputs.begin(), a.inputs.end());
  if (chain != nullptr && chain->add != kNoVar) {
    operands.resize(3, kNoVar);
    operands.push_back(chain->add);
  }
  n.num_captures = static_cast<uint32_t>(captures);
  n.num_inputs = static_cast<uint32_t>(operands.size() - captures);
  std::vector<const Tensor*> constants;
  for (size_t i = 0; i < operands.size(); ++i) {
    const VarId v = operands[i];
    const bool absent = v == kNoVar;
    // Scan-8 may leave out its first input, Loop its first two.
    const bool may_lack = op.schema == nullptr || op.name == "Scan" || op.name == "Loop";
    if (absent && !may_lack && static_cast<int>(i) < op.schema->min_inputs) {
      return NameError(n, absl::InvalidArgumentError(absl::StrFormat("input %d is missing", i)));
    }
    Slot* s = absent ? nullptr : &slots_[slot_of[v]];
    inputs_.push_back(absent ? AbsentSlot() : s);
    if (i < n.num_inputs) {
      constants.push_back(s != nullptr && s->constant ? &s->value.tensor : nullptr);
    }
  }
  if (op.schema != nullptr && static_cast<int>(n.num_inputs) < op.schema->min_inputs) {
    return NameError(
        n, absl::InvalidArgumentError(absl::StrFormat("%d inputs, at least %d expected",
                                                      n.num_inputs, op.schema->min_inputs)));
  }
  const KernelInit init{op, constants};
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = absl::InternalError("no kernel");
  try {
    kernel = chain != nullptr ? MakeFusedKernel(*chain, init) : KernelRegistry::Get().Make(init);
  } catch (const std::exception& e) {
    kernel = absl::ResourceExhaustedError(absl::StrFormat("out of memory (%s)", e.what()));
  }
  if (!kernel.ok()) return NameError(n, kernel.status());
  n.kernel = *std::move(kernel);
  n.tensors_only = !TakesAnyValue(op);
  if (fold) {
    *folded = Fold(n);
    inputs_.resize(n.first_input);
    return absl::OkStatus();
  }
  n.in_place = KernelRegistry::Get().Flags(op.form()).in_place;
  std::vector<const Value*> captured;
  for (size_t i = 0; i < captures; ++i) {
    const Slot* s = inputs_[n.first_input + n.num_inputs + i];
    captured.push_back(s->constant ? &s->value : nullptr);
  }
  for (const auto& [name, value] : op.attrs) {
    const GraphPtr* body = std::get_if<GraphPtr>(&value);
    if (body == nullptr || *body == nullptr) continue;
    auto plan = Make(**body, shared_->options, shared_, depth + 1, captured);
    if (!plan.ok()) return NameError(n, plan.status());
    n.bodies.push_back({name, *std::move(plan)});
  }
  nodes_.push_back(std::move(n));
  return absl::OkStatus();
}

// The last node that reads a slot frees it; an output that nobody reads is freed by its own node.
// Graph inputs, outputs and constants stay.
void PlanImpl::ComputeLifetimes() {
  std::vector<uint8_t> kept(slots_.size(), 0), done(slots_.size(), 0),
      caller_owned(slots_.size(), 0);
  for (uint32_t s : graph_outputs_) kept[s] = 1;
  for (uint32_t s : graph_inputs_) kept[s] = caller_owned[s] = 1;
  for (uint32_t s = 0; s < slots_.size(); ++s) {
    if (kept[s] && !slots_[s].constant) end_frees_.push_back(s);
    if (slots_[s].constant) kept[s] = 1;
  }
  for (size_t i = nodes_.size(); i-- > 0;) {
    PlanNode& n = nodes_[i];
    n.first_free = static_cast<uint32_t>(frees_.size());
    bool first_dies = false;
    auto free_slot = [&](uint32_t s) {
      if (kept[s] || done[s]) return false;
      done[s] = 1;
      frees_.push_back(s);
      return true;
    };
    for (uint32_t k = 0; k < n.num_inputs + n.num_captures; ++k) {
      const Slot* s = inputs_[n.first_input + k];
      if (s == AbsentSlot()) continue;
      const bool dies = free_slot(static_cast<uint32_t>(s - slots_.data()));
      if (k == 0) first_dies = dies;
    }
    for (uint32_t k = 0; k < n.num_outputs; ++k) free_slot(n.first_output + k);
    n.num_frees = static_cast<uint32_t>(frees_.size()) - n.first_free;
    n.in_place = n.in_place && first_dies && n.num_inputs > 0;
  }
}

}  // namespace retuple::internal

namespace retuple {

absl::StatusOr<std::unique_ptr<Plan>> Plan::Compile(const Graph& graph,
                                                    const PlanOptions& options) {
  auto plan = internal::PlanImpl::Make(graph, options, nullptr, 0);
  if (!plan.ok()) return plan.status();
  return std::unique_ptr<Plan>(*std::move(plan));
}

}  // namespace retuple
