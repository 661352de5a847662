// Running a plan: the context that a kernel sees, the loop over nodes, inputs and outputs.
#include "kernels/executor.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "absl/strings/str_format.h"
#include "kernels/denormals.h"
#include "kernels/plan.h"

namespace retuple {
namespace internal {

namespace {

// The product of the dimensions that are not zero fits: kernels may multiply any of them.
bool FitsInMemory(std::span<const int64_t> dims, size_t width) {
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d < 0 || (d > 0 && __builtin_mul_overflow(n, d, &n))) return false;
  }
  const bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  return empty ? n <= int64_t{1} << 60
               : static_cast<uint64_t>(n) <= kMaxBufferBytes / std::max<size_t>(width, 1);
}

// What a kernel returns; running out of memory inside the standard library included.
absl::Status RunGuarded(const Kernel& kernel, KernelContext& ctx) {
  try {
    return kernel.Run(ctx);
  } catch (const std::exception& e) {
    return absl::ResourceExhaustedError(absl::StrFormat("out of memory (%s)", e.what()));
  }
}

}  // namespace

class RunContext final : public KernelContext {
 public:
  explicit RunContext(PlanImpl& plan) : plan_(plan), shared_(*plan.shared_) {}

  void Start(const PlanNode& n) {
    node_ = &n;
    in_ = plan_.inputs_.data() + n.first_input;
    out_ = plan_.slots_.data() + n.first_output;
  }

  const Op& op() const override { return *node_->op; }
  int num_inputs() const override { return static_cast<int>(node_->num_inputs); }
  bool has(int i) const override {
    return i < static_cast<int>(node_->num_inputs) && in_[i]->value.kind != Value::Kind::kAbsent;
  }
  const Tensor& input(int i) const override { return in_[i]->value.tensor; }
  const Value& value(int i) const override { return in_[i]->value; }
  int num_outputs() const override { return static_cast<int>(node_->num_outputs); }
  bool output_used(int i) const override {
    return i < static_cast<int>(node_->num_outputs) && out_[i].used;
  }

  absl::StatusOr<Tensor*> Output(int i, DType dtype, Dims dims) override {
    if (i < 0 || i >= static_cast<int>(node_->num_outputs)) {
      return absl::InternalError(absl::StrFormat("there is no output %d", i));
    }
    const size_t width = DTypeSize(dtype);
    if (!FitsInMemory(dims, dtype == DType::kString ? sizeof(std::string) : width)) {
      return absl::ResourceExhaustedError(absl::StrFormat("output %d is too large", i));
    }
    const int64_t n = NumElements(dims);
    Slot& s = out_[i];
    plan_.Release(s);
    s.value.kind = Value::Kind::kTensor;
    if (dtype == DType::kString) {
      s.value.tensor = Tensor(dtype, std::move(dims));
      return &s.value.tensor;
    }
    Buffer* b = nullptr;
    if (i == 0 && node_->in_place) {
      const Slot& first = *in_[0];
      if (first.buffer != nullptr && first.buffer->holders() == 1 &&
          first.value.tensor.data() == first.buffer->data && first.value.tensor.dtype() == dtype &&
          first.value.tensor.dims() == dims) {
        b = first.buffer;
      }
    }
    if (b == nullptr) b = shared_.pool.Take(static_cast<size_t>(n) * width);
    if (b == nullptr) {
      s.value = Value();
      return absl::ResourceExhaustedError(absl::StrFormat("no memory for %d bytes of output %d",
                                                          n * static_cast<int64_t>(width), i));
    }
    s.value.tensor = Tensor::View(dtype, std::move(dims), b->data, b->keep);
    s.buffer = b;
    ++b->slots;
    return &s.value.tensor;
  }

  void SetOutput(int i, Value v) override {
    if (i < 0 || i >= static_cast<int>(node_->num_outputs)) return;
    Slot& s = out_[i];
    plan_.Release(s);
    if (v.is_tensor() && !FitsInMemory(v.tensor.dims(), 1))
      return;  // stays absent, which is an error
    s.value = std::move(v);
    if (s.value.kind != Value::Kind::kTensor || s.value.tensor.data() == nullptr) return;
    for (uint32_t k = 0; k < node_->num_inputs; ++k) {
      if (in_[k]->buffer != nullptr && in_[k]->buffer->data == s.value.tensor.data()) {
        s.buffer = in_[k]->buffer;
        break;
      }
    }
    if (s.buffer == nullptr) s.buffer = shared_.pool.FindStray(s.value.tensor.data());
    if (s.buffer != nullptr) ++s.buffer->slots;
  }

