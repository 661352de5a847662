#include "kernels/plan_fuse.h"

#include <limits>
#include <optional>

#include "kernels/dense/batch_norm.h"
#include "kernels/dense/conv.h"
#include "kernels/dense/matmul.h"

namespace retuple::internal {
namespace {

using Kind = Activation::Kind;

bool IsForm(const Op& op, std::string_view form) {
  return op.schema != nullptr && op.schema->form == form;
}

// The value of a constant f32 of one element.
std::optional<float> ScalarOf(const Tensor* t) {
  if (t == nullptr || t->dtype() != DType::kF32 || t->size() != 1) return std::nullopt;
  return *t->data<float>();
}

class Finder {
 public:
  Finder(const Graph& g, std::span<const ApplyId> order, const ConstantOf& constant)
      : g_(g), constant_(constant), users_(g.num_vars()), is_output_(g.num_vars(), false) {
    for (ApplyId a : order) {
      for (VarId v : g.apply(a).inputs) {
        if (v != kNoVar) users_[v].push_back(a);
      }
    }
    for (const GraphOutput& o : g.outputs()) is_output_[o.var] = true;
  }

  std::optional<Fused> ChainFrom(ApplyId head, std::vector<ApplyId>* members) {
    const Apply& a = g_.apply(head);
    const Op& op = g_.op_of(a);
    Fused f;
    f.head = f.last = head;
    members->assign(1, head);
    if (IsForm(op, "MatMul")) {
      TakeBias(f, *members);
    } else if (IsForm(op, "Conv")) {
      const Tensor* w = a.inputs.size() > 1 ? ConstantAt(a, 1) : nullptr;
      if (w == nullptr || w->dtype() != DType::kF32 || w->rank() < 3) return std::nullopt;
      rank_ = w->rank();
      channels_ = w->dim(0);
      TakeAdd(f, *members);
      TakeActivation(f, *members);
    } else if (op.domain.empty() && op.name == "BatchNormalization") {
      const Tensor* scale = a.inputs.size() > 1 ? ConstantAt(a, 1) : nullptr;
      if (scale == nullptr || scale->dtype() != DType::kF32) return std::nullopt;
      for (int i = 1; i < op.num_outputs; ++i) {
        const VarId v = a.first_output + static_cast<VarId>(i);
        if (!users_[v].empty() || is_output_[v]) return std::nullopt;
      }
      const auto* readers = Readers(f, 1);
      if (readers == nullptr || !Reads((*readers)[0], ValueOf(f), "Relu")) return std::nullopt;
      f.post.kind = Kind::kRelu;
      Extend(f, *members, (*readers)[0]);
    }
    if (f.last == head) return std::nullopt;
    return f;
  }

 private:
  const Tensor* ConstantAt(const Apply& a, size_t i) const {
    return i < a.inputs.size() && a.inputs[i] != kNoVar ? constant_(a.inputs[i]) : nullptr;
  }
  VarId ValueOf(const Fused& f) const { return g_.apply(f.last).first_output; }

  // The readers of the chain's value, if there are `count` and it is no output of the graph.
  const std::vector<ApplyId>* Readers(const Fused& f, size_t count) const {
    const VarId v = ValueOf(f);
    return users_[v].size() == count && !is_output_[v] ? &users_[v] : nullptr;
  }

  // A reader of the form that has the value once.
  bool Reads(ApplyId reader, VarId v, std::string_view form) const {
    const Apply& a = g_.apply(reader);
    if (!IsForm(g_.op_of(a), form)) return false;
    int n = 0;
    for (VarId i : a.inputs) n += i == v;
    return n == 1;
  }

  void Extend(Fused& f, std::vector<ApplyId>& members, ApplyId next) const {
    f.last = next;
    members.push_back(next);
  }

  void TakeBias(Fused& f, std::vector<ApplyId>& members) const {
    const Tensor* b = ConstantAt(g_.apply(f.head), 1);
    const auto* readers = Readers(f, 1);
    if (b == nullptr || b->dtype() != DType::kF32 || b->rank() != 2 || readers == nullptr) return;
    const VarId v = ValueOf(f);
    if (!Reads((*readers)[0], v, "Add")) return;
    const Apply& add = g_.apply((*readers)[0]);
    const Tensor* bias = ConstantAt(add, add.inputs[0] == v ? 1 : 0);
    if (bias == nullptr || bias->dtype() != DType::kF32 || bias->rank() != 1 ||
        bias->size() != b->dim(1))
      return;
    f.bias.assign(bias->data<float>(), bias->data<float>() + bias->size());
    Extend(f, members, (*readers)[0]);
  }

  // value + another tensor. A constant addend is left alone: rules fold it into the bias.
  void TakeAdd(Fused& f, std::vector<ApplyId>& members) const {
    const auto* readers = Readers(f, 1);
    if (readers == nullptr || !Reads((*readers)[0], ValueOf(f), "Add")) return;
    const Apply& add = g_.apply((*readers)[0]);
    const VarId other = add.inputs[add.inputs[0] == ValueOf(f) ? 1 : 0];
    if (constant_(other) != nullptr) return;
    f.add = other;
    Extend(f, members, (*readers)[0]);
  }

