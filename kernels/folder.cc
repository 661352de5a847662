#include "kernels/folder.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "ir_bridge/tensor_object.h"
#include "kernels/executor.h"

namespace retuple {

absl::StatusOr<Term> FoldTerm(TermCodec& codec, Term root) {
  Context& ctx = codec.ctx();
  absl::flat_hash_map<Term, std::vector<Value>> values;  // outputs of an application; one entry for constants
  std::vector<std::pair<Term, uint32_t>> stack;
  auto target = [&](Term t) { return codec.IsNth(t) ? codec.NthApp(t) : t; };
  auto value_of = [&](Term t) -> absl::StatusOr<Value> {
    const auto& outputs = values[target(t)];
    const int i = codec.IsNth(t) ? codec.NthIndex(t) : 0;
    if (i < 0 || static_cast<size_t>(i) >= outputs.size()) {
      return absl::InvalidArgumentError(absl::StrFormat("no such output: %s", Brief(ctx, t, 80)));
    }
    return outputs[static_cast<size_t>(i)];
  };
  stack.emplace_back(target(root), 1);
  while (!stack.empty()) {
    auto& [t, next] = stack.back();
    if (const Tensor* tensor = TensorOf(ctx, t)) {
      values[t] = {Value(*tensor)};
      stack.pop_back();
      continue;
    }
    if (!codec.IsApp(t)) {
      return absl::FailedPreconditionError(absl::StrFormat("%s is not constant", Brief(ctx, t, 80)));
    }
    auto children = ctx.Children(t);
    bool descend = false;
    while (next < children.size()) {
      const Term c = target(children[next++]);
      if (c != codec.none && !values.contains(c)) {
        stack.emplace_back(c, 1);
        descend = true;
        break;
      }
    }
    if (descend) continue;
    auto op = codec.OpOf(ctx.Rator(t));
    if (!op.ok()) return op.status();
    if ((*op)->effect != Effect::kPure) return absl::FailedPreconditionError("a random or effectful operator is not folded");
    std::vector<Value> inputs;
    for (Term c : ctx.Rands(t)) {
      if (c == codec.none) {
        inputs.emplace_back();
        continue;
      }
      auto v = value_of(c);
      if (!v.ok()) return v.status();
      inputs.push_back(*std::move(v));
    }
    auto outputs = EvaluateOp(**op, inputs);
    if (!outputs.ok()) return outputs.status();
    values[t] = *std::move(outputs);
    stack.pop_back();
  }
  auto v = value_of(root);
  if (!v.ok()) return v.status();
  if (!v->is_tensor()) return absl::FailedPreconditionError("the value is not a tensor");
  return TensorTerm(ctx, v->tensor);
}

void AddFoldFunction(FunctionRegistry& functions, TermCodec& codec) {
  functions.Add("fold", 1, 1, [&codec](RuleContext&, std::span<const Term> a) { return FoldTerm(codec, a[0]); });
}

}  // namespace retuple