  void* Scratch(size_t bytes) override { return shared_.scratch.Allocate(bytes); }
  ThreadPool& threads() override { return shared_.threads; }

  absl::StatusOr<std::vector<Value>> RunSubgraph(std::string_view attr,
                                                 std::span<const Value> args) override {
    for (const PlanBody& b : node_->bodies) {
      if (b.attr == attr) {
        return b.plan->RunBody(args, {in_ + node_->num_inputs, node_->num_captures});
      }
    }
    return absl::InvalidArgumentError(absl::StrFormat("no subgraph '%s'", std::string(attr)));
  }

 private:
  PlanImpl& plan_;
  PlanShared& shared_;
  const PlanNode* node_ = nullptr;
  const Slot* const* in_ = nullptr;
  Slot* out_ = nullptr;
};

absl::Status PlanImpl::CheckInput(size_t i, const Value& v) const {
  const VarId var = graph_.inputs()[i];
  const Type& want = graph_.type(var);
  auto fail = [&](const std::string& got) {
    return absl::InvalidArgumentError(
        absl::StrFormat("input '%s' wants %s, not %s", graph_.var_name(var), want.ToString(), got));
  };
  switch (want.kind()) {
    case Type::Kind::kUnknown:
    case Type::Kind::kOptional:
      return v.is_tensor() && (!v.tensor.defined() || !FitsInMemory(v.tensor.dims(), 1))
                 ? fail("an undefined or impossibly large tensor")
                 : absl::OkStatus();
    case Type::Kind::kSequence:
      return v.kind == Value::Kind::kSequence && v.sequence != nullptr ? absl::OkStatus()
                                                                       : fail("a tensor");
    case Type::Kind::kTensor:
      break;
  }
  if (!v.is_tensor()) return fail("a sequence or an empty optional");
  const Tensor& t = v.tensor;
  if (!t.defined() || !FitsInMemory(t.dims(), 1))
    return fail("an undefined or impossibly large tensor");
  bool ok = want.dtype() == DType::kUndefined || t.dtype() == want.dtype();
  if (ok && want.has_shape() && shared_->options.check_input_shapes) {
    ok = want.rank() == t.rank();
    for (int d = 0; ok && d < t.rank(); ++d) {
      const Dim& w = want.shape()[static_cast<size_t>(d)];
      ok = !w.known() || w.value() == t.dim(d);
    }
  }
  return ok ? absl::OkStatus() : fail(t.type().ToString());
}

void PlanImpl::Bind(size_t input, const Value& v) {
  Slot& s = slots_[graph_inputs_[input]];
  if (!s.used || s.constant) return;
  s.value = v;
}

absl::Status PlanImpl::RunNodes() {
  RunContext ctx(*this);
  const bool timed = !profile_.empty();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const PlanNode& n = nodes_[i];
    if (n.tensors_only) {
      for (uint32_t k = 0; k < n.num_inputs; ++k) {
        const Value::Kind kind = inputs_[n.first_input + k]->value.kind;
        if (kind != Value::Kind::kTensor && kind != Value::Kind::kAbsent) {
          return NameError(n, absl::InvalidArgumentError(absl::StrFormat(
                                  "input %d is a sequence or an empty optional", k)));
        }
      }
    }
    ctx.Start(n);
    const ScratchArena::Mark mark = shared_->scratch.mark();
    std::chrono::steady_clock::time_point start;
    if (timed) start = std::chrono::steady_clock::now();
    absl::Status s = RunGuarded(*n.kernel, ctx);
    if (timed) {
      profile_[i].seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      ++profile_[i].runs;
    }
    shared_->scratch.Rewind(mark);
    if (!s.ok()) return NameError(n, s);
    for (uint32_t k = 0; k < n.num_outputs; ++k) {
      const Slot& out = slots_[n.first_output + k];
      if (out.used && out.value.kind == Value::Kind::kAbsent) {
        return NameError(n, absl::InternalError(
                                absl::StrFormat("output %d was not computed, or is too large", k)));
      }
    }
    for (uint32_t k = 0; k < n.num_frees; ++k) Release(slots_[frees_[n.first_free + k]]);
  }
  return absl::OkStatus();
}

