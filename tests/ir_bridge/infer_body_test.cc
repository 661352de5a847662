// Inference through bodies: If, Loop, Scan, SequenceMap, and over whole graphs.
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir_bridge/graph.h"
#include "tests/ir_bridge/infer_case.h"

namespace retuple {
namespace {

// A graph under construction, in few words.
struct Body {
  std::shared_ptr<Graph> g = std::make_shared<Graph>();

  VarId In(const char* type) {
    return g->AddInput("i" + std::to_string(g->inputs().size()), ParseType(type));
  }
  VarId Const(Tensor t) { return g->AddConstant(std::move(t)); }
  VarId Op(const char* form, std::vector<VarId> inputs, AttrMap attrs = {}) {
    auto op = MakeOp(*Registry::Get().FindForm(form), std::move(attrs));
    EXPECT_TRUE(op.ok()) << op.status();
    return g->output(g->AddApply(g->InternOp(*std::move(op)), inputs), 0);
  }
  Body& Out(VarId v) {
    g->AddOutput("o" + std::to_string(g->outputs().size()), v);
    return *this;
  }
  GraphPtr graph() const { return g; }
};

// As InferText, for an op with bodies and `captures` trailing captured inputs.
std::string Infer(const char* form, AttrMap attrs, std::vector<std::string> inputs, int outputs,
                  int captures) {
  auto op = MakeOp(*Registry::Get().FindForm(form), std::move(attrs), outputs);
  EXPECT_TRUE(op.ok()) << op.status();
  op->num_captures = captures;
  Infos parser;
  std::vector<const ValueInfo*> infos;
  for (const std::string& s : inputs) infos.push_back(parser.Parse(s));
  auto result = InferOp(*op, infos);
  if (!result.ok()) return "error: " + std::string(result.status().message());
  std::string text;
  for (const ValueInfo& o : *result) text += (text.empty() ? "" : "; ") + InfoText(o);
  return text;
}

TEST(InferBodyTest, IfJoinsItsBranches) {
  Body a, b;
  a.Out(a.Op("Relu", {a.In("?")}));
  const VarId x = b.In("?");
  b.Out(b.Op("Concat", {x, x}, {{"axis", int64_t{0}}}));
  const AttrMap attrs = {{"then_branch", a.graph()}, {"else_branch", b.graph()}};
  EXPECT_EQ(Infer("If", attrs, {"bool[]", "f32[N,3]"}, 1, 1), "f32[?,3]");
  EXPECT_EQ(Infer("If", attrs, {"bool[]={1}", "f32[N,3]"}, 1, 1), "f32[N,3]");
  EXPECT_EQ(Infer("If", attrs, {"bool[]={0}", "f32[N,3]"}, 1, 1), "f32[2*N,3]");
  EXPECT_EQ(Infer("If", attrs, {"bool[]", "f32[0]"}, 1, 1), "f32[0]");
  EXPECT_EQ(Infer("If", attrs, {"f32[]", "f32[N]"}, 1, 1),
            "error: If: input 0 is f32[], expected bool");
  EXPECT_EQ(Infer("If", attrs, {"bool[]", "f32[N]"}, 2, 1),
            "error: If: then_branch has 1 outputs, the node has 2");
  EXPECT_EQ(Infer("If", attrs, {"bool[]", "f32[]"}, 1, 1).substr(0, 35),
            "error: If: node 0: Concat: axis 0 i");
}

// (iteration, condition, state, capture) → (condition, state', scan element)
Body LoopBody(const char* form, AttrMap attrs = {}) {
  Body b;
  b.In("i64[]");
  const VarId cond = b.In("bool[]"), state = b.In("?"), captured = b.In("?");
  const VarId next = b.Op(form, {state, captured}, std::move(attrs));
  return b.Out(b.Op("Identity", {cond})).Out(next).Out(b.Op("Neg", {captured}));
}

TEST(InferBodyTest, LoopWidensItsState) {
  const AttrMap add = {{"body", LoopBody("Add").graph()}};
  EXPECT_EQ(Infer("Loop", add, {"i64[]", "bool[]", "f32[N]", "f32[1]"}, 2, 1), "f32[N]; f32[?,1]");
  EXPECT_EQ(Infer("Loop", add, {"i64[]", "-", "f32[1]", "f32[5]"}, 2, 1), "f32[?]; f32[?,5]");
  EXPECT_EQ(Infer("Loop", add, {"i64[]", "-", "f32[]", "f32[5]"}, 2, 1), "f32; f32[?,5]");
  const AttrMap grow = {{"body", LoopBody("Concat", {{"axis", int64_t{0}}}).graph()}};
  EXPECT_EQ(Infer("Loop", grow, {"i64[]", "bool[]", "f32[0,3]", "f32[M,3]"}, 2, 1),
            "f32[?,3]; f32[?,M,3]");
  EXPECT_EQ(Infer("Loop", add, {"i64[]", "bool[]", "f32[2]", "f32[3]"}, 2, 1).substr(0, 20),
            "error: Loop: node 0:");
  EXPECT_EQ(Infer("Loop", add, {"f32[]", "bool[]", "f32[2]", "f32[3]"}, 2, 1),
            "error: Loop: input 0 is f32[], expected i64");
}

TEST(InferBodyTest, LoopCountsItsTrips) {
  Body b;
  const VarId i = b.In("i64[]");
  b.In("bool[]");
  b.Out(b.Const(Tensor::Scalar<bool>(DType::kBool, true))).Out(i);
  const AttrMap attrs = {{"body", b.graph()}};
  EXPECT_EQ(Infer("Loop", attrs, {"i64[]={5}", "-"}, 1, 0), "i64[5]");
  EXPECT_EQ(Infer("Loop", attrs, {"i64[]{N}", "bool[]={1}"}, 1, 0), "i64[N]");
  EXPECT_EQ(Infer("Loop", attrs, {"i64[]={5}", "bool[]"}, 1, 0), "i64[?]");
  EXPECT_EQ(Infer("Loop", attrs, {"i64[]={5}", "bool[]={0}"}, 1, 0), "i64[0]");
  EXPECT_EQ(Infer("Loop", attrs, {"i64[]={-5}"}, 1, 0), "i64[0]");
}

// (state, slice) → (state + slice, state)
Body ScanBody() {
  Body b;
  const VarId state = b.In("?"), slice = b.In("?");
  return b.Out(b.Op("Add", {state, slice})).Out(b.Op("Identity", {state}));
}

TEST(InferBodyTest, Scan) {
  AttrMap attrs = {{"body", ScanBody().graph()}, {"num_scan_inputs", int64_t{1}}};
  EXPECT_EQ(Infer("Scan", attrs, {"f32[2]", "f32[S,2]"}, 2, 0), "f32[2]; f32[S,2]");
  EXPECT_EQ(Infer("Scan", attrs, {"f32[2]", "f32[]"}, 2, 0).substr(0, 6), "error:");
  EXPECT_EQ(Infer("Scan-8", attrs, {"-", "f32[B,2]", "f32[B,S,2]"}, 2, 0), "f32[B,2]; f32[B,S,2]");
  attrs["scan_input_axes"] = Ints{1};
  attrs["scan_output_axes"] = Ints{-1};
  EXPECT_EQ(Infer("Scan", attrs, {"f32[2]", "f32[2,S]"}, 2, 0), "f32[2]; f32[2,S]");
  attrs["scan_output_axes"] = Ints{7};
  EXPECT_EQ(Infer("Scan", attrs, {"f32[2]", "f32[2,S]"}, 2, 0).substr(0, 6), "error:");
  attrs["num_scan_inputs"] = int64_t{3};
  EXPECT_EQ(Infer("Scan", attrs, {"f32[2]", "f32[2,S]"}, 2, 0),
            "error: Scan: num_scan_inputs is 3 for 2 inputs");
}

TEST(InferBodyTest, SequenceMap) {
  Body b;
  const VarId x = b.In("?"), y = b.In("?");
  b.Out(b.Op("Add", {x, y}));
  EXPECT_EQ(Infer("SequenceMap", {{"body", b.graph()}}, {"seq(f32[?,3])", "f32[3]"}, 1, 0),
            "seq(f32[?,3])");
}

// Bodies may be nested as deep as a file allows: time and stack stay small.
TEST(InferBodyTest, DeepNesting) {
  GraphPtr inner = LoopBody("Add").graph();
  for (int depth = 0; depth < 200; ++depth) {
    Body b;
    b.In("i64[]");
    const VarId cond = b.In("bool[]"), state = b.In("?"), captured = b.In("?");
    auto op = MakeOp(*Registry::Get().FindForm("Loop"), {{"body", inner}}, 2);
    op->num_captures = 1;
    const ApplyId a =
        b.g->AddApply(b.g->InternOp(*op), std::vector<VarId>{kNoVar, cond, state, captured});
    b.Out(cond).Out(b.g->output(a, 0)).Out(captured);
    inner = b.graph();
  }
  EXPECT_EQ(
      Infer("Loop", {{"body", inner}}, {"i64[]", "bool[]", "f32[1]", "f32[5]"}, 2, 1).substr(0, 6),
      "?; f32");
}

TEST(InferTypesTest, ShapeChainsComeOut) {
  Body b;
  const VarId x = b.In("f32[batch,seq,384]");
  const VarId shape = b.Op("Shape", {x});
  auto pick = [&](int64_t i) {
    return b.Op("Gather", {shape, b.Const(Tensor::VectorI64(std::vector<int64_t>{i}))});
  };
  const VarId heads = b.Const(Tensor::VectorI64(std::vector<int64_t>{12, -1}));
  const VarId target = b.Op("Concat", {pick(0), pick(1), heads}, {{"axis", int64_t{0}}});
  const VarId y = b.Op("Transpose", {b.Op("Reshape", {x, target})}, {{"perm", Ints{0, 2, 1, 3}}});
  b.Out(y);
  std::vector<ValueInfo> infos;
  ASSERT_TRUE(InferTypes(*b.g, &infos).ok());
  EXPECT_EQ(b.g->type(y).ToString(), "f32[batch,12,seq,32]");
  EXPECT_EQ(InfoText(infos[target]), "i64[4]{batch,seq,12,-1}");
}

TEST(InferTypesTest, OpaqueOperatorsAreUnknown) {
  Body b;
  const VarId x = b.In("f32[2]");
  const ApplyId a =
      b.g->AddApply(b.g->InternOp(MakeOpaqueOp("com.acme", "Foo", {}, 2)), std::vector<VarId>{x});
  const VarId y = b.Op("Add", {b.g->output(a, 1), x});
  b.Out(y);
  ASSERT_TRUE(InferTypes(*b.g).ok());
  EXPECT_TRUE(b.g->type(b.g->output(a, 0)).is_unknown());
  EXPECT_EQ(b.g->type(y).ToString(), "f32");
}

TEST(InferTypesTest, NegativeInputDimsAreRefused) {
  Body b;
  b.Out(b.Op("Relu", {b.In("f32[-2]")}));
  EXPECT_EQ(InferTypes(*b.g).code(), absl::StatusCode::kInvalidArgument);
}

TEST(TypesTest, MergeAndJoin) {
  const struct {
    const char *a, *b, *merged, *joined;
  } cases[] = {
      {"f32[2,3]", "f32[2,3]", "f32[2,3]", "f32[2,3]"},
      {"f32[N,3]", "f32[2,M]", "f32[2,3]", "f32[?,?]"},
      {"f32[?]", "f32[N]", "f32[N]", "f32[?]"},
      {"f32", "f32[2]", "f32[2]", "f32"},
      {"?", "f32[2]", "f32[2]", "?"},
      {"f32[2]", "f32[3]", "error", "f32[?]"},
      {"f32[2]", "f32[2,1]", "error", "f32"},
      {"f32[2]", "i64[2]", "error", "undefined[2]"},
      {"seq(f32)", "seq(f32[2])", "seq(f32[2])", "seq(f32)"},
      {"seq(f32)", "f32", "error", "?"},
  };
  for (const auto& c : cases) {
    const Type a = ParseType(c.a), b = ParseType(c.b);
    const auto merged = MergeTypes(a, b);
    EXPECT_EQ(merged.ok() ? merged->ToString() : "error", c.merged) << c.a << " " << c.b;
    EXPECT_EQ(JoinTypes(a, b).ToString(), c.joined) << c.a << " " << c.b;
  }
}

}  // namespace
}  // namespace retuple
