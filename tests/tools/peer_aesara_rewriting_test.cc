// The behaviours of aesara's tests/graph/rewriting/test_basic.py: pattern rules, merging and fixed points, over real graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ir_bridge/graph_term.h"
#include "ir_bridge/ir_operators.h"
#include "ir_bridge/rule_functions.h"
#include "kernels/folder.h"
#include "tests/ir_bridge/peer_graph.h"
#include "rewrite/normalizer.h"
#include "rewrite/relate.h"
#include "rewrite/rule_language.h"

namespace retuple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::PeerGraph;

// Rules, and a graph over inputs x, y, z to which they are applied. Operators t::Op1 … are the peer's MyOp: they have no schema and, as its
// MyType, no types to tell apart; `typed` turns the type check on.
struct Rewriter {
  explicit Rewriter(const std::string& rules) {
    AddIrFunctions(functions, g.codec, types, env);
    AddFoldFunction(functions, g.codec);
    // The peer's constraint `r.owner.op == op2`.
    functions.AddGuard("from-op2", 1, 1, [](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<bool> {
      return rc.ctx.HeadSymbol(a[0]) == rc.ctx.Sym("t::Op2");
    });
    load = loader.Load(rules, {.file = "t.rules", .object_reader = ReadTensorObject});
  }
  // The graph that the rules make of `graph`.
  std::string Run(const std::string& graph, NormalizeOptions options = {}) {
    EXPECT_TRUE(load.ok()) << load;
    if (typed) options.types = &types;
    options.on_step = [&](const Step& s) { steps.push_back(s.rule->name + ": " + g.Print(s.before) + " -> " + g.Print(s.after)); };
    const Term t = g.Etuple(g.Build(graph));
    Normalizer n(g.ctx, loader.rules(), functions, options);
    const Term out = n.Run(std::span<const Term>(&t, 1))[0];
    report = n.report();
    return g.Show(g.Value(out));
  }

  PeerGraph g{{"x", "y", "z"}};
  TermTypes types{g.codec};
  RuleEnvironment env;
  FunctionRegistry functions{g.ctx};
  IrOperators operators{g.codec, functions};
  RuleLoader loader{g.ctx, functions, operators};
  absl::Status load;
  bool typed = false;
  NormalizeReport report;
  std::vector<std::string> steps;
};

// ---- TestPatternNodeRewriter, TestSubstitutionNodeRewriter

struct PatternCase {
  const char* name;
  const char* rules;
  const char* graph;
  const char* result;
};

TEST(AesaraPatternRewriterTest, Cases) {
  const PatternCase cases[] = {
      {"replace_output", "(rewrite r (t::Op1 (t::Op2 ?1 ?2) ?3) (t::Op4 ?3 ?2))", "(t::Op1 (t::Op2 x y) z)", "(t::Op4 z y)"},
      {"nested_out_pattern", "(rewrite r (t::Op1 ?1 ?2) (t::Op4 (t::Op5 ?1) (t::Op2 ?2) (t::Op3 ?1 ?2)))", "(t::Op1 x y)",
       "(t::Op4 (t::Op5 x) (t::Op2 y) (t::Op3 x y))"},
      // One operand is another matter than two: the result's Op1 is no redex.
      {"nested_out_pattern", "(rewrite r (t::Op1 ?1 ?2) (t::Op4 (t::Op1 ?1) (t::Op2 ?2) (t::Op3 ?1 ?2)))", "(t::Op1 x y)",
       "(t::Op4 (t::Op1 x) (t::Op2 y) (t::Op3 x y))"},
      {"unification_1", "(rewrite r (t::Op1 (t::Op2 ?1 ?1) ?2) (t::Op4 ?2 ?1))", "(t::Op1 (t::Op2 x x) z)", "(t::Op4 z x)"},
      {"unification_2", "(rewrite r (t::Op1 (t::Op2 ?1 ?1) ?2) (t::Op4 ?2 ?1))", "(t::Op1 (t::Op2 x y) z)", "(t::Op1 (t::Op2 x y) z)"},
      {"replace_subgraph", "(rewrite r (t::Op2 ?1 ?2) (t::Op1 ?2 ?1))", "(t::Op1 (t::Op2 x y) z)", "(t::Op1 (t::Op1 y x) z)"},
      {"multiple", "(rewrite r (t::Op2 ?1 ?2) (t::Op4 ?1))", "(t::Op1 (t::Op2 x y) (t::Op2 x y) (t::Op2 y z))",
       "(t::Op1 (t::Op4 x) (t::Op4 x) (t::Op4 y))"},
      {"nested_even", "(rewrite r (t::Op1 (t::Op1 ?1)) ?1)", "(t::Op1 (t::Op1 (t::Op1 (t::Op1 x))))", "x"},
      {"nested_odd", "(rewrite r (t::Op1 (t::Op1 ?1)) ?1)", "(t::Op1 (t::Op1 (t::Op1 (t::Op1 (t::Op1 x)))))", "(t::Op1 x)"},
      {"ambiguous", "(rewrite r (t::Op1 (t::Op1 ?1)) (t::Op1 ?1))", "(t::Op1 (t::Op1 (t::Op1 (t::Op1 (t::Op1 x)))))", "(t::Op1 x)"},
      // The very constant, and a number: any constant all of whose elements equal it.
      {"constant", "(rewrite r (t::Op1 #<f32[] 2> ?1) (t::Op2 ?1 #<f32[] 2>))", "(t::Op1 (t::Op1 #<f32[] 2> y) y)", "(t::Op1 (t::Op2 y #<f32[] 2>) y)"},
      {"constant", "(rewrite r (t::Op1 #<f32[] 2> ?1) (t::Op2 ?1 #<f32[] 2>))", "(t::Op1 (t::Op1 #<f64[] 2> y) y)", "(t::Op1 (t::Op1 #<f64[] 2> y) y)"},
      {"constant", "(rewrite r (t::Op1 (as ?c 2) ?1) (t::Op2 ?1 ?c))", "(t::Op1 (t::Op1 #<i64[2] 2 2> y) y)", "(t::Op1 (t::Op2 y #<i64[2] 2 2>) y)"},
      {"constant", "(rewrite r (t::Op1 (as ?c 2) ?1) (t::Op2 ?1 ?c))", "(t::Op1 #<i64[2] 2 3> y)", "(t::Op1 #<i64[2] 2 3> y)"},
      {"constraints", "(rewrite r (t::Op1 ?1) (t::Op3 ?1) :when (from-op2 ?1))", "(t::Op4 (t::Op1 (t::Op2 x y)) (t::Op1 (t::Op1 x y)))",
       "(t::Op4 (t::Op3 (t::Op2 x y)) (t::Op1 (t::Op1 x y)))"},
      {"match_same", "(rewrite r (t::Op1 ?x ?y) (t::Op3 ?x ?y))", "(t::Op1 x x)", "(t::Op3 x x)"},
      // An expected failure of the peer: a constraint on the whole pattern.
      {"match_same_illegal", "(rewrite r (t::Op1 ?x ?y) (t::Op3 ?x ?y) :when (not (= ?x ?y)))", "(t::Op2 (t::Op1 x x) (t::Op1 x y))",
       "(t::Op2 (t::Op1 x x) (t::Op3 x y))"},
      // Whether an inner node with other users may be taken apart is for the rule to say.
      {"allow_multiple_clients", "(rewrite r (t::Op4 (as ?e (t::Op1 ?x ?y))) (t::Op3 ?x ?y) :when (single-use ?e))",
       "(t::Op3 (t::Op4 (t::Op1 x y)) (t::Op1 x y))", "(t::Op3 (t::Op4 (t::Op1 x y)) (t::Op1 x y))"},
      {"allow_multiple_clients", "(rewrite r (t::Op4 (as ?e (t::Op1 ?x ?y))) (t::Op3 ?x ?y) :when (single-use ?e))",
       "(t::Op3 (t::Op4 (t::Op1 x y)) z)", "(t::Op3 (t::Op3 x y) z)"},
      {"allow_multiple_clients", "(rewrite r (t::Op4 (t::Op1 ?x ?y)) (t::Op3 ?x ?y))", "(t::Op3 (t::Op4 (t::Op1 x y)) (t::Op1 x y))",
       "(t::Op3 (t::Op3 x y) (t::Op1 x y))"},
      // Equal ops are written in different ways; ops with another property are other ops.
      {"eq", "(rewrite r (t::Op1 ((t::OpY :b 2 :x 1) ?1 ?2) ?3) (t::Op4 ?3 ?2))", "(t::Op1 ((t::OpY :x 1 :b 2) x y) z)", "(t::Op4 z y)"},
      {"eq", "(rewrite r (t::Op1 ((t::OpY :b 2 :x 1) ?1 ?2) ?3) (t::Op4 ?3 ?2))", "(t::Op1 ((t::OpY :x 2 :b 2) x y) z)", "(t::Op1 ((t::OpY :b 2 :x 2) x y) z)"},
      // TestSubstitutionNodeRewriter: one op for another, whatever it is applied to.
      {"straightforward", "(rewrite r (t::Op1 ..?a) (t::Op2 ..?a))", "(t::Op1 (t::Op1 (t::Op1 (t::Op1 (t::Op1 x)))))",
       "(t::Op2 (t::Op2 (t::Op2 (t::Op2 (t::Op2 x)))))"},
      {"straightforward_2", "(rewrite r (t::Op3 ..?a) (t::Op4 ..?a))", "(t::Op1 (t::Op2 x) (t::Op3 y) (t::Op4 z))", "(t::Op1 (t::Op2 x) (t::Op4 y) (t::Op4 z))"},
  };
  for (const PatternCase& c : cases) {
    for (Strategy s : {Strategy::kInnermost, Strategy::kOutermost}) {
      Rewriter r(c.rules);
      EXPECT_EQ(r.Run(c.graph, {.strategy = s}), c.result) << c.name << ": " << c.rules << " on " << c.graph;
      EXPECT_EQ(r.report.stop, StopReason::kNormalForm) << c.name;
    }
  }
}

// test_no_recurse, test_expand: the peer's `ignore_newtrees` rewrites each node of the given graph once. Here a rule that can fire on its own
// result is stopped and named; one that marks its result rewrites each node once, and a second set of rules takes the marks away.
TEST(AesaraPatternRewriterTest, ARuleThatFiresOnItsResultIsStoppedAndNamed) {
  Rewriter swap("(rewrite swap (t::Op2 ?1 ?2) (t::Op2 ?2 ?1))");
  EXPECT_EQ(swap.Run("(t::Op1 (t::Op2 x y) z)", {.fuel = 1}), "(t::Op1 (t::Op2 y x) z)");
  EXPECT_EQ(swap.report.stop, StopReason::kFuel);
  swap.Run("(t::Op1 (t::Op2 x y) z)");
  EXPECT_EQ(swap.report.stop, StopReason::kCycle);
  EXPECT_THAT(swap.report.cycle, ElementsAre("swap"));
  Rewriter expand("(rewrite expand (t::Op1 ?1) (t::Op2 (t::Op1 ?1)))");
  expand.Run("(t::Op1 (t::Op1 (t::Op1 x)))", {.fuel = 100});
  EXPECT_NE(expand.report.stop, StopReason::kNormalForm);
  EXPECT_THAT(expand.report.cycle, ElementsAre("expand"));
}

TEST(AesaraPatternRewriterTest, MarkedResultsAreNotRewrittenAgain) {
  const struct {
    const char *rule, *unmark, *graph, *marked, *result;
  } cases[] = {
      {"(rewrite r (t::Op2 ?1 ?2) (t::New ?2 ?1))", "(rewrite u (t::New ..?a) (t::Op2 ..?a))", "(t::Op1 (t::Op2 x y) z)", "(t::Op1 (t::New y x) z)",
       "(t::Op1 (t::Op2 y x) z)"},
      {"(rewrite r (t::Op1 ?1) (t::Op2 (t::New ?1)))", "(rewrite u (t::New ..?a) (t::Op1 ..?a))", "(t::Op1 (t::Op1 (t::Op1 x)))",
       "(t::Op2 (t::New (t::Op2 (t::New (t::Op2 (t::New x))))))", "(t::Op2 (t::Op1 (t::Op2 (t::Op1 (t::Op2 (t::Op1 x))))))"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Rewriter(c.rule).Run(c.graph), c.marked);
    EXPECT_EQ(Rewriter(c.unmark).Run(c.marked), c.result);
  }
}

// ---- TestMergeOptimizer: equal applications are one term, and one node of the graph that is made of the terms

// The graph of `outputs` made anew from their terms.
std::unique_ptr<Graph> Merged(PeerGraph& g, const std::vector<VarId>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) g.graph.AddOutput("o" + std::to_string(i), outputs[i]);
  auto t = GraphToTerm(g.graph, g.codec);
  EXPECT_TRUE(t.ok()) << t.status();
  auto merged = TermToGraph(g.codec, *t);
  EXPECT_TRUE(merged.ok()) << merged.status();
  return *std::move(merged);
}
std::vector<VarId> OperandsOf(const Graph& g, VarId v) {
  const auto& in = g.apply(g.var(v).producer).inputs;
  return {in.begin(), in.end()};
}

