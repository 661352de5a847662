// Unification and matching modulo A, C and units: numbers of answers that are known from the literature or by
// hand, soundness, irredundance, and completeness against brute force over small ground terms.
#include "unify/ac.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "gtest/gtest.h"

namespace retuple {
namespace {

class AcTest : public ::testing::Test {
 protected:
  AcTest() {
    th_.Ac(ctx_.Sym("+")).Ac(ctx_.Sym("*")).A(ctx_.Sym(".")).C(ctx_.Sym("g"));
    acu_.Acu(ctx_.Sym("+"), ctx_.Integer(0)).Acu(ctx_.Sym("*"), ctx_.Integer(1)).C(ctx_.Sym("g"));
  }
  Term Read(std::string_view s) {
    auto t = ReadTerm(ctx_, s);
    EXPECT_TRUE(t.ok()) << t.status() << " in " << s;
    return t.ok() ? *t : Term();
  }
  // "x+x+a": letters from u to z are variables, others constants.
  Term Sum(std::string_view s) {
    std::vector<Term> args{ctx_.Sym("+")};
    for (char c : s) {
      if (c == '+') continue;
      bool variable = (c >= 'u' && c <= 'z') || c == 't';
      args.push_back(variable ? ctx_.Variable(std::string(1, c)) : ctx_.Sym(std::string(1, c)));
    }
    return args.size() == 2 ? args[1] : ctx_.Tuple(args);
  }
  AcUnifiers Unify(const Theory& th, Term a, Term b, const AcOptions& options = {}) {
    auto start = std::chrono::steady_clock::now();
    auto u = AcUnify(ctx_, th, a, b, options);
    std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(u.ok()) << u.status();
    if (!u.ok()) return {};
    milliseconds_ = ms.count();
    for (const AcUnifier& s : u->unifiers) {
      EXPECT_EQ(*AcApply(ctx_, th, a, s), *AcApply(ctx_, th, b, s)) << ToString(s);
      for (const auto& [v, t] : s) {
        EXPECT_EQ(*AcNormalize(ctx_, th, t), t);
        EXPECT_EQ(*AcApply(ctx_, th, t, s), t) << "not idempotent: " << ToString(s);
      }
    }
    return *u;
  }
  size_t Number(const Theory& th, Term a, Term b) {
    AcUnifiers u = Unify(th, a, b);
    EXPECT_TRUE(u.complete);
    EXPECT_TRUE(u.irredundant);
    if (u.unifiers.size() <= 60) ExpectIncomparable(th, u);
    return u.unifiers.size();
  }
  size_t Sums(std::string_view a, std::string_view b) { return Number(th_, Sum(a), Sum(b)); }
  size_t SumsU(std::string_view a, std::string_view b) { return Number(acu_, Sum(a), Sum(b)); }

