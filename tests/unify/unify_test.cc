#include <gtest/gtest.h>

#include <algorithm>

#include <random>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "unify/pattern.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

struct UnifyCase {
  const char* a;
  const char* b;
  const char* unified;  // the common instance; null: no unifier
};

TEST(UnifyTest, Table) {
  const UnifyCase cases[] = {
      {"?x", "1", "1"},
      {"(f ?x ?y)", "(f 1 2)", "(f 1 2)"},
      {"(f ?x ?x)", "(f 1 2)", nullptr},
      {"(f ?x ?x)", "(f (g ?y) (g 1))", "(f (g 1) (g 1))"},
      {"(?op 1 2)", "(add 1 2)", "(add 1 2)"},
      {"(f ..?r)", "(f 1 2 3)", "(f 1 2 3)"},
      {"(f ?x ..?r)", "(f 1)", "(f 1)"},
      {"(f ?x ..?r)", "(f)", nullptr},
      {"(f 1 ..?r)", "(f ..?s)", "(f 1 ..?r)"},
      {"?x", "(f ?x)", nullptr},
      {"(f ?x (g ?x))", "(f (g ?y) ?y)", nullptr},
      {"(f ?x ?y)", "(f ?y 3)", "(f 3 3)"},
      {"1", "1.0", nullptr},
      {"()", "?x", "()"},
      {"(f :a ?x)", "(f :a 2)", "(f :a 2)"},
  };
  for (const auto& c : cases) {
    Context ctx;
    const Term a = *ReadTerm(ctx, c.a), b = *ReadTerm(ctx, c.b);
    Substitution s;
    const bool ok = Unify(ctx, a, b, s);
    ASSERT_EQ(ok, c.unified != nullptr) << c.a << " ~ " << c.b;
    if (!ok) {
      EXPECT_EQ(s.size(), 0u);
      continue;
    }
    EXPECT_EQ(PrintTerm(ctx, Reify(ctx, a, s)), c.unified);
    EXPECT_EQ(Reify(ctx, a, s), Reify(ctx, b, s));
    Substitution t;
    EXPECT_TRUE(Unify(ctx, b, a, t));
  }
}

TEST(UnifyTest, SharedAndDeepTermsAreLinear) {
  Context ctx;
  // Two doubling DAGs of 2^100 nodes that differ in their leaf.
  Term a = ctx.Variable("x"), b = ctx.Sym("leaf");
  for (int i = 0; i < 100; ++i) {
    a = ctx.Tuple({ctx.Sym("p"), a, a});
    b = ctx.Tuple({ctx.Sym("p"), b, b});
  }
  Substitution s;
  EXPECT_TRUE(Unify(ctx, a, b, s));
  EXPECT_EQ(Reify(ctx, a, s), b);
  Term c = ctx.Variable("x"), d = ctx.Sym("leaf");
  for (int i = 0; i < 300'000; ++i) {
    c = ctx.Tuple({ctx.Sym("s"), c});
    d = ctx.Tuple({ctx.Sym("s"), d});
  }
  Substitution t;
  EXPECT_TRUE(Unify(ctx, c, d, t));
  EXPECT_EQ(Reify(ctx, c, t), d);
  Substitution u;
  EXPECT_FALSE(Unify(ctx, ctx.Variable("x"), c, u));  // occurs check
}

Term RandomPattern(Context& ctx, std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 4 : 2)) {
    case 0:
      return ctx.Variable(std::string(1, static_cast<char>('a' + random() % 4)));
    case 1:
      return ctx.Integer(random() % 2);
    default: {
      std::vector<Term> c{ctx.Sym(random() % 2 ? "f" : "g")};
      for (size_t i = 0; i < 1 + random() % 2; ++i) c.push_back(RandomPattern(ctx, random, depth - 1));
      return ctx.Tuple(c);
    }
  }
}