TEST(AesaraMergeTest, EqualOperandsBecomeOne) {
  const struct {
    const char* name;
    std::vector<const char*> operands;
    std::vector<int> same;  // same[i]: the first operand that operand i is one node with
    size_t nodes;           // afterwards, the common user included
  } cases[] = {
      {"straightforward", {"(t::Op2 x y)", "(t::Op2 x y)", "(t::Op2 x z)"}, {0, 0, 2}, 3},
      {"constant_merging", {"(t::Op2 x #<f32[] 2>)", "(t::Op2 x #<f32[] 2>)", "(t::Op2 x #<f32[] 2>)"}, {0, 0, 0}, 2},
      {"no constant_merging", {"(t::Op2 x #<f32[] 2>)", "(t::Op2 x #<f64[] 2>)", "(t::Op2 x #<f32[1] 2>)"}, {0, 1, 2}, 4},
      {"deep_merge", {"(t::Op3 (t::Op2 x y) z)", "(t::Op3 (t::Op2 x y) z)"}, {0, 0}, 3},
      {"no_merge", {"(t::Op3 (t::Op2 x y))", "(t::Op3 (t::Op2 y x))"}, {0, 1}, 5},
      {"identical_constant_args", {"#<f32[] 2>", "#<f32[] 2>"}, {0, 0}, 1},
      {"both_assert_merge_identical", {"(MatMul (t::Assert x (t::All (Greater x y))) y)", "(MatMul (t::Assert x (t::All (Greater x y))) y)"}, {0, 0}, 5},
      {"one_assert_merge", {"(MatMul x y)", "(MatMul (t::Assert x (t::All (Greater x y))) y)"}, {0, 1}, 6},
      {"merge_noinput", {"((t::NoInput :param 0))", "((t::NoInput :param 0))", "((t::NoInput :param 1))"}, {0, 0, 2}, 3},
      {"random", {"((RandomUniformLike :random-id 1) x)", "((RandomUniformLike :random-id 2) x)"}, {0, 1}, 3},
      {"two outputs", {"(nth 0 ((t::Two :num-outputs 2) x))", "(nth 1 ((t::Two :num-outputs 2) x))", "(nth 0 ((t::Two :num-outputs 2) x))"}, {0, 1, 0}, 2},
  };
  for (const auto& c : cases) {
    PeerGraph g({"x", "y", "z"});
    std::vector<VarId> operands;
    for (const char* o : c.operands) operands.push_back(g.Build(o));
    const VarId user = g.Apply("t::Op1", operands);
    const std::unique_ptr<Graph> m = Merged(g, {user});
    const std::vector<VarId> in = OperandsOf(*m, m->outputs()[0].var);
    ASSERT_EQ(in.size(), c.operands.size()) << c.name;
    for (size_t i = 0; i < in.size(); ++i) {
      for (size_t j = 0; j < i; ++j) EXPECT_EQ(in[i] == in[j], c.same[i] == c.same[j]) << c.name << ": " << i << ", " << j;
    }
    EXPECT_EQ(m->CountNodes(), c.nodes) << c.name;
  }
}

