// Compiling: slots, kernels, lifetimes.
#include "kernels/plan.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_format.h"

namespace retuple::internal {
namespace {

constexpr uint32_t kNoSlot = 0xffffffffu;

// An absent optional input.
const Slot kAbsentSlot;

// Operators whose inputs or outputs may be sequences or optionals.
bool TakesAnyValue(const Op& op) {
  static constexpr std::array<std::string_view, 17> kNames = {
      "Identity",     "If",            "Loop",           "Scan",           "SequenceMap",
      "SequenceAt",   "SequenceErase", "SequenceInsert", "SequenceLength", "SequenceConstruct",
      "SequenceEmpty", "Optional",     "OptionalHasElement", "OptionalGetElement",
      "ConcatFromSequence", "SplitToSequence", "ReverseSequence"};
  if (op.schema == nullptr) return true;
  return op.domain.empty() && std::find(kNames.begin(), kNames.end(), op.name) != kNames.end();
}

}  // namespace

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

absl::StatusOr<std::unique_ptr<PlanImpl>> PlanImpl::Make(const Graph& graph, const PlanOptions& options,
                                                         std::shared_ptr<PlanShared> shared,
                                                         int depth) {
  if (depth > kMaxDepth) {
    return absl::InvalidArgumentError(
        absl::StrFormat("subgraphs nest more than %d deep", kMaxDepth));
  }
  std::unique_ptr<PlanImpl> plan(new PlanImpl(graph));
  plan->shared_ = shared != nullptr ? std::move(shared) : std::make_shared<PlanShared>(options);
  absl::Status s = plan->Compile(depth);
  if (!s.ok()) return s;
  return plan;
}

absl::Status PlanImpl::Compile(int depth) {
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
    s.value = Value(graph_.constant(v));
    s.constant = true;
  }
  size_t num_inputs = 0;
  for (ApplyId id : order) num_inputs += graph_.apply(id).inputs.size();
  inputs_.reserve(num_inputs);
  nodes_.reserve(order.size());
  for (ApplyId id : order) {
    absl::Status s = CompileNode(id, slot_of, depth);
    if (!s.ok()) return s;
  }
  for (uint32_t s : graph_outputs_) slots_[s].used = true;
  ComputeLifetimes();
  if (shared_->options.profile && depth == 0) {
    for (const PlanNode& n : nodes_) profile_.push_back({n.apply, 0, 0});
  }
  return absl::OkStatus();
}

absl::Status PlanImpl::CompileNode(ApplyId id, const std::vector<uint32_t>& slot_of, int depth) {
  const Apply& a = graph_.apply(id);
  const Op& op = graph_.op_of(a);
  PlanNode n;
  n.op = &op;
  n.apply = id;
  n.first_input = static_cast<uint32_t>(inputs_.size());
  n.num_outputs = static_cast<uint32_t>(op.num_outputs);
  n.first_output = n.num_outputs == 0 ? 0 : slot_of[a.first_output];
  const auto captures = static_cast<size_t>(std::max(op.num_captures, 0));
  if (captures > a.inputs.size()) {
    return NameError(n, absl::InvalidArgumentError("fewer inputs than captures"));
  }
  n.num_captures = static_cast<uint32_t>(captures);
  n.num_inputs = static_cast<uint32_t>(a.inputs.size() - captures);
  std::vector<const Tensor*> constants;
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    const VarId v = a.inputs[i];
    const bool absent = v == kNoVar;
    // Scan-8 may leave out its first input.
    if (absent && op.schema != nullptr && static_cast<int>(i) < op.schema->min_inputs && op.name != "Scan") {
      return NameError(n, absl::InvalidArgumentError(absl::StrFormat("input %d is missing", i)));
    }
    Slot* s = absent ? nullptr : &slots_[slot_of[v]];
    if (s != nullptr) s->used = true;
    inputs_.push_back(absent ? &kAbsentSlot : s);
    if (i < n.num_inputs) {
      constants.push_back(s != nullptr && s->constant ? &s->value.tensor : nullptr);
    }
  }
  if (op.schema != nullptr && static_cast<int>(n.num_inputs) < op.schema->min_inputs) {
    return NameError(n, absl::InvalidArgumentError(absl::StrFormat(
                            "%d inputs, at least %d expected", n.num_inputs, op.schema->min_inputs)));
  }
  auto kernel = KernelRegistry::Get().Make({op, constants});
  if (!kernel.ok()) return NameError(n, kernel.status());
  n.kernel = *std::move(kernel);
  n.in_place = KernelRegistry::Get().Flags(op.form()).in_place;
  n.tensors_only = !TakesAnyValue(op);
  for (const auto& [name, value] : op.attrs) {
    const GraphPtr* body = std::get_if<GraphPtr>(&value);
    if (body == nullptr || *body == nullptr) continue;
    auto plan = Make(**body, shared_->options, shared_, depth + 1);
    if (!plan.ok()) return NameError(n, plan.status());
    n.bodies.push_back({name, *std::move(plan)});
  }
  nodes_.push_back(std::move(n));
  return absl::OkStatus();
}

// The last node that reads a slot frees it; an output that nobody reads is freed by its own node. Graph inputs,
// outputs and constants stay.
void PlanImpl::ComputeLifetimes() {
  std::vector<uint8_t> kept(slots_.size(), 0), done(slots_.size(), 0), caller_owned(slots_.size(), 0);
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
      if (s == &kAbsentSlot) continue;
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

absl::StatusOr<std::unique_ptr<Plan>> Plan::Compile(const Graph& graph, const PlanOptions& options) {
  auto plan = internal::PlanImpl::Make(graph, options, nullptr, 0);
  if (!plan.ok()) return plan.status();
  return std::unique_ptr<Plan>(*std::move(plan));
}

}  // namespace retuple