// On success the unifier is one, and it is most general: a random common instance is an instance of it.
TEST(UnifyTest, IsMostGeneral) {
  std::mt19937 random(11);
  int unified = 0;
  for (int i = 0; i < 20000; ++i) {
    Context ctx;
    const Term a = RandomPattern(ctx, random, 3), b = RandomPattern(ctx, random, 3);
    Substitution ground;
    for (Term v : Variables(ctx, ctx.Tuple({a, b}))) {
      Term value = RandomPattern(ctx, random, 1);
      Substitution close;
      for (Term w : Variables(ctx, value)) close.Bind(w, ctx.Integer(0));
      ground.Bind(v, Reify(ctx, value, close));
    }
    const bool instance = Reify(ctx, a, ground) == Reify(ctx, b, ground);
    Substitution s;
    const bool ok = Unify(ctx, a, b, s);
    if (instance) ASSERT_TRUE(ok) << PrintTerm(ctx, a) << " " << PrintTerm(ctx, b);
    if (!ok) continue;
    ++unified;
    const Term mgu = Reify(ctx, a, s);
    ASSERT_EQ(mgu, Reify(ctx, b, s));
    if (instance) {
      std::vector<Term> slots;
      auto p = Pattern::Compile(ctx, mgu, slots);
      ASSERT_TRUE(p.ok());
      Bindings bindings(slots.size(), kUnbound);
      EXPECT_TRUE(p->Match(ctx, Reify(ctx, a, ground), bindings, [](const Bindings&) { return true; }));
    }
  }
  EXPECT_GT(unified, 1000);
}

TEST(UnifyTest, CanonicalReification) {
  Context ctx;
  Substitution s;
  EXPECT_EQ(PrintTerm(ctx, ReifyCanonical(ctx, *ReadTerm(ctx, "(f ?y ?x ?y)"), s)), "(f _0 _1 _0)");
}

// All matches of a pattern, printed as lists of bindings.
std::vector<std::string> AllMatches(Context& ctx, const char* pattern, const char* term, const char* commutative = nullptr) {
  absl::flat_hash_set<Term> comm;
  if (commutative != nullptr) comm.insert(ctx.Sym(commutative));
  std::vector<Term> slots;
  auto p = Pattern::Compile(ctx, *ReadTerm(ctx, pattern), slots, {.commutative = &comm});
  EXPECT_TRUE(p.ok()) << p.status();
  std::vector<std::string> out;
  Bindings bindings(slots.size(), kUnbound);
  p->Match(ctx, *ReadTerm(ctx, term), bindings, [&](const Bindings& b) {
    std::string line;
    for (size_t i = 0; i < slots.size(); ++i) line += (i ? " " : "") + std::string(ctx.Text(slots[i])) + "=" + PrintTerm(ctx, b[i]);
    out.push_back(line);
    return false;
  });
  for (Term b : bindings) EXPECT_EQ(b, kUnbound);
  return out;
}

struct MatchCase {
  const char* pattern;
  const char* term;
  std::vector<std::string> matches;
};

TEST(PatternTest, Table) {
  const MatchCase cases[] = {
      {"(f ?x)", "(f a)", {"x=a"}},
      {"(f ?x)", "(g a)", {}},
      {"(f ?x)", "(f a b)", {}},
      {"(f ?x ?x)", "(f a b)", {}},
      {"(f ?x ?x)", "(f (g a) (g a))", {"x=(g a)"}},
      {"(f ..?r)", "(f)", {"r=()"}},
      {"(f ..?r)", "(f a b)", {"r=(a b)"}},
      {"(f ..?r z)", "(f a b z)", {"r=(a b)"}},
      {"(f ..?p x ..?q)", "(f x x)", {"p=() q=(x)", "p=(x) q=()"}},
      {"(f ..?p ..?p)", "(f a b a b)", {"p=(a b)"}},
      {"((c :g 1 ..?a) ?x)", "((c :a 5 :g 1 :z 2) y)", {"a=(:a 5 :z 2) x=y"}},
      {"((c :g 1) ?x)", "((c :g 1 :z 2) y)", {}},
      {"((c :g ?g ..?a) ?x)", "((c :a 5) y)", {}},
      {"(c ?x :k ?v)", "(c y :k 3)", {"x=y v=3"}},
      {"(as ?w (f ?x))", "(f a)", {"w=(f a) x=a"}},
      {"(?op a)", "(f a)", {"op=f"}},
      {"(f (g ?x) ..?r)", "(f (g a) b)", {"x=a r=(b)"}},
  };
  for (const auto& c : cases) {
    Context ctx;
    EXPECT_EQ(AllMatches(ctx, c.pattern, c.term), c.matches) << c.pattern << " on " << c.term;
  }
}