TEST(AesaraMergeTest, AnOperandThatIsAlsoBelowAnother) {  // deep_merge, the rest of it
  PeerGraph g({"x", "y", "z"});
  const char* e = "(t::Op3 (t::Op2 x y) z)";
  const std::unique_ptr<Graph> m = Merged(g, {g.Apply("t::Op1", {g.Build(e), g.Apply("t::Op4", {g.Build(e)})})});
  const std::vector<VarId> in = OperandsOf(*m, m->outputs()[0].var);
  EXPECT_THAT(OperandsOf(*m, in[1]), ElementsAre(in[0]));
  EXPECT_EQ(m->CountNodes(), 4u);
}

TEST(AesaraMergeTest, Outputs) {  // merge_outputs, merge_noinput
  PeerGraph g({"x", "y"});
  std::vector<VarId> outputs;
  for (const char* o : {"(t::Op3 (t::Op2 x y))", "(t::Op3 (t::Op2 x y))", "((t::NoInput :param 0))", "((t::NoInput :param 0))", "((t::NoInput :param 1))"}) {
    outputs.push_back(g.Build(o));
  }
  const std::unique_ptr<Graph> m = Merged(g, outputs);
  const auto& o = m->outputs();
  EXPECT_EQ(o[0].var, o[1].var);
  EXPECT_EQ(o[2].var, o[3].var);
  EXPECT_NE(o[2].var, o[4].var);
  EXPECT_EQ(m->CountNodes(), 4u);
}