namespace {

bool HasBody(const Op& op) {
  for (const auto& [name, value] : op.attrs) {
    if (KindOf(value) == AttrKind::kGraph || KindOf(value) == AttrKind::kGraphs) return true;
  }
  return false;
}

}  // namespace

bool PlanImpl::Fold(const PlanNode& n) {
  constexpr size_t kMaxBytes = size_t{64} << 20;
  if (n.op->effect != Effect::kPure || n.op->schema == nullptr || HasBody(*n.op)) return false;
  size_t bytes = 0;
  for (uint32_t k = 0; k < n.num_inputs; ++k) {
    const Slot& s = *inputs_[n.first_input + k];
    if (s.value.kind == Value::Kind::kAbsent ? &s != AbsentSlot() : !s.constant) return false;
    bytes += s.value.tensor.bytes();
  }
  // What makes much of little (Expand, ConstantOfShape, Tile) stays for the run.
  if (bytes > kMaxBytes || n.op->name == "ConstantOfShape" || n.op->name == "Expand" ||
      n.op->name == "Tile" || n.op->name == "Range") {
    return false;
  }
  ScopedFlushDenormals mode(shared_->options.flush_denormals);
  RunContext ctx(*this);
  for (uint32_t k = 0; k < n.num_outputs; ++k) slots_[n.first_output + k].used = true;
  ctx.Start(n);
  const ScratchArena::Mark mark = shared_->scratch.mark();
  bool ok = RunGuarded(*n.kernel, ctx).ok();
  shared_->scratch.Rewind(mark);
  for (uint32_t k = 0; k < n.num_outputs && ok; ++k) {
    const Slot& s = slots_[n.first_output + k];
    ok = s.value.is_tensor() || s.value.kind == Value::Kind::kAbsent;
  }
  for (uint32_t k = 0; k < n.num_outputs; ++k) {
    Slot& s = slots_[n.first_output + k];
    s.used = false;
    if (!ok) Release(s);
    s.constant = ok && s.value.is_tensor();
  }
  return ok;
}

std::vector<Value> PlanImpl::TakeOutputs() {
  std::vector<Value> out;
  out.reserve(graph_outputs_.size());
  for (uint32_t s : graph_outputs_) out.push_back(slots_[s].value);
  return out;
}

void PlanImpl::Clear() {
  for (uint32_t s : end_frees_) Release(slots_[s]);
}

absl::StatusOr<std::vector<Value>> PlanImpl::RunBody(std::span<const Value> args,
                                                     std::span<const Slot* const> captures) {
  if (args.size() + captures.size() != graph_inputs_.size()) {
    return absl::InvalidArgumentError(absl::StrFormat("body '%s' has %d inputs, %d given",
                                                      graph_.name, graph_inputs_.size(),
                                                      args.size() + captures.size()));
  }
  for (size_t i = 0; i < args.size(); ++i) Bind(i, args[i]);
  for (size_t i = 0; i < captures.size(); ++i) Bind(args.size() + i, captures[i]->value);
  absl::Status s = RunNodes();
  if (!s.ok()) {
    for (Slot& slot : slots_) {
      if (!slot.constant) Release(slot);
    }
    return s;
  }
  std::vector<Value> out = TakeOutputs();
  Clear();
  return out;
}

