// A graph with a two-output operator as an etuple, rewritten by hand, and run.
#include <cstdio>
#include <cstdlib>

#include "etuple/printer.h"
#include "ir_bridge/graph_adapter.h"
#include "kernels/executor.h"

int main() {
  using namespace retuple;
  Graph g;
  g.info.opsets = {{"", 17}};
  const VarId x = g.AddInput("x", Type::Tensor(DType::kF32, {4}));
  const VarId k = g.AddConstant(Tensor::VectorI64(std::vector<int64_t>{2}), "k");
  const VarId in[] = {x, k};
  const ApplyId top = g.AddApply(g.InternOp(*MakeOp(*Registry::Get().FindForm("TopK"), {})), in, "top");
  g.AddOutput("values", g.output(top, 0));

  Context ctx;
  TermCodec codec(ctx);
  GraphAdapter adapter(g, codec);
  GraphBridge bridge(ctx, adapter);
  const VarId root = g.outputs()[0].var;
  Term t = bridge.Etuplize(std::span<const VarId>(&root, 1))->front();
  std::printf("%s\n", PrintTerm(ctx, t).c_str());

  // The other output of the very same application.
  const Term indices = codec.Nth(1, codec.NthApp(t));
  const VarId v = bridge.Reify(std::span<const Term>(&indices, 1))->front();
  if (v != g.output(top, 1)) return EXIT_FAILURE;
  g.AddOutput("indices", v);

  Tensor input(DType::kF32, {4});
  const float data[] = {3, 9, 1, 7};
  std::copy(data, data + 4, input.mutable_data<float>());
  auto plan = Plan::Compile(g);
  if (!plan.ok()) return EXIT_FAILURE;
  const Value inputs[] = {Value(input)};
  auto out = (*plan)->Run(inputs);
  if (!out.ok()) return EXIT_FAILURE;
  std::printf("%s %s\n", (*out)[0].tensor.ToString().c_str(), (*out)[1].tensor.ToString().c_str());
  return (*out)[0].tensor.At(0) == 9 && (*out)[1].tensor.IntAt(1) == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
