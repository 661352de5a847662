#include "rewrite/strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "rewrite/rule_language.h"

namespace retuple {
namespace {

using ::testing::HasSubstr;

class StrategyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(loader_.Load(R"(
      (ruleset small (rewrite ab a b) (rewrite bc b c) (rewrite ff (f ?x ?x) (g ?x)))
      (ruleset big (rewrite grow (h ?x) (h (s ?x))) (rewrite swap (p ?x ?y) (p ?y ?x)) (rewrite drop (k ?x ?y) ?x))
    )", {.file = "t.rules"}).ok());
  }
  Term Read(const std::string& text) { return *ReadTerm(ctx_, text); }
  StrategyResult Run(const std::string& strategy, Term term, const StrategyOptions& options = {}) {
    auto s = StrategyProgram::Compile(ctx_, loader_.rules(), Read(strategy), named_);
    EXPECT_TRUE(s.ok()) << strategy << ": " << s.status();
    return s->Run(ctx_, functions_, term, options);
  }
  // The result as text, "fail", or why it stopped.
  std::string Apply(const std::string& strategy, const std::string& term, const StrategyOptions& options = {}) {
    auto s = StrategyProgram::Compile(ctx_, loader_.rules(), Read(strategy), named_);
    if (!s.ok()) return std::string(s.status().message());
    const StrategyResult r = s->Run(ctx_, functions_, Read(term), options);
    if (r.stop != StopReason::kNormalForm) return "stopped: " + std::string(StopReasonName(r.stop));
    return r.term.has_value() ? PrintTerm(ctx_, *r.term, {.let = false}) : "fail";
  }

