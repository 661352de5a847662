#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "rewrite/normalizer.h"
#include "rewrite/rule_language.h"

namespace retuple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Fixture {
  Context ctx;
  FunctionRegistry functions{ctx};
  FreeOperatorTable operators{ctx};
  RuleLoader loader{ctx, functions, operators};

  absl::Status Load(const char* text) { return loader.Load(text, {.file = "t.rules", .object_reader = nullptr}); }
  std::string Normalize(const char* text, NormalizeOptions options = {}, NormalizeReport* report = nullptr) {
    const Term t = *ReadTerm(ctx, text);
    Normalizer n(ctx, loader.rules(), functions, options);
    const std::string out = PrintTerm(ctx, n.Run(std::span<const Term>(&t, 1))[0]);
    if (report != nullptr) *report = n.report();
    return out;
  }
};

struct Case {
  const char* rules;
  const char* term;
  const char* normal;
};

TEST(NormalizerTest, Table) {
  const Case cases[] = {
      {"(rewrite r (+ ?x 0) ?x)", "(+ (+ a 0) 0)", "a"},
      {"(operator + :comm) (rewrite r (+ ?x 0) ?x)", "(+ 0 (+ 0 a))", "a"},
      {"(rewrite r (f ?x ?x) (g ?x))", "(f (f a a) (f a a))", "(g (g a))"},
      {"(rewrite r a b) (rewrite s b c)", "(f a b c)", "(f c c c)"},
      {"(rewrite plus (+ (s ?x) ?y) (s (+ ?x ?y))) (rewrite zero (+ z ?y) ?y)", "(+ (s (s z)) (s z))", "(s (s (s z)))"},
      {"(rewrite flat (cat ..?a (cat ..?b) ..?c) (cat ..?a ..?b ..?c))", "(cat 1 (cat 2 (cat 3)) 4)", "(cat 1 2 3 4)"},
      {"(rewrite r ((T :perm ?q) ((T :perm ?p) ?x)) ((T :perm ?r) ?x) :let (?r (compose ?p ?q)))", "((T :perm (1 0)) ((T :perm (1 0)) x))",
       "((T :perm (0 1)) x)"},
      {"(rewrite r (f ?n) (f (int- ?n 1)) :when (int< 0 ?n))", "(f 5)", "(f 0)"},
      {"(rewrite r (k ..?a) (k2 ..?b) :let (?b (append ?a ?a)))", "(k 1 2)", "(k2 1 2 1 2)"},
      {"(rewrite r (?f a) (done ?f))", "(g a)", "(done g)"},
      {"(rewrite r (f ?x) ?x :when (not (= ?x a)))", "(f (f b))", "b"},
      {"(rewrite r (f ?x) ?x :when (not (= ?x a)))", "(f a)", "(f a)"},
  };
  for (const Case& c : cases) {
    for (Strategy s : {Strategy::kInnermost, Strategy::kOutermost}) {
      Fixture f;
      ASSERT_TRUE(f.Load(c.rules).ok()) << c.rules << f.Load(c.rules);
      EXPECT_EQ(f.Normalize(c.term, {.strategy = s}), c.normal) << c.rules << " on " << c.term;
    }
  }
}

TEST(NormalizerTest, OutermostDropsABranchWithoutEvaluatingIt) {
  Fixture f;
  ASSERT_TRUE(f.Load("(rewrite if-true (if true ?a ?b) ?a) (rewrite loop (loop ?n) (loop (s ?n)))").ok());
  NormalizeReport report;
  EXPECT_EQ(f.Normalize("(if true a (loop z))", {.strategy = Strategy::kOutermost, .fuel = 1000}, &report), "a");
  EXPECT_EQ(report.stop, StopReason::kNormalForm);
  f.Normalize("(if true a (loop z))", {.fuel = 1000}, &report);
  EXPECT_EQ(report.stop, StopReason::kFuel);
}

TEST(NormalizerTest, NamesTheRulesOfACycle) {
  Fixture f;
  ASSERT_TRUE(f.Load("(rewrite ab (a ?x) (b ?x) :when (not (= ?x 9))) (rewrite bc (b ?x) (c ?x)) (rewrite ca (c ?x) (a ?x)) (rewrite d (d ?x) ?x)").ok());
  NormalizeReport report;
  f.Normalize("(f (d (a 1)))", {.fuel = 1000}, &report);
  EXPECT_EQ(report.stop, StopReason::kCycle);
  EXPECT_THAT(report.cycle, ElementsAre("ab", "bc", "ca"));
}

TEST(NormalizerTest, NamesTheRulesOfAGrowingLoop) {
  Fixture f;
  ASSERT_TRUE(f.Load("(rewrite grow (a ?x) (b (s ?x))) (rewrite back (b ?x) (a ?x)) (rewrite once (start ?x) (a ?x))").ok());
  NormalizeReport report;
  f.Normalize("(start z)", {.fuel = 500}, &report);
  EXPECT_EQ(report.stop, StopReason::kFuel);
  EXPECT_EQ(report.steps, 500u);
  EXPECT_THAT(report.cycle, ::testing::UnorderedElementsAre("grow", "back"));
}

