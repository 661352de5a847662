#include "rewrite/relate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "rewrite/rule_language.h"

namespace retuple {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class RelateTest : public ::testing::Test {
 protected:
  Term Read(const std::string& text) { return *ReadTerm(ctx_, text); }
  void Relate(const std::string& rules) {
    ASSERT_TRUE(loader_.Load(rules, {.file = "t.rules"}).ok());
    auto skipped = RelateRules(ctx_, program_, loader_.rules(), functions_, "r", operators_.commutative());
    ASSERT_TRUE(skipped.ok()) << skipped.status();
    skipped_ = *skipped;
  }
  std::vector<std::string> Ask(const std::string& wanted, const std::string& goal, std::optional<size_t> n = std::nullopt) {
    const std::vector<Term> goals = {Read(goal)};
    auto answers = retuple::Run(program_, n, Read(wanted), goals, {.steps = 50'000'000});
    std::vector<std::string> out;
    if (!answers.ok()) return {std::string(answers.status().message())};
    for (const Answer& a : *answers) out.push_back(a.ToString(ctx_));
    return out;
  }
  std::string Rewrite(const std::string& term, const RelationRewriteOptions& options = {}) {
    auto t = RewriteByRelation(ctx_, program_, "r/root", Read(term), options, &report_);
    return t.ok() ? PrintTerm(ctx_, *t, {.let = false}) : std::string(t.status().message());
  }

