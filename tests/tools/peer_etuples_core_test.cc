// The behaviours of etuples' tests/test_core.py. An etuple is a term; its value is what it reifies to: in Calc the results of C++ functions, in
// a Graph a node, which the kernels run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/executor.h"
#include "tests/ir_bridge/peer_calc.h"
#include "tests/ir_bridge/peer_graph.h"

namespace retuple {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Ne;
using ::testing::Not;
using ::testing::StartsWith;
using testing::Calc;
using testing::PeerGraph;

struct Etuples {
  Etuples() { calc.functions["add"] = testing::Sum; }
  Term Read(const std::string& text) { return *ReadTerm(ctx, text); }
  std::string Print(Term t) { return PrintTerm(ctx, t, {.let = false}); }
  std::vector<Term> Items(Term t) { return {ctx.Children(t).begin(), ctx.Children(t).end()}; }
  // The value as text; an error's message.
  std::string Evaluate(Term t) {
    auto v = bridge.Reify(std::span<const Term>(&t, 1));
    return v.ok() ? calc.Text((*v)[0]) : "error: " + std::string(v.status().message());
  }
  std::string Evaluate(const std::string& text) { return Evaluate(Read(text)); }

  Context ctx;
  Calc calc{ctx};
  Bridge<Calc> bridge{ctx, calc};
};

// What the kernels make of a term over the numbers one to four: scalars, or matrices of one element.
std::string Computed(const std::string& text, DType dtype = DType::kI64, Dims dims = {}) {
  PeerGraph g({});
  const char* words[] = {"one", "two", "three", "four"};
  for (int i = 0; i < 4; ++i) g.Name(words[i], TensorTerm(g.ctx, Tensor::ScalarLike(dtype, i + 1).Reshaped(dims)));
  g.graph.AddOutput("y", g.Build(text));
  auto plan = Plan::Compile(g.graph);
  if (!plan.ok()) return "error: " + std::string(plan.status().message());
  auto out = (*plan)->Run({});
  if (!out.ok()) return "error: " + std::string(out.status().message());
  if (!(*out)[0].is_tensor()) return "a sequence of " + std::to_string((*out)[0].sequence->size());
  return PrintTerm(g.ctx, TensorTerm(g.ctx, (*out)[0].tensor));
}

// ---- test_ExpressionTuple

TEST(EtuplesCoreTest, EqualityAndHash) {
  Etuples e;
  const Term e0 = e.Read("(add 1 2)");
  const uint64_t parts[] = {e.ctx.Hash(e.Read("add")), e.ctx.Hash(e.Read("1")), e.ctx.Hash(e.Read("2"))};
  EXPECT_EQ(e.ctx.Hash(e0), Context::HashTuple(parts));
  EXPECT_EQ(e.ctx.Tuple(e.ctx.Children(e0)), e0);  // a copy is the same term
  const struct {
    const char *a, *b;
    bool equal;
  } cases[] = {
      {"(1 (2 3))", "(1 (2 3))", true}, {"((1) 2)", "(1 2)", false}, {"(1 2)", "(1)", false}, {"(1 2)", "(1 3)", false},
      {"()", "()", true},               {"(())", "()", false},       {"(1)", "1", false},     {"(1 2)", "(1 2.0)", false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(e.Read(c.a) == e.Read(c.b), c.equal) << c.a << " " << c.b;
    EXPECT_EQ(e.ctx.Hash(e.Read(c.a)) == e.ctx.Hash(e.Read(c.b)), c.equal) << c.a << " " << c.b;
  }
}

TEST(EtuplesCoreTest, SlicesAndConcatenation) {
  Etuples e;
  const Term e0 = e.Read("(add 1 2)"), e1 = e.Read("(add (add 1 2) 3)");
  const auto items = e.ctx.Children(e0);
  EXPECT_EQ(e.ctx.Tuple(items.first(2)), e.Read("(add 1)"));
  EXPECT_EQ(e.ctx.Tuple(e.ctx.Children(e1).subspan(1, 1)), e.Read("((add 1 2))"));
  // What is put together again is the term that was taken apart, with the value that it had.
  const std::string value = e.Evaluate(e0);
  std::vector<Term> left(items.begin(), items.begin() + 2), right = e.Items(e.Read("(add 1)"));
  left.push_back(e.Read("2"));
  right.push_back(items.back());
  for (const auto& again : {left, right}) {
    EXPECT_EQ(e.ctx.Tuple(again), e0);
    EXPECT_EQ(e.Evaluate(e.ctx.Tuple(again)), value);
  }
  EXPECT_EQ(e.ctx.Cons(e.ctx.Car(e0), e.ctx.Cdr(e0)), e0);
  EXPECT_EQ(e.calc.calls, 1);
  EXPECT_THAT(e.Items(e0), Contains(e.Read("1")));
  EXPECT_THAT(e.Items(e0), Not(Contains(e.Read("3"))));
  std::vector<Term> twice = e.Items(e0);
  twice.insert(twice.end(), items.begin(), items.end());
  EXPECT_EQ(e.ctx.Tuple(twice), e.Read("(add 1 2 add 1 2)"));
}

TEST(EtuplesCoreTest, Evaluation) {
  const std::pair<const char*, const char*> cases[] = {
      {"(add 1 2)", "3"},
      {"(add (add 1 2) 3)", "6"},
      {"(add (add 1 (add 1 1)) (add 1 2))", "6"},
      {"()", "()"},  // a leaf of this IR, as the peer's empty tuple among operands
      {"(1)", "error: cannot be called: 1"},
      {"(\"add\" 1)", "error: cannot be called: \"add\""},
      {"((add 1) 2)", "error: cannot be called: (add 1)"},  // an operator is not computed
      {"(add (sub 1 2) 3)", "error: cannot be called: sub"},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(Etuples().Evaluate(text), value) << text;
}

TEST(EtuplesCoreTest, EvaluationByTheKernels) {
  const std::pair<const char*, const char*> cases[] = {
      {"(Add one two)", "#<i64[] 3>"},
      {"(Add (Add one two) three)", "#<i64[] 6>"},
      {"((Add) one one)", "#<i64[] 2>"},  // the operator is itself a tuple
      {"((Cast :saturate 1 :to 1) (Add one one))", "#<f32[] 2>"},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(Computed(text), value) << text;
}

TEST(EtuplesCoreTest, WhatIsNoExpression) {
  PeerGraph g({"x"});
  for (const char* text : {"()", "(1)", "(x x)", "(?f x)"}) {
    const auto v = g.Values({g.Read(text)});
    ASSERT_FALSE(v.ok()) << text;
    EXPECT_EQ(v.status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(EtuplesCoreTest, ASideEffectHappensOnce) {
  Etuples e;
  std::string printed;
  e.calc.functions["print"] = [&](std::span<const std::string> args) {
    printed += args[0] + "\n";
    return std::string("None");
  };
  EXPECT_EQ(e.Evaluate("(print \"hi\")"), "None");
  EXPECT_EQ(printed, "\"hi\"\n");
  EXPECT_EQ(e.Evaluate("(print \"hi\")"), "None");
  EXPECT_EQ(printed, "\"hi\"\n");
  // A random node is drawn once, however often it is used; another node is another draw.
  const std::string draw = "((RandomUniform :random-id 1 :shape (4)))", other = "((RandomUniform :random-id 2 :shape (4)))";
  EXPECT_EQ(Computed("(Sub " + draw + " " + draw + ")"), "#<f32[4] 0 0 0 0>");
  EXPECT_THAT(Computed("(Sub " + draw + " " + other + ")"), AllOf(StartsWith("#<f32[4] "), Ne("#<f32[4] 0 0 0 0>")));
}

// ---- test_eval_apply_fn: the IR decides what is called

// An operator that is an object of the program.
class Adder : public Object {
 public:
  uint64_t Hash() const override { return 1; }
  bool Equals(const Object& o) const override { return dynamic_cast<const Adder*>(&o) != nullptr; }
  std::string ToString(bool) const override { return "adder"; }
  std::string Add(std::span<const std::string> args) const { return testing::Sum(args); }
};

TEST(EtuplesCoreTest, TheIrDecidesWhatIsCalled) {
  Etuples e;
  const Term t = e.ctx.Tuple({e.ctx.Obj(std::make_shared<Adder>()), e.Read("1"), e.Read("2")});
  EXPECT_EQ(e.Evaluate(t), "error: cannot be called: #<adder>");
  e.calc.lookup = [&](Term head) -> Calc::Function {
    const auto adder = std::dynamic_pointer_cast<const Adder>(e.ctx.ObjectValue(head));
    return [adder](std::span<const std::string> args) { return adder->Add(args); };
  };
  EXPECT_EQ(e.Evaluate(t), "3");
}

// ---- test_etuple: values are kept

TEST(EtuplesCoreTest, AValueIsMadeOnceAndReused) {
  Etuples e;
  int made = 0;
  e.calc.functions["fresh"] = [&](std::span<const std::string>) { return "object " + std::to_string(++made); };
  e.calc.functions["both"] = [](std::span<const std::string> args) { return args[0] + ", " + args[1]; };
  const Term e1 = e.Read("(fresh 1 2)");
  EXPECT_EQ(e.bridge.ValueOf(e1), std::nullopt);  // not evaluated yet
  const std::string first = e.Evaluate(e1);
  const auto value = e.bridge.ValueOf(e1);
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(e.Evaluate(e1), first);
  EXPECT_EQ(e.bridge.ValueOf(e1), value);
  // Within another, and twice there.
  EXPECT_EQ(e.Evaluate("(both (fresh 1 2) (fresh 1 2))"), "object 1, object 1");
  EXPECT_EQ(made, 1);
  EXPECT_EQ(e.Evaluate("(both (fresh 3) (fresh 1 2))"), "object 2, object 1");
  // The value of what was never evaluated as a whole, but within another.
  EXPECT_EQ(e.Evaluate("(fresh 3)"), "object 2");
  EXPECT_EQ(e.calc.calls, 4);
}

// ---- test_etuple_generator: a sequence is a value like any other, and is not run through

TEST(EtuplesCoreTest, ASequenceIsAValue) { EXPECT_EQ(Computed("(SequenceConstruct one two three)"), "a sequence of 3"); }

// ---- test_etuple_kwargs

TEST(EtuplesCoreTest, KeywordsComeLastAndInOrder) {
  Etuples e;
  const std::pair<const char*, const char*> cases[] = {
      {"(:b 2 :a 1)", "(:a 1 :b 2)"},
      {"(f 1 2 :d 4 :c 3)", "(f 1 2 :c 3 :d 4)"},
      {"(f :a 1 :a 2)", "(f :a 1)"},
  };
  for (const auto& [text, printed] : cases) EXPECT_EQ(e.Print(e.Read(text)), printed) << text;
  const Term t = e.Read("(f 1 2 :d 4 :c (g))");
  EXPECT_EQ(e.ctx.KeywordValue(t, e.ctx.Keyword("c")), e.Read("(g)"));
  EXPECT_EQ(e.ctx.KeywordValue(t, e.ctx.Keyword("a")), std::nullopt);
  EXPECT_EQ(e.ctx.Positional(t).size(), 3u);
  EXPECT_EQ(e.Read("(f :a 1 :b 2)"), e.Read("(f :b 2 :a 1)"));
  EXPECT_EQ(e.ctx.Hash(e.Read("(f :a 1 :b 2)")), e.ctx.Hash(e.Read("(f :b 2 :a 1)")));
}

// The signature is the operator's schema. Optional operands may be left out, attributes have defaults, variadic operators take any number:
// Gemm is alpha·a·b + beta·c with alpha = beta = 1; Clip bounds by min and max, if any.
TEST(EtuplesCoreTest, OperandsAndAttributesAreBoundByTheSchema) {
  const std::pair<const char*, const char*> gemm[] = {
      {"(Gemm one two)", "#<f32[1,1] 2>"},                                             // e1
      {"(Gemm one two three)", "#<f32[1,1] 5>"},                                       // e2, e4
      {"((Gemm :alpha 3.0) one two)", "#<f32[1,1] 6>"},                                // e5
      {"((Gemm :alpha 4.0) one two three)", "#<f32[1,1] 11>"},                         // e3, e6
      {"((Gemm :beta 2.0 :alpha 4.0) one two three)", "#<f32[1,1] 14>"},
      {"(Gemm (Add one one) two (Add one (Add one one)))", "#<f32[1,1] 7>"},           // e7
      {"(Gemm one)", "error"},
      {"(Gemm one two three four)", "error"},
      {"((Gemm :gamma 1.0) one two)", "error"},
  };
  for (const auto& [text, value] : gemm) {
    PeerGraph g({});
    if (std::string(value) != "error") {
      EXPECT_EQ(Computed(text, DType::kF32, {1, 1}), value) << text;
    } else {
      g.Input("one", Type()), g.Input("two", Type()), g.Input("three", Type()), g.Input("four", Type());
      EXPECT_EQ(g.Values({g.Read(text)}).status().code(), absl::StatusCode::kInvalidArgument) << text;
    }
  }
  const std::pair<const char*, const char*> scalars[] = {
      {"(Sum one)", "#<f32[] 1>"},  // e11
      {"(Sum one two three four)", "#<f32[] 10>"},
      {"(Clip four)", "#<f32[] 4>"},
      {"(Clip one two)", "#<f32[] 2>"},
      {"(Clip four two three)", "#<f32[] 3>"},
      {"(Clip four none three)", "#<f32[] 3>"},
      {"((Constant :value_float 3.0))", "#<f32[] 3>"},  // e0: keywords alone
  };
  for (const auto& [text, value] : scalars) EXPECT_EQ(Computed(text, DType::kF32), value) << text;
}

// e8: of an operator without schema nothing is known, so whatever it is given is kept.
TEST(EtuplesCoreTest, AnOperatorWithoutASignatureTakesAnything) {
  for (const char* text : {"((py::enumerate :start 3) x)", "((py::enumerate :names (\"a\" \"b\") :start 3.5) x y x)", "(py::enumerate)"}) {
    PeerGraph g({"x", "y"});
    EXPECT_EQ(g.Show(g.Build(text)), text);
  }
}

// e9: the value that a term came with is no part of it.
TEST(EtuplesCoreTest, AValueThatIsGivenIsKeptBesideTheTerm) {
  PeerGraph g({"x", "y"});
  const VarId v = g.Build("(Add x y)");
  const Term t = g.Etuple(v);
  EXPECT_EQ(t, g.Read("(Add x y)"));
  EXPECT_EQ(g.bridge.ValueOf(t), v);
  EXPECT_EQ(g.Value(t), v);
  EXPECT_EQ(g.graph.num_applies(), 1u);
}

// ---- test_str, test_pprint

TEST(EtuplesCoreTest, Text) {
  Etuples e;
  EXPECT_EQ(PrintTerm(e.ctx, e.Read("(1 (\"a\" 2) (3 \"b\"))")), "(1 (\"a\" 2) (3 \"b\"))");
  EXPECT_EQ(PrintTerm(e.ctx, e.Read("(1 (a 2) (3 b))")), "(1 (a 2) (3 b))");
  EXPECT_EQ(PrintTerm(e.ctx, e.Read("(:a 1)")), "(:a 1)");
  const char* wide = "(1 (\"a\" 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19) (3 \"b\") :blah (\"c\" 0))";
  EXPECT_EQ(PrintTerm(e.ctx, e.Read(wide)), wide);
  // Bounded, and with what is shared named once.
  EXPECT_EQ(Brief(e.ctx, e.Read(wide), 20), "(1 (\"a\" 0 1 2 3 4 5 6…)…)");
  EXPECT_EQ(PrintTerm(e.ctx, e.Read("(f (g 1 2 3 4 5) (g 1 2 3 4 5))")), "(let ((%0 (g 1 2 3 4 5)))\n  (f %0 %0))");
  // What is printed is read back as the same term.
  for (const char* text : {"(1 (\"a\" 2) (3 \"b\"))", wide, "(f :a 1)", "(f ?x ..?y 1.5 -2 |odd one|)"}) {
    EXPECT_EQ(e.Read(PrintTerm(e.ctx, e.Read(text))), e.Read(text)) << text;
  }
}

// ---- test_reify_recursion_limit, and its hash, which the peer skips as a crash

TEST(EtuplesCoreTest, DeepChains) {
  auto chain = [](Context& ctx, Term head, Term number, int n) {
    Term t = number;
    for (int i = 0; i < n; ++i) t = ctx.Tuple({head, number, t});
    return t;
  };
  const struct {
    int depth, number;
    const char* value;
  } cases[] = {{10, 1, "11"}, {200, 1, "201"}, {200, 2, "402"}, {100'000, 2, "200002"}};
  for (const auto& c : cases) {
    Etuples e;
    const Term t = chain(e.ctx, e.Read("add"), e.ctx.Integer(c.number), c.depth);
    EXPECT_EQ(e.Evaluate(t), c.value);
    EXPECT_EQ(t, chain(e.ctx, e.Read("add"), e.ctx.Integer(c.number), c.depth));
    Etuples other;  // equal terms of two contexts have equal hashes
    EXPECT_EQ(e.ctx.Hash(t), other.ctx.Hash(chain(other.ctx, other.Read("add"), other.ctx.Integer(c.number), c.depth)));
  }
  for (const auto& c : {cases[1], cases[2]}) {
    PeerGraph g({});
    const Term t = chain(g.ctx, g.Read("Add"), TensorTerm(g.ctx, Tensor::ScalarI64(c.number)), c.depth);
    g.graph.AddOutput("y", g.Value(t));
    auto out = (*Plan::Compile(g.graph))->Run({});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(std::to_string((*out)[0].tensor.IntAt(0)), c.value);
  }
}

}  // namespace
}  // namespace retuple