// pre_constant_merge: equal constants of a graph, wherever they stand, are one term, so a rebuilt node takes the first of them.
TEST(AesaraMergeTest, ConstantsBeforeRewriting) {
  PeerGraph g({"x", "y"});
  const VarId c1 = g.graph.AddConstant(Tensor::ScalarF32(1)), c2 = g.graph.AddConstant(Tensor::ScalarF32(1));
  ASSERT_NE(c1, c2);
  const VarId o2 = g.Apply("t::Op1", {g.Apply("t::Op2", {c1, g.Build("x")}), g.Build("y"), c2});
  const Term t = g.Etuple(o2);
  EXPECT_EQ(g.Etuple(c1), g.Etuple(c2));
  EXPECT_EQ(g.Value(t), o2);            // the node that is there already keeps its operand
  EXPECT_EQ(g.Operands(o2)[2], c2);
  const VarId made = g.Value(g.ctx.Cons(g.Read("t::Op5"), g.ctx.Cdr(t)));  // a new one
  EXPECT_EQ(g.Operands(made)[2], c1);
}

// pre_greedy_node_rewriter: a node of constants is folded; its users share the result, and everything else stays what it was.
TEST(AesaraMergeTest, FoldingANodeOfConstants) {
  Rewriter r("(rewrite fold (as ?t (Add ?a ?b)) (fold ?t) :when (foldable ?t))");
  const VarId c1 = r.g.graph.AddConstant(Tensor::ScalarF32(1)), c2 = r.g.graph.AddConstant(Tensor::ScalarF32(2));
  const VarId x = r.g.Build("x"), y = r.g.Build("y");
  const VarId o1 = r.g.Apply("Add", {c1, c2}), o3 = r.g.Apply("t::Op1", {c1, y}), o2 = r.g.Apply("t::Op1", {o1, c2, x, o3, o1});
  Normalizer n(r.g.ctx, r.loader.rules(), r.functions, {.types = &r.types});
  const Term t = r.g.Etuple(o2);
  const std::vector<VarId> in = r.g.Operands(r.g.Value(n.Run(std::span<const Term>(&t, 1))[0]));
  EXPECT_EQ(r.g.Show(in[0]), "#<f32[] 3>");
  EXPECT_EQ(in, (std::vector<VarId>{in[0], c2, x, o3, in[0]}));
}

