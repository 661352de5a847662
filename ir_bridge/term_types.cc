#include "ir_bridge/term_types.h"

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/tensor_object.h"

namespace retuple {

TypeVerdict CompareTypes(const Type& a, const Type& b) {
  if (a.kind() != b.kind()) {
    return a.is_unknown() || b.is_unknown() ? TypeVerdict::kUnknown : TypeVerdict::kDifferent;
  }
  switch (a.kind()) {
    case Type::Kind::kUnknown:
      return TypeVerdict::kUnknown;
    case Type::Kind::kSequence:
    case Type::Kind::kOptional:
      return CompareTypes(a.element(), b.element());
    case Type::Kind::kTensor:
      break;
  }
  if (a.dtype() != b.dtype()) {
    return a.dtype() == DType::kUndefined || b.dtype() == DType::kUndefined ? TypeVerdict::kUnknown : TypeVerdict::kDifferent;
  }
  if (!a.has_shape() || !b.has_shape()) return TypeVerdict::kUnknown;
  if (a.rank() != b.rank()) return TypeVerdict::kDifferent;
  TypeVerdict v = TypeVerdict::kSame;
  for (int i = 0; i < a.rank(); ++i) {
    const Dim& x = a.shape()[static_cast<size_t>(i)];
    const Dim& y = b.shape()[static_cast<size_t>(i)];
    if (x == y) continue;
    if (x.known() && y.known()) return TypeVerdict::kDifferent;
    v = TypeVerdict::kUnknown;
  }
  return v;
}

const ValueInfo& TermTypes::Operand(Term t) {
  if (codec_.IsNth(t)) {
    const auto& outputs = infos_[codec_.NthApp(t)];
    const int i = codec_.NthIndex(t);
    if (i >= 0 && static_cast<size_t>(i) < outputs.size()) return outputs[static_cast<size_t>(i)];
    return unknown_;
  }
  auto it = infos_.find(t);
  return it == infos_.end() || it->second.size() != 1 ? unknown_ : it->second[0];
}

// Pre: the operands of `t` have been inferred.
void TermTypes::Infer(Term t) {
  if (const Tensor* tensor = TensorOf(ctx_, t)) {
    infos_[t] = {InfoOf(*tensor)};
    return;
  }
  if (codec_.IsInput(t) || codec_.IsBound(t)) {
    auto type = codec_.LeafType(t);
    infos_[t] = {ValueInfo{type.ok() ? *type : Type::Unknown(), std::nullopt, nullptr}};
    return;
  }
  if (!codec_.IsApp(t)) {
    infos_[t] = {};
    return;
  }
  auto op = codec_.OpOf(ctx_.Rator(t));
  if (!op.ok()) {
    infos_[t] = {};
    errors_[t] = std::string(op.status().message());
    return;
  }
  absl::InlinedVector<const ValueInfo*, 8> inputs;
  // Pointers into the table stay valid: nothing is added while they are used.
  for (Term c : ctx_.Rands(t)) {
    if (c == codec_.none) {
      inputs.push_back(nullptr);
    } else {
      inputs.push_back(&Operand(c));
    }
  }
  auto outputs = InferOp(**op, {inputs.data(), inputs.size()});
  if (!outputs.ok()) {
    infos_[t] = std::vector<ValueInfo>(static_cast<size_t>((*op)->num_outputs));
    errors_[t] = std::string(outputs.status().message());
    return;
  }
  infos_[t] = *std::move(outputs);
}

const ValueInfo& TermTypes::Info(Term t) {
  const Term target = codec_.IsNth(t) ? codec_.NthApp(t) : t;
  if (!infos_.contains(target)) {
    std::vector<std::pair<Term, uint32_t>> stack{{target, 1}};
    while (!stack.empty()) {
      auto& [u, next] = stack.back();
      auto children = ctx_.Children(u);
      bool descend = false;
      if (codec_.IsApp(u)) {
        while (next < children.size()) {
          Term c = children[next++];
          if (codec_.IsNth(c)) c = codec_.NthApp(c);
          if (!infos_.contains(c)) {
            stack.emplace_back(c, 1);
            descend = true;
            break;
          }
        }
      }
      if (descend) continue;
      const Term done = u;
      stack.pop_back();
      if (!infos_.contains(done)) Infer(done);
      if (ctx_.Children(done).size() > 1 && !errors_.contains(done)) {
        for (Term c : ctx_.Rands(done)) {
          auto it = errors_.find(codec_.IsNth(c) ? codec_.NthApp(c) : c);
          if (it != errors_.end()) {
            const std::string message = it->second;
            errors_[done] = message;
            break;
          }
        }
      }
    }
  }
  return Operand(t);
}

bool TermTypes::IsWellTyped(Term t) {
  Info(t);
  return !errors_.contains(codec_.IsNth(t) ? codec_.NthApp(t) : t);
}

int TermTypes::Outputs(Term t) {
  if (ctx_.IsTuple(t) && !t.is_nil() && ctx_.Rator(t) == codec_.tuple) return static_cast<int>(ctx_.Rands(t).size());
  if (!codec_.IsApp(t)) return -1;
  auto op = codec_.OpOf(ctx_.Rator(t));
  return op.ok() && (*op)->multi_output() ? (*op)->num_outputs : -1;
}

TypeVerdict TermTypes::Compare(Term a, Term b) {
  // No author can vouch for this: what selects an output would have nothing to select from.
  if (Outputs(a) != Outputs(b)) return TypeVerdict::kDifferent;
  if (!IsWellTyped(b) && IsWellTyped(a)) return TypeVerdict::kDifferent;
  // Applications of several outputs compare output by output.
  const Type ta = TypeOf(a);
  const Type tb = TypeOf(b);
  if (ta.is_unknown() && tb.is_unknown() && codec_.IsApp(a) && codec_.IsApp(b)) {
    const auto x = infos_[a], y = infos_[b];
    if (x.size() > 1 && x.size() == y.size()) {
      TypeVerdict v = TypeVerdict::kSame;
      for (size_t i = 0; i < x.size(); ++i) {
        const TypeVerdict w = CompareTypes(x[i].type, y[i].type);
        if (w == TypeVerdict::kDifferent) return w;
        if (w == TypeVerdict::kUnknown) v = w;
      }
      return v;
    }
  }
  return CompareTypes(ta, tb);
}

std::string TermTypes::Describe(Term t) {
  Info(t);
  if (auto it = errors_.find(codec_.IsNth(t) ? codec_.NthApp(t) : t); it != errors_.end()) return "ill-typed (" + it->second + ")";
  return TypeOf(t).ToString();
}

}  // namespace retuple
