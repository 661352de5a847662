// Terms: interning, reading, printing.
#include <benchmark/benchmark.h>

#include "etuple/printer.h"
#include "etuple/reader.h"

namespace retuple {
namespace {

// About `n` distinct tuples that share nothing but leaves.
std::string Text(int n) {
  std::string out = "(top";
  for (int i = 0; i < n; ++i) out += " (Add (Mul ?x" + std::to_string(i % 97) + " " + std::to_string(i) + ") (Neg leaf" + std::to_string(i) + "))";
  return out + ")";
}

void BM_Read(benchmark::State& state) {
  const std::string text = Text(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    Context ctx;
    benchmark::DoNotOptimize(ReadTerm(ctx, text));
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(BM_Read)->Arg(1000)->Arg(100000);

void BM_Print(benchmark::State& state) {
  Context ctx;
  const Term t = *ReadTerm(ctx, Text(static_cast<int>(state.range(0))));
  size_t bytes = 0;
  for (auto _ : state) bytes += PrintTerm(ctx, t).size();
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(BM_Print)->Arg(1000)->Arg(100000);

void BM_InternNew(benchmark::State& state) {
  Context ctx;
  const Term f = ctx.Sym("f");
  int64_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(ctx.Tuple({f, ctx.Integer(i++)}));
}
BENCHMARK(BM_InternNew);

void BM_InternHit(benchmark::State& state) {
  Context ctx;
  const Term f = ctx.Sym("f"), x = ctx.Sym("x"), y = ctx.Sym("y");
  for (auto _ : state) benchmark::DoNotOptimize(ctx.Tuple({f, x, y}));
}
BENCHMARK(BM_InternHit);

}  // namespace
}  // namespace retuple
