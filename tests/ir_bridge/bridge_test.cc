// Etuplize and reify: every operator of the registry, operators that the test brings, random operators, bodies.
#include "ir_bridge/bridge.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "ir_bridge/graph_adapter.h"
#include "ir_bridge/graph_term.h"
#include "ir_bridge/tensor_object.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

// A graph that applies `op` to distinct inputs and returns every output.
Graph GraphOf(Op op, int num_inputs) {
  Graph g;
  g.info.opsets = {{"", 17}};
  std::vector<VarId> inputs;
  for (int i = 0; i < num_inputs; ++i) inputs.push_back(g.AddInput("in" + std::to_string(i), Type::Tensor(DType::kF32, {2, Dim::Named("N")})));
  const int n = op.num_outputs;
  const ApplyId a = g.AddApply(g.InternOp(std::move(op)), inputs);
  for (int i = 0; i < n; ++i) g.AddOutput("out" + std::to_string(i), g.output(a, i));
  return g;
}

// Through the term and its text into a graph of another context.
void ExpectRoundTrip(Graph& g, const std::string& what) {
  Context ctx;
  TermCodec codec(ctx);
  auto term = GraphToTerm(g, codec);
  ASSERT_TRUE(term.ok()) << what << term.status();
  Context ctx2;
  TermCodec codec2(ctx2);
  auto read = ReadTerm(ctx2, PrintTerm(ctx, *term), {.object_reader = ReadTensorObject});
  ASSERT_TRUE(read.ok()) << what << read.status();
  auto back = TermToGraph(codec2, *read);
  ASSERT_TRUE(back.ok()) << what << back.status();
  EXPECT_TRUE(StructurallyEqual(g, **back)) << what;
}

AttrValue SampleAttr(AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt:
      return int64_t{3};
    case AttrKind::kFloat:
      return 0.25f;
    case AttrKind::kString:
      return std::string("te xt");
    case AttrKind::kTensor:
      return Tensor::ScalarF32(2.5f);
    case AttrKind::kGraph: {
      auto body = std::make_shared<Graph>();
      const VarId v = body->AddInput("p0", Type::Tensor(DType::kF32, {2}));
      body->AddOutput("o0", v);
      return GraphPtr(body);
    }
    case AttrKind::kType:
      return Type::Sequence(Type::Tensor(DType::kI64, {2, 3}));
    case AttrKind::kInts:
      return Ints{1, -2};
    case AttrKind::kFloats:
      return Floats{0.5f, 1e-7f};
    case AttrKind::kStrings:
      return Strings{"a", ""};
    case AttrKind::kTensors:
      return std::vector<Tensor>{Tensor::ScalarF32(1)};
    case AttrKind::kGraphs:
      return std::vector<GraphPtr>{};
    case AttrKind::kTypes:
      return std::vector<Type>{Type::Tensor(DType::kF32)};
  }
  return int64_t{0};
}

TEST(BridgeTest, EveryOperatorOfTheRegistryRoundTrips) {
  int forms = 0;
  for (const OpSchema* schema : Registry::Get().All()) {
    // Required attributes only, then all.
    for (bool all : {false, true}) {
      AttrMap attrs;
      for (const AttrSpec& a : schema->attrs) {
        if (a.required || all) attrs.emplace(a.name, SampleAttr(a.kind));
      }
      auto op = MakeOp(*schema, attrs, schema->variadic_outputs() ? 3 : schema->max_outputs);
      ASSERT_TRUE(op.ok()) << schema->form << op.status();
      const int inputs = std::min(schema->max_inputs, schema->min_inputs + (all ? 1 : 0));
      Graph g = GraphOf(*op, inputs);
      ExpectRoundTrip(g, schema->form);
    }
    ++forms;
  }
  EXPECT_GT(forms, 200);
}

