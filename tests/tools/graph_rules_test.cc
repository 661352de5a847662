// Rules over the nodes of a graph: outputs of one node, equal nodes, and one meaning for both engines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "rewrite/relate.h"
#include "tests/ir_bridge/peer_graph.h"
#include "tools/optimize.h"

namespace retuple {
namespace {

using testing::PeerGraph;

absl::StatusOr<OptimizeReport> OptimizeWith(Graph& g, const std::string& rules) {
  const std::string path = ::testing::TempDir() + "graph_rules.rules";
  std::ofstream(path) << rules;
  return Optimize(g, {.rule_files = {path}});
}

TEST(GraphRulesTest, OptimizeMergesEqualNodes) {
  PeerGraph g({"x"});
  g.graph.AddOutput("o", g.Apply("Add", {g.Build("(Relu x)"), g.Build("(Relu x)")}));
  const auto report = Optimize(g.graph);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->nodes_after, 2u);
  const std::vector<VarId> in = g.Operands(g.graph.outputs()[0].var);
  EXPECT_EQ(in[0], in[1]);
}

// (nth i (tuple x0 … xn)) = xi.
TEST(GraphRulesTest, NthOfATupleIsItsElement) {
  PeerGraph g({"x", "y"});
  const auto v = g.Values({g.Read("(nth 1 (tuple x y))")});
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ((*v)[0], g.Build("y"));
}

TEST(GraphRulesTest, ATupleIsNoOperator) {
  PeerGraph g({"x", "y"});
  EXPECT_FALSE(g.Values({g.Read("(tuple x y)")}).ok());
}

TEST(GraphRulesTest, ARuleMayGiveAllOutputsOfANode) {
  PeerGraph g({"x", "y"});
  g.graph.AddOutput("o", g.Build("(Add (nth 0 ((t::Two :num-outputs 2) x y)) (nth 1 ((t::Two :num-outputs 2) x y)))"));
  const auto report = OptimizeWith(g.graph, "(rewrite both ((t::Two :num-outputs 2) ?x ?y) (tuple ?y ?x) :types given)");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(g.Show(g.graph.outputs()[0].var), "(Add y x)");
}

// Whatever its author says of types: what selects an output would have nothing to select from.
TEST(GraphRulesTest, ANodeOfTwoOutputsDoesNotBecomeOneValue) {
  PeerGraph g({"x"});
  g.graph.AddOutput("o", g.Build("(Neg (nth 0 ((t::Two :num-outputs 2) x)))"));
  const auto report = OptimizeWith(g.graph, "(rewrite r ((t::Two ..?a) ?x) ?x :types given)");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(g.Show(g.graph.outputs()[0].var), "(Neg (nth 0 ((t::Two :num-outputs 2) x)))");
}

TEST(GraphRulesTest, ARelationMatchesWhatItsRuleMatches) {
  const struct {
    const char *rule, *graph, *result;
  } cases[] = {
      {"(rewrite r (Add ?x 0) ?x)", "(Add x #<f32[] 0>)", "x"},                                      // a number: a constant equal to it
      {"(rewrite r (Add ?x (Neg ?y)) (Sub ?x ?y))", "(Add (Neg y) x)", "(Sub x y)"},                 // a commutative operator: either order
      {"(rewrite r ((Cast :to 1 ..?a) ?x) ?x)", "((Cast :to 1) x)", "x"},                            // keywords: by name
      {"(rewrite r (nth 1 ((linalg::SVD :num-outputs 3 ..?a) ?x)) (t::S ?x) :types given)",
       "(nth 1 ((linalg::SVD :full_matrices 0 :num-outputs 3) x))", "(t::S x)"},
  };
  for (const auto& c : cases) {
    PeerGraph g({"x", "y"});
    FunctionRegistry functions(g.ctx);
    IrOperators operators(g.codec, functions);
    RuleLoader loader(g.ctx, functions, operators);
    ASSERT_TRUE(loader.Load(c.rule, {.file = "t.rules", .object_reader = ReadTensorObject}).ok()) << c.rule;
    const Term t = g.Etuple(g.Build(c.graph));
    const RuleSet& rules = loader.rules();
    ASSERT_EQ(g.Print(Normalizer(g.ctx, rules, functions).Run(std::span<const Term>(&t, 1))[0]), c.result) << c.rule;
    Program program(g.ctx);
    auto skipped = RelateRules(g.ctx, program, rules, functions, "r", operators.commutative());
    ASSERT_TRUE(skipped.ok()) << skipped.status();
    auto out = RewriteByRelation(g.ctx, program, "r/root", t);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_TRUE(skipped->empty());
    EXPECT_EQ(g.Print(*out), c.result) << c.rule << " on " << c.graph;
  }
}

// A random draw is not its twin.
TEST(GraphRulesTest, DrawsAreNotMerged) {
  PeerGraph g({"x"});
  const VarId a = g.Build("((RandomUniformLike :random-id 1) x)"), b = g.Build("((RandomUniformLike :random-id 2) x)");
  g.graph.AddOutput("o", g.Apply("Sub", {a, b}));
  const auto report = Optimize(g.graph);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->nodes_after, 3u);
}

}  // namespace
}  // namespace retuple