  Context ctx_;
  FunctionRegistry functions_{ctx_};
  FreeOperatorTable operators_{ctx_};
  RuleLoader loader_{ctx_, functions_, operators_};
  std::map<std::string, Term> named_;
};

TEST_F(StrategyTest, Combinators) {
  const struct {
    const char *strategy, *term, *result;
  } cases[] = {
      {"id", "a", "a"},
      {"fail", "a", "fail"},
      {"(rule ab)", "a", "b"},
      {"(rule ab)", "b", "fail"},
      {"(rule bc ab)", "a", "b"},
      {"(rules small)", "a", "b"},
      {"(rules-except small)", "a", "fail"},
      {"any", "(k a b)", "a"},
      {"(seq (rule ab) (rule bc))", "a", "c"},
      {"(seq (rule bc) (rule ab))", "a", "fail"},
      {"(choice (rule bc) (rule ab))", "a", "b"},
      {"(try (rule ab))", "c", "c"},
      {"(not (rule ab))", "a", "fail"},
      {"(not (rule ab))", "c", "c"},
      {"(where (rule ab))", "a", "a"},
      {"(if (rule ab) (rule bc) id)", "a", "c"},
      {"(if (rule ab) (rule bc) id)", "c", "c"},
      {"(repeat (rules small))", "a", "c"},
      {"(repeat 1 (rules small))", "a", "b"},
      {"(repeat id)", "a", "a"},
      {"(all (rule ab))", "(t a a)", "(t b b)"},
      {"(all (rule ab))", "(t a c)", "fail"},
      {"(all (rule ab))", "x", "x"},
      {"(some (rule ab))", "(t a c a)", "(t b c b)"},
      {"(some (rule ab))", "(t c c)", "fail"},
      {"(one (rule ab))", "(t c a a)", "(t c b a)"},
      {"(one (rule ab))", "x", "fail"},
      {"(at (2) (rule ab))", "(t a a)", "(t a b)"},
      {"(at (2 1) (rule ab))", "(t a (t a a))", "(t a (t b a))"},
      {"(at (3) (rule ab))", "(t a a)", "fail"},
      {"(at () (rule ab))", "a", "b"},
      {"(topdown (try (rule drop)))", "(k (k a b) b)", "(k a b)"},      // the root first, then operands of what it became
      {"(bottomup (try (rule drop)))", "(k (k a b) b)", "a"},
      {"(topdown (rule ab))", "(t a)", "fail"},
      {"(oncetd (rules small))", "(t (t c a) a)", "(t (t c b) a)"},
      {"(oncebu (rule drop))", "(k (k a b) b)", "(k a b)"},
      {"(oncetd (rule drop))", "(k (k c b) b)", "(k c b)"},
      {"(innermost (rules small))", "(t (f a b) a)", "(t (g c) c)"},
      {"(outermost (rules small))", "(t (f a b) a)", "(t (g c) c)"},
      {"(innermost any)", "(k a (k b b))", "c"},
      {"(rec X (choice (seq (rules small) X) id))", "a", "c"},
      {"(repeat 3 (rule swap))", "(p a b)", "(p b a)"},
  };
  for (const auto& c : cases) EXPECT_EQ(Apply(c.strategy, c.term), c.result) << c.strategy << " on " << c.term;
}

TEST_F(StrategyTest, HeadsAttributesAndSelectionsAreNoPlaces) {
  EXPECT_EQ(Apply("(topdown (try (rule ab)))", "((op :k a) a :m a)"), "((op :k a) b :m a)");
  EXPECT_EQ(Apply("(all (rule ab))", "(nth 1 a)"), "(nth 1 b)");
  ASSERT_TRUE(loader_.Load("(rewrite one 1 2)", {}).ok());
  EXPECT_EQ(Apply("(topdown (try (rule one)))", "(nth 1 (t 1))"), "(nth 1 (t 2))");
}

TEST_F(StrategyTest, NamedStrategiesMayCallEachOther) {
  named_["simplify"] = Read("(innermost (rules small))");
  named_["twice"] = Read("(seq simplify simplify)");
  named_["forever"] = Read("(seq id forever)");
  EXPECT_EQ(Apply("twice", "(f a b)"), "(g c)");
  EXPECT_EQ(Apply("forever", "a"), "stopped: cycle");
}

TEST_F(StrategyTest, RuleFilesNameThem) {
  ASSERT_TRUE(loader_.Load("(strategy phases (seq (innermost (rules small)) last)) (strategy last (try (rules big)))", {}).ok());
  named_ = loader_.strategies();
  EXPECT_EQ(Apply("phases", "(k (f a b) c)"), "(g c)");
  EXPECT_FALSE(loader_.Load("(strategy last id)", {}).ok());
  EXPECT_FALSE(loader_.Load("(strategy id)", {}).ok());
}

TEST_F(StrategyTest, WhatDoesNotEndIsStopped) {
  EXPECT_EQ(Apply("(repeat (rule grow))", "(h a)", {.fuel = 1000}), "stopped: fuel");
  EXPECT_EQ(Apply("(rec X (seq (rule swap) X))", "(p a b)"), "stopped: cycle");
  EXPECT_EQ(Apply("(innermost (rule swap))", "(p a b)"), "stopped: cycle");
  EXPECT_EQ(Apply("(repeat (rule swap))", "(p a b)", {.fuel = 100}), "stopped: fuel");
  EXPECT_EQ(Apply("(repeat (seq (rule swap) (rule swap)))", "(p a b)"), "(p a b)");  // changes nothing
  EXPECT_EQ(Apply("(rec X X)", "a"), "stopped: cycle");
  // An equilibrium gives what it has.
  const StrategyResult r = Run("(equilibrium 2 (rule grow))", Read("(h a)"));
  EXPECT_EQ(r.stop, StopReason::kPassLimit);
  EXPECT_EQ(r.applications, 7u);  // (h a) has three nodes: h, a and itself
  EXPECT_TRUE(r.term.has_value());
}

TEST_F(StrategyTest, ErrorsNameTheStrategy) {
  const struct {
    const char *strategy, *error;
  } cases[] = {
      {"(rule nope)", "there is no rule nope"},
      {"(rules nope)", "there is no rule set nope"},
      {"nope", "there is no strategy nope"},
      {"(nope id)", "strategy (nope id): there is no such strategy"},
      {"(try)", "strategy (try): try takes one strategy"},
      {"(if id id)", "strategy (if id id): if takes 3 strategies"},
      {"(seq)", "strategy (seq): seq takes strategies"},
      {"(repeat 0 id)", "strategy (repeat 0 id): repeat counts from 1"},
      {"(at (0) id)", "strategy (at (0) id): operands count from 1"},
      {"(at 1 id)", "strategy (at 1 id): at takes a list of operand numbers and a strategy"},
      {"(rec 1 id)", "strategy (rec 1 id): rec takes a name and a strategy"},
      {"(equilibrium id)", "strategy (equilibrium id): equilibrium takes a positive ratio and a strategy"},
      {"5", "strategy 5: a strategy begins with its name"},
      {"()", "strategy (): a strategy begins with its name"},
  };
  for (const auto& c : cases) EXPECT_EQ(Apply(c.strategy, "a"), c.error);
  std::string deep = "id";
  for (int i = 0; i < 1000; ++i) deep = "(try " + deep + ")";
  EXPECT_THAT(Apply(deep, "a"), HasSubstr("more than 500 deep"));
}

TEST_F(StrategyTest, SharedAndDeepTerms) {
  Term shared = ctx_.Sym("a"), deep = shared;
  for (int i = 0; i < 100; ++i) shared = ctx_.Tuple({ctx_.Sym("t"), shared, shared});
  for (int i = 0; i < 200'000; ++i) deep = ctx_.Tuple({ctx_.Sym("t"), deep});
  for (const char* s : {"(innermost (rules small))", "(bottomup (try (rules small)))", "(topdown (try (rules small)))"}) {
    EXPECT_TRUE(Run(s, shared).term.has_value()) << s;
    EXPECT_EQ(ctx_.Depth(*Run(s, deep).term), 200'000u) << s;
  }
}

// Innermost as a strategy and the normalizer agree.
TEST_F(StrategyTest, InnermostIsTheNormalizers) {
  const Term t = Read("(t (f (k a b) (k b a)) (f a a) (f (f a b) (g c)))");
  Normalizer n(ctx_, loader_.rules(), functions_);
  EXPECT_EQ(*Run("(innermost any)", t).term, n.Run(std::span<const Term>(&t, 1))[0]);
}

}  // namespace
}  // namespace retuple