TEST(NormalizerTest, StatisticsByRule) {
  Fixture f;
  ASSERT_TRUE(f.Load("(rewrite yes (f ?x) ?x) (rewrite guarded (g ?x) ?x :when (= ?x a)) (rewrite never (h a) b)").ok());
  NormalizeReport report;
  f.Normalize("(f (g b))", {}, &report);
  EXPECT_EQ(report.stats[0].applied, 1u);
  EXPECT_GE(report.stats[1].matched, 1u);
  EXPECT_EQ(report.stats[1].guard_refused, report.stats[1].matched);
  EXPECT_EQ(report.stats[2].tried, 0u);
}

TEST(NormalizerTest, ValidityClasses) {
  Fixture f;
  ASSERT_TRUE(f.Load("(rewrite e (e ?x) ?x) (rewrite r (r ?x) ?x :valid rounding) (rewrite q (q ?x) ?x :valid real)").ok());
  EXPECT_EQ(f.Normalize("(e (r (q a)))", {.allow = Validity::kExact}), "(r (q a))");
  EXPECT_EQ(f.Normalize("(e (r (q a)))"), "(q a)");
  EXPECT_EQ(f.Normalize("(e (r (q a)))", {.allow = Validity::kReal}), "a");
}

TEST(NormalizerTest, DeepAndSharedTerms) {
  Fixture f;
  ASSERT_TRUE(f.Load("(rewrite r (s ?x) (t ?x))").ok());
  Term deep = f.ctx.Sym("z"), want = deep, dag = f.ctx.Sym("z"), dag_want = dag;
  for (int i = 0; i < 1'000'000; ++i) {
    deep = f.ctx.Tuple({f.ctx.Sym("s"), deep});
    want = f.ctx.Tuple({f.ctx.Sym("t"), want});
  }
  for (int i = 0; i < 200; ++i) {
    dag = f.ctx.Tuple({f.ctx.Sym("p"), f.ctx.Tuple({f.ctx.Sym("s"), dag}), dag});
    dag_want = f.ctx.Tuple({f.ctx.Sym("p"), f.ctx.Tuple({f.ctx.Sym("t"), dag_want}), dag_want});
  }
  Normalizer n(f.ctx, f.loader.rules(), f.functions);
  const Term roots[] = {deep, dag};
  const auto out = n.Run(roots);
  EXPECT_EQ(out[0], want);
  EXPECT_EQ(out[1], dag_want);
}

// A typed world in which (big …) has another type than everything else.
class FakeTypes : public TypeOracle {
 public:
  explicit FakeTypes(Context& ctx) : ctx_(ctx) {}
  TypeVerdict Compare(Term a, Term b) override { return Describe(a) == Describe(b) ? TypeVerdict::kSame : TypeVerdict::kDifferent; }
  std::string Describe(Term t) override { return ctx_.HeadSymbol(t) == ctx_.Sym("big") ? "big" : "small"; }

 private:
  Context& ctx_;
};

TEST(NormalizerTest, ApplicationKeepsTheType) {
  Fixture f;
  ASSERT_TRUE(f.Load("(rewrite grow (f ?x) (big ?x)) (rewrite keep (g ?x) (h ?x))").ok());
  FakeTypes types(f.ctx);
  NormalizeReport report;
  EXPECT_EQ(f.Normalize("(f (g a))", {.types = &types}, &report), "(f (h a))");
  EXPECT_GE(report.stats[0].type_refused, 1u);
}