// ---- TestEquilibrium

TEST(AesaraEquilibriumTest, RulesTogetherReachAFixedPoint) {
  const char* first =
      "(rewrite a (t::Op1 ?x ?y) (t::Op2 ?x ?y)) (rewrite b (t::Op4 ?x ?y) (t::Op1 ?x ?y)) (rewrite c (t::Op3 (t::Op2 ?x ?y)) (t::Op4 ?x ?y))";
  const char* second =
      "(rewrite a (t::Op1 (t::Op2 ?x ?y)) (t::Op4 ?x ?y)) (rewrite b (t::Op3 ?x ?y) (t::Op4 ?x ?y)) (rewrite c (t::Op4 ?x ?y) (t::Op5 ?x ?y))"
      "(rewrite d (t::Op5 ?x ?y) (t::Op6 ?x ?y)) (rewrite e (t::Op6 ?x ?y) (t::Op2 ?x ?y))";
  for (Strategy s : {Strategy::kInnermost, Strategy::kOutermost}) {
    EXPECT_EQ(Rewriter(first).Run("(t::Op3 (t::Op4 x y))", {.strategy = s}), "(t::Op2 x y)");
    EXPECT_EQ(Rewriter(second).Run("(t::Op1 (t::Op1 (t::Op3 x y)))", {.strategy = s}), "(t::Op2 x y)");
  }
  // As relations, with the peer's ratio.
  for (const auto& [rules, graph] : {std::pair{first, "(t::Op3 (t::Op4 x y))"}, std::pair{second, "(t::Op1 (t::Op1 (t::Op3 x y)))"}}) {
    Rewriter r(rules);
    Program program(r.g.ctx);
    auto skipped = RelateRules(r.g.ctx, program, r.loader.rules(), r.functions, "r");
    ASSERT_TRUE(skipped.ok()) << skipped.status();
    EXPECT_THAT(*skipped, IsEmpty());
    auto out = RewriteByRelation(r.g.ctx, program, "r/root", r.g.Etuple(r.g.Build(graph)), {.max_use_ratio = 10});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(r.g.Print(*out), "(t::Op2 x y)");
  }
}

