// Plans: order, lifetimes, in-place work, views, outputs, subgraphs, folding, chains, errors.
#include "kernels/executor.h"

#include "kernels/denormals.h"
#include "tests/kernels/dense_test_util.h"

namespace retuple {
namespace {

using ::testing::ElementsAre;
using testing::Eval;
using testing::ExpectNear;
using testing::F32;
using testing::Floats;
using ::testing::HasSubstr;
using testing::MakeTestOp;
using testing::RandomF32;

VarId Add1(Graph& g, std::string_view form, std::vector<VarId> inputs, AttrMap attrs = {},
           std::string name = "") {
  return g.output(
      g.AddApply(g.InternOp(MakeTestOp(form, std::move(attrs))), inputs, std::move(name)), 0);
}

Type Vector(int64_t n) { return Type::Tensor(DType::kF32, {Dim(n)}); }

TEST(PlanTest, DiamondWithInPlaceNodes) {
  Graph g;
  const VarId x = g.AddInput("x", Vector(3));
  const VarId a = Add1(g, "Neg", {x});
  const VarId b = Add1(g, "Relu", {a});  // a is read again: not in place
  const VarId c = Add1(g, "Add", {a, b});
  const VarId d = Add1(g, "Mul", {c, c});
  g.AddOutput("d", d);
  auto plan = Plan::Compile(g);
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (int i = 0; i < 3; ++i) {
    auto out = (*plan)->Run(std::vector<Value>{F32({3}, {1, -2, 3})});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Floats((*out)[0].tensor), ElementsAre(1, 16, 9));
  }
}

TEST(PlanTest, OutputsStayWhenThePlanRunsAgainAndGoesAway) {
  Graph g;
  const VarId x = g.AddInput("x", Vector(2));
  g.AddOutput("y", Add1(g, "Neg", {x}));
  auto plan = Plan::Compile(g);
  ASSERT_TRUE(plan.ok());
  auto first = (*plan)->Run(std::vector<Value>{F32({2}, {1, 2})});
  auto second = (*plan)->Run(std::vector<Value>{F32({2}, {3, 4})});
  plan->reset();
  EXPECT_THAT(Floats((*first)[0].tensor), ElementsAre(-1, -2));
  EXPECT_THAT(Floats((*second)[0].tensor), ElementsAre(-3, -4));
}

TEST(PlanTest, OutputThatIsAnInputIsACopy) {
  Graph g;
  const VarId x = g.AddInput("x", Vector(2));
  g.AddOutput("y", Add1(g, "Identity", {x}));
  g.AddOutput("x", x);
  auto plan = Plan::Compile(g);
  ASSERT_TRUE(plan.ok());
  Tensor in = F32({2}, {1, 2});
  auto out = (*plan)->Run(std::vector<Value>{in});
  ASSERT_TRUE(out.ok());
  in.mutable_data<float>()[0] = 9;
  EXPECT_THAT(Floats((*out)[0].tensor), ElementsAre(1, 2));
  EXPECT_THAT(Floats((*out)[1].tensor), ElementsAre(1, 2));
}

TEST(PlanTest, ViewsKeepTheirBufferFromBeingOverwritten) {
  Graph g;
  const VarId x = g.AddInput("x", Type::Tensor(DType::kF32, {Dim(2), Dim(2)}));
  const VarId a = Add1(g, "Neg", {x});
  const VarId shape = g.AddConstant(Tensor::VectorI64(std::vector<int64_t>{4}));
  const VarId view = Add1(g, "Reshape", {a, shape});
  const VarId b = Add1(g, "Exp", {a});  // the last reader of a, whose memory the view still holds
  const VarId c = Add1(g, "Relu", {b});
  g.AddOutput("view", Add1(g, "Neg", {view}));
  g.AddOutput("c", c);
  auto plan = Plan::Compile(g);
  ASSERT_TRUE(plan.ok());
  for (int i = 0; i < 2; ++i) {
    auto out = (*plan)->Run(std::vector<Value>{F32({2, 2}, {1, 2, 3, 4})});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Floats((*out)[0].tensor), ElementsAre(1, 2, 3, 4));
  }
}

