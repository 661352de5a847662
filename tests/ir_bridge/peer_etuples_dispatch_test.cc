// The behaviours of etuples' tests/test_dispatch.py: taking objects apart and putting them together, and unification of etuples. The
// objects are the nodes of an IR that only its adapter (Calc) knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "etuple/reader.h"
#include "tests/ir_bridge/peer_calc.h"
#include "rewrite/normalizer.h"
#include "rewrite/rule_language.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

using ::testing::ElementsAre;
using testing::Calc;

class EtuplesDispatchTest : public ::testing::Test {
 protected:
  EtuplesDispatchTest() {
    calc_.functions["add"] = testing::Sum;
    // The peer's Operator("*"), Operator("+"): calling one makes a Node.
    for (const char* op : {"*", "+"}) {
      calc_.functions[op] = [op](std::span<const std::string> args) {
        std::string out = std::string("Node ") + op;
        for (const std::string& a : args) out += " [" + a + "]";
        return out;
      };
    }
    calc_.functions["object"] = [this](std::span<const std::string>) { return "object " + std::to_string(calc_.calls); };
  }
  Term Read(const std::string& text) { return *ReadTerm(ctx_, text); }
  std::string Print(Term t) { return PrintTerm(ctx_, t, {.let = false}); }
  Calc::Value Make(Term t) {
    auto v = bridge_.Reify(std::span<const Term>(&t, 1));
    EXPECT_TRUE(v.ok()) << v.status();
    return (*v)[0];
  }
  std::string Evaluate(Term t) { return calc_.Text(Make(t)); }
  Term Etuple(Calc::Value v) { return (*bridge_.Etuplize(std::span<const Calc::Value>(&v, 1)))[0]; }
  // A copy of `t` in which the rules were applied wherever they match.
  Term Transformed(const char* rules, Term t) {
    FunctionRegistry functions(ctx_);
    FreeOperatorTable operators(ctx_);
    RuleLoader loader(ctx_, functions, operators);
    const absl::Status s = loader.Load(rules, {.file = "t.rules", .object_reader = nullptr});
    EXPECT_TRUE(s.ok()) << s;
    return Normalizer(ctx_, loader.rules(), functions).Run(std::span<const Term>(&t, 1))[0];
  }

  Context ctx_;
  Calc calc_{ctx_};
  Bridge<Calc> bridge_{ctx_, calc_};
};

// ---- test_etuple_apply, test_rator_rands_apply

TEST_F(EtuplesDispatchTest, Apply) {
  EXPECT_EQ(Evaluate(ctx_.Cons(Read("add"), Read("(1 2)"))), "3");
  EXPECT_EQ(ctx_.Cons(Read("1"), Read("(2)")), Read("(1 2)"));  // of what cannot be called it is a tuple
}

TEST_F(EtuplesDispatchTest, PuttingTogetherWhatWasTakenApartKeepsTheValue) {
  const Term e1 = Read("(* (object 1) (object 2))");
  const std::string value = Evaluate(e1);
  const int calls = calc_.calls;
  std::vector<Term> all = {ctx_.Rator(e1)};
  all.insert(all.end(), ctx_.Rands(e1).begin(), ctx_.Rands(e1).end());
  for (Term again : {ctx_.Tuple(all), ctx_.Cons(ctx_.Rator(e1), ctx_.Cdr(e1))}) {
    EXPECT_EQ(again, e1);
    EXPECT_EQ(Evaluate(again), value);
  }
  EXPECT_EQ(calc_.calls, calls);
}

TEST_F(EtuplesDispatchTest, ANodeIsItsOperatorAndOperands) {
  const Calc::Value node = Make(Read("(* 1 2)"));
  EXPECT_EQ(calc_.Text(node), "Node * [1] [2]");
  const Term t = Etuple(node);
  EXPECT_EQ(ctx_.Rator(t), Read("*"));
  EXPECT_THAT(ctx_.Rands(t), ElementsAre(Read("1"), Read("2")));
  EXPECT_EQ(Make(ctx_.Cons(ctx_.Rator(t), ctx_.Cdr(t))), node);
  // An equal node that was made elsewhere has an equal term.
  Bridge<Calc> elsewhere(ctx_, calc_);
  const Term same = Read("(* 1 2)");
  const Calc::Value other = (*elsewhere.Reify(std::span<const Term>(&same, 1)))[0];
  EXPECT_NE(other, node);
  EXPECT_EQ(Etuple(other), t);
}

// ---- test_etuplize

TEST_F(EtuplesDispatchTest, Etuplize) {
  const Calc::Value node_1 = Make(Read("(+ 1 2)")), node_2 = Make(Read("(* (+ 1 2) 3 ())"));
  EXPECT_EQ(calc_.Text(node_2), "Node * [Node + [1] [2]] [3] [()]");
  Bridge<Calc> fresh(ctx_, calc_);  // knows no term yet
  const Term t = (*fresh.Etuplize(std::span<const Calc::Value>(&node_2, 1)))[0];
  EXPECT_EQ(Print(t), "(* (+ 1 2) 3 ())");
  EXPECT_EQ((*fresh.Etuplize(std::span<const Calc::Value>(&node_2, 1)))[0], t);  // again: the same
  EXPECT_TRUE(ctx_.Children(t).back().is_nil());
  // One level of it: the operands are terms that remember their objects.
  EXPECT_EQ(fresh.ValueOf(ctx_.Rands(t)[0]), node_1);
  // An atom is its own term, and () is.
  for (const char* atom : {"\"ab\"", "1", "sym", "()"}) EXPECT_EQ(Etuple(Make(Read(atom))), Read(atom)) << atom;
}