// low_use_ratio: a run that is stopped gives what it has reached, and says so.
TEST(AesaraEquilibriumTest, ALimitStopsAtEachStep) {
  const char* rules =
      "(rewrite a (t::Op1 ?x ?y) (t::Op2 ?x ?y)) (rewrite b (t::Op4 ?x ?y) (t::Op1 ?x ?y)) (rewrite c (t::Op3 (t::Op2 ?x ?y)) (t::Op4 ?x ?y))";
  const char* graph = "(t::Op3 (t::Op4 x y))";
  // The relation's limit counts applications; the fourth gives the peer's result, Op1(x, y).
  const char* reached[] = {"(t::Op3 (t::Op1 x y))", "(t::Op3 (t::Op2 x y))", "(t::Op4 x y)", "(t::Op1 x y)", "(t::Op2 x y)"};
  for (uint64_t limit = 1; limit <= 5; ++limit) {
    Rewriter r(rules);
    Program program(r.g.ctx);
    ASSERT_TRUE(RelateRules(r.g.ctx, program, r.loader.rules(), r.functions, "r").ok());
    const Term t = r.g.Etuple(r.g.Build(graph));
    const double ratio = (static_cast<double>(limit) - 0.5) / static_cast<double>(r.g.ctx.DagSize(std::span<const Term>(&t, 1)));
    RelationRewriteReport report;
    auto out = RewriteByRelation(r.g.ctx, program, "r/root", t, {.max_use_ratio = ratio}, &report);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(r.g.Print(*out), reached[limit - 1]);
    EXPECT_EQ(report.applied, limit);
    EXPECT_FALSE(limit < 5 && report.complete) << limit;
  }
  // The normalizer's fuel: three steps do, for it remembers what it has made of Op4(x, y).
  const char* normalized[] = {graph, reached[0], reached[1], reached[4], reached[4]};
  for (uint64_t fuel = 0; fuel < 5; ++fuel) {
    Rewriter r(rules);
    EXPECT_EQ(r.Run(graph, {.fuel = fuel}), normalized[fuel]);
    EXPECT_EQ(r.report.steps, std::min<uint64_t>(fuel, 3));
    EXPECT_EQ(r.report.stop, fuel <= 3 ? StopReason::kFuel : StopReason::kNormalForm) << fuel;  // at 3 it has not seen that nothing is left
  }
}

