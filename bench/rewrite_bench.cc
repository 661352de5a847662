// Normalisation: free rewriting of Peano arithmetic, and a rule set of n rules over one operator a rule.
#include <benchmark/benchmark.h>

#include "etuple/reader.h"
#include "rewrite/normalizer.h"
#include "rewrite/rule_language.h"

namespace retuple {
namespace {

void BM_PeanoAdd(benchmark::State& state) {
  uint64_t steps = 0;
  for (auto _ : state) {
    Context ctx;
    FunctionRegistry functions(ctx);
    FreeOperatorTable operators(ctx);
    RuleLoader loader(ctx, functions, operators);
    if (!loader.Load("(rewrite z (+ z ?y) ?y) (rewrite s (+ (s ?x) ?y) (s (+ ?x ?y)))", {.file = "", .object_reader = nullptr}).ok()) return;
    Term a = ctx.Sym("z");
    for (int64_t i = 0; i < state.range(0); ++i) a = ctx.Tuple({ctx.Sym("s"), a});
    const Term t = ctx.Tuple({ctx.Sym("+"), a, a});
    Normalizer n(ctx, loader.rules(), functions);
    benchmark::DoNotOptimize(n.Run(std::span<const Term>(&t, 1)));
    steps += n.report().steps;
  }
  state.SetItemsProcessed(static_cast<int64_t>(steps));
}
BENCHMARK(BM_PeanoAdd)->Arg(1000)->Arg(100000);

void BM_ManyRules(benchmark::State& state) {
  Context ctx;
  FunctionRegistry functions(ctx);
  FreeOperatorTable operators(ctx);
  RuleLoader loader(ctx, functions, operators);
  std::string rules, term = "x";
  for (int64_t i = 0; i < state.range(0); ++i) {
    const std::string n = std::to_string(i);
    rules += "(rewrite r" + n + " (f" + n + " (g ?x) 0) ?x)\n";
  }
  for (int i = 0; i < 1000; ++i) term = "(f" + std::to_string(i % state.range(0)) + " " + term + " 1)";
  if (!loader.Load(rules, {.file = "", .object_reader = nullptr}).ok()) return;
  const Term t = *ReadTerm(ctx, term);
  for (auto _ : state) {
    Normalizer n(ctx, loader.rules(), functions);
    benchmark::DoNotOptimize(n.Run(std::span<const Term>(&t, 1)));
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(BM_ManyRules)->Arg(10)->Arg(50)->Arg(200);

}  // namespace
}  // namespace retuple
