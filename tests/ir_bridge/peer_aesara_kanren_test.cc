// The behaviours of aesara's tests/graph/rewriting/test_kanren.py: relations over the nodes of a real graph, and RewriteByRelation in the
// place of KanrenRelationSub.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/ir_bridge/peer_graph.h"
#include "rewrite/relate.h"
#include "unify/ac_goal.h"

namespace retuple {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using testing::PeerGraph;

class AesaraKanrenTest : public ::testing::Test {
 protected:
  void Define(const std::string& defrel) {
    const absl::Status s = program.Define(g.Read(defrel));
    ASSERT_TRUE(s.ok()) << s;
  }
  void DeclareLaws(std::initializer_list<const char*> operators) {
    auto theory = std::make_shared<Theory>();
    for (const char* words : operators) {
      const Term t = g.Read(words);
      ASSERT_TRUE(DeclareOperator(g.ctx, g.ctx.Children(t), *theory).ok());
    }
    ASSERT_TRUE(AddAcGoal(program, theory).ok());
  }
  std::vector<std::string> Ask(const std::string& wanted, const std::vector<Term>& goals) {
    auto answers = retuple::Run(program, std::nullopt, g.Read(wanted), goals);
    EXPECT_TRUE(answers.ok()) << answers.status();
    std::vector<std::string> out;
    for (const Answer& a : *answers) out.push_back(g.Print(a.value));
    return out;
  }
  // What the relation makes of the node of `v`, in the graph.
  VarId Rewrite(const std::string& relation, VarId v, const RelationRewriteOptions& options = {}) {
    auto t = RewriteByRelation(g.ctx, program, relation, g.Etuple(v), options, &report);
    EXPECT_TRUE(t.ok()) << t.status();
    return t.ok() ? g.Value(*t) : kNoVar;
  }