TEST(PatternTest, CommutativeOperatorsTryBothOrders) {
  Context ctx;
  EXPECT_EQ(AllMatches(ctx, "(+ ?x 0)", "(+ 0 a)", "+"), (std::vector<std::string>{"x=a"}));
  EXPECT_EQ(AllMatches(ctx, "(+ ?x ?y)", "(+ a b)", "+"), (std::vector<std::string>{"x=a y=b", "x=b y=a"}));
  EXPECT_EQ(AllMatches(ctx, "(+ (+ ?x 1) ?y)", "(+ b (+ 1 a))", "+"), (std::vector<std::string>{"x=a y=b"}));
  EXPECT_TRUE(AllMatches(ctx, "(- ?x 0)", "(- 0 a)", "+").empty());
}

TEST(PatternTest, AMalformedAsIsAnError) {
  Context ctx;
  std::vector<Term> slots;
  EXPECT_FALSE(Pattern::Compile(ctx, *ReadTerm(ctx, "(as x (f))"), slots).ok());
  EXPECT_FALSE(Pattern::Compile(ctx, *ReadTerm(ctx, "(as ?x ?y)"), slots).ok());
}

TEST(PatternTest, DeepPatternsGoThrough) {
  Context ctx;
  Term p = ctx.Variable("x"), t = ctx.Sym("leaf");
  for (int i = 0; i < 200'000; ++i) {
    p = ctx.Tuple({ctx.Sym("s"), p});
    t = ctx.Tuple({ctx.Sym("s"), t});
  }
  std::vector<Term> slots;
  auto pattern = Pattern::Compile(ctx, p, slots);
  ASSERT_TRUE(pattern.ok());
  Bindings b(slots.size(), kUnbound);
  EXPECT_TRUE(pattern->Match(ctx, t, b, [](const Bindings&) { return true; }));
  EXPECT_EQ(b[0], ctx.Sym("leaf"));
}

// x0 = (f x1), x1 = (f x2), … in either order: the occurs check does not walk the chain for each.
TEST(UnifyTest, AChainOfBindingsIsLinear) {
  constexpr int kLength = 100'000;
  Context ctx;
  std::vector<Term> x, f;
  for (int i = 0; i <= kLength; ++i) x.push_back(ctx.Variable("x" + std::to_string(i)));
  for (int i = 0; i < kLength; ++i) f.push_back(ctx.Tuple({ctx.Sym("f"), x[i + 1]}));
  x.pop_back();
  for (int order = 0; order < 2; ++order) {
    Substitution s;
    ASSERT_TRUE(Unify(ctx, ctx.Tuple(x), ctx.Tuple(f), s));
    EXPECT_EQ(ctx.Depth(Reify(ctx, ctx.Variable("x0"), s)), static_cast<uint32_t>(kLength));
    std::reverse(x.begin(), x.end());
    std::reverse(f.begin(), f.end());
  }
  // The last one closes the circle.
  f.back() = ctx.Tuple({ctx.Sym("f"), x[0]});
  Substitution s;
  EXPECT_FALSE(Unify(ctx, ctx.Tuple(x), ctx.Tuple(f), s));
  EXPECT_EQ(s.size(), 0u);
}