TEST(BridgeTest, EveryOutputIsItsOwnTermAndReifiesToItself) {
  for (const OpSchema* schema : Registry::Get().All()) {
    AttrMap attrs;
    for (const AttrSpec& a : schema->attrs) {
      if (a.required) attrs.emplace(a.name, SampleAttr(a.kind));
    }
    Graph g = GraphOf(*MakeOp(*schema, attrs, schema->variadic_outputs() ? 3 : schema->max_outputs), schema->min_inputs);
    Context ctx;
    TermCodec codec(ctx);
    GraphAdapter adapter(g, codec);
    GraphBridge bridge(ctx, adapter);
    std::vector<VarId> roots;
    for (const auto& o : g.outputs()) roots.push_back(o.var);
    auto terms = bridge.Etuplize(roots);
    ASSERT_TRUE(terms.ok());
    for (size_t i = 0; i < terms->size(); ++i) {
      EXPECT_EQ(codec.IsNth((*terms)[i]), schema->multi_output()) << schema->form;
      for (size_t j = 0; j < i; ++j) {
        Substitution s;
        EXPECT_FALSE(Unify(ctx, (*terms)[i], (*terms)[j], s)) << schema->form;  // outputs of one application never unify
      }
    }
    auto values = bridge.Reify(*terms);
    ASSERT_TRUE(values.ok());
    EXPECT_EQ(*values, roots) << schema->form;
  }
}

TEST(BridgeTest, AnOperatorOfFourOutputsThatTheTestRegisters) {
  OpSchema quad;
  quad.domain = "test";
  quad.name = "Quad";
  quad.form = "test::Quad";
  quad.since = {1};
  quad.min_inputs = quad.max_inputs = 2;
  quad.min_outputs = quad.max_outputs = 4;
  Registry registry;
  ASSERT_TRUE(registry.Add(quad).ok());
  const OpSchema* schema = registry.Resolve("test", "Quad", 1);
  ASSERT_NE(schema, nullptr);
  Graph g = GraphOf(*MakeOp(*schema, {}, 4), 2);
  Context ctx;
  TermCodec codec(ctx);
  GraphAdapter adapter(g, codec);
  GraphBridge bridge(ctx, adapter);
  std::vector<VarId> roots;
  for (const auto& o : g.outputs()) roots.push_back(o.var);
  auto terms = bridge.Etuplize(roots);
  ASSERT_TRUE(terms.ok());
  EXPECT_EQ(PrintTerm(ctx, (*terms)[2]), "(nth 2 (test::Quad (input \"in0\" f32 (2 N)) (input \"in1\" f32 (2 N))))");
  // New operands, the same head: one new application serves all four outputs.
  std::vector<Term> swapped;
  for (Term t : *terms) {
    const Term app = codec.NthApp(t);
    swapped.push_back(codec.Nth(codec.NthIndex(t), ctx.Tuple({ctx.Rator(app), ctx.Children(app)[2], ctx.Children(app)[1]})));
  }
  auto values = bridge.Reify(swapped);
  ASSERT_TRUE(values.ok()) << values.status();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(g.var((*values)[static_cast<size_t>(i)]).producer, g.var((*values)[0]).producer);
    EXPECT_EQ(g.var((*values)[static_cast<size_t>(i)]).index, static_cast<uint32_t>(i));
  }
  EXPECT_EQ(g.op_of(g.apply(g.var((*values)[0]).producer)).schema, schema);
}

TEST(BridgeTest, UAndSOfOneSvdDoNotUnify) {
  Graph g = GraphOf(MakeOpaqueOp("linalg", "SVD", {{"full_matrices", int64_t{0}}}, 3), 1);
  Context ctx;
  TermCodec codec(ctx);
  GraphAdapter adapter(g, codec);
  GraphBridge bridge(ctx, adapter);
  std::vector<VarId> roots{g.outputs()[0].var, g.outputs()[1].var};
  auto terms = bridge.Etuplize(roots);
  ASSERT_TRUE(terms.ok());
  Substitution s;
  EXPECT_FALSE(Unify(ctx, (*terms)[0], (*terms)[1], s));
  EXPECT_EQ(ctx.Children((*terms)[0])[2], ctx.Children((*terms)[1])[2]);  // one application below
  ExpectRoundTrip(g, "svd");
}