// ---- test_patternsub_values_eq_approx, test_patternsub_invalid_dtype: a replacement has the type of what it replaces

TEST(AesaraTypedRewritingTest, AReplacementKeepsTheType) {
  const struct {
    const char *rule, *graph, *result;
    uint64_t refused;
  } cases[] = {
      {"(rewrite r (Neg ?x) (Abs ?x))", "(Neg x)", "(Abs x)", 0},
      {"(rewrite r (Neg ?x) ?x)", "(Neg x)", "x", 0},
      {"(rewrite r (Neg ?x) #<f32[] 1>)", "(Neg x)", "(Neg x)", 1},
      {"(rewrite r (Neg ?x) #<f32[2] 1 1>)", "(Neg x)", "#<f32[2] 1 1>", 0},
      {"(rewrite r ((Cast :to ?t) ?x) (Neg ?x))", "((Cast :to 11) x)", "((Cast :saturate 1 :to 11) x)", 1},  // f64
      {"(rewrite r ((Cast :to ?t) ?x) ?x)", "((Cast :to 11) x)", "((Cast :saturate 1 :to 11) x)", 1},
      {"(rewrite r ((Cast :to ?t) ?x) ?x)", "((Cast :to 1) x)", "x", 0},  // f32 is what x is
      // Of an operator without schema nothing is known: the rule declines unless its author vouches for it.
      {"(rewrite r (t::Op1 ?x) ?x)", "(t::Op1 x)", "(t::Op1 x)", 1},
      {"(rewrite r (t::Op1 ?x) ?x :types given)", "(t::Op1 x)", "x", 0},
  };
  for (const auto& c : cases) {
    Rewriter r(c.rule);
    r.typed = true;
    EXPECT_EQ(r.Run(c.graph), c.result) << c.rule << " on " << c.graph;
    EXPECT_GE(r.report.stats[0].type_refused, c.refused) << c.rule << " on " << c.graph;
    if (c.refused == 0) EXPECT_EQ(r.report.stats[0].type_refused, 0u) << c.rule << " on " << c.graph;
  }
}

// test_patternsub_different_output_lengths: the peer refuses op1(e1) → e1 because the node of e1 has two outputs. Here e1 is one value, so
// the rule applies; a node of two outputs is never taken for its operand.
TEST(AesaraTypedRewritingTest, NumbersOfOutputs) {
  const struct {
    const char *rule, *graph, *result;
  } cases[] = {
      {"(rewrite r (t::Op1 ?x) ?x :types given)", "(t::Op1 (nth 0 ((t::Two :num-outputs 2) x)))", "(nth 0 ((t::Two :num-outputs 2) x))"},
      {"(rewrite r ((t::Two ..?a) ?x) ?x)", "(t::Op1 (nth 0 ((t::Two :num-outputs 2) x)))", "(t::Op1 (nth 0 ((t::Two :num-outputs 2) x)))"},
      {"(rewrite r (t::Two ?x) ?x :types given)", "(t::Op1 (nth 0 ((t::Two :num-outputs 2) x)))", "(t::Op1 (nth 0 ((t::Two :num-outputs 2) x)))"},
      {"(rewrite r (nth 0 ((t::Two ..?a) ?x)) ?x :types given)", "(t::Op1 (nth 0 ((t::Two :num-outputs 2) x)) (nth 1 ((t::Two :num-outputs 2) x)))",
       "(t::Op1 x (nth 1 ((t::Two :num-outputs 2) x)))"},
      // A rule over an operator with a schema speaks of its default output.
      {"(rewrite r (Dropout ?x) ?x)", "(t::Op1 (nth 0 (Dropout x)) (nth 1 (Dropout x)))", "(t::Op1 x (nth 1 (Dropout x)))"},
  };
  for (const auto& c : cases) {
    Rewriter r(c.rule);
    r.typed = true;
    EXPECT_EQ(r.Run(c.graph), c.result) << c.rule << " on " << c.graph;
  }
}

