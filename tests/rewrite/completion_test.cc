#include "rewrite/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "rewrite/internal/first_order.h"

namespace retuple {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

class CompletionTest : public ::testing::Test {
 protected:
  Term Read(const std::string& text) { return *ReadTerm(ctx_, text); }
  // Pairs of sides.
  std::vector<Equation> Equations(const std::vector<std::string>& sides) {
    std::vector<Equation> out;
    for (size_t i = 0; i + 1 < sides.size(); i += 2) out.emplace_back(Read(sides[i]), Read(sides[i + 1]));
    return out;
  }
  Precedence Order(const std::vector<std::string>& names) {
    std::vector<Term> out;
    for (const auto& n : names) out.push_back(ctx_.Sym(n));
    return Precedence(out);
  }
  std::vector<std::string> Print(const std::vector<Equation>& rules) {
    std::vector<std::string> out;
    for (const auto& [l, r] : rules) out.push_back(PrintTerm(ctx_, l) + " -> " + PrintTerm(ctx_, r));
    return out;
  }
  // Terminating, confluent, and as strong as the equations.
  void ExpectCanonical(const Completion& c, const std::vector<Equation>& equations) {
    internal::FirstOrderRewriter rewriter(ctx_);
    for (const Equation& r : c.rules) {
      EXPECT_EQ(LpoCompare(ctx_, c.precedence, r.first, r.second), retuple::Order::kGreater);
      rewriter.Add(r);
    }
    for (size_t a = 0; a < c.rules.size(); ++a) {
      for (size_t b = 0; b <= a; ++b) {
        const auto pairs = CriticalPairs(ctx_, c.rules, a, b);
        ASSERT_TRUE(pairs.ok());
        for (const CriticalPair& p : *pairs) {
          EXPECT_EQ(rewriter.Normalize(p.left), rewriter.Normalize(p.right)) << PrintTerm(ctx_, p.peak);
        }
      }
    }
    for (const auto& [l, r] : equations) EXPECT_EQ(rewriter.Normalize(l), rewriter.Normalize(r));
  }