TEST(ExplainTest, SaysWhy) {
  Fixture f;
  ASSERT_TRUE(f.Load("(rewrite r (Add (Mul ?x 2) ?y) (Neg ?x) :when (= ?y b))").ok());
  FakeTypes types(f.ctx);
  const Case cases[] = {
      {"", "(Add (Sub a 2) b)", "at the root, operand 0 the pattern wants operator Mul, the term has Sub"},
      {"", "(Add (Mul a 3) b)", "at the root, operand 0, operand 1 the pattern wants 2, the term has 3"},
      {"", "(Mul a b)", "at the root the pattern wants operator Add, the term has Mul"},
      {"", "(Add (Mul a 2) c)", "1:47: condition (= ?y b) does not hold"},
      {"", "(Add (Mul a 2) b)", "it applies and gives (Neg a)"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(ExplainRule(f.ctx, f.loader.rules().rules()[0], f.functions, &types, nullptr, *ReadTerm(f.ctx, c.term)), HasSubstr(c.normal));
  }
}

TEST(RuleLanguageTest, ErrorsNameFilePositionAndRule) {
  const Case cases[] = {
      {"(rewrite r (f ?x) (g ?y))", nullptr, "t.rules:1:1: rule r: variable ?y is bound by neither"},
      {"(rewrite r (f ?x) ?x)\n  (rewrite r (g ?x) ?x)", nullptr, "t.rules:2:3: rule r: the name is taken"},
      {"(rewrite (f ?x) ?x)", nullptr, "needs a name and two sides"},
      {"(rewrite r (f ?x) ?x :valid maybe)", nullptr, ":valid is exact, rounding"},
      {"(rewrite r (f ?x) ?x :when (nonsense ?x))", nullptr, "nonsense is no registered guard"},
      {"(rewrite r (f ?x) ?x :when (int< ?x))", nullptr, "int< takes 2 arguments, not 1"},
      {"(rewrite r (f ?x) ?x :when (length ?x))", nullptr, "length is a function, not a guard"},
      {"(rewrite r (f ?x) ?x :let (?x 1))", nullptr, ":let binds ?x again"},
      {"(rewrite r (f ?x) ?x :colour blue)", nullptr, "unknown option :colour"},
      {"(rewrite r ?x (f ?x))", nullptr, "it would match everything"},
      {"(frobnicate)", nullptr, "unknown form frobnicate"},
      {"(ruleset)", nullptr, "(ruleset NAME form …) needs a name"},
      {"(ruleset a (ruleset b))", nullptr, "may not stand inside a ruleset"},
      {"x", nullptr, "a form begins with its name"},
      {"(rewrite r (f ?x", nullptr, "t.rules:1:12: ( is never closed"},
  };
  for (const Case& c : cases) {
    Fixture f;
    const absl::Status s = f.Load(c.rules);
    ASSERT_FALSE(s.ok()) << c.rules;
    EXPECT_THAT(std::string(s.message()), HasSubstr(c.normal)) << c.rules;
  }
}

TEST(RuleLanguageTest, Lints) {
  const Case cases[] = {
      {"(rewrite r (f ?x) (f ?x))", nullptr, "both sides are equal"},
      {"(operator + :comm) (rewrite r (+ ?x ?y) (+ ?y ?x))", nullptr, "it undoes itself"},
      {"(rewrite a (f ?x) (g ?x)) (rewrite b (g ?x) (f ?x))", nullptr, "it is undone by t.rules:1:1: rule a"},
      {"(rewrite a (f ?x) a) (rewrite b (f (g ?x)) ?x)", nullptr, "it never fires: t.rules:1:1: rule a"},
  };
  for (const Case& c : cases) {
    Fixture f;
    ASSERT_TRUE(f.Load(c.rules).ok());
    ASSERT_FALSE(f.loader.warnings().empty()) << c.rules;
    EXPECT_THAT(f.loader.warnings()[0].ToString(), HasSubstr(c.normal)) << c.rules;
  }
  Fixture clean;
  ASSERT_TRUE(clean.Load("(rewrite a (f ?x) ?x :when (= ?x b)) (rewrite b (f ?x) c)").ok());
  EXPECT_TRUE(clean.loader.warnings().empty());
}

TEST(RuleLanguageTest, BirewriteGivesBothDirections) {
  Fixture f;
  ASSERT_TRUE(f.Load("(birewrite assoc (+ (+ ?a ?b) ?c) (+ ?a (+ ?b ?c)))").ok());
  ASSERT_EQ(f.loader.rules().rules().size(), 2u);
  EXPECT_TRUE(f.loader.rules().rules()[1].backward);
  EXPECT_EQ(f.Normalize("(+ (+ (+ 1 2) 3) 4)"), "(+ 1 (+ 2 (+ 3 4)))");
}

// Indexed matching gives what trying every rule at every node gives.
TEST(RuleSetTest, CandidatesAreAllThatMatch) {
  std::mt19937 random(5);
  const char* heads[] = {"f", "g", "h"};
  for (int round = 0; round < 300; ++round) {
    Fixture f;
    std::string text;
    for (int i = 0; i < 8; ++i) {
      std::string inner = random() % 2 ? "?x" : std::string("(") + heads[random() % 3] + " ?x)";
      std::string lhs = random() % 6 == 0 ? "(?op " + inner + ")" : std::string("(") + heads[random() % 3] + " " + inner + (random() % 2 ? " ?y)" : ")");
      text += "(rewrite r" + std::to_string(i) + " " + lhs + " done)\n";
    }
    ASSERT_TRUE(f.Load(text.c_str()).ok()) << text;
    std::string term = "a";
    for (int d = 0; d < 3; ++d) term = std::string("(") + heads[random() % 3] + " " + term + (random() % 2 ? " b)" : ")");
    const Term t = *ReadTerm(f.ctx, term);
    std::vector<std::string> naive, indexed;
    for (const Rule& r : f.loader.rules().rules()) {
      Bindings b(r.slots.size(), kUnbound);
      if (r.pattern.Match(f.ctx, t, b, [](const Bindings&) { return true; })) naive.push_back(r.name);
    }
    for (uint32_t id : f.loader.rules().Candidates(f.ctx.HeadSymbol(t))) {
      const Rule& r = f.loader.rules().rules()[id];
      Bindings b(r.slots.size(), kUnbound);
      if (r.pattern.MayMatch(f.ctx, t) && r.pattern.Match(f.ctx, t, b, [](const Bindings&) { return true; })) indexed.push_back(r.name);
    }
    EXPECT_EQ(naive, indexed) << text << term;
  }
}

}  // namespace
}  // namespace retuple