TEST(BridgeTest, EqualApplicationsMergeAndRandomOnesDoNot) {
  Graph g;
  const VarId x = g.AddInput("x", Type::Tensor(DType::kF32, {2}));
  const VarId in[] = {x};
  auto relu = *MakeOp(*Registry::Get().FindForm("Relu"), {});
  const VarId a = g.output(g.AddApply(g.InternOp(relu), in), 0), b = g.output(g.AddApply(g.InternOp(relu), in), 0);
  auto random = *MakeOp(*Registry::Get().FindForm("RandomUniformLike"), {});
  random.identity = 1;
  const VarId c = g.output(g.AddApply(g.InternOp(random), in), 0);
  random.identity = 2;
  const VarId d = g.output(g.AddApply(g.InternOp(random), in), 0);
  Context ctx;
  TermCodec codec(ctx);
  GraphAdapter adapter(g, codec);
  GraphBridge bridge(ctx, adapter);
  const VarId roots[] = {a, b, c, d};
  auto t = bridge.Etuplize(roots);
  ASSERT_TRUE(t.ok());
  EXPECT_EQ((*t)[0], (*t)[1]);
  EXPECT_NE((*t)[2], (*t)[3]);
}

TEST(BridgeTest, TermsThatAreNoValuesAreErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {"(MaxPool (input \"x\" f32 (1 1 4 4)))", "'kernel_shape' is missing"},
      {"((MaxPool :kernel_shape (2 2)) (input \"x\" f32 (1 1 4 4)))", "needs (nth i"},
      {"(nth 7 ((MaxPool :kernel_shape (2 2)) (input \"x\" f32 (1 1 4 4))))", "no such output"},
      {"(nth 0 (Relu (input \"x\" f32 (1))))", "nth of an application of one output"},
      {"(Relu 3)", "no value of the IR: 3"},
      {"()", "no value of the IR"},
      {"(Relu)", "operands"},
      {"((Relu :slope 2) (input \"x\" f32 (1)))", "slope"},
      {"((Concat :axis \"a\") (input \"x\" f32 (1)))", "axis"},
      {"(Relu (bound 0 f32 (1)))", "bound by no lambda"},
      {"(Relu (input x f32 (1)))", "expected (input"},
      {"(Relu (input \"x\" float (1)))", "element type"},
      {"(Relu (input \"x\" f32 (-1)))", "dimension"},
      {"((If :then_branch 3 :else_branch 4) (input \"c\" bool ()))", "If"},
  };
  for (const auto& [text, message] : cases) {
    Context ctx;
    TermCodec codec(ctx);
    auto value = ReadTerm(ctx, text);
    ASSERT_TRUE(value.ok());
    Graph g;
    GraphAdapter adapter(g, codec);
    GraphBridge bridge(ctx, adapter);
    auto r = bridge.Reify(std::span<const Term>(&*value, 1));
    ASSERT_FALSE(r.ok()) << text;
    EXPECT_NE(std::string(r.status().message()).find(message), std::string::npos) << text << ": " << r.status();
  }
}

TEST(BridgeTest, AMillionDeepChainAndADoublingDag) {
  Graph g;
  VarId v = g.AddInput("x", Type::Tensor(DType::kF32, {2}));
  const OpId relu = g.InternOp(*MakeOp(*Registry::Get().FindForm("Relu"), {}));
  const OpId add = g.InternOp(*MakeOp(*Registry::Get().FindForm("Add"), {}));
  for (int i = 0; i < 200; ++i) {
    const VarId in[] = {v, v};
    v = g.output(g.AddApply(add, in), 0);
  }
  for (int i = 0; i < 1'000'000; ++i) {
    const VarId in[] = {v};
    v = g.output(g.AddApply(relu, in), 0);
  }
  g.AddOutput("y", v);
  ExpectRoundTrip(g, "deep");
}