  std::string ToString(const AcUnifier& s) {
    std::string r;
    for (const auto& [v, t] : s) r += PrintTerm(ctx_, v) + " = " + PrintTerm(ctx_, t) + "; ";
    return r;
  }
  Term AsTuple(const AcUnifier& s) {
    std::vector<Term> c{ctx_.Sym("values")};
    for (const auto& [v, t] : s) c.push_back(t);
    return ctx_.Tuple(c);
  }
  bool IsInstance(const Theory& th, const AcUnifier& low, const AcUnifier& high) {
    auto m = AcMatch(ctx_, th, AsTuple(high), AsTuple(low));
    EXPECT_TRUE(m.ok() && m->complete);
    return !m->matches.empty();
  }
  void ExpectIncomparable(const Theory& th, const AcUnifiers& u) {
    for (size_t i = 0; i < u.unifiers.size(); ++i) {
      for (size_t j = 0; j < u.unifiers.size(); ++j) {
        if (i == j) continue;
        EXPECT_FALSE(IsInstance(th, u.unifiers[j], u.unifiers[i]))
            << ToString(u.unifiers[j]) << "\n  of " << ToString(u.unifiers[i]);
      }
    }
  }
  // Every ground solution over `values` is an instance of a unifier. Returns the number of ground solutions.
  size_t ExpectComplete(const Theory& th, Term a, Term b, const std::vector<Term>& values) {
    AcUnifiers u = Unify(th, a, b);
    std::vector<Term> vars = Variables(ctx_, ctx_.Tuple({a, b}));
    std::vector<size_t> digit(vars.size(), 0);
    size_t solutions = 0;
    for (;;) {
      AcUnifier s;
      for (size_t i = 0; i < vars.size(); ++i)
        s.emplace_back(vars[i], *AcNormalize(ctx_, th, values[digit[i]]));
      if (*AcApply(ctx_, th, a, s) == *AcApply(ctx_, th, b, s)) {
        ++solutions;
        bool found = false;
        for (size_t k = 0; k < u.unifiers.size() && !found; ++k) found = IsInstance(th, s, u.unifiers[k]);
        EXPECT_TRUE(found) << "missing: " << ToString(s);
      }
      size_t i = 0;
      while (i < digit.size() && ++digit[i] == values.size()) digit[i++] = 0;
      if (i == digit.size()) return solutions;
    }
  }
  std::vector<Term> Read(std::initializer_list<std::string_view> list) {
    std::vector<Term> r;
    for (std::string_view s : list) r.push_back(Read(s));
    return r;
  }
  size_t Matches(const Theory& th, std::string_view pattern, std::string_view subject,
                 bool extension = false) {
    Term p = Read(pattern), s = Read(subject);
    auto m = AcMatch(ctx_, th, p, s, extension);
    EXPECT_TRUE(m.ok()) << m.status();
    if (!m.ok()) return ~size_t{0};
    EXPECT_TRUE(m->complete);
    Term op = ctx_.HeadSymbol(p);
    std::set<std::string> seen;
    for (const AcMatchResult& r : m->matches) {
      Term t = *AcApply(ctx_, th, p, r.bindings);
      if (extension) {
        std::vector<Term> c{op};
        c.insert(c.end(), r.before.begin(), r.before.end());
        c.push_back(t);
        c.insert(c.end(), r.after.begin(), r.after.end());
        t = *AcNormalize(ctx_, th, ctx_.Tuple(c));
      } else {
        EXPECT_TRUE(r.before.empty() && r.after.empty());
      }
      EXPECT_EQ(t, *AcNormalize(ctx_, th, s));
      EXPECT_TRUE(seen.insert(ToString(r.bindings) + PrintTerm(ctx_, ctx_.Tuple(r.before)) +
                              PrintTerm(ctx_, ctx_.Tuple(r.after)))
                      .second);
    }
    return m->matches.size();
  }