TEST(PlanTest, ConstantsAreFoldedAndNeverWrittenTo) {
  Graph g;
  const VarId k = g.AddConstant(F32({2}, {1, -1}));
  const VarId n = Add1(g, "Neg", {k});
  const VarId x = g.AddInput("x", Vector(2));
  g.AddOutput("sum", Add1(g, "Add", {n, x}));
  g.AddOutput("folded", n);
  auto plan = Plan::Compile(g);
  ASSERT_TRUE(plan.ok());
  for (int i = 0; i < 3; ++i) {
    auto out = (*plan)->Run(std::vector<Value>{F32({2}, {10, 20})});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Floats((*out)[0].tensor), ElementsAre(9, 21));
    EXPECT_THAT(Floats((*out)[1].tensor), ElementsAre(-1, 1));
  }
}

TEST(PlanTest, InputErrors) {
  Graph g;
  const VarId x = g.AddInput("x", Vector(2));
  g.AddOutput("y", Add1(g, "Neg", {x}));
  auto plan = Plan::Compile(g);
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT((*plan)->Run({}).status().message(), HasSubstr("'x' is missing"));
  EXPECT_EQ((*plan)->Run(std::vector<Value>{F32({3}, {1, 2, 3})}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT((*plan)
                  ->Run(std::vector<Value>{Tensor::VectorI64(std::vector<int64_t>{1, 2})})
                  .status()
                  .message(),
              HasSubstr("wants f32[2], not i64[2]"));
  EXPECT_FALSE((*plan)->Run(std::vector<Value>{Value::Sequence({})}).ok());
  EXPECT_TRUE((*plan)->Run(std::vector<Value>{F32({2}, {1, 2})}).ok())
      << "a failed run leaves the plan usable";
  g.set_default(x, F32({2}, {5, 6}));
  EXPECT_THAT(Floats((*(*plan)->Run({}))[0].tensor), ElementsAre(-5, -6));
}

TEST(PlanTest, ErrorsNameTheNode) {
  Graph g;
  const VarId x = g.AddInput("x", Type::Unknown());
  const VarId y = g.AddInput("y", Type::Unknown());
  g.AddOutput("z", Add1(g, "MatMul", {x, y}, {}, "product"));
  auto plan = Plan::Compile(g);
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(
      (*plan)->Run(std::vector<Value>{F32({2}, {1, 2}), F32({3}, {1, 2, 3})}).status().message(),
      HasSubstr("MatMul 'product'"));
  Graph h;
  const VarId u = h.AddInput("u", Type::Unknown());
  h.AddOutput("v", h.output(h.AddApply(h.InternOp(MakeOpaqueOp("acme", "Foo", {}, 1)),
                                       std::vector<VarId>{u}),
                            0));
  EXPECT_EQ(Plan::Compile(h).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(Plan::Compile(h).status().message(), HasSubstr("acme::Foo"));
}

TEST(PlanTest, ProfileCountsRuns) {
  Graph g;
  const VarId x = g.AddInput("x", Vector(2));
  g.AddOutput("y", Add1(g, "Exp", {Add1(g, "Neg", {x})}));
  PlanOptions o;
  o.profile = true;
  auto plan = Plan::Compile(g, o);
  ASSERT_TRUE(plan.ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE((*plan)->Run(std::vector<Value>{F32({2}, {1, 2})}).ok());
  ASSERT_EQ((*plan)->profile().size(), 2u);
  EXPECT_EQ((*plan)->profile()[1].runs, 3);
  EXPECT_GT((*plan)->peak_bytes(), 0u);
}

TEST(PlanTest, SubnormalsAreFlushedAndTheModeRestored) {
  Graph g;
  const VarId x = g.AddInput("x", Vector(1));
  g.AddOutput("y", Add1(g, "Add", {x, x}));
  const Value tiny(F32({1}, {1e-40f}));
  const uint64_t before = FloatControl();
  auto flushing = Plan::Compile(g);
  EXPECT_EQ(Floats((*(*flushing)->Run(std::vector<Value>{tiny}))[0].tensor)[0], 0.0f);
  EXPECT_EQ(FloatControl() & 0x8040, before & 0x8040);
  PlanOptions o;
  o.flush_denormals = false;
  auto plain = Plan::Compile(g, o);
  EXPECT_GT(Floats((*(*plain)->Run(std::vector<Value>{tiny}))[0].tensor)[0], 0.0f);
}

GraphPtr NegBody() {
  auto g = std::make_shared<Graph>();
  const VarId x = g->AddInput("x", Type::Unknown());
  g->AddOutput("y", Add1(*g, "Neg", {x}));
  return g;
}

GraphPtr FailingBody() {
  auto g = std::make_shared<Graph>();
  const VarId x = g->AddInput("x", Type::Unknown());
  const VarId shape = g->AddConstant(Tensor::VectorI64(std::vector<int64_t>{77}));
  g->AddOutput("y", Add1(*g, "Reshape", {x, shape}));
  return g;
}

TEST(SubgraphTest, TheBranchNotTakenDoesNotRun) {
  Graph g;
  const VarId c = g.AddInput("c", Type::Tensor(DType::kBool, {}));
  const VarId x = g.AddInput("x", Vector(2));
  Op op = MakeTestOp("If", {{"else_branch", FailingBody()}, {"then_branch", NegBody()}});
  op.num_captures = 1;
  g.AddOutput("y", g.output(g.AddApply(g.InternOp(op), std::vector<VarId>{c, x}), 0));
  auto plan = Plan::Compile(g);
  ASSERT_TRUE(plan.ok()) << plan.status();
  auto run = [&](bool cond) {
    return (*plan)->Run(
        std::vector<Value>{Tensor::Scalar<uint8_t>(DType::kBool, cond), F32({2}, {1, 2})});
  };
  for (int i = 0; i < 3; ++i) {
    auto out = run(true);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Floats((*out)[0].tensor), ElementsAre(-1, -2));
    EXPECT_FALSE(run(false).ok());
  }
}

// (i, cond, v) → (cond, v + k, v + k) with a captured k.
GraphPtr AccumulateBody() {
  auto g = std::make_shared<Graph>();
  g->AddInput("i", Type::Tensor(DType::kI64, {}));
  const VarId c = g->AddInput("c", Type::Tensor(DType::kBool, {}));
  const VarId v = g->AddInput("v", Vector(2));
  const VarId k = g->AddInput("k", Vector(2));
  const VarId s = Add1(*g, "Add", {v, k});
  g->AddOutput("c_out", Add1(*g, "Identity", {c}));
  g->AddOutput("v_out", s, Vector(2));
  g->AddOutput("scan", Add1(*g, "Identity", {s}), Vector(2));
  return g;
}

TEST(SubgraphTest, LoopCarriesValuesAndStacksScans) {
  Graph g;
  const VarId m = g.AddInput("m", Type::Tensor(DType::kI64, {}));
  const VarId v = g.AddInput("v", Vector(2));
  const VarId k = g.AddInput("k", Vector(2));
  Op op = MakeTestOp("Loop", {{"body", AccumulateBody()}}, 2);
  op.num_captures = 1;
  const ApplyId a = g.AddApply(g.InternOp(op), std::vector<VarId>{m, kNoVar, v, k});
  g.AddOutput("last", g.output(a, 0));
  g.AddOutput("all", g.output(a, 1));
  auto plan = Plan::Compile(g);
  ASSERT_TRUE(plan.ok()) << plan.status();
  auto run = [&](int64_t n) {
    return (*plan)->Run(
        std::vector<Value>{Tensor::ScalarI64(n), F32({2}, {0, 1}), F32({2}, {1, 10})});
  };
  for (int i = 0; i < 2; ++i) {
    auto out = run(3);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Floats((*out)[0].tensor), ElementsAre(3, 31));
    EXPECT_THAT(Floats((*out)[1].tensor), ElementsAre(1, 11, 2, 21, 3, 31));
  }
  auto none = run(0);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_THAT(Floats((*none)[0].tensor), ElementsAre(0, 1));
  EXPECT_EQ((*none)[1].tensor.dims(), (Dims{0, 2}));
  // Memory does not grow with the number of iterations of a loop that keeps nothing.
  ASSERT_TRUE(run(10).ok());
  const size_t small = (*plan)->peak_bytes();
  ASSERT_TRUE(run(10).ok());
  EXPECT_EQ((*plan)->peak_bytes(), small);
}

// A chain of convolution, addition and activation runs as one kernel; the result is that of the
// separate operators.
TEST(ChainTest, ConvAddActivation) {
  std::mt19937 rng(7);
  const std::vector<Dims> addends = {{1, 16, 6, 6}, {16, 1, 1}, {1, 1, 6, 6}, {2, 16, 6, 6}, {1}};
  for (const Dims& dims : addends) {
    for (const char* form : {"Relu", "Sigmoid", "LeakyRelu", "HardSwish", "PRelu"}) {
      Graph g;
      const VarId x = g.AddInput("x", Type::Unknown());
      const VarId r = g.AddInput("r", Type::Unknown());
      const Tensor w = RandomF32({16, 8, 3, 3}, rng), b = RandomF32({16}, rng),
                   slope = RandomF32({16, 1, 1}, rng);
      const AttrMap attrs{{"pads", Ints{1, 1, 1, 1}}};
      const VarId conv = Add1(g, "Conv", {x, g.AddConstant(w), g.AddConstant(b)}, attrs);
      const VarId sum = Add1(g, "Add", {r, conv});
      const bool prelu = std::string_view(form) == "PRelu";
      g.AddOutput("y", prelu ? Add1(g, form, {sum, g.AddConstant(slope)}) : Add1(g, form, {sum}));
      PlanOptions o;
      o.profile = true;
      auto plan = Plan::Compile(g, o);
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_EQ((*plan)->profile().size(), 1u) << form;
      const Tensor tx = RandomF32({1, 8, 6, 6}, rng), tr = RandomF32(dims, rng);
      auto got = (*plan)->Run(std::vector<Value>{tx, tr});
      ASSERT_TRUE(got.ok()) << got.status();
      const Tensor c = *Eval(MakeTestOp("Conv", attrs), {tx, w, b});
      const Tensor s = *Eval(MakeTestOp("Add"), {c, tr});
      const Tensor want =
          prelu ? *Eval(MakeTestOp(form), {s, slope}) : *Eval(MakeTestOp(form), {s});
      ExpectNear((*got)[0].tensor, want, 1e-5, 1e-5, form);
    }
  }
}

TEST(ChainTest, AValueWithAnotherReaderIsNotSwallowed) {
  std::mt19937 rng(8);
  Graph g;
  const VarId x = g.AddInput("x", Type::Unknown());
  const Tensor w = RandomF32({4, 4, 1, 1}, rng);
  const VarId conv = Add1(g, "Conv", {x, g.AddConstant(w)});
  g.AddOutput("y", Add1(g, "Relu", {conv}));
  g.AddOutput("conv", conv);
  auto plan = Plan::Compile(g);
  ASSERT_TRUE(plan.ok());
  const Tensor tx = RandomF32({1, 4, 5, 5}, rng);
  auto got = (*plan)->Run(std::vector<Value>{tx});
  ASSERT_TRUE(got.ok());
  const Tensor c = *Eval(MakeTestOp("Conv"), {tx, w});
  ExpectNear((*got)[1].tensor, c, 1e-6, 1e-6, "conv");
  ExpectNear((*got)[0].tensor, *Eval(MakeTestOp("Relu"), {c}), 1e-6, 1e-6, "relu");
}

TEST(ChainTest, ProductAndBias) {
  std::mt19937 rng(9);
  const Tensor w = RandomF32({7, 5}, rng), b = RandomF32({5}, rng);
  for (const Dims& dims : {Dims{7}, Dims{3, 7}, Dims{2, 3, 7}}) {
    Graph g;
    const VarId x = g.AddInput("x", Type::Unknown());
    g.AddOutput("y", Add1(g, "Add", {g.AddConstant(b), Add1(g, "MatMul", {x, g.AddConstant(w)})}));
    auto plan = Plan::Compile(g);
    ASSERT_TRUE(plan.ok());
    const Tensor tx = RandomF32(dims, rng);
    auto got = (*plan)->Run(std::vector<Value>{tx});
    ASSERT_TRUE(got.ok()) << got.status();
    ExpectNear((*got)[0].tensor,
               *Eval(MakeTestOp("Add"), {*Eval(MakeTestOp("MatMul"), {tx, w}), b}), 1e-6, 1e-6,
               "sum");
  }
}

}  // namespace
}  // namespace retuple
