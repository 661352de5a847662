#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

TEST(SubsumesTest, Table) {
  struct {
    const char* general;
    const char* specific;
    bool subsumes;
    bool back;  // the other way round
  } cases[] = {
      {"?x", "?y", true, true},
      {"?x", "(f ?x)", true, false},
      {"(f ?x ?y)", "(f ?y ?x)", true, true},
      {"(f ?x ?y)", "(f ?y ?y)", true, false},
      {"(f ?x ?x)", "(f (g ?x) (g ?x))", true, false},
      {"(f ?x ?x)", "(f (g ?x) (g ?y))", false, false},
      {"(f ?x (g ?x))", "(f 1 (g 1))", true, false},
      {"(?op 1)", "(f 1)", true, false},
      {"(f 1)", "(f 1)", true, true},
      {"1", "1.0", false, false},
      {"(f ?x)", "(f)", false, false},
      {"(f ..?r)", "(f)", true, false},
      {"(f ..?r)", "(f 1 ?x)", true, false},
      {"(f ..?r)", "(f 1 ..?r)", true, false},
      {"(f ..?r)", "(f ..?s)", true, true},
      {"(f ?x)", "(f ..?r)", false, true},  // (f) and (f 1 2) are no instances of the first
      {"(f ?x ..?r)", "(f ..?s)", false, true},
      {"(f (g ..?r) ..?r)", "(f (g 1 2) 1 2)", true, false},
      {"(f (g ..?r) ..?r)", "(f (g 1 2) 1 3)", false, false},
      {"(f ..?r 1)", "(f 2 1)", false, false},  // not last
      {"(f ..?r)", "(f ..?s 1)", true, false},
      {"(f :a ?x ..?r)", "(f :a 1 :b 2)", true, false},
  };
  for (const auto& c : cases) {
    Context ctx;
    const Term general = *ReadTerm(ctx, c.general), specific = *ReadTerm(ctx, c.specific);
    EXPECT_EQ(Subsumes(ctx, general, specific), c.subsumes) << c.general << " " << c.specific;
    EXPECT_EQ(Subsumes(ctx, specific, general), c.back) << c.specific << " " << c.general;
  }
}

Term RandomTerm(Context& ctx, std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 4 : 2)) {
    case 0:
      return ctx.Variable(std::string(1, static_cast<char>('a' + random() % 3)));
    case 1:
      return ctx.Integer(static_cast<int64_t>(random() % 2));
    default: {
      std::vector<Term> c{ctx.Sym(random() % 2 ? "f" : "g")};
      for (size_t i = random() % 3; i > 0; --i) c.push_back(RandomTerm(ctx, random, depth - 1));
      if (random() % 3 == 0) c.push_back(ctx.RestVariable(random() % 2 ? "r" : "s"));
      return ctx.Tuple(c);
    }
  }
}

// `t` with its variables made constants and each rest variable `length` of them.
Term Fixed(Context& ctx, Term t, size_t length) {
  Substitution fixed;
  for (Term v : Variables(ctx, t)) {
    const Term constant = ctx.String(ctx.Text(v));
    fixed.Bind(v, ctx.IsRest(v) ? ctx.Tuple(std::vector<Term>(length, constant)) : constant);
  }
  return Reify(ctx, t, fixed);
}

// Subsumption is unification with the variables of the specific term held fixed, its rest variables at any length.
TEST(SubsumesTest, IsUnificationWithConstants) {
  std::mt19937 random(3);
  int subsumed = 0, instances = 0;
  for (int i = 0; i < 30000; ++i) {
    Context ctx;
    const Term general = RandomTerm(ctx, random, 3);
    Substitution apart, instance;
    for (Term v : Variables(ctx, general)) {
      const Term w = ctx.FreshVariable("w"), value = RandomTerm(ctx, random, 2);
      const Term fresh = ctx.IsRest(v) ? ctx.RestVariable(ctx.Text(w)) : w;
      apart.Bind(v, fresh);
      instance.Bind(fresh, ctx.IsRest(v) ? ctx.Tuple({value, ctx.RestVariable("r")}) : value);
    }
    const Term renamed = Reify(ctx, general, apart);
    EXPECT_TRUE(Subsumes(ctx, general, renamed) && Subsumes(ctx, renamed, general));
    const bool make = random() % 2 != 0;
    const Term specific = make ? Reify(ctx, renamed, instance) : RandomTerm(ctx, random, 3);
    EXPECT_EQ(UnboundVariables(ctx, renamed, instance), Variables(ctx, Reify(ctx, renamed, instance)));
    const bool subsumes = Subsumes(ctx, general, specific);
    if (make) EXPECT_TRUE(subsumes) << PrintTerm(ctx, general) << " " << PrintTerm(ctx, specific);
    bool unify = true;
    for (size_t length : {0, 9}) {
      Substitution s;
      unify = unify && Unify(ctx, renamed, Fixed(ctx, specific, length), s);
    }
    EXPECT_EQ(subsumes, unify) << PrintTerm(ctx, general) << " " << PrintTerm(ctx, specific);
    (make ? instances : subsumed) += subsumes;
  }
  EXPECT_GT(subsumed, 1000);
  EXPECT_GT(instances, 10000);
}

TEST(SubsumesTest, SharedAndDeepTermsAreLinear) {
  Context ctx;
  Term a = ctx.Variable("x"), b = ctx.Variable("y"), c = a, d = b;
  for (int i = 0; i < 100; ++i) {
    a = ctx.Tuple({ctx.Sym("p"), a, a});
    b = ctx.Tuple({ctx.Sym("p"), b, b});
  }
  EXPECT_TRUE(Subsumes(ctx, a, b));
  EXPECT_FALSE(Subsumes(ctx, ctx.Tuple({a, ctx.Variable("x")}), ctx.Tuple({b, ctx.Sym("z")})));
  for (int i = 0; i < 300'000; ++i) {
    c = ctx.Tuple({ctx.Sym("s"), c});
    d = ctx.Tuple({ctx.Sym("s"), d});
  }
  EXPECT_TRUE(Subsumes(ctx, c, d));
  EXPECT_FALSE(Subsumes(ctx, ctx.Tuple({ctx.Sym("s"), c}), d));
  EXPECT_EQ(UnboundVariables(ctx, c, Substitution()), std::vector<Term>{ctx.Variable("x")});
}

}  // namespace
}  // namespace retuple