  void TakeActivation(Fused& f, std::vector<ApplyId>& members) const {
    if (const auto* readers = Readers(f, 1)) {
      if (const std::optional<Activation> post = ActivationOf((*readers)[0], ValueOf(f))) {
        f.post = *post;
        Extend(f, members, (*readers)[0]);
      }
      return;
    }
    // x · g(x), written with two readers.
    const auto* readers = Readers(f, 2);
    if (readers == nullptr) return;
    for (size_t i = 0; i < 2; ++i) {
      const ApplyId gate = (*readers)[i], product = (*readers)[1 - i];
      const VarId v = ValueOf(f);
      if (!Reads(product, v, "Mul")) continue;
      const std::optional<Activation> post = ActivationOf(gate, v);
      if (!post || (post->kind != Kind::kSigmoid && post->kind != Kind::kHardSigmoid)) continue;
      const VarId s = g_.apply(gate).first_output;
      const Apply& mul = g_.apply(product);
      if (is_output_[s] || users_[s].size() != 1 || mul.inputs[mul.inputs[0] == v ? 1 : 0] != s)
        continue;
      f.post = *post;
      f.post.kind = post->kind == Kind::kSigmoid ? Kind::kSwish : Kind::kHardSwish;
      members.push_back(gate);
      Extend(f, members, product);
      return;
    }
  }

  std::optional<Activation> ActivationOf(ApplyId id, VarId v) const {
    const Apply& a = g_.apply(id);
    const Op& op = g_.op_of(a);
    if (op.schema == nullptr || !op.domain.empty() || a.inputs.empty() || a.inputs[0] != v)
      return std::nullopt;
    const std::string& form = op.schema->form;
    Activation f;
    if (form == "Relu") {
      f.kind = Kind::kRelu;
    } else if (form == "Sigmoid") {
      f.kind = Kind::kSigmoid;
    } else if (form == "Tanh") {
      f.kind = Kind::kTanh;
    } else if (form == "LeakyRelu") {
      f.kind = Kind::kLeakyRelu;
      f.a = AttrOr<float>(op.attrs, "alpha", 0.01f);
    } else if (form == "HardSigmoid") {
      f.kind = Kind::kHardSigmoid;
      f.a = AttrOr<float>(op.attrs, "alpha", 0.2f);
      f.b = AttrOr<float>(op.attrs, "beta", 0.5f);
    } else if (form == "HardSwish") {
      f.kind = Kind::kHardSwish;
      f.a = 1.0f / 6;
      f.b = 0.5f;
    } else if (form == "Clip-1" || form == "Clip") {
      f.kind = Kind::kClip;
      f.a = AttrOr<float>(op.attrs, "min", std::numeric_limits<float>::lowest());
      f.b = AttrOr<float>(op.attrs, "max", std::numeric_limits<float>::max());
      for (size_t i = 1; i < a.inputs.size() && i < 3; ++i) {
        if (a.inputs[i] == kNoVar) continue;
        const std::optional<float> bound = ScalarOf(constant_(a.inputs[i]));
        if (!bound) return std::nullopt;
        (i == 1 ? f.a : f.b) = *bound;
      }
    } else if (form == "PRelu") {
      const Tensor* slope = ConstantAt(a, 1);
      if (slope == nullptr || slope->dtype() != DType::kF32) return std::nullopt;
      // One slope, or [channels, 1, …] with one axis fewer than the result.
      bool by_channel = rank_ > 0 && slope->rank() == rank_ - 1 && slope->dim(0) == channels_;
      by_channel = by_channel && slope->size() == channels_;
      if (slope->size() != 1 && !by_channel) return std::nullopt;
      if (slope->rank() > std::max(rank_ - 1, 1)) return std::nullopt;
      f.kind = Kind::kPRelu;
      f.slopes = std::make_shared<const std::vector<float>>(slope->data<float>(),
                                                            slope->data<float>() + slope->size());
    } else {
      return std::nullopt;
    }
    return f;
  }

  const Graph& g_;
  const ConstantOf& constant_;
  std::vector<std::vector<ApplyId>> users_;
  std::vector<bool> is_output_;
  int rank_ = 0;  // of the head's result; 0: unknown
  int64_t channels_ = 0;
};

}  // namespace

Fusions FindFusions(const Graph& g, std::span<const ApplyId> order, const ConstantOf& constant) {
  Fusions result;
  result.skipped.assign(g.num_applies(), false);
  Finder finder(g, order, constant);
  std::vector<ApplyId> members;
  for (ApplyId a : order) {
    std::optional<Fused> f = finder.ChainFrom(a, &members);
    if (!f) continue;
    bool free = true;
    for (ApplyId m : members) free = free && !result.skipped[m] && !result.by_last.contains(m);
    if (!free) continue;
    for (ApplyId m : members) {
      if (m != f->last) result.skipped[m] = true;
    }
    const ApplyId last = f->last;
    result.by_last.emplace(last, *std::move(f));
  }
  return result;
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeFusedKernel(const Fused& f, const KernelInit& init) {
  if (init.op.name == "Conv") return MakeConvolution(init, f.post, f.add != kNoVar);
  if (init.op.name == "MatMul") return MakeBiasedMatMul(init, f.bias);
  return MakeBatchNormalization(init, f.post.kind == Kind::kRelu);
}

}  // namespace retuple::internal
