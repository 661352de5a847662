#include "rewrite/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "etuple/printer.h"
#include "rewrite/completion.h"
#include "rewrite/normalizer.h"
#include "rewrite/rule_language.h"
#include "rewrite/termination.h"

namespace retuple {
namespace {

using ::testing::HasSubstr;

class AnalysisTest : public ::testing::Test {
 protected:
  RuleAnalysis Analyse(const std::string& text) {
    EXPECT_TRUE(loader_.Load(text, {.file = "t.rules"}).ok());
    return AnalyseRules(ctx_, loader_.rules(), functions_, operators_.commutative());
  }
  Context ctx_;
  FunctionRegistry functions_{ctx_};
  FreeOperatorTable operators_{ctx_};
  RuleLoader loader_{ctx_, functions_, operators_};
};

TEST_F(AnalysisTest, APeanoAdditionIsCanonical) {
  const RuleAnalysis a = Analyse("(rewrite zero (plus ?x 0) ?x) (rewrite next (plus ?x (s ?y)) (s (plus ?x ?y)))");
  EXPECT_TRUE(a.confluent());
  EXPECT_EQ(*a.termination, "lexicographic path order, plus > s > 0");
  EXPECT_EQ(a.overlaps, 0u);
}

// A precedence would have f above g and g above f; by weight both rules go down.
TEST_F(AnalysisTest, KnuthBendixOrder) {
  EXPECT_EQ(*Analyse("(rewrite a (f (f ?x)) (g ?x)) (rewrite b (g (g ?x)) (f ?x))").termination, "Knuth-Bendix order, weights f:1 g:1, f > g");
}

// The same, and the first doubles its variable, which no weight allows: f(x) = 2 x + 1, g(x, y) = x + y + 1.
TEST_F(AnalysisTest, LinearPolynomials) {
  const RuleAnalysis a = Analyse("(rewrite a (f (f ?x)) (g ?x ?x)) (rewrite b (g (g ?x ?y) ?y) (f ?y))");
  ASSERT_TRUE(a.terminates());
  EXPECT_EQ(*a.termination, "linear polynomials: g = x1 + x2 + 1; f = 2 x1 + 1");
}

TEST_F(AnalysisTest, AnOverlapWithTwoResultsIsNamed) {
  const RuleAnalysis a = Analyse("(rewrite left (f (g ?x)) a) (rewrite right (g ?x) (h ?x))");
  EXPECT_TRUE(a.terminates());
  EXPECT_FALSE(a.confluent());
  ASSERT_EQ(a.divergent.size(), 1u);
  EXPECT_EQ(a.divergent[0].outer->name, "left");
  EXPECT_EQ(a.divergent[0].inner->name, "right");
  EXPECT_EQ(PrintTerm(ctx_, a.divergent[0].peak), "(f (g ?x))");
  EXPECT_EQ(PrintTerm(ctx_, a.divergent[0].left), "a");
  EXPECT_EQ(PrintTerm(ctx_, a.divergent[0].right), "(f (h ?x))");
  EXPECT_THAT(a.ToString(ctx_), HasSubstr("confluence: not shown"));
}

TEST_F(AnalysisTest, AnOverlapThatComesTogetherIsNone) {
  const RuleAnalysis a = Analyse("(rewrite left (f (g ?x)) (f (h ?x))) (rewrite right (g ?x) (h ?x))");
  EXPECT_TRUE(a.confluent());
  EXPECT_EQ(a.overlaps, 1u);
}

TEST_F(AnalysisTest, ARuleThatRisesIsNamed) {
  const RuleAnalysis a = Analyse("(rewrite swap (f ?x ?y) (f ?y ?x)) (rewrite down (g ?x) ?x)");
  EXPECT_FALSE(a.terminates());
  ASSERT_EQ(a.rising.size(), 1u);
  EXPECT_EQ(a.rising[0]->name, "swap");
  EXPECT_FALSE(a.confluent());
}

// Two rules that each go down, but not by one precedence.
TEST_F(AnalysisTest, RulesThatGoRoundTogether) {
  const RuleAnalysis a = Analyse("(rewrite there (f ?x) (g ?x)) (rewrite back (g ?x) (f ?x))");
  EXPECT_FALSE(a.terminates());
  EXPECT_TRUE(a.rising.empty());
}

TEST_F(AnalysisTest, WhatIsNotFirstOrderIsLeftOut) {
  const RuleAnalysis a = Analyse("(rewrite plain (f ?x) ?x) (rewrite guarded (g ?n) ?n :when (int< 2 ?n)) (rewrite rest (h ..?xs) (k ..?xs))"
                                 "(rewrite computes (p ?n) (int+ ?n 1)) (rewrite key ((c :a 1) ?x) ?x)"
                                 "(operator add :comm) (rewrite zero (add ?x 0) ?x)");
  EXPECT_EQ(a.rules, 1u);
  ASSERT_EQ(a.left_out.size(), 5u);
  EXPECT_EQ(a.left_out[0].reason, "it has conditions");
  EXPECT_EQ(a.left_out[1].reason, "it is not first-order");
  EXPECT_EQ(a.left_out[2].reason, "it computes with int+");
  EXPECT_EQ(a.left_out[3].reason, "it is not first-order");
  EXPECT_EQ(a.left_out[4].reason, "add is commutative");
}

// More operators than are permuted: the order is found step by step.
TEST_F(AnalysisTest, ManyOperators) {
  std::string rules;
  for (int i = 0; i < 20; ++i) {
    rules += "(rewrite r" + std::to_string(i) + " (f" + std::to_string(i) + " ?x) (f" + std::to_string(i + 1) + " (f" + std::to_string(i + 1) + " ?x)))";
  }
  EXPECT_TRUE(Analyse(rules).terminates());
}

// What is said to terminate does: random rules on random terms.
TEST(TerminationTest, ProofsHold) {
  std::mt19937 random(7);
  int shown = 0;
  std::map<std::string, int> by;
  for (int round = 0; round < 4000; ++round) {
    Context ctx;
    const auto term = [&](auto& self, int depth, int variables) -> std::string {
      switch (random() % (depth > 0 ? 5 : 2)) {
        case 0:
          return random() % 2 ? "a" : "b";
        case 1:
          return variables > 0 ? random() % 2 ? "?x" : "?y" : "a";
        case 2:
          return "(g " + self(self, depth - 1, variables) + " " + self(self, depth - 1, variables) + ")";
        default:
          return std::string("(") + (random() % 2 ? "f " : "h ") + self(self, depth - 1, variables) + ")";
      }
    };
    std::string rules;
    std::vector<std::pair<Term, Term>> pairs;
    const int wanted = 1 + static_cast<int>(random() % 3);
    while (static_cast<int>(pairs.size()) < wanted) {
      const std::string l = term(term, 3, 2), r = term(term, 3, 2);
      const Term left = *ReadTerm(ctx, l), right = *ReadTerm(ctx, r);
      const auto vl = Variables(ctx, left), vr = Variables(ctx, right);
      const bool bound = std::all_of(vr.begin(), vr.end(), [&](Term v) { return std::find(vl.begin(), vl.end(), v) != vl.end(); });
      if (!ctx.IsTuple(left) || left == right || !bound) continue;
      rules += "(rewrite r" + std::to_string(pairs.size()) + " " + l + " " + r + ")";
      pairs.emplace_back(left, right);
    }
    const auto proof = FindTermination(ctx, pairs);
    if (!proof.has_value()) continue;
    ++shown;
    ++by[proof->substr(0, 6)];
    FunctionRegistry functions(ctx);
    FreeOperatorTable operators(ctx);
    RuleLoader loader(ctx, functions, operators);
    ASSERT_TRUE(loader.Load(rules, {}).ok()) << rules;
    for (int k = 0; k < 3; ++k) {
      const Term t = *ReadTerm(ctx, term(term, 4, 0));
      for (const Strategy s : {Strategy::kInnermost, Strategy::kOutermost}) {
        Normalizer n(ctx, loader.rules(), functions, {.strategy = s, .fuel = 100'000});
        n.Run(std::span<const Term>(&t, 1));
        EXPECT_EQ(n.report().stop, StopReason::kNormalForm) << rules << " by " << *proof;
      }
    }
  }
  EXPECT_GT(shown, 1000);
  EXPECT_EQ(by.size(), 3u);  // each of the orders is used
}

// A completed system passes.
TEST_F(AnalysisTest, CompletedSystemsPass) {
  const std::vector<Equation> group = {{*ReadTerm(ctx_, "(* e ?x)"), *ReadTerm(ctx_, "?x")},
                                       {*ReadTerm(ctx_, "(* (i ?x) ?x)"), *ReadTerm(ctx_, "e")},
                                       {*ReadTerm(ctx_, "(* (* ?x ?y) ?z)"), *ReadTerm(ctx_, "(* ?x (* ?y ?z))")}};
  auto c = Complete(ctx_, group);
  ASSERT_TRUE(c.ok() && c->complete);
  std::string rules;
  for (size_t k = 0; k < c->rules.size(); ++k) {
    rules += "(rewrite r" + std::to_string(k) + " " + PrintTerm(ctx_, c->rules[k].first) + " " + PrintTerm(ctx_, c->rules[k].second) + ")";
  }
  const RuleAnalysis a = Analyse(rules);
  EXPECT_TRUE(a.confluent()) << a.ToString(ctx_);
  EXPECT_EQ(a.rules, 10u);
}

}  // namespace
}  // namespace retuple
