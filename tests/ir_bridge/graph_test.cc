#include "ir_bridge/graph.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace retuple {
namespace {

VarId Apply1(Graph& g, const char* form, std::vector<VarId> inputs, AttrMap attrs = {}) {
  auto op = MakeOp(*Registry::Get().FindForm(form), std::move(attrs));
  EXPECT_TRUE(op.ok()) << op.status();
  return g.output(g.AddApply(g.InternOp(*std::move(op)), inputs), 0);
}

const Type kMatrix = Type::Tensor(DType::kF32, {2, 3});

TEST(GraphTest, BuildsAndReads) {
  Graph g;
  const VarId x = g.AddInput("x", kMatrix);
  const VarId c = g.AddConstant(Tensor::ScalarF32(1), "one");
  const VarId y = Apply1(g, "Add", {x, c});
  g.set_var_name(y, "y");
  g.AddOutput("out", y);
  EXPECT_EQ(g.num_vars(), 3u);
  EXPECT_EQ(g.var(y).kind, Variable::Kind::kOutput);
  EXPECT_EQ(g.op_of(g.apply(g.var(y).producer)).form(), "Add");
  EXPECT_EQ(g.var_name(y), "y");
  EXPECT_EQ(g.var_name(99), "");
  EXPECT_EQ(g.type(x).ToString(), "f32[2,3]");
  EXPECT_EQ(g.constant(c).At(0), 1);
  EXPECT_EQ(g.CountNodes(), 1u);
  EXPECT_EQ(g.CountParameters(), 1u);
  ASSERT_TRUE(InferTypes(g).ok());
  EXPECT_EQ(g.type(y).ToString(), "f32[2,3]");
}

TEST(GraphTest, AbsentInputs) {
  Graph g;
  const VarId x = g.AddInput("x", kMatrix);
  const VarId hi = g.AddInput("hi", Type::Tensor(DType::kF32, Shape{}));
  const VarId a = Apply1(g, "Clip", {x, kNoVar, hi});
  const VarId b = Apply1(g, "Clip", {x, kNoVar, kNoVar});
  EXPECT_EQ(g.apply(g.var(a).producer).inputs.size(), 3u);
  EXPECT_EQ(g.apply(g.var(b).producer).inputs.size(), 1u);
}

TEST(GraphTest, MultiOutputAppliesOwnAllOutputs) {
  Graph g;
  const VarId x = g.AddInput("x", Type::Tensor(DType::kF32, {1, 1, 4, 4}));
  const VarId y = Apply1(g, "MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}});
  EXPECT_EQ(g.num_vars(), 3u);
  EXPECT_EQ(g.var(y + 1).index, 1u);
  ASSERT_TRUE(InferTypes(g).ok());
  EXPECT_TRUE(g.type(y + 1).is_unknown()) << "dead: not inferred";
  g.AddOutput("i", y + 1);
  ASSERT_TRUE(InferTypes(g).ok());
  EXPECT_EQ(g.type(y + 1).ToString(), "i64[1,1,3,3]");
}

TEST(GraphTest, LivenessKeepsOrder) {
  Graph g;
  const VarId x = g.AddInput("x", kMatrix);
  const VarId a = Apply1(g, "Relu", {x});
  Apply1(g, "Exp", {a});  // dead
  const VarId b = Apply1(g, "Neg", {x});
  const VarId c = Apply1(g, "Add", {a, b});
  g.AddOutput("c", c);
  g.AddOutput("x", x);
  EXPECT_EQ(g.LiveApplies(), (std::vector<ApplyId>{0, 2, 3}));
}

TEST(GraphTest, OpsAreInterned) {
  Graph g;
  const OpSchema& conv = *Registry::Get().FindForm("Conv");
  const OpId a = g.InternOp(*MakeOp(conv, {}));
  EXPECT_EQ(g.InternOp(*MakeOp(conv, {{"group", int64_t{1}}})), a);
  EXPECT_NE(g.InternOp(*MakeOp(conv, {{"group", int64_t{2}}})), a);
  Op random = *MakeOp(*Registry::Get().FindForm("RandomNormal"), {{"shape", Ints{2}}});
  random.identity = 1;
  const OpId r1 = g.InternOp(random);
  random.identity = 2;
  EXPECT_NE(g.InternOp(random), r1);
  for (int i = 0; i < 1000; ++i) g.InternOp(*MakeOp(conv, {{"group", int64_t{i}}}));
  EXPECT_EQ(g.InternOp(*MakeOp(conv, {{"group", int64_t{777}}})),
            g.InternOp(*MakeOp(conv, {{"group", int64_t{777}}})));
  EXPECT_EQ(g.num_ops(), 1002u);
}

std::unique_ptr<Graph> Sample(const char* input, bool share, float k, const char* form = "Add") {
  auto g = std::make_unique<Graph>();
  const VarId x = g->AddInput(input, Type::Tensor(DType::kF32, {Dim::Fresh()}));
  const VarId c = g->AddConstant(Tensor::ScalarF32(k));
  const VarId a = Apply1(*g, "Relu", {x});
  if (!share) Apply1(*g, "Exp", {x});
  const VarId b = share ? a : Apply1(*g, "Relu", {x});
  g->AddOutput("y", Apply1(*g, form, {Apply1(*g, form, {a, b}), c}));
  return g;
}

TEST(GraphTest, StructuralEquality) {
  const auto base = Sample("x", true, 1);
  EXPECT_TRUE(StructurallyEqual(*base, *Sample("x", true, 1)));
  EXPECT_TRUE(StructurallyEqual(*base, *Sample("x", false, 1)))
      << "sharing and dead code do not count";
  EXPECT_EQ(base->StructuralHash(), Sample("x", false, 1)->StructuralHash());
  EXPECT_FALSE(StructurallyEqual(*base, *Sample("z", true, 1)));
  EXPECT_FALSE(StructurallyEqual(*base, *Sample("x", true, 2)));
  EXPECT_FALSE(StructurallyEqual(*base, *Sample("x", true, 1, "Mul")));
  EXPECT_NE(base->StructuralHash(), Sample("x", true, 2)->StructuralHash());
}

TEST(GraphTest, BodiesAreEqualUpToNames) {
  auto with_body = [](const char* name, float k) {
    Graph g;
    const VarId c = g.AddInput("c", Type::Tensor(DType::kBool, Shape{}));
    GraphPtr body = Sample(name, true, k);
    auto op =
        MakeOp(*Registry::Get().FindForm("If"), {{"then_branch", body}, {"else_branch", body}});
    const ApplyId a = g.AddApply(g.InternOp(*op), std::vector<VarId>{c, c});
    g.AddOutput("y", g.output(a, 0));
    return g;
  };
  EXPECT_TRUE(StructurallyEqual(with_body("p", 1), with_body("q", 1)));
  EXPECT_FALSE(StructurallyEqual(with_body("p", 1), with_body("p", 2)));
  EXPECT_EQ(with_body("p", 1).CountNodes(), 1u + 2 * 3);
}

TEST(GraphTest, RandomBodiesMakeRandomOps) {
  auto body = std::make_shared<Graph>();
  body->AddOutput("r", Apply1(*body, "RandomNormal", {}, {{"shape", Ints{2}}}));
  auto op = MakeOp(*Registry::Get().FindForm("If"),
                   {{"then_branch", GraphPtr(body)}, {"else_branch", GraphPtr(body)}});
  EXPECT_EQ(op->effect, Effect::kRandom);
}

TEST(GraphTest, ErrorsNameTheNode) {
  Graph g;
  const VarId x = g.AddInput("x", kMatrix);
  auto op = MakeOp(*Registry::Get().FindForm("MatMul"), {});
  const ApplyId a = g.AddApply(g.InternOp(*op), std::vector<VarId>{x, x}, "product");
  g.AddOutput("y", g.output(a, 0));
  const absl::Status s = InferTypes(g);
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(s.message(), "node 'product': MatMul: cannot multiply shapes [2,3] and [2,3]");
}

TEST(GraphTest, AMillionNodes) {
  const auto start = std::chrono::steady_clock::now();
  Graph g;
  VarId v = g.AddInput("x", kMatrix);
  const OpSchema& relu = *Registry::Get().FindForm("Relu");
  for (int i = 0; i < 1000000; ++i) {
    const VarId in[] = {v};
    v = g.output(g.AddApply(g.InternOp(*MakeOp(relu, {})), in), 0);
  }
  g.AddOutput("y", v);
  EXPECT_EQ(g.LiveApplies().size(), 1000000u);
  ASSERT_TRUE(InferTypes(g).ok());
  EXPECT_TRUE(StructurallyEqual(g, g));
  EXPECT_NE(g.StructuralHash(), 0u);
  EXPECT_EQ(g.type(v).ToString(), "f32[2,3]");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace retuple