// Two circles whose lengths have no common factor meet in every pair of places; classes of equal terms grow only once a term.
TEST(UnifyTest, CirclesOfDifferentLengthsAreRefused) {
  Context ctx;
  const Term x = ctx.Variable("x"), y = ctx.Variable("y");
  Term a = x, b = y;
  for (int i = 0; i < 100'000; ++i) a = ctx.Tuple({ctx.Sym("s"), a});
  for (int i = 0; i < 99'999; ++i) b = ctx.Tuple({ctx.Sym("s"), b});
  const std::pair<Term, Term> cases[] = {{ctx.Tuple({x, y, x}), ctx.Tuple({a, b, y})}, {ctx.Tuple({x, x, y}), ctx.Tuple({y, a, b})}};
  for (const auto& [left, right] : cases) {
    Substitution s;
    EXPECT_FALSE(Unify(ctx, left, right, s));
    EXPECT_EQ(s.size(), 0u);
  }
}

// What is unified is equal, and the rest variables hold what the other side alone has.
TEST(UnifyTest, KeywordsUnifyByName) {
  struct {
    const char *a, *b, *both;  // both: the common instance, empty if there is none
  } cases[] = {
      {"(c :g 1 ..?a)", "(c :a 5 :g 1)", "(c :a 5 :g 1)"},
      {"(c :g ?g ..?a)", "(c :a 5 :g 1)", "(c :a 5 :g 1)"},
      {"(c :g 1 ..?a)", "(c :a 5)", ""},
      {"(c :g 1 ..?a)", "(c :g 2 :h 1)", ""},
      {"(c :g 1)", "(c :a 5 :g 1)", ""},
      {"(c ?x :g 1 ..?a)", "(c y :a 5 :g 1)", "(c y :a 5 :g 1)"},
      {"(c :b 1 ..?r)", "(c :a 2 ..?s)", "(c :a 2 :b 1 ..?_0)"},
      {"(c :b 1 ..?r)", "(c :b ?x ..?s)", "(c :b 1 ..?_0)"},
      {"(c :b 1 ..?r)", "(c :a 2 ..?r)", ""},
      {"(c :b 1 ..?r)", "(c :b ?x ..?r)", "(c :b 1 ..?_0)"},
      {"(c :b 1 ..?r)", "(c :a 2 :b ?x ..?s)", "(c :a 2 :b 1 ..?_0)"},
      {"(p (c :b 1 ..?r) ..?r)", "(p (c :a 2 :b 1) ?k 2)", "(p (c :a 2 :b 1) :a 2)"},
      {"(c ..?r)", "(c :a 2 :b 1)", "(c :a 2 :b 1)"},
      {"(c ?k 2 ..?r)", "(c :a 2 :b 1)", "(c :a 2 :b 1)"},  // by place where one side has no keyword
  };
  for (const auto& c : cases) {
    Context ctx;
    const Term a = *ReadTerm(ctx, c.a), b = *ReadTerm(ctx, c.b);
    for (int order = 0; order < 2; ++order) {
      Substitution s;
      const bool ok = order == 0 ? Unify(ctx, a, b, s) : Unify(ctx, b, a, s);
      ASSERT_EQ(ok, *c.both != 0) << c.a << " " << c.b;
      if (!ok) continue;
      EXPECT_EQ(Reify(ctx, a, s), Reify(ctx, b, s)) << c.a << " " << c.b;
      EXPECT_TRUE(Subsumes(ctx, *ReadTerm(ctx, c.both), Reify(ctx, a, s))) << PrintTerm(ctx, Reify(ctx, a, s));
      EXPECT_TRUE(Subsumes(ctx, Reify(ctx, a, s), *ReadTerm(ctx, c.both))) << PrintTerm(ctx, Reify(ctx, a, s));
    }
  }
}

TEST(UnifyTest, ARestIsNoAtom) {
  Context ctx;
  Substitution s;
  EXPECT_FALSE(Unify(ctx, ctx.RestVariable("d"), ctx.Integer(5), s));
  EXPECT_TRUE(Unify(ctx, ctx.RestVariable("d"), *ReadTerm(ctx, "(5)"), s));
}

}  // namespace
}  // namespace retuple