  Context ctx_;
  FunctionRegistry functions_{ctx_};
  FreeOperatorTable operators_{ctx_};
  RuleLoader loader_{ctx_, functions_, operators_};
  Program program_{ctx_};
  std::vector<SkippedRule> skipped_;
  RelationRewriteReport report_;
};

TEST_F(RelateTest, RulesRunBothWays) {
  Relate("(ruleset a (rewrite twice (Add ?x ?x) (Mul 2 ?x)) (rewrite log-exp (Log (Exp ?x)) ?x))");
  EXPECT_THAT(Ask("?u", "(r (Add a a) ?u)"), ElementsAre("(Mul 2 a)"));
  // What is (Mul 2 a) the result of, in one step?
  EXPECT_THAT(Ask("?t", "(r/root ?t (Mul 2 a))"), UnorderedElementsAre("(Add a a)", "(Log (Exp (Mul 2 a)))"));
  EXPECT_THAT(Ask("?t", "(r ?t (Mul 2 a))"), Contains("(Mul 2 (Log (Exp a)))"));
  // One step anywhere.
  EXPECT_THAT(Ask("?u", "(r (f (Add a a) (Log (Exp b))) ?u)"),
              UnorderedElementsAre("(f (Mul 2 a) (Log (Exp b)))", "(f (Add a a) b)"));
  EXPECT_THAT(Ask("?u", "(r* (Add (Log (Exp a)) a) ?u)"), UnorderedElementsAre("(Add (Log (Exp a)) a)", "(Add a a)", "(Mul 2 a)"));
}

TEST_F(RelateTest, GuardsWaitForGroundArguments) {
  Relate("(ruleset a (rewrite shrink (F ?n ?x) (G ?x) :when (int< 2 ?n)) (rewrite named (as ?c (H ?x)) (K ?c ?x)))");
  EXPECT_THAT(Ask("?u", "(r (F 3 a) ?u)"), ElementsAre("(G a)"));
  EXPECT_THAT(Ask("?u", "(r (F 2 a) ?u)"), IsEmpty());
  EXPECT_THAT(Ask("?t", "(r/root ?t (G a))"), ElementsAre("(F ?_0 a) :where (r/shrink/when0 ?_0)"));
  EXPECT_THAT(Ask("?u", "(r/root (H b) ?u)"), ElementsAre("(K (H b) b)"));
}

TEST_F(RelateTest, KeywordsAreFoundByName) {
  Relate("(rewrite drop ((c :g 1 ..?a) ?x) ((d ..?a) ?x)) (rewrite two ((e :g ?g :b ?b ..?a) ?x) ((f :b ?g :z ?b ..?a) ?x))");
  EXPECT_TRUE(skipped_.empty());
  EXPECT_THAT(Ask("?u", "(r/root ((c :a 5 :g 1) y) ?u)"), ElementsAre("((d :a 5) y)"));
  EXPECT_THAT(Ask("?u", "(r/root ((c :g 1 :z 5) y) ?u)"), ElementsAre("((d :z 5) y)"));
  EXPECT_THAT(Ask("?u", "(r/root ((c :g 1) y) ?u)"), ElementsAre("((d) y)"));
  EXPECT_THAT(Ask("?u", "(r/root ((c :a 5 :g 2) y) ?u)"), IsEmpty());
  EXPECT_THAT(Ask("?u", "(r/root ((e :a 0 :b 1 :g 2 :h 3) y) ?u)"), ElementsAre("((f :a 0 :b 2 :h 3 :z 1) y)"));
  EXPECT_THAT(Ask("?t", "(r/root ?t ((f :a 0 :b 2 :h 3 :z 1) y))"), ElementsAre("((e :a 0 :b 1 :g 2 :h 3) y)"));
  EXPECT_THAT(Ask("?t", "(r/root ?t ((d :h 5) y))"), ElementsAre("((c :g 1 :h 5) y)"));
}

TEST_F(RelateTest, CommutativeOperandsInEitherOrder) {
  Relate("(operator add :comm) (rewrite minus (add ?x (neg ?y)) (sub ?x ?y)) (rewrite named (as ?s (twice (as ?a (add ?x 1)))) (k ?s ?a ?x))");
  EXPECT_THAT(Ask("?u", "(r/root (add x (neg y)) ?u)"), ElementsAre("(sub x y)"));
  EXPECT_THAT(Ask("?u", "(r/root (add (neg y) x) ?u)"), ElementsAre("(sub x y)"));
  EXPECT_THAT(Ask("?u", "(r/root (add (neg x) (neg y)) ?u)"), UnorderedElementsAre("(sub (neg x) y)", "(sub (neg y) x)"));
  EXPECT_THAT(Ask("?t", "(r/root ?t (sub x y))"), UnorderedElementsAre("(add x (neg y))", "(add (neg y) x)"));
  EXPECT_THAT(Ask("?u", "(r/root (twice (add 1 x)) ?u)"), ElementsAre("(k (twice (add 1 x)) (add 1 x) x)"));
}

TEST_F(RelateTest, RulesThatComputeAreListed) {
  Relate("(ruleset a (rewrite c (F ?n) (G (int+ ?n 1))) (rewrite d (P ..?xs ?y) ?y) (rewrite e (Q ?x) ?x))");
  ASSERT_EQ(skipped_.size(), 2u);
  EXPECT_THAT(skipped_[0].rule, HasSubstr("rule c"));
  EXPECT_EQ(skipped_[0].reason, "it computes with int+");
  EXPECT_EQ(skipped_[1].reason, "a rest variable is not the last of its tuple");
  EXPECT_THAT(Ask("?u", "(r (Q 1) ?u)"), ElementsAre("1"));
}

TEST_F(RelateTest, NodesOfAGraphToAFixedPoint) {
  // A.(x + B.(c + d)), distributed.
  Relate("(ruleset a (rewrite distribute (Dot ?a (Add ?x ?y)) (Add (Dot ?a ?x) (Dot ?a ?y))))");
  EXPECT_EQ(Rewrite("(Dot A (Add x (Dot B (Add c d))))"), "(Add (Dot A x) (Add (Dot A (Dot B c)) (Dot A (Dot B d))))");
  EXPECT_TRUE(report_.complete);
  // A filter of nodes, and one of results.
  EXPECT_EQ(Rewrite("(Dot A (Add x y))", {.node_filter = [](Term) { return false; }}), "(Dot A (Add x y))");
  EXPECT_EQ(Rewrite("(Dot A (Add x y))", {.choose = [](Term, const std::vector<Answer>&) { return -1; }}), "(Dot A (Add x y))");
}

TEST_F(RelateTest, ALoopStopsAtItsRatio) {
  Relate("(ruleset a (rewrite swap (F ?x ?y) (F ?y ?x)))");
  EXPECT_EQ(Rewrite("(F a a)"), "(F a a)");
  Rewrite("(F a b)", {.max_use_ratio = 5});
  EXPECT_FALSE(report_.complete);
  EXPECT_LE(report_.applied, 25u);
}

TEST_F(RelateTest, OneOutputOfSeveral) {
  // The singular values of an orthogonal matrix are ones: a rule about output 1 of svd, which says nothing of the others.
  Relate("(ruleset a (rewrite ortho (nth 1 (Svd (Orthogonal ?x))) (Ones ?x)))");
  EXPECT_EQ(Rewrite("(F (nth 0 (Svd (Orthogonal a))) (nth 1 (Svd (Orthogonal a))) (nth 1 (Svd b)))"),
            "(F (nth 0 (Svd (Orthogonal a))) (Ones a) (nth 1 (Svd b)))");
}

// A random variable is a pair: `(nth 0 (Normal ?rng ?mean ?sd))` is the generator's next state, `(nth 1 …)` the draw. A rule that rewrites
// a draw into another distribution's must carry the generator along (aemcmc#43, #108): the state that followed the old draw follows
// the new one.
TEST_F(RelateTest, ADrawTakesItsGeneratorAlong) {
  Relate(R"((ruleset normal
    ; c + Normal(m, s) = Normal(m + c, s); what reads the old generator reads the new one
    (rewrite shift (outputs (Add ?c (nth 1 (Normal ?rng ?m ?s))) (nth 0 (Normal ?rng ?m ?s)))
                   (outputs (nth 1 (Normal ?rng (Add ?m ?c) ?s)) (nth 0 (Normal ?rng (Add ?m ?c) ?s))))
    ; Normal prior, Normal likelihood of one observation: the posterior's draw comes from the same generator
    (rewrite conjugate (outputs (posterior (nth 1 (Normal ?rng ?m ?s)) (observe ?y (Normal ?r2 (nth 1 (Normal ?rng ?m ?s)) ?t)))
                                (nth 0 (Normal ?rng ?m ?s)))
                       (outputs (nth 1 (Normal ?rng (PosteriorMean ?m ?s ?y ?t) (PosteriorSd ?s ?t)))
                                (nth 0 (Normal ?rng (PosteriorMean ?m ?s ?y ?t) (PosteriorSd ?s ?t)))))))");
  EXPECT_EQ(Rewrite("(outputs (Add 3 (nth 1 (Normal g 0 1))) (nth 0 (Normal g 0 1)))"),
            "(outputs (nth 1 (Normal g (Add 0 3) 1)) (nth 0 (Normal g (Add 0 3) 1)))");
  // Another generator's update is not taken along.
  const std::string other = "(outputs (Add 3 (nth 1 (Normal g 0 1))) (nth 0 (Normal h 0 1)))";
  EXPECT_EQ(Rewrite(other), other);
  EXPECT_EQ(Rewrite("(outputs (posterior (nth 1 (Normal g 0 1)) (observe 2.5 (Normal h (nth 1 (Normal g 0 1)) 2))) (nth 0 (Normal g 0 1)))"),
            "(outputs (nth 1 (Normal g (PosteriorMean 0 1 2.5 2) (PosteriorSd 1 2))) (nth 0 (Normal g (PosteriorMean 0 1 2.5 2) "
            "(PosteriorSd 1 2))))");
  // Backwards: which shifted draw is this?
  EXPECT_THAT(Ask("?t", "(r/root ?t (outputs (nth 1 (Normal g (Add 0 3) 1)) (nth 0 (Normal g (Add 0 3) 1))))"),
              ElementsAre("(outputs (Add 3 (nth 1 (Normal g 0 1))) (nth 0 (Normal g 0 1)))"));
}

}  // namespace
}  // namespace retuple