// A foreign IR in thirty lines: strings with operands. The concept is all that the bridge needs.
struct ToyNode {
  std::string name;
  std::vector<const ToyNode*> operands;
  int results = 1;
};
struct ToyValue {
  const ToyNode* node = nullptr;
  int index = 0;
  friend bool operator==(const ToyValue&, const ToyValue&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ToyValue& v) {
    return H::combine(std::move(h), v.node, v.index);
  }
};
class ToyIr {
 public:
  using Value = ToyValue;
  using Op = const ToyNode*;
  Op DefiningOp(Value v) const { return v.node->operands.empty() ? nullptr : v.node; }
  int ResultIndex(Value v) const { return v.index; }
  std::string_view Name(Op op) const { return op->name; }
  std::vector<Value> Operands(Op op) const {
    std::vector<Value> out;
    for (const ToyNode* n : op->operands) out.push_back({n, 0});
    return out;
  }
  int NumResults(Op op) const { return op->results; }
  AdapterEffect EffectOf(Op op) const { return op->name == "print" ? AdapterEffect::kOpaque : AdapterEffect::kPure; }
  bool SameHead(Op a, Op b) const { return a->name == b->name && a->results == b->results; }
  absl::StatusOr<Op> Clone(Op op, std::span<const Value> args) { return Make(op->name, args, op->results); }
  absl::StatusOr<Op> Create(std::string_view name, std::span<const Value> args) { return Make(std::string(name), args, 1); }
  Value Result(Op op, int i) const { return {op, i}; }
  Op Make(std::string name, std::span<const Value> args, int results) {
    auto n = std::make_unique<ToyNode>();
    n->name = std::move(name);
    n->results = results;
    for (Value v : args) n->operands.push_back(v.node);
    nodes_.push_back(std::move(n));
    return nodes_.back().get();
  }

 private:
  std::vector<std::unique_ptr<ToyNode>> nodes_;
};
static_assert(IrAdapter<ToyIr>);

TEST(BridgeTest, AForeignIrThroughItsTenVerbs) {
  ToyIr ir;
  const ToyValue x{ir.Make("x", {}, 1), 0}, y{ir.Make("y", {}, 1), 0};
  const ToyValue args[] = {x, y};
  const ToyValue one{ir.Make("add", args, 1), 0}, same{ir.Make("add", args, 1), 0};
  const ToyValue pair_args[] = {one, same};
  const ToyValue both{ir.Make("divmod", pair_args, 2), 1};
  const ToyValue opaque_args[] = {x};
  const ToyValue p1{ir.Make("print", opaque_args, 1), 0}, p2{ir.Make("print", opaque_args, 1), 0};
  Context ctx;
  Bridge<ToyIr> bridge(ctx, ir);
  const ToyValue roots[] = {one, same, both, p1, p2};
  auto t = bridge.Etuplize(roots);
  ASSERT_TRUE(t.ok());
  EXPECT_EQ((*t)[0], (*t)[1]);  // equal and pure: merged
  EXPECT_NE((*t)[3], (*t)[4]);  // opaque: each its own leaf
  EXPECT_EQ(ctx.Children((*t)[2])[0], ctx.Sym("nth"));
  auto back = bridge.Reify(*t);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ((*back)[2], both);  // untouched: the very value
  // A new head is created by name, an old one cloned from its exemplar.
  const Term rewritten = ctx.Tuple({ctx.Sym("mul"), (*t)[0], ctx.Tuple({ctx.Rator((*t)[0]), ctx.Children((*t)[0])[2], ctx.Children((*t)[0])[1]})});
  auto made = bridge.Reify(std::span<const Term>(&rewritten, 1));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ((*made)[0].node->name, "mul");
  EXPECT_EQ((*made)[0].node->operands[0], one.node);
  EXPECT_EQ((*made)[0].node->operands[1]->name, "add");
  EXPECT_EQ((*made)[0].node->operands[1]->operands[0], y.node);
}

}  // namespace
}  // namespace retuple
