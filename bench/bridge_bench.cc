// Etuplize and reify of generated graphs: a node has one or two operands among the last few values.
#include <benchmark/benchmark.h>

#include "ir_bridge/graph_adapter.h"

namespace retuple {
namespace {

Graph Generated(int64_t nodes) {
  Graph g;
  g.Reserve(static_cast<size_t>(nodes), static_cast<size_t>(nodes) + 4);
  std::vector<VarId> values{g.AddInput("x", Type::Tensor(DType::kF32, {8, 8}))};
  const OpId relu = g.InternOp(*MakeOp(*Registry::Get().FindForm("Relu"), {}));
  const OpId add = g.InternOp(*MakeOp(*Registry::Get().FindForm("Add"), {}));
  uint64_t random = 1;
  for (int64_t i = 0; i < nodes; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const VarId last = values.back();
    const VarId other = values[values.size() - 1 - (random >> 33) % std::min<size_t>(values.size(), 50)];
    const VarId two[] = {last, other};
    const bool unary = (random >> 20) % 3 == 0;
    values.push_back(g.output(g.AddApply(unary ? relu : add, std::span<const VarId>(two, unary ? 1 : 2)), 0));
  }
  g.AddOutput("y", values.back());
  return g;
}

// Into a new graph, so that every node is made again.
void BM_EtuplizeReify(benchmark::State& state) {
  Graph g = Generated(state.range(0));
  const VarId root = g.outputs()[0].var;
  for (auto _ : state) {
    Context ctx;
    TermCodec codec(ctx);
    GraphAdapter source(g, codec);
    GraphBridge out(ctx, source);
    auto terms = out.Etuplize(std::span<const VarId>(&root, 1));
    Graph copy;
    GraphAdapter target(copy, codec);
    GraphBridge in(ctx, target);
    benchmark::DoNotOptimize(in.Reify(*terms));
    if (copy.num_applies() != static_cast<size_t>(state.range(0))) state.SkipWithError("nodes were lost");
  }
  state.SetComplexityN(state.range(0));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_EtuplizeReify)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);

}  // namespace
}  // namespace retuple