  Context ctx_;
};

const std::vector<std::string> kGroup = {"(* e ?x)", "?x", "(* (i ?x) ?x)", "e", "(* (* ?x ?y) ?z)", "(* ?x (* ?y ?z))"};

TEST_F(CompletionTest, Systems) {
  const std::vector<std::string> assoc = {"(* (* ?x ?y) ?z)", "(* ?x (* ?y ?z))"};
  auto with = [](std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const struct {
    const char* name;
    std::vector<std::string> equations, precedence, rules;
  } systems[] = {
      {"groups", kGroup, {"i", "*", "e"},
       {"(* e ?x) -> ?x", "(* ?x e) -> ?x", "(* (i ?x) ?x) -> e", "(* ?x (i ?x)) -> e", "(* (* ?x ?y) ?z) -> (* ?x (* ?y ?z))", "(i e) -> e",
        "(i (i ?x)) -> ?x", "(i (* ?x ?y)) -> (* (i ?y) (i ?x))", "(* (i ?x) (* ?x ?y)) -> ?y", "(* ?x (* (i ?x) ?y)) -> ?y"}},
      {"central groupoid", {"(* (* ?x ?y) (* ?y ?z))", "?y"}, {"*"},
       {"(* (* ?x ?y) (* ?y ?z)) -> ?y", "(* ?x (* (* ?x ?y) ?z)) -> (* ?x ?y)", "(* (* ?x (* ?y ?z)) ?z) -> (* ?y ?z)"}},
      {"LR", with({"(* e ?x)", "?x", "(* ?x (i ?x))", "e"}, assoc), {"i", "*", "e"},
       {"(* (* ?x ?y) ?z) -> (* ?x (* ?y ?z))", "(* e ?x) -> ?x", "(* ?x (i ?x)) -> e", "(i e) -> e", "(i (i ?x)) -> (* ?x e)",
        "(* (i ?x) e) -> (i ?x)", "(i (* ?x ?y)) -> (* (i ?y) (i ?x))", "(* ?x (* (i ?x) ?y)) -> ?y", "(* (i ?x) (* ?x ?y)) -> ?y"}},
      {"RL", with({"(* ?x e)", "?x", "(* (i ?x) ?x)", "e"}, assoc), {"i", "*", "e"},
       {"(i e) -> e", "(* ?x e) -> ?x", "(i (i ?x)) -> (* e ?x)", "(* (i ?x) ?x) -> e", "(* e (i ?x)) -> (i ?x)",
        "(i (* ?x ?y)) -> (* (i ?y) (i ?x))", "(* (* ?x ?y) ?z) -> (* ?x (* ?y ?z))", "(* ?x (* e ?y)) -> (* ?x ?y)",
        "(* (i ?x) (* ?x ?y)) -> (* e ?y)", "(* ?x (* ?y (i ?y))) -> ?x", "(* e (* (i ?x) ?y)) -> (* (i ?x) ?y)",
        "(* ?x (* ?y (* (i ?y) ?z))) -> (* ?x ?z)"}},
      {"loops",
       {"(L ?x (* ?x ?y))", "?y", "(* ?x (L ?x ?y))", "?y", "(R (* ?x ?y) ?y)", "?x", "(* (R ?x ?y) ?y)", "?x", "(* e ?x)", "?x", "(* ?x e)", "?x"},
       {"L", "R", "*", "e"},
       {"(L ?x (* ?x ?y)) -> ?y", "(* ?x (L ?x ?y)) -> ?y", "(R (* ?x ?y) ?y) -> ?x", "(* (R ?x ?y) ?y) -> ?x", "(* e ?x) -> ?x", "(* ?x e) -> ?x",
        "(L e ?x) -> ?x", "(L ?x ?x) -> e", "(R ?x ?x) -> e", "(R ?x e) -> ?x", "(R ?x (L ?y ?x)) -> ?y", "(L (R ?x ?y) ?x) -> ?y"}},
      {"group and endomorphism", with(kGroup, {"(f (* ?x ?y))", "(* (f ?x) (f ?y))"}), {"f", "i", "*", "e"},
       {"(* e ?x) -> ?x", "(* ?x e) -> ?x", "(* (i ?x) ?x) -> e", "(* ?x (i ?x)) -> e", "(* (* ?x ?y) ?z) -> (* ?x (* ?y ?z))", "(i e) -> e",
        "(i (i ?x)) -> ?x", "(i (* ?x ?y)) -> (* (i ?y) (i ?x))", "(* (i ?x) (* ?x ?y)) -> ?y", "(* ?x (* (i ?x) ?y)) -> ?y", "(f e) -> e",
        "(f (i ?x)) -> (i (f ?x))", "(f (* ?x ?y)) -> (* (f ?x) (f ?y))"}},
      {"S3 as strings", {"(a (a ?x))", "?x", "(b (b (b ?x)))", "?x", "(a (b (a (b ?x))))", "?x"}, {"a", "b"},
       {"(a (a ?x)) -> ?x", "(b (b (b ?x))) -> ?x", "(a (b ?x)) -> (b (b (a ?x)))"}},
  };
  for (const auto& s : systems) {
    const auto equations = Equations(s.equations);
    auto c = Complete(ctx_, equations, {.precedence = Order(s.precedence)});
    ASSERT_TRUE(c.ok()) << s.name;
    EXPECT_TRUE(c->complete) << s.name << ": " << c->reason;
    EXPECT_THAT(Print(c->rules), UnorderedElementsAreArray(s.rules)) << s.name;
    ExpectCanonical(*c, equations);
  }
}

TEST_F(CompletionTest, FindsAPrecedence) {
  const auto equations = Equations(kGroup);
  auto c = Complete(ctx_, equations);
  ASSERT_TRUE(c.ok());
  EXPECT_TRUE(c->complete) << c->reason;
  EXPECT_EQ(c->rules.size(), 10u);
  ExpectCanonical(*c, equations);
}

TEST_F(CompletionTest, SaysWhyItStopped) {
  auto c = Complete(ctx_, Equations({"(* ?x ?y)", "(* ?y ?x)"}));
  ASSERT_TRUE(c.ok());
  EXPECT_FALSE(c->complete);
  EXPECT_EQ(c->reason, "(* ?x ?y) = (* ?y ?x) cannot be oriented");
  EXPECT_EQ(c->stuck.size(), 1u);
  // No finite system: ends at the limit with what is there.
  auto endless = Complete(ctx_, Equations({"(f (g (f ?x)))", "(g (f ?x))"}), {.precedence = Order({"f", "g"}), .most_pairs = 200});
  ASSERT_TRUE(endless.ok());
  EXPECT_FALSE(endless->complete);
  EXPECT_THAT(endless->reason, HasSubstr("limit"));
  EXPECT_FALSE(Complete(ctx_, Equations({"(f ..?x)", "e"})).ok());
  EXPECT_FALSE(Complete(ctx_, Equations({"(f :k ?x)", "e"})).ok());
  EXPECT_FALSE(Complete(ctx_, Equations({"((f a) ?x)", "e"})).ok());
}

TEST_F(CompletionTest, PathOrder) {
  const Precedence p = Order({"i", "*", "e"});
  const struct {
    const char *s, *t;
    retuple::Order order;
  } cases[] = {
      {"(* (* ?x ?y) ?z)", "(* ?x (* ?y ?z))", retuple::Order::kGreater},
      {"(i (* ?x ?y))", "(* (i ?y) (i ?x))", retuple::Order::kGreater},
      {"(* (i ?y) (i ?x))", "(i (* ?x ?y))", retuple::Order::kLess},
      {"(* ?x ?y)", "(* ?y ?x)", retuple::Order::kIncomparable},
      {"(* ?x e)", "?x", retuple::Order::kGreater},
      {"?x", "?y", retuple::Order::kIncomparable},
      {"(* ?x e)", "?y", retuple::Order::kIncomparable},
      {"(i ?x)", "(i ?x)", retuple::Order::kEqual},
      {"(i e)", "e", retuple::Order::kGreater},
      {"(unknown ?x)", "(other ?x)", retuple::Order::kIncomparable},
      {"(unknown (unknown ?x))", "(unknown ?x)", retuple::Order::kGreater},
  };
  for (const auto& c : cases) EXPECT_EQ(LpoCompare(ctx_, p, Read(c.s), Read(c.t)), c.order) << c.s << " " << c.t;
}

TEST_F(CompletionTest, DeepTerms) {
  Term t = ctx_.Variable("x"), u = t;
  for (int i = 0; i < 3000; ++i) {
    t = ctx_.Tuple({ctx_.Sym("f"), t});
    u = ctx_.Tuple({ctx_.Sym("f"), u});
  }
  EXPECT_EQ(LpoCompare(ctx_, Order({"f"}), ctx_.Tuple({ctx_.Sym("f"), t}), u), retuple::Order::kGreater);
  internal::FirstOrderRewriter r(ctx_);
  r.Add({Read("(f (f ?x))"), Read("(f ?x)")});
  for (int i = 0; i < 200000; ++i) t = ctx_.Tuple({ctx_.Sym("f"), t});
  EXPECT_EQ(r.Normalize(t), Read("(f ?x)"));
}

}  // namespace
}  // namespace retuple