// ---- TestSequentialNodeRewriter, test_node_rewriter_str, test_node_rewriter, test_OpToRewriterTracker

TEST(AesaraRewriterTest, EveryStepIsReportedWithItsRule) {
  Rewriter r("(rewrite local_rewrite_1 (t::Op1 (as ?x (input \"x\" f32 (2))) ..?r) (t::Op2 (input \"y\" f32 (2)) ..?r))"
             "(rewrite local_rewrite_2 (t::Op2 (as ?y (input \"y\" f32 (2))) ..?r) (t::Op3 (input \"x\" f32 (2)) ..?r))");
  EXPECT_EQ(r.Run("(t::Op1 x y)"), "(t::Op3 x y)");
  EXPECT_THAT(r.steps, ElementsAre("local_rewrite_1: (t::Op1 x y) -> (t::Op2 y y)", "local_rewrite_2: (t::Op2 y y) -> (t::Op3 x y)"));
}

TEST(AesaraRewriterTest, ARuleSaysWhereItIs) {
  Rewriter r("(ruleset local\n  (rewrite local_rewriter_1 (t::Op1 ?x) ?x))");
  ASSERT_TRUE(r.load.ok());
  EXPECT_EQ(r.loader.rules().rules()[0].Where(), "t.rules:2:3: rule local_rewriter_1");
  EXPECT_EQ(r.loader.rules().rules()[0].ruleset, "local");
}

TEST(AesaraRewriterTest, ARuleIsTriedOnlyAtItsOperator) {
  Rewriter r("(rewrite r (t::Op1 ?x ?y) (t::Op4 ?x ?y)) (rewrite s (t::New ?x ?y) (t::Op5 ?x ?y))");
  EXPECT_EQ(r.Run("(t::Op3 (t::Op1 x y) (t::New x y) (t::New2 x y))"), "(t::Op3 (t::Op4 x y) (t::Op5 x y) (t::New2 x y))");
  EXPECT_EQ(r.report.stats[0].tried, 1u);
  EXPECT_EQ(r.report.stats[1].tried, 1u);
  // A rule that no operator would lead to is an error.
  for (const char* bad : {"(rewrite r ?x (t::Op1 ?x))", "(rewrite r)"}) EXPECT_FALSE(Rewriter(bad).load.ok()) << bad;
  EXPECT_THAT(std::string(Rewriter("(rewrite r ?x (t::Op1 ?x))").load.message()), HasSubstr("it would match everything"));
}

TEST(AesaraRewriterTest, RulesOfAnOperatorComeInOrderOfDefinition) {
  Rewriter r("(rewrite any (?f ?x) (t::Any ?x)) (rewrite op1 (t::Op1 ?x) ?x) (rewrite op2 (t::Op2 ?x) ?x)"
             "(rewrite op1b (t::Op1 (t::Op2 ?x)) ?x)");
  ASSERT_TRUE(r.load.ok()) << r.load;
  auto names = [&](const char* op) {
    std::vector<std::string> out;
    for (uint32_t id : r.loader.rules().Candidates(r.g.ctx.Sym(op))) out.push_back(r.loader.rules().rules()[id].name);
    return out;
  };
  EXPECT_THAT(names("t::Op1"), ElementsAre("any", "op1", "op1b"));
  EXPECT_THAT(names("t::Op2"), ElementsAre("any", "op2"));
  EXPECT_THAT(names("t::Other"), ElementsAre("any"));
}

}  // namespace
}  // namespace retuple