  PeerGraph g{{"x", "y", "z", "c", "d"}, {"A", "B"}};
  Program program{g.ctx};
  RelationRewriteReport report;
};

// ---- test_kanren_basic

TEST_F(AesaraKanrenTest, AGoalOverANodeFindsItsOperand) {
  const Term y = g.Etuple(g.Build("(MatMul A x)"));
  const std::vector<Term> goals = {g.ctx.Tuple({g.Read("=="), y, g.Read("(MatMul ?q x)")})};
  auto answers = retuple::Run(program, std::nullopt, g.Read("?q"), goals);
  ASSERT_TRUE(answers.ok()) << answers.status();
  ASSERT_EQ(answers->size(), 1u);
  EXPECT_EQ(g.Value((*answers)[0].value), g.Build("A"));  // the input itself
  EXPECT_THAT(Ask("(?f ?q)", {g.ctx.Tuple({g.Read("=="), y, g.Read("(?f ?q x)")})}), ElementsAre("(MatMul A)"));
  EXPECT_THAT(Ask("?q", {g.ctx.Tuple({g.Read("=="), y, g.Read("(MatMul x ?q)")})}), ElementsAre());
}

// ---- test_KanrenRelationSub_filters: A·(x + y + z), where + is associative and commutative

constexpr char kPermutations[] =
    "(defrel (distributes ?in ?out)"
    "  (fresh (?a ?x ?y ?z) (ac== (MatMul ?a (Add ?x (Add ?y ?z))) ?in) (== ?out (?a ?x ?y ?z))))";

TEST_F(AesaraKanrenTest, TheResultFilterSeesEveryPermutation) {
  DeclareLaws({"(MatMul :comm)", "(Add :assoc :comm)"});
  Define(kPermutations);
  const VarId v = g.Build("(MatMul A (Add (Add x y) z))");
  std::vector<std::string> seen;
  const VarId out = Rewrite("distributes", v,
                            {.choose = [&](Term, const std::vector<Answer>& answers) {
                              for (const Answer& a : answers) seen.push_back(g.Print(a.value));
                              return -1;  // none
                            }});
  EXPECT_THAT(seen, UnorderedElementsAre("(A x y z)", "(A x z y)", "(A y x z)", "(A y z x)", "(A z x y)", "(A z y x)"));
  EXPECT_EQ(out, v);
  EXPECT_EQ(report.applied, 0u);
  EXPECT_TRUE(report.complete);
}

TEST_F(AesaraKanrenTest, TheResultFilterMayChooseAnyOfThem) {
  DeclareLaws({"(MatMul :comm)", "(Add :assoc :comm)"});
  Define(kPermutations);
  const std::string wanted = "(A z x y)";
  auto t = RewriteByRelation(g.ctx, program, "distributes", g.Etuple(g.Build("(MatMul A (Add (Add x y) z))")),
                             {.choose = [&](Term, const std::vector<Answer>& answers) {
                               const auto it = std::find_if(answers.begin(), answers.end(), [&](const Answer& a) { return g.Print(a.value) == wanted; });
                               return it == answers.end() ? -1 : static_cast<int>(it - answers.begin());
                             }});
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(g.Print(*t), wanted);
}

TEST_F(AesaraKanrenTest, ANodeFilterKeepsTheRelationAway) {
  Define("(defrel (swap ?in ?out) (fresh (?a ?b) (== ?in (Sub ?a ?b)) (== ?out (Neg (Sub ?b ?a)))))");
  const VarId v = g.Build("(Sub x y)");
  EXPECT_EQ(Rewrite("swap", v, {.node_filter = [](Term) { return false; }}), v);
  EXPECT_EQ(report.tried, 0u);
  // Only where the first operand is x: neither at the other difference nor at the result.
  const Term x = g.Read("x");
  const VarId out = Rewrite("swap", g.Build("(Add (Sub x y) (Sub y z))"),
                            {.node_filter = [&](Term t) { return g.ctx.Children(t).size() == 3 && g.ctx.Children(t)[1] == x; }});
  EXPECT_EQ(g.Show(out), "(Add (Neg (Sub y x)) (Sub y z))");
  EXPECT_TRUE(report.complete);
}

// ---- test_KanrenRelationSub_multiout: the outputs of a node are terms of their own, so a relation sees each; nothing is a list

TEST_F(AesaraKanrenTest, ARelationSeesEachOutputOfANode) {
  Define("(defrel (same ?in ?out) (== ?in ?out))");
  const VarId o1 = g.Apply("(t::Two :num-outputs 2)", {g.Build("x"), g.Build("y")}), o2 = g.Sibling(o1, 1);
  const std::vector<VarId> outputs = {o1, o2};
  for (VarId o : outputs) {
    std::vector<std::string> seen;
    EXPECT_EQ(Rewrite("same", o,
                      {.choose =
                           [&](Term t, const std::vector<Answer>& answers) {
                             if (g.codec.IsNth(t)) seen.push_back(g.Print(t));
                             EXPECT_EQ(answers.size(), 1u);
                             EXPECT_EQ(answers[0].value, t);
                             return 0;
                           }}),
              o);
    EXPECT_THAT(seen, ElementsAre(o == o1 ? "(nth 0 ((t::Two :num-outputs 2) x y))" : "(nth 1 ((t::Two :num-outputs 2) x y))"));
    EXPECT_EQ(report.applied, 0u);
  }
  EXPECT_EQ(*g.Values(g.Etuples(outputs)), outputs);
}

TEST_F(AesaraKanrenTest, ARelationRewritesOneOutputAndLeavesTheOther) {
  Define("(defrel (second ?in ?out) (fresh (?a ?x ?y) (== ?in (nth 1 ((t::Two ..?a) ?x ?y))) (== ?out (t::Second ?y))))");
  const VarId o1 = g.Apply("(t::Two :num-outputs 2)", {g.Build("x"), g.Build("y")}), o2 = g.Sibling(o1, 1);
  const VarId out = Rewrite("second", g.Apply("t::F", {o1, o2}));
  EXPECT_EQ(g.Show(out), "(t::F (nth 0 ((t::Two :num-outputs 2) x y)) (t::Second y))");
  EXPECT_EQ(g.Operands(out)[0], o1);
  EXPECT_EQ(report.applied, 1u);
}

// ---- test_KanrenRelationSub_dot: A·(x + B·(c + d)) to normal form

TEST_F(AesaraKanrenTest, DistributesToANormalForm) {
  Define("(defrel (distributes ?in ?out)"
         "  (fresh (?a ?x ?b) (== ?in (MatMul ?a (Add ?x ?b))) (== ?out (Add (MatMul ?a ?x) (MatMul ?a ?b)))))");
  const VarId v = g.Build("(MatMul A (Add x (MatMul B (Add c d))))");
  const VarId out = Rewrite("distributes", v, {.max_use_ratio = 10});
  EXPECT_EQ(g.Show(out), "(Add (MatMul A x) (Add (MatMul A (MatMul B c)) (MatMul A (MatMul B d))))");
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.applied, 3u);  // B·(c + d); A·(x + …); A·(B·c + B·d)
  EXPECT_EQ(g.graph.inputs().size(), 7u);  // the inputs are those that were there
  EXPECT_EQ(g.Operands(g.Operands(out)[0]), (std::vector<VarId>{g.Build("A"), g.Build("x")}));
}

}  // namespace
}  // namespace retuple