  Context ctx_;
  Theory th_, acu_;
  double milliseconds_ = 0;
};

TEST_F(AcTest, ElementaryCounts) {
  EXPECT_EQ(Sums("x+y", "u+v"), 7u);
  EXPECT_EQ(Sums("x+y+z", "u+v"), 25u);
  EXPECT_EQ(Sums("x+y+z", "u+v+w"), 265u);
  EXPECT_EQ(Sums("x+y+z+t", "u+v"), 79u);
  EXPECT_EQ(Sums("x+y+z+t", "u+v+w"), 2161u);
  EXPECT_LE(milliseconds_, 5000);  // 1 s with optimisation
  EXPECT_EQ(Sums("x+x", "y+z"), 5u);
  EXPECT_EQ(Sums("x+x", "y+z+w"), 45u);
  EXPECT_EQ(Sums("x+x+y", "u+u+v"), 7u);
  EXPECT_EQ(Sums("x+x+x", "y+z"), 13u);
  EXPECT_EQ(Sums("x+x+y", "u+v+w"), 381u);
  EXPECT_EQ(Sums("x+x+x", "y+z+w"), 981u);
  EXPECT_EQ(Sums("x+x", "y+y+z"), 1u);
}

TEST_F(AcTest, CountsWithConstants) {
  EXPECT_EQ(Sums("x+a+b", "u+v+c"), 12u);
  EXPECT_EQ(Sums("x+y+a", "u+v+b"), 40u);
  EXPECT_EQ(Sums("x+y", "u+a"), 4u);
  EXPECT_EQ(Number(th_, Read("(f (+ ?x ?y) ?x)"), Read("(f (+ a b c) ?u)")), 6u);
  EXPECT_EQ(Sums("x", "x+a"), 0u);
  EXPECT_EQ(Sums("x+a", "b"), 0u);
  EXPECT_EQ(Sums("a+b", "b+a"), 1u);
  EXPECT_EQ(Sums("x+a", "y+a"), 1u);
}

TEST_F(AcTest, Unit) {
  EXPECT_EQ(SumsU("x+y", "u+v"), 1u);
  EXPECT_EQ(SumsU("x+y+z", "u+v+w"), 1u);
  EXPECT_EQ(SumsU("x+x", "y+z"), 1u);
  EXPECT_EQ(SumsU("x", "x+y"), 1u);
  EXPECT_EQ(SumsU("x+a", "x"), 0u);
  EXPECT_EQ(SumsU("x+y", "a"), 2u);
  EXPECT_EQ(SumsU("x+y", "a+b"), 4u);
  EXPECT_EQ(Number(acu_, Read("(+ ?x ?y)"), Read("0")), 1u);
  EXPECT_EQ(Number(acu_, Read("(+ ?x (f ?y))"), Read("0")), 0u);
  EXPECT_EQ(Number(acu_, Read("(+ ?x ?y)"), Read("(f ?z)")), 2u);
  EXPECT_EQ(Number(acu_, Read("(f (+ ?x ?y))"), Read("(f 0)")), 1u);
  // Two units: x * (y + z) can be anything.
  EXPECT_EQ(Number(acu_, Read("(* ?x (+ ?y a))"), Read("a")), 1u);
  EXPECT_EQ(Number(acu_, Read("(+ ?x (* ?y ?z))"), Read("(+ ?u (* b c))")) > 0, true);
}

TEST_F(AcTest, Commutative) {
  EXPECT_EQ(Number(th_, Read("(g ?x ?y)"), Read("(g a b)")), 2u);
  EXPECT_EQ(Number(th_, Read("(g (g ?x ?y) ?z)"), Read("(g a (g b c))")), 2u);
  EXPECT_EQ(Number(th_, Read("(g ?x ?y)"), Read("(g ?y ?x)")), 1u);
  EXPECT_EQ(Number(th_, Read("(g ?x ?x)"), Read("(g a b)")), 0u);
  EXPECT_EQ(Number(th_, Read("(g ?x ?y)"), Read("(g ?u ?v)")), 2u);
}

TEST_F(AcTest, Associative) {
  EXPECT_EQ(Number(th_, Read("(. ?x ?y)"), Read("(. a b ?z)")), 3u);
  EXPECT_EQ(Number(th_, Read("(. ?x a)"), Read("(. b ?x)")), 0u);
  EXPECT_EQ(Number(th_, Read("(. ?x ?y)"), Read("(. a b c d e f h i j k l m n o p)")), 14u);
  EXPECT_EQ(Number(th_, Read("(. ?x b ?y)"), Read("(. a b c b d)")), 2u);
  AcUnifiers u = Unify(th_, Read("(. ?x a)"), Read("(. a ?x)"));
  EXPECT_FALSE(u.complete);
  EXPECT_GE(u.unifiers.size(), 5u);
  ExpectIncomparable(th_, u);
  AcUnifiers v =
      Unify(th_, Read("(. ?x ?y)"), Read("(. ?y ?x)"), {.max_steps = 20000, .max_assoc_splits = 2});
  EXPECT_FALSE(v.complete);
  EXPECT_GE(v.unifiers.size(), 3u);
  // Without solution by their lengths, though a search for one would not end.
  EXPECT_EQ(Number(th_, Read("(. ?x ?x)"), Read("(. a b c)")), 0u);
  EXPECT_EQ(Number(th_, Read("(. ?x ?x a)"), Read("(. ?y ?y)")), 0u);
  EXPECT_EQ(Number(th_, Read("(. ?x a ?y)"), Read("(. ?y ?x)")), 0u);
  // Equal lengths: the paths from (0,0) to (2,2) by unit steps and diagonals.
  EXPECT_EQ(Number(th_, Read("(. ?x ?y ?z ?x ?y ?z)"), Read("(. ?u ?v ?w ?u ?v ?w)")), 13u);
}

TEST_F(AcTest, Nested) {
  EXPECT_EQ(Number(th_, Read("(f ?x (+ ?x a))"), Read("(f (+ ?y b) ?z)")), 1u);
  EXPECT_EQ(Number(th_, Read("(+ (* ?x ?y) ?z)"), Read("(+ (* a b) c)")), 2u);
  EXPECT_EQ(Number(th_, Read("(+ (f ?x) (f ?y))"), Read("(+ (f a) (f b))")), 2u);
  EXPECT_EQ(Number(th_, Read("(+ (f ?x) ?y)"), Read("(+ (f a) ?z)")), 3u);
  EXPECT_EQ(Number(th_, Read("(+ ?x (f ?x))"), Read("(+ ?y (f a))")), 3u);
  EXPECT_EQ(Number(th_, Read("?x"), Read("(+ a (f ?x))")), 0u);
  EXPECT_EQ(Number(th_, Read("(+ a (+ b ?x))"), Read("(+ (+ ?x b) a)")), 1u);
  EXPECT_EQ(Number(th_, Read("((op :k 1) (+ ?x a))"), Read("((op :k 1) (+ b ?y))")), 2u);
  EXPECT_EQ(Number(th_, Read("(+ (* ?x ?y) (* ?u ?v))"), Read("(+ (* a b) (* c d))")), 8u);
}

TEST_F(AcTest, Cycles) {
  EXPECT_EQ(Sums("x", "x+a"), 0u);
  EXPECT_EQ(Sums("x", "x+y"), 0u);
  EXPECT_EQ(Number(th_, Read("(f ?x ?y)"), Read("(f (+ ?y a) (+ ?x b))")), 0u);
  EXPECT_EQ(Number(th_, Read("(f ?x ?y)"), Read("(f (+ ?y a) (* ?x b))")), 0u);
  EXPECT_EQ(Number(th_, Read("(+ ?x (f ?y))"), Read("(+ ?y (f ?x))")), 1u);
  EXPECT_EQ(Number(acu_, Read("?x"), Read("(+ ?x ?y)")), 1u);
  EXPECT_EQ(Number(acu_, Read("(f ?x ?y)"), Read("(f (+ ?y ?z) (+ ?x ?u))")), 1u);
  EXPECT_EQ(Number(acu_, Read("(f ?x ?y)"), Read("(f (+ ?y ?z) (* ?x ?u))")), 2u);  // y = x, or y = u = 0
  EXPECT_EQ(Number(acu_, Read("?x"), Read("(f (+ ?x ?y))")), 0u);
}

// More unifiers than a test of all pairs would bear: they differ in shape, or are hashed.
TEST_F(AcTest, FilterByShape) {
  std::vector<Term> a{ctx_.Sym("+")}, b = a;
  for (int i = 0; i < 7; ++i) {
    a.push_back(ctx_.Tuple({ctx_.Sym("f"), ctx_.Variable("x" + std::to_string(i))}));
    b.push_back(ctx_.Tuple({ctx_.Sym("f"), ctx_.Variable("y" + std::to_string(i))}));
  }
  AcUnifiers u = Unify(th_, ctx_.Tuple(a), ctx_.Tuple(b));
  EXPECT_TRUE(u.complete && u.irredundant);
  EXPECT_EQ(u.unifiers.size(), 5040u);
}

TEST_F(AcTest, FreshVariables) {
  AcUnifiers u = Unify(th_, Sum("x+y"), Sum("u+v"));
  std::set<std::string> names;
  for (const AcUnifier& s : u.unifiers) {
    for (const auto& [v, t] : s) {
      for (Term w : Variables(ctx_, t)) names.insert(std::string(ctx_.Text(w)).substr(0, 2));
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"_1", "_2", "_3", "_4", "u", "v", "x", "y"}));
}

TEST_F(AcTest, FilterIsNeedlessForOneEquation) {
  for (auto [a, b] : {std::pair{"x+y+z", "u+v+w"},
                      {"x+x", "y+z+w"},
                      {"x+x+y", "u+v+w"},
                      {"x+x+x", "y+z"},
                      {"x+y+a", "u+v+b"},
                      {"x+a+a+b", "u+v+v+c"},
                      {"x+x+x", "y+z+w"},
                      {"x+y+z+t", "u+v+w"}}) {
    AcUnifiers without = Unify(th_, Sum(a), Sum(b), {.irredundant = false});
    AcUnifiers with = Unify(th_, Sum(a), Sum(b), {.always_test = true});
    EXPECT_TRUE(with.irredundant);
    EXPECT_EQ(with.unifiers.size(), without.unifiers.size()) << a << " = " << b;
  }
}

TEST_F(AcTest, Complete) {
  std::vector<Term> small = Read({"a", "b", "(+ a a)", "(+ a b)", "(+ b b)", "(+ a a b)"});
  EXPECT_GT(ExpectComplete(th_, Sum("x+y"), Sum("u+v"), small), 50u);
  EXPECT_GT(ExpectComplete(th_, Sum("x+x+y"), Sum("u+v"), small), 10u);
  EXPECT_GT(ExpectComplete(th_, Sum("x+a"), Sum("y+z"), small), 5u);
  EXPECT_GT(ExpectComplete(th_, Sum("x+y+a"), Sum("u+b+b"), small), 3u);
  std::vector<Term> mixed =
      Read({"a", "b", "(* a b)", "(* a a)", "(+ a b)", "(* a (+ a b))", "(+ b (* a b))"});
  EXPECT_GT(ExpectComplete(th_, Read("(+ (* ?x ?y) ?z)"), Read("(+ ?u (* a ?v))"), mixed), 10u);
  EXPECT_GT(ExpectComplete(th_, Read("(f (+ ?x ?y) (* ?x ?z))"), Read("(f (+ ?u ?v) (* ?v a))"), mixed), 3u);
  EXPECT_GT(ExpectComplete(th_, Read("(g (+ ?x ?y) ?z)"), Read("(g ?x (+ a ?u))"), mixed), 3u);
  std::vector<Term> units = Read({"0", "1", "a", "(+ a a)", "(+ a b)", "(* a b)", "(+ a 1)"});
  EXPECT_GT(ExpectComplete(acu_, Sum("x+y"), Sum("u+v"), units), 50u);
  EXPECT_GT(ExpectComplete(acu_, Sum("x+a"), Sum("u+v"), units), 10u);
  EXPECT_GT(ExpectComplete(acu_, Read("(f (+ ?x ?y) ?x)"), Read("(f (+ ?z a) (+ ?y ?u))"), units), 3u);
  EXPECT_GT(ExpectComplete(acu_, Read("(* ?x (+ ?y a))"), Read("(+ ?z a)"), units), 3u);
  EXPECT_GT(ExpectComplete(acu_, Read("?x"), Read("(* ?x ?y)"), units), 3u);
  EXPECT_GT(ExpectComplete(acu_, Read("?x"), Read("(+ ?z (* ?x ?y))"), units), 3u);
  std::vector<Term> words = Read({"a", "b", "(. a a)", "(. a b)", "(. b a)", "(. a b a)", "(. b a b)"});
  EXPECT_GT(ExpectComplete(th_, Read("(. ?x ?y)"), Read("(. a ?z)"), words), 3u);
  EXPECT_GT(ExpectComplete(th_, Read("(. ?x ?y)"), Read("(. ?u b ?v)"), words), 3u);
}

TEST_F(AcTest, Matching) {
  EXPECT_EQ(Matches(th_, "(+ ?x ?y)", "(+ a b c)"), 6u);
  EXPECT_EQ(Matches(th_, "(+ ?x ?y)", "(+ a b c)", true), 12u);
  EXPECT_EQ(Matches(th_, "(+ ?x ?x)", "(+ a a b b b)", true), 3u);
  EXPECT_EQ(Matches(th_, "(+ ?x ?y ?y)", "(+ a a b b c c)"), 6u);
  EXPECT_EQ(Matches(th_, "(. ?x ?y)", "(. a b c)"), 2u);
  EXPECT_EQ(Matches(th_, "(. ?x ?y)", "(. a b c)", true), 4u);
  EXPECT_EQ(Matches(th_, "(. ?x b)", "(. a b c b)", true), 4u);
  EXPECT_EQ(Matches(th_, "(. ?x ?y ?x)", "(. a b c a b)"), 1u);
  EXPECT_EQ(Matches(th_, "(+ (f ?x) (f ?y))", "(+ (f a) (f b))"), 2u);
  EXPECT_EQ(Matches(th_, "(+ (f ?x) (f ?y) ?z)", "(+ (f a) (f a) b)"), 1u);
  EXPECT_EQ(Matches(th_, "(+ (f ?x) ?x)", "(+ (f a) (f b) (f (f b)))"), 0u);
  EXPECT_EQ(Matches(th_, "(+ (f ?x) ?x ?y)", "(+ (f a) (f b) (f (f b)))"), 1u);
  EXPECT_EQ(Matches(th_, "(g ?x ?y)", "(g a b)"), 2u);
  EXPECT_EQ(Matches(th_, "(g ?x ?y)", "(g a a)"), 1u);
  EXPECT_EQ(Matches(th_, "(+ ?x a)", "(+ b c)"), 0u);
  EXPECT_EQ(Matches(th_, "(+ ?x ?y)", "a"), 0u);
  EXPECT_EQ(Matches(th_, "(+ ?x ?y)", "(+ ?x b)"), 2u);
  EXPECT_EQ(Matches(acu_, "(+ ?x ?y)", "a"), 2u);
  EXPECT_EQ(Matches(acu_, "(+ ?x ?y)", "(+ a b c)"), 8u);
  EXPECT_EQ(Matches(acu_, "(+ ?x ?y)", "0"), 1u);
  EXPECT_EQ(Matches(acu_, "(* ?x (+ ?y ?z))", "a"), 4u);
  EXPECT_EQ(Matches(acu_, "(+ ?x ?x)", "0"), 1u);
}

TEST_F(AcTest, Deterministic) {
  auto run = [](std::string& text) {
    Context ctx;
    Theory th;
    th.Ac(ctx.Sym("+")).A(ctx.Sym("."));
    for (auto [a, b] : {std::pair{"(+ ?x ?y a)", "(+ ?u ?v b)"},
                        {"(f (+ ?x ?y) ?x)", "(f (+ a b c) ?u)"},
                        {"(. ?x ?y)", "(. a b ?z)"},
                        {"(+ ?x (f ?y) (f ?z))", "(+ (f ?u) ?v)"}}) {
      auto u = AcUnify(ctx, th, *ReadTerm(ctx, a), *ReadTerm(ctx, b));
      for (const AcUnifier& s : u->unifiers) {
        for (const auto& [v, t] : s) text += PrintTerm(ctx, v) + "=" + PrintTerm(ctx, t) + " ";
        text += "\n";
      }
    }
  };
  std::string first, second;
  run(first);
  run(second);
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, second);
}

