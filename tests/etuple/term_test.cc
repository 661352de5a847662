#include "etuple/term.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace retuple {
namespace {

TEST(TermTest, EqualTermsAreOneHandle) {
  Context ctx;
  const Term a = ctx.Tuple({ctx.Sym("f"), ctx.Integer(1), ctx.Real(2.5), ctx.String("s")});
  const Term b = ctx.Tuple({ctx.Sym("f"), ctx.Integer(1), ctx.Real(2.5), ctx.String("s")});
  EXPECT_EQ(a, b);
  EXPECT_EQ(ctx.Hash(a), ctx.Hash(b));
  EXPECT_NE(a, ctx.Tuple({ctx.Sym("f"), ctx.Integer(1), ctx.Real(2.5), ctx.Sym("s")}));
  EXPECT_EQ(sizeof(Term), 4u);
}

TEST(TermTest, KindsOfEqualTextAreDifferent) {
  Context ctx;
  const Term all[] = {ctx.Sym("x"), ctx.String("x"), ctx.Variable("x"), ctx.RestVariable("x"), ctx.Keyword("x")};
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(all[i], all[j]);
  }
  EXPECT_NE(ctx.Integer(1), ctx.Real(1));
  EXPECT_NE(ctx.Real(0.0), ctx.Real(-0.0));
  EXPECT_EQ(ctx.Real(std::nan("1")), ctx.Real(-std::nan("2")));
}

TEST(TermTest, NilIsTheEmptyTuple) {
  Context ctx;
  EXPECT_EQ(ctx.Tuple({}), ctx.Nil());
  EXPECT_TRUE(ctx.IsTuple(ctx.Nil()));
  EXPECT_TRUE(ctx.Rands(ctx.Nil()).empty());
  EXPECT_TRUE(ctx.Rands(ctx.Sym("a")).empty());
}

TEST(TermTest, ConsCarCdr) {
  Context ctx;
  const Term t = ctx.Tuple({ctx.Sym("a"), ctx.Sym("b"), ctx.Sym("c")});
  EXPECT_EQ(ctx.Car(t), ctx.Sym("a"));
  EXPECT_EQ(ctx.Cons(ctx.Car(t), ctx.Cdr(t)), t);
  EXPECT_EQ(ctx.Cdr(ctx.Cdr(ctx.Cdr(t))), ctx.Nil());
}

TEST(TermTest, KeywordsHaveACanonicalOrder) {
  Context ctx;
  const Term f = ctx.Sym("f"), b = ctx.Keyword("b"), a = ctx.Keyword("a"), one = ctx.Integer(1), two = ctx.Integer(2);
  EXPECT_EQ(ctx.Tuple({f, b, one, a, two}), ctx.Tuple({f, a, two, b, one}));
  EXPECT_EQ(ctx.Tuple({f, b, one, a, two, ctx.RestVariable("r")}), ctx.Tuple({f, a, two, b, one, ctx.RestVariable("r")}));
  EXPECT_EQ(ctx.KeywordValue(ctx.Tuple({f, b, one, a, two}), b), one);
  EXPECT_EQ(ctx.Positional(ctx.Tuple({f, one, b, two})).size(), 2u);
}

TEST(TermTest, CachesSizeDepthAndGroundness) {
  Context ctx;
  Term t = ctx.Sym("x");
  for (int i = 0; i < 200; ++i) t = ctx.Tuple({ctx.Sym("f"), t, t});
  EXPECT_EQ(ctx.Depth(t), 200u);
  EXPECT_EQ(ctx.TreeSize(t), ~uint64_t{0});  // 2^200 saturates
  EXPECT_EQ(ctx.DagSize(std::span<const Term>(&t, 1)), 202u);
  EXPECT_TRUE(ctx.IsGround(t));
  EXPECT_FALSE(ctx.IsGround(ctx.Tuple({t, ctx.Variable("v")})));
}

TEST(TermTest, VariablesInOrderOfOccurrence) {
  Context ctx;
  const Term x = ctx.Variable("x"), y = ctx.Variable("y"), r = ctx.RestVariable("r");
  const Term t = ctx.Tuple({ctx.Sym("f"), y, ctx.Tuple({ctx.Sym("g"), x, y}), r});
  EXPECT_EQ(Variables(ctx, t), (std::vector<Term>{y, x, r}));
}