TEST_F(EtuplesDispatchTest, TransformedOperandsAndOperators) {
  const Term t = Etuple(Make(Read("(* (+ 1 2) 3 ())")));
  const std::pair<const char*, const char*> cases[] = {
      {"(rewrite rands 1 4)", "(* (+ 4 2) 3 ())"},
      {"(rewrite rator (* ..?a) (+ ..?a))", "(+ (+ 1 2) 3 ())"},
      {"(rewrite rator * +)", "(+ (+ 1 2) 3 ())"},
      {"(rewrite rands 1 4) (rewrite rator (* ..?a) (+ ..?a))", "(+ (+ 4 2) 3 ())"},
  };
  for (const auto& [rules, result] : cases) EXPECT_EQ(Print(Transformed(rules, t)), result) << rules;
  EXPECT_EQ(Evaluate(Transformed("(rewrite rands 1 4)", t)), "Node * [Node + [4] [2]] [3] [()]");
}

// ---- test_unification

TEST_F(EtuplesDispatchTest, Unify) {
  const struct {
    const char *a, *b;
    const char* bindings;  // null: none
  } cases[] = {
      {"(add 1 2)", "(add 1 2)", ""},
      {"(add 1 2)", "(?a 1 2)", "?a=add"},
      {"(add 1 2)", "(?a ..?b)", "?a=add ..?b=(1 2)"},
      {"(?a)", "(1)", "?a=1"},
      {"(add 1 2)", "(?a 1)", nullptr},
      {"(add 1 2)", "(?a 1 3)", nullptr},
      {"()", "(?a ..?b)", nullptr},
      {"(1)", "(?a ..?b)", "?a=1 ..?b=()"},
      {"(add ?a 2)", "(add ?b 2)", "?a=?b"},
      // Keyword arguments.
      {"(:name \"blah\")", "(:name ?a)", "?a=\"blah\""},
      {"(add 1 :name \"blah\")", "(add 1 :name ?a)", "?a=\"blah\""},
      {"(add 1 :name \"blah\" :size 2)", "(add 1 :size ?s :name ?n)", "?n=\"blah\" ?s=2"},
      {"(add 1 :name \"blah\")", "(add 1 :other ?a)", nullptr},
      {"(add 1 :name \"blah\")", "(add 1 ?a)", nullptr},
  };
  for (const auto& c : cases) {
    const Term a = Read(c.a), b = Read(c.b);
    Substitution s;
    ASSERT_EQ(Unify(ctx_, a, b, s), c.bindings != nullptr) << c.a << " ~ " << c.b;
    if (c.bindings == nullptr) continue;
    std::string bindings;
    for (Term v : Variables(ctx_, ctx_.Tuple({a, b}))) {
      if (s.IsBound(v)) bindings += (bindings.empty() ? "" : " ") + Print(v) + "=" + Print(Reify(ctx_, v, s));
    }
    EXPECT_EQ(bindings, c.bindings) << c.a << " ~ " << c.b;
    EXPECT_EQ(Reify(ctx_, a, s), Reify(ctx_, b, s)) << c.a << " ~ " << c.b;
  }
}

TEST_F(EtuplesDispatchTest, ReifyGivesBackTheTermAndItsValue) {
  const Term t = Read("(add 1 2)"), pattern = Read("(?a ..?b)");
  const Calc::Value three = Make(t);
  Substitution s;
  ASSERT_TRUE(Unify(ctx_, t, pattern, s));
  EXPECT_EQ(Reify(ctx_, pattern, s), t);
  EXPECT_EQ(bridge_.ValueOf(Reify(ctx_, pattern, s)), three);
  EXPECT_EQ(ctx_.Cons(s.Walk(ctx_.Variable("a")), s.Walk(ctx_.RestVariable("b"))), t);  // head + tail
  EXPECT_EQ(calc_.calls, 1);
}

TEST_F(EtuplesDispatchTest, Reify) {
  const struct {
    const char *term, *value, *reified;
  } cases[] = {
      {"(?a 1 2)", "add", "(add 1 2)"},
      {"(?a)", "1", "(1)"},
      {"(add ?a 2)", "?b", "(add ?b 2)"},
      {"(?a 2)", "?b", "(?b 2)"},
      {"(add 1 2)", "5", "(add 1 2)"},
      {"(:name ?a)", "\"blah\"", "(:name \"blah\")"},
      {"(add 1 :name ?a)", "\"blah\"", "(add 1 :name \"blah\")"},
  };
  for (const auto& c : cases) {
    Substitution s;
    s.Bind(ctx_.Variable("a"), Read(c.value));
    EXPECT_EQ(Print(retuple::Reify(ctx_, Read(c.term), s)), c.reified) << c.term;
    EXPECT_EQ(retuple::Reify(ctx_, Read(c.term), Substitution()), Read(c.term)) << c.term;  // nothing known: the term itself
  }
}

}  // namespace
}  // namespace retuple