TEST_F(AcTest, Limits) {
  AcUnifiers u = Unify(th_, Sum("x+y+z"), Sum("u+v+w"), {.max_unifiers = 10});
  EXPECT_FALSE(u.complete);
  EXPECT_EQ(u.unifiers.size(), 10u);
  EXPECT_FALSE(Unify(th_, Sum("x+y+z"), Sum("u+v+w"), {.max_steps = 100}).complete);
  EXPECT_FALSE(Unify(th_, Sum("x+y+z"), Sum("u+v+w"), {.max_steps = 3}).complete);
  EXPECT_TRUE(Unify(th_, Sum("x+y+z"), Sum("u+v+w"), {.max_unifiers = 265}).complete);
  auto m = AcMatch(ctx_, th_, Sum("x+y"), Sum("a+b+c"), false, {.max_unifiers = 2});
  EXPECT_FALSE(m->complete);
  EXPECT_EQ(m->matches.size(), 2u);
  EXPECT_FALSE(AcMatch(ctx_, th_, Sum("x+y"), Sum("a+b+c"), false, {.max_steps = 2})->complete);
}

// Problems whose answers, bases or walks are astronomically many end at a limit.
TEST_F(AcTest, HostileSizes) {
  const AcOptions options{.max_steps = 1'000'000};
  auto sum = [&](const char* name, int n, bool free) {
    std::vector<Term> c{ctx_.Sym("+")};
    for (int i = 0; i < n; ++i) {
      const Term v = ctx_.Variable(name + std::to_string(i));
      c.push_back(free ? ctx_.Tuple({ctx_.Sym("f"), v}) : v);
    }
    return ctx_.Tuple(c);
  };
  for (const Theory* th : {&th_, &acu_}) {
    for (int n : {8, 100, 5000}) {
      for (bool free : {false, true}) {
        auto u = AcUnify(ctx_, *th, sum("x", n, free), sum("y", n, free), options);
        ASSERT_TRUE(u.ok());
        if (th == &th_ || free) {
          EXPECT_FALSE(u->complete);
        }
        auto m = AcMatch(ctx_, *th, sum("x", n, free), sum("y", n, free), true, options);
        ASSERT_TRUE(m.ok());
        if (n > 8) {
          EXPECT_FALSE(m->complete);
        }
      }
    }
  }
  // A million equal arguments, and two to the power of as many ways to give units.
  std::vector<Term> a(1'000'000, ctx_.Variable("x")), b(999'999, ctx_.Variable("y")), c{ctx_.Sym("f")}, d = c;
  a[0] = b[0] = ctx_.Sym("+");
  EXPECT_EQ(AcUnify(ctx_, th_, ctx_.Tuple(a), ctx_.Tuple(b))->unifiers.size(), 1u);
  for (int i = 0; i < 1000; ++i) {
    c.push_back(ctx_.Tuple({ctx_.Sym("*"), ctx_.Variable("p" + std::to_string(i)), ctx_.Sym("a")}));
    d.push_back(ctx_.Tuple({ctx_.Sym("+"), ctx_.Variable("q" + std::to_string(i)), ctx_.Sym("b")}));
  }
  EXPECT_FALSE(AcUnify(ctx_, acu_, ctx_.Tuple(c), ctx_.Tuple(d), options)->complete);
  std::vector<Term> p{ctx_.Sym(".")}, q = p;
  for (int i = 0; i < 300; ++i) {
    p.push_back(ctx_.Variable(i % 2 ? "x" : "y"));
    q.push_back(ctx_.Variable(i % 3 ? "u" : "v"));
  }
  EXPECT_FALSE(AcUnify(ctx_, th_, ctx_.Tuple(p), ctx_.Tuple(q), options)->complete);
}

TEST_F(AcTest, Errors) {
  EXPECT_FALSE(AcUnify(ctx_, th_, Read("(+ ..?xs)"), Read("a")).ok());
  EXPECT_FALSE(AcUnify(ctx_, th_, Read("(?f a)"), Read("a")).ok());
  EXPECT_FALSE(AcUnify(ctx_, th_, Read("(+)"), Read("a")).ok());
  EXPECT_FALSE(AcMatch(ctx_, th_, Read("(+ ..?xs)"), Read("a")).ok());
  Theory bad;
  bad.Acu(ctx_.Sym("+"), Read("?x"));
  EXPECT_FALSE(AcUnify(ctx_, bad, Read("(+ a b)"), Read("a")).ok());
  // 2^16 arguments at each of two thousand levels.
  Term wide = Read("?x"), x = wide;
  for (int i = 0; i < 16; ++i) wide = ctx_.Tuple({ctx_.Sym("+"), wide, wide});
  for (int i = 0; i < 2000; ++i) {
    Term f = ctx_.Tuple({ctx_.Sym("f"), wide});
    wide = ctx_.Tuple({ctx_.Sym("+"), f, x});
    for (int k = 0; k < 16; ++k) wide = ctx_.Tuple({ctx_.Sym("+"), wide, wide});
  }
  EXPECT_EQ(AcNormalize(ctx_, th_, wide).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(AcTest, ApplyReplacesAtOnce) {
  Term x = Read("?x"), y = Read("?y");
  EXPECT_EQ(*AcApply(ctx_, th_, Read("(f (h ?x) (h ?y) (+ ?x a))"), {{x, y}, {y, x}}),
            *AcNormalize(ctx_, th_, Read("(f (h ?y) (h ?x) (+ ?y a))")));
}

TEST_F(AcTest, NormalForm) {
  EXPECT_EQ(*AcNormalize(ctx_, th_, Read("(+ a (+ b (+ c ?x)))")),
            *AcNormalize(ctx_, th_, Read("(+ (+ ?x c) (+ b a))")));
  EXPECT_EQ(*AcNormalize(ctx_, acu_, Read("(+ a (* 1 0))")), Read("a"));
  EXPECT_EQ(*AcNormalize(ctx_, acu_, Read("(+)")), Read("0"));
  EXPECT_EQ(*AcNormalize(ctx_, th_, Read("(+ a)")), Read("a"));
  EXPECT_NE(*AcNormalize(ctx_, th_, Read("(+ a b :k 1)")), *AcNormalize(ctx_, th_, Read("(+ b a :k 1)")));
}

TEST_F(AcTest, DeepAndShared) {
  const int kDepth = 50'000;
  Term plus = ctx_.Sym("+"), times = ctx_.Sym("*"), f = ctx_.Sym("f"), a = ctx_.Sym("a"),
       x = ctx_.Variable("x");
  Term s = x, t = a, nested = x, flat = a;
  for (int i = 0; i < kDepth; ++i) {
    s = ctx_.Tuple({f, s});
    t = ctx_.Tuple({f, t});
    nested = ctx_.Tuple({i % 2 ? plus : times, a, nested});
    flat = ctx_.Tuple({i % 2 ? plus : times, a, flat});
  }
  auto u = AcUnify(ctx_, th_, s, t);
  ASSERT_TRUE(u.ok());
  EXPECT_EQ(u->unifiers, (std::vector<AcUnifier>{{{x, a}}}));
  u = AcUnify(ctx_, th_, nested, flat);
  ASSERT_TRUE(u.ok());
  EXPECT_EQ(u->unifiers, (std::vector<AcUnifier>{{{x, a}}}));
  auto m = AcMatch(ctx_, th_, nested, flat);
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->matches.size(), 1u);
  // A DAG of 2^60 nodes of a free operator, and a sum too wide to flatten.
  Term p = x, q = a, wide = x;
  for (int i = 0; i < 60; ++i) {
    p = ctx_.Tuple({f, p, p});
    q = ctx_.Tuple({f, q, q});
    wide = ctx_.Tuple({plus, wide, wide});
  }
  u = AcUnify(ctx_, th_, p, q);
  ASSERT_TRUE(u.ok());
  EXPECT_EQ(u->unifiers.size(), 1u);
  EXPECT_EQ(AcMatch(ctx_, th_, p, q)->matches.size(), 1u);
  EXPECT_FALSE(AcUnify(ctx_, th_, wide, a).ok());
}

}  // namespace
}  // namespace retuple