namespace {

// True if `t` lies in memory that belongs to one of `inputs`.
bool Aliases(const Tensor& t, std::span<const Value> inputs) {
  const auto at = reinterpret_cast<uintptr_t>(t.data());
  for (const Value& v : inputs) {
    if (v.kind == Value::Kind::kSequence && v.sequence != nullptr) {
      for (const Value& item : *v.sequence) {
        if (item.is_tensor() && item.tensor.SameStorage(t)) return true;
      }
    }
    if (!v.is_tensor()) continue;
    const auto begin = reinterpret_cast<uintptr_t>(v.tensor.data());
    const size_t bytes = v.tensor.dtype() == DType::kString
                             ? static_cast<size_t>(v.tensor.size()) * sizeof(std::string)
                             : v.tensor.bytes();
    if (at >= begin && at < begin + bytes) return true;
  }
  return false;
}

Tensor Copy(const Tensor& t) {
  Tensor c(t.dtype(), t.dims());
  if (t.dtype() == DType::kString) {
    std::copy(t.strings().begin(), t.strings().end(), c.mutable_data<std::string>());
  } else if (t.bytes() > 0) {
    std::copy_n(t.data<char>(), t.bytes(), c.mutable_data<char>());
  }
  return c;
}

// Gives a result memory of its own where it shares the caller's.
void Detach(Value& v, std::span<const Value> inputs) {
  if (v.is_tensor()) {
    if (v.tensor.size() > 0 && Aliases(v.tensor, inputs)) v.tensor = Copy(v.tensor);
  } else if (v.kind == Value::Kind::kSequence && v.sequence != nullptr) {
    bool any = false;
    for (const Value& item : *v.sequence) {
      any = any || (item.is_tensor() && item.tensor.size() > 0 && Aliases(item.tensor, inputs));
    }
    if (!any) return;
    std::vector<Value> items = *v.sequence;
    for (Value& item : items) {
      if (item.is_tensor() && item.tensor.size() > 0 && Aliases(item.tensor, inputs)) {
        item.tensor = Copy(item.tensor);
      }
    }
    v = Value::Sequence(std::move(items));
  }
}

}  // namespace

absl::StatusOr<std::vector<Value>> PlanImpl::Run(std::span<const Value> inputs) {
  if (inputs.size() > graph_inputs_.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d inputs given, the graph has %d", inputs.size(), graph_inputs_.size()));
  }
  ScopedFlushDenormals mode(shared_->options.flush_denormals);
  shared_->pool.Sweep();
  absl::Status status;
  for (size_t i = 0; i < graph_inputs_.size() && status.ok(); ++i) {
    const VarId var = graph_.inputs()[i];
    if (i >= inputs.size() || inputs[i].kind == Value::Kind::kAbsent) {
      auto it = graph_.defaults().find(var);
      if (it == graph_.defaults().end()) {
        if (graph_.type(var).kind() == Type::Kind::kOptional) {
          Bind(i, Value::None());
          continue;
        }
        status = absl::InvalidArgumentError(
            absl::StrFormat("input '%s' is missing", graph_.var_name(var)));
      } else {
        Bind(i, Value(it->second));
      }
    } else {
      status = CheckInput(i, inputs[i]);
      if (status.ok()) Bind(i, inputs[i]);
    }
  }
  if (status.ok()) status = RunNodes();
  if (!status.ok()) {
    for (Slot& slot : slots_) {
      if (!slot.constant) Release(slot);
    }
    return status;
  }
  std::vector<Value> out = TakeOutputs();
  Clear();
  for (Value& v : out) Detach(v, inputs);
  return out;
}

}  // namespace internal

absl::StatusOr<std::vector<Value>> EvaluateOp(const Op& op, std::span<const Value> inputs) {
  Graph g;
  std::vector<VarId> vars;
  std::vector<Value> values;
  for (const Value& v : inputs) {
    if (v.kind == Value::Kind::kAbsent) {
      vars.push_back(kNoVar);
      continue;
    }
    vars.push_back(g.AddInput(absl::StrFormat("i%d", vars.size()), Type::Unknown()));
    values.push_back(v);
  }
  const ApplyId a = g.AddApply(g.InternOp(op), vars);
  for (int i = 0; i < op.num_outputs; ++i) g.AddOutput(absl::StrFormat("o%d", i), g.output(a, i));
  PlanOptions options;
  options.flush_denormals = false;
  auto plan = internal::PlanImpl::Make(g, options, nullptr, 0);
  if (!plan.ok()) return plan.status();
  return (*plan)->Run(values);
}

}  // namespace retuple