TEST(TermTest, AMillionDeepChain) {
  Context ctx;
  Term t = ctx.Sym("x");
  for (int i = 0; i < 1'000'000; ++i) t = ctx.Tuple({ctx.Sym("s"), t});
  EXPECT_EQ(ctx.Depth(t), 1'000'000u);
  EXPECT_EQ(PostOrder(ctx, t).size(), 1'000'002u);
}

TEST(TermTest, FreshVariablesAreNew) {
  Context ctx;
  ctx.Variable("v~0");
  const Term a = ctx.FreshVariable("v"), b = ctx.FreshVariable("v");
  EXPECT_NE(a, b);
  EXPECT_NE(a, ctx.Variable("v~0"));
}

TEST(TermTest, CollectKeepsRootsAndReusesTheRest) {
  Context ctx;
  const Term root = ctx.Tuple({ctx.Sym("keep"), ctx.Integer(1), ctx.String("text")});
  size_t most = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 2000; ++i) ctx.Tuple({ctx.Sym("drop" + std::to_string(i)), ctx.Integer(round * 10000 + i), root});
    most = std::max(most, ctx.bytes());
    ctx.Collect(std::span<const Term>(&root, 1));
    EXPECT_EQ(ctx.num_nodes(), 5u);  // nil, root and its three atoms
    EXPECT_EQ(ctx.Text(ctx.Children(root)[2]), "text");
    EXPECT_EQ(root, ctx.Tuple({ctx.Sym("keep"), ctx.Integer(1), ctx.String("text")}));
  }
  EXPECT_LT(most, 4u << 20);  // fifty rounds take the memory of one
}

TEST(TermTest, RandomTermsInternConsistently) {
  std::mt19937 random(7);
  Context ctx;
  std::vector<Term> pool{ctx.Sym("a"), ctx.Integer(3), ctx.Variable("v")};
  for (int i = 0; i < 5000; ++i) {
    std::vector<Term> children;
    const size_t n = 1 + random() % 40;
    for (size_t k = 0; k < n; ++k) children.push_back(pool[random() % pool.size()]);
    const Term t = ctx.Tuple(children);
    EXPECT_EQ(t, ctx.Tuple(children));
    EXPECT_TRUE(std::equal(children.begin(), children.end(), ctx.Children(t).begin(), ctx.Children(t).end()));
    pool.push_back(t);
  }
}

TEST(TermTest, HashesAreKnownAheadOfTheTerm) {
  Context ctx;
  for (int n = 0; n < 40; ++n) {
    const std::string text(n, 'x');
    EXPECT_EQ(ctx.Hash(ctx.String(text)), Context::HashText(Kind::kString, false, text));
  }
  EXPECT_EQ(ctx.Hash(ctx.Keyword("k")), Context::HashText(Kind::kSymbol, true, ":k"));
  EXPECT_EQ(ctx.Hash(ctx.RestVariable("r")), Context::HashText(Kind::kVariable, true, "r"));
  EXPECT_EQ(ctx.Hash(ctx.Integer(-3)), Context::HashInteger(-3));
  EXPECT_EQ(ctx.Hash(ctx.Real(-0.0)), Context::HashReal(-0.0));
  const std::vector<uint64_t> children = {ctx.Hash(ctx.Sym("f")), ctx.Hash(ctx.Integer(1))};
  EXPECT_EQ(ctx.Hash(ctx.Tuple({ctx.Sym("f"), ctx.Integer(1)})), Context::HashTuple(children));
}

// Adversarial for a table that trusts part of the hash: many nodes, collected and built again.
TEST(TermTest, TableKeepsEveryNodeThroughGrowthAndCollection) {
  Context ctx;
  std::vector<Term> kept;
  for (int i = 0; i < 100'000; ++i) {
    Term t = ctx.Tuple({ctx.Sym("f"), ctx.Integer(i)});
    if (i % 3 == 0) kept.push_back(t);
  }
  ctx.Collect(kept);
  for (int i = 0; i < 100'000; ++i) {
    Term t = ctx.Tuple({ctx.Sym("f"), ctx.Integer(i)});
    if (i % 3 == 0) EXPECT_EQ(t, kept[i / 3]);
  }
  EXPECT_EQ(ctx.num_nodes(), 200'002u);
}

}  // namespace
}  // namespace retuple
