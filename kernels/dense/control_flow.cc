// If, Loop and SequenceMap: operators that run subgraphs. Scan has a file of its own.
#include <limits>

#include "kernels/core/util.h"
#include "kernels/dense/register.h"
#include "kernels/dense/stack.h"

namespace retuple::internal {

absl::StatusOr<const Graph*> BodyOf(const KernelContext& ctx, std::string_view attr) {
  const GraphPtr* g = FindAttr<GraphPtr>(ctx.op().attrs, attr);
  if (g == nullptr || *g == nullptr) {
    return Bad(ctx, "attribute '%s' is missing", std::string(attr));
  }
  return g->get();
}

namespace {

absl::StatusOr<bool> AsBool(const KernelContext& ctx, const Value& v, const char* what) {
  if (!v.is_tensor() || v.tensor.dtype() != DType::kBool || v.tensor.size() != 1) {
    return Bad(ctx, "%s is not one bool", what);
  }
  return *v.tensor.data<uint8_t>() != 0;
}

absl::Status If(KernelContext& ctx) {
  if (!ctx.has(0)) return Bad(ctx, "the condition is missing");
  RT_ASSIGN_OR_RETURN(const bool cond, AsBool(ctx, ctx.value(0), "the condition"));
  RT_ASSIGN_OR_RETURN(std::vector<Value> out,
                      ctx.RunSubgraph(cond ? "then_branch" : "else_branch", {}));
  if (static_cast<int>(out.size()) < ctx.num_outputs()) {
    return Bad(ctx, "the branch has %d outputs, the node %d", out.size(), ctx.num_outputs());
  }
  for (int i = 0; i < ctx.num_outputs(); ++i)
    ctx.SetOutput(i, std::move(out[static_cast<size_t>(i)]));
  return absl::OkStatus();
}

// Inputs: trip count (optional), condition (optional), N carried values. The body maps (i, cond,
// carried) to (cond, carried, K scan elements).
absl::Status Loop(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Graph* body, BodyOf(ctx, "body"));
  int64_t trips = std::numeric_limits<int64_t>::max();
  if (ctx.has(0)) {
    RT_ASSIGN_OR_RETURN(trips, IntInput(ctx, 0));
  }
  bool cond = true;
  if (ctx.has(1)) {
    RT_ASSIGN_OR_RETURN(cond, AsBool(ctx, ctx.value(1), "the condition"));
  }
  const size_t n = static_cast<size_t>(std::max(ctx.num_inputs() - 2, 0));
  const size_t num_results = body->outputs().size();
  if (num_results < n + 1)
    return Bad(ctx, "the body has %d outputs, at least %d expected", num_results, n + 1);
  const size_t k = num_results - n - 1;
  if (static_cast<size_t>(ctx.num_outputs()) > n + k) {
    return Bad(ctx, "%d outputs, the body gives %d", ctx.num_outputs(), n + k);
  }
  std::vector<Value> args(n + 2);
  for (size_t i = 0; i < n; ++i) args[i + 2] = ctx.value(static_cast<int>(i) + 2);
  std::vector<std::vector<Tensor>> scans(k);
  for (int64_t t = 0; t < trips && cond; ++t) {
    args[0] = Value(Tensor::ScalarI64(t));
    args[1] = Value(Tensor::Scalar<uint8_t>(DType::kBool, 1));
    RT_ASSIGN_OR_RETURN(std::vector<Value> out, ctx.RunSubgraph("body", args));
    RT_ASSIGN_OR_RETURN(cond, AsBool(ctx, out[0], "the body's condition"));
    for (size_t i = 0; i < n; ++i) args[i + 2] = std::move(out[i + 1]);
    for (size_t i = 0; i < k; ++i) {
      if (!ctx.output_used(static_cast<int>(n + i))) continue;
      if (!out[n + 1 + i].is_tensor()) return Bad(ctx, "scan output %d is not a tensor", i);
      scans[i].push_back(std::move(out[n + 1 + i].tensor));
    }
  }
  for (size_t i = 0; i < n && static_cast<int>(i) < ctx.num_outputs(); ++i) {
    ctx.SetOutput(static_cast<int>(i), std::move(args[i + 2]));
  }
  for (size_t i = 0; i < k; ++i) {
    const int o = static_cast<int>(n + i);
    if (!ctx.output_used(o)) continue;
    if (scans[i].empty()) {
      RT_RETURN_IF_ERROR(EmptyStack(ctx, o, *body, n + 1 + i, 0));
    } else {
      RT_RETURN_IF_ERROR(Stack(ctx, o, scans[i]));
    }
  }
  return absl::OkStatus();
}

// Applies the body to each element of the first sequence (and the same element of further
// sequences; tensors are passed as they are) and collects each result in a sequence.
absl::Status SequenceMap(KernelContext& ctx) {
  const Value& first = ctx.value(0);
  if (!ctx.has(0) || first.kind != Value::Kind::kSequence || first.sequence == nullptr) {
    return Bad(ctx, "input 0 is not a sequence");
  }
  const size_t length = first.sequence->size();
  const int inputs = ctx.num_inputs();
  for (int i = 1; i < inputs; ++i) {
    const Value& v = ctx.value(i);
    if (v.kind == Value::Kind::kSequence &&
        (v.sequence == nullptr || v.sequence->size() != length)) {
      return Bad(ctx, "input %d has another length than input 0", i);
    }
  }
  std::vector<std::vector<Value>> results(static_cast<size_t>(ctx.num_outputs()));
  std::vector<Value> args(static_cast<size_t>(inputs));
  for (size_t t = 0; t < length; ++t) {
    for (int i = 0; i < inputs; ++i) {
      const Value& v = ctx.value(i);
      args[static_cast<size_t>(i)] = v.kind == Value::Kind::kSequence ? (*v.sequence)[t] : v;
    }
    RT_ASSIGN_OR_RETURN(std::vector<Value> out, ctx.RunSubgraph("body", args));
    if (out.size() < results.size()) {
      return Bad(ctx, "the body has %d outputs, the node %d", out.size(), results.size());
    }
    for (size_t o = 0; o < results.size(); ++o) results[o].push_back(std::move(out[o]));
  }
  for (size_t o = 0; o < results.size(); ++o) {
    ctx.SetOutput(static_cast<int>(o), Value::Sequence(std::move(results[o])));
  }
  return absl::OkStatus();
}

}  // namespace

void RegisterScan(KernelRegistry& r);

void RegisterControlFlow(KernelRegistry& r) {
  r.Add("If", If);
  r.Add("Loop", Loop);
  r.Add("SequenceMap", SequenceMap);
  RegisterScan(r);
}

}  // namespace retuple::internal
