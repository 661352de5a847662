// The behaviours of aesara's tests/graph/rewriting/test_unify.py, and what the outputs of one node, constants and random numbers are to
// unification. All terms come from nodes of a real graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir_bridge/ir_operators.h"
#include "ir_bridge/term_types.h"
#include "rewrite/normalizer.h"
#include "rewrite/rule_language.h"
#include "tests/ir_bridge/peer_graph.h"
#include "unify/script.h"

namespace retuple {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PeerGraph;

// ---- test_cons: the parts of a variable, an op and a type

TEST(AesaraConsTest, AVariableIsItsOpAndItsInputs) {
  PeerGraph g({"x", "y"});
  const Term z = g.Etuple(g.Build("(Add x y)"));
  EXPECT_EQ(g.ctx.Car(z), g.Read("Add"));
  EXPECT_EQ(g.ctx.Cdr(z), g.Read("(x y)"));
  EXPECT_TRUE(g.codec.IsApp(z));
  EXPECT_FALSE(g.codec.IsApp(g.Read("x")));  // a leaf has no op
  // An op with properties is its name and theirs; one without is an atom.
  const Term op = g.ctx.Rator(g.Etuple(g.Build("((t::Custom :a 1) x y)")));
  EXPECT_EQ(g.ctx.Car(op), g.Read("t::Custom"));
  EXPECT_EQ(g.ctx.Cdr(op), g.Read("(:a 1)"));
  EXPECT_FALSE(g.ctx.IsTuple(g.ctx.Rator(g.Etuple(g.Build("(t::Plain x y)")))));
}

TEST(AesaraConsTest, ATypeIsAnElementTypeAndAShape) {
  const std::pair<Type, const char*> cases[] = {
      {Type::Tensor(DType::kF32, {1, Dim::Fresh()}), "(f32 (1 _))"},
      {Type::Tensor(DType::kF64, {}), "(f64 ())"},       // a scalar
      {Type::Tensor(DType::kI64, {Dim::Named("N")}), "(i64 (N))"},
      {Type::Tensor(DType::kF32), "(f32)"},              // of unknown rank
      {Type::Sequence(Type::Tensor(DType::kF32, {2})), "((seq f32 (2)))"},
  };
  for (const auto& [type, words] : cases) {
    PeerGraph g({});
    const Term leaf = g.Etuple(g.Input("v", type));
    EXPECT_EQ(g.Unified(leaf, g.Read("(input \"v\" ..?type)")), std::string("type=") + words);
  }
}

// ---- test_etuples: applying an op builds a node

TEST(AesaraApplyTest, AnOpAppliedToAnEtupleIsANode) {
  PeerGraph g({"x", "y"});
  const Term inputs = g.Read("(x y)");
  for (const char* head : {"Add", "t::Plain", "((t::Custom :a 1))"}) {
    const Term op = g.ctx.IsTuple(g.Read(head)) ? g.ctx.Car(g.Read(head)) : g.Read(head);
    const VarId v = g.Value(g.ctx.Cons(op, inputs));
    EXPECT_EQ(g.graph.op_of(g.graph.apply(g.graph.var(v).producer)).form(), std::string(g.ctx.Text(g.ctx.HeadSymbol(g.Etuple(v)))));
    EXPECT_EQ(g.Operands(v), g.Operands(g.Build("(Add x y)")));
    EXPECT_EQ(g.ctx.Rator(g.Etuple(v)), op);
  }
  // An op alone is no value.
  EXPECT_THAT(std::string(g.Values({g.Read("t::Plain")}).status().message()), HasSubstr("no value of the IR"));
}

TEST(AesaraApplyTest, AnOpOfTwoOutputsGivesBoth) {
  PeerGraph g({"x"});
  const auto values = g.Values({g.Read("(nth 0 ((t::Two :num-outputs 2) x))"), g.Read("(nth 1 ((t::Two :num-outputs 2) x))")});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_NE((*values)[0], (*values)[1]);
  EXPECT_EQ(g.Sibling((*values)[0], 1), (*values)[1]);  // of one node
  EXPECT_EQ(g.graph.num_applies(), 1u);
  // Where the peer hands over the list of outputs, the application itself is no value.
  EXPECT_THAT(std::string(g.Values({g.Read("((t::Two :num-outputs 2) x)")}).status().message()), HasSubstr("needs (nth i"));
}

// ---- test_unify_Variable, test_unify_Op, test_unify_Type

TEST(AesaraUnifyTest, VariablesAndOpsWithPatterns) {
  const struct {
    const char* graph;
    const char* pattern;
    const char* unified;
  } cases[] = {
      {"(Add x y)", "(Add x y)", ""},
      {"x", "x", ""},
      {"x", "y", "no"},  // two leaves
      {"(Add x y)", "(?op x y)", "op=Add"},
      {"(Add x y)", "x", "no"},
      {"(Add x y)", "(?op y x)", "no"},
      {"(Add x y)", "(?op ..?args)", "op=Add args=(x y)"},
      {"(t::Plain x y)", "(t::Plain ?a ?b)", "a=x b=y"},
      {"(t::Plain x (Neg y))", "(t::Plain ?a (?f ?b))", "a=x f=Neg b=y"},
      {"(t::Plain x x)", "(t::Plain ?a ?a)", "a=x"},
      {"(t::Plain x y)", "(t::Plain ?a ?a)", "no"},
      // Ops: equal by their properties; a variable may stand for an op, for its name or for a property.
      {"((t::Custom :a 1) x)", "((t::Custom :a 1) x)", ""},
      {"((t::Custom :a 1) x)", "((t::Custom :a 2) x)", "no"},
      {"((t::Custom :a 1) x)", "((?name :a ?a) x)", "name=t::Custom a=1"},
      {"((t::Custom :a 1) x)", "(?op x)", "op=(t::Custom :a 1)"},
      {"((t::Custom :a 1 :b 2) x)", "((t::Custom :b 2 :a 1) x)", ""},  // in any order
      {"(t::Plain x)", "((t::Custom :a 1) x)", "no"},
      {"(t::Plain x)", "(t::Other x)", "no"},
      // Types are part of a leaf.
      {"x", "(input \"x\" f32 (2))", ""},
      {"x", "(input ?n ?dtype ?shape)", "n=\"x\" dtype=f32 shape=(2)"},
      {"x", "(input \"x\" f64 (2))", "no"},
      {"x", "(input \"x\" f32 (3))", "no"},
  };
  for (const auto& c : cases) {
    PeerGraph g({"x", "y"});
    const Term t = g.Etuple(g.Build(c.graph)), pattern = g.Read(c.pattern);
    EXPECT_EQ(g.Unified(t, pattern), c.unified) << c.graph << " ~ " << c.pattern;
    EXPECT_EQ(g.Unified(pattern, t), c.unified) << c.pattern << " ~ " << c.graph;
  }
}

TEST(AesaraUnifyTest, WhatAPatternReifiesToIsTheVariableItself) {
  PeerGraph g({"x", "y"});
  const VarId z = g.Build("(Add x y)");
  const Term t = g.Etuple(z), pattern = g.Read("(?op x y)");
  Substitution s;
  ASSERT_TRUE(Unify(g.ctx, t, pattern, s));
  EXPECT_EQ(g.Value(Reify(g.ctx, pattern, s)), z);
  EXPECT_EQ(g.graph.num_applies(), 1u);
}

// ---- test_unify_Constant: aesara compares values alone; here element type and shape count

TEST(AesaraUnifyTest, ConstantsUnifyWhenElementTypeShapeAndValuesAreEqual) {
  const char* constants[] = {"#<f32[] 2>",   "#<f64[] 2>",     "#<i64[] 2>", "#<i32[] 2>", "#<f32[1] 2>", "#<f32[2] 2 2>",
                             "#<f32[1,2] 2 2>", "#<i64[2] 1 2>", "#<i64[2] 2 1>", "#<bool[] 1>", "2", "2.0"};
  for (const char* a : constants) {
    for (const char* b : constants) {
      PeerGraph g({});
      const Term ta = g.Read(a), tb = g.Read(b);
      EXPECT_EQ(g.Unified(ta, tb), std::string(a) == b ? "" : "no") << a << " ~ " << b;
      if (TensorOf(g.ctx, ta) == nullptr || TensorOf(g.ctx, tb) == nullptr) continue;
      // Two constants of a graph, each with storage of its own.
      const VarId va = g.graph.AddConstant(*TensorOf(g.ctx, ta)), vb = g.graph.AddConstant(*TensorOf(g.ctx, tb));
      ASSERT_NE(va, vb);
      EXPECT_EQ(g.Unified(g.Etuple(va), g.Etuple(vb)), std::string(a) == b ? "" : "no") << a << " ~ " << b;
    }
  }
}

// ---- test_ConstrainedVar: a constraint is a goal beside the variable. Unlike the peer's it stays with a variable that it is unified
// with, and it holds in whichever order the goals come.

std::vector<std::string> Answers(const std::string& text) {
  Context ctx;
  std::vector<std::string> out;
  Script script(ctx, {.on_start = nullptr,
                      .on_answer =
                          [&](const Answer& a) {
                            out.push_back(a.ToString(ctx));
                            return true;
                          },
                      .on_end = nullptr});
  EXPECT_TRUE(script.program().AddPredicate("tupleo", [&ctx](std::span<const Term> a) { return ctx.IsTuple(a[0]); }).ok());
  const absl::Status s = script.RunText(text, "");
  EXPECT_TRUE(s.ok()) << text << s;
  return out;
}

TEST(AesaraConstrainedVarTest, Cases) {
  const struct {
    const char* text;
    std::vector<std::string> answers;
  } cases[] = {
      {"(run* ?c (stringo ?c))", {"?_0 :where (stringo ?_0)"}},  // how it prints
      {"(run* ?c (stringo ?c) (== ?c 1))", {}},
      {"(run* ?c (stringo ?c) (== 1 ?c))", {}},
      {"(run* ?c (stringo ?c) (== ?c \"hi\"))", {"\"hi\""}},
      {"(run* ?c (stringo ?c) (== \"hi\" ?c))", {"\"hi\""}},
      {"(run* (?c ?x) (stringo ?c) (== ?c ?x))", {"(?_0 ?_0) :where (stringo ?_0)"}},
      {"(run* (?c ?x) (stringo ?c) (== ?x \"hi\") (== ?c ?x))", {"(\"hi\" \"hi\")"}},
      {"(run* (?c ?x) (stringo ?c) (== ?x \"hi\") (== ?x ?c))", {"(\"hi\" \"hi\")"}},
      {"(run* (?c ?x) (stringo ?c) (== ?c \"hi\") (== ?x \"hi\") (== ?x ?c))", {"(\"hi\" \"hi\")"}},
      {"(run* (?c ?x) (stringo ?c) (== ?c \"hi\") (== ?x \"bye\") (== ?x ?c))", {}},
      {"(run* ?q (fresh (?a) (tupleo ?a) (== ?a (op1 x y)) (== ?q (op1 ?a))))", {"(op1 (op1 x y))"}},
      {"(run* ?q (fresh (?a) (tupleo ?a) (== ?a op1) (== ?q (op1 ?a))))", {}},
      // Through another variable, and afterwards: the peer drops the constraint here.
      {"(run* ?c (fresh (?x) (stringo ?c) (== ?c ?x) (== ?x 1)))", {}},
      {"(run* ?c (== ?c 1) (stringo ?c))", {}},
  };
  for (const auto& c : cases) EXPECT_EQ(Answers(c.text), c.answers) << c.text;
}

// ---- test_convert_strs_to_vars: patterns are text, the reader makes the variables

TEST(AesaraPatternTextTest, VariablesNestingAndConstants) {
  PeerGraph g({"x", "y"});
  EXPECT_TRUE(g.ctx.IsVariable(g.Read("?a")));
  EXPECT_EQ(g.ctx.Text(g.Read("?a")), "a");
  EXPECT_EQ(g.Read("((?a x) y)"), g.ctx.Tuple({g.ctx.Tuple({g.ctx.Variable("a"), g.Read("x")}), g.Read("y")}));
  const Term twice = g.Read("(?a ?a)");
  EXPECT_EQ(g.ctx.Children(twice)[0], g.ctx.Children(twice)[1]);
  EXPECT_EQ(g.Read("(?a)"), g.ctx.Tuple({g.ctx.Variable("a")}));  // the same variable in another text
  const int64_t values[] = {1, 2};
  EXPECT_EQ(g.Read("#<i64[2] 1 2>"), TensorTerm(g.ctx, Tensor::VectorI64(values)));
}

// ---- several outputs: what aesara's etuples cannot tell apart (reference: kanren.md 1.6)

class SvdTest : public ::testing::Test {
 protected:
  static constexpr char kHead[] = "(linalg::SVD :full_matrices 0 :num-outputs 3)";
  // Outputs u, s, v of svd(text).
  std::vector<VarId> Svd(const std::string& text) {
    const VarId u = g.Apply(kHead, {g.Build(text)});
    return {u, g.Sibling(u, 1), g.Sibling(u, 2)};
  }
  // Applies a rule to what `v` computes, in the graph.
  VarId Rewrite(const char* rule, VarId v, NormalizeReport* report = nullptr) {
    FunctionRegistry functions(g.ctx);
    IrOperators operators(g.codec, functions);
    TermTypes types(g.codec);
    RuleLoader loader(g.ctx, functions, operators);
    const absl::Status s = loader.Load(rule, {.file = "t.rules", .object_reader = ReadTensorObject});
    EXPECT_TRUE(s.ok()) << s;
    Normalizer n(g.ctx, loader.rules(), functions, {.types = &types});
    const Term t = g.Etuple(v);
    const VarId out = g.Value(n.Run(std::span<const Term>(&t, 1))[0]);
    if (report != nullptr) *report = n.report();
    return out;
  }
  PeerGraph g{{"x"}, {"X", "Y"}};
};

TEST_F(SvdTest, OutputsOfOneNodeDoNotUnify) {
  const std::vector<Term> t = g.Etuples(Svd("X"));
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) EXPECT_EQ(g.Unified(t[i], t[j]), i == j ? "" : "no") << i << " ~ " << j;
  }
  // The same output of an equal node does, that of another node does not.
  EXPECT_EQ(g.Unified(t[1], g.Etuple(Svd("X")[1])), "");
  EXPECT_EQ(g.Unified(t[1], g.Etuple(Svd("Y")[1])), "no");
}

TEST_F(SvdTest, APatternBindsTheOutputAndTheApplication) {
  const std::vector<Term> t = g.Etuples(Svd("X"));
  const std::string app = "((linalg::SVD :full_matrices 0 :num-outputs 3) X)";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(g.Unified(g.Read("(nth ?i ?app)"), t[static_cast<size_t>(i)]), "i=" + std::to_string(i) + " app=" + app);
    EXPECT_EQ(g.codec.NthApp(t[static_cast<size_t>(i)]), g.Read(app));  // one application below all three
  }
  EXPECT_EQ(g.Unified(g.Read("(nth 1 ((linalg::SVD ..?a) ?x))"), t[1]), "a=(:full_matrices 0 :num-outputs 3) x=X");
  EXPECT_EQ(g.Unified(g.Read("(nth 1 ((linalg::SVD ..?a) ?x))"), t[0]), "no");
  // Two outputs of one application, whichever it is.
  EXPECT_EQ(g.Unified(g.Read("(f (nth 0 ?app) (nth 2 ?app))"), g.ctx.Tuple({g.Read("f"), t[0], t[2]})), "app=" + app);
  EXPECT_EQ(g.Unified(g.Read("(f (nth 0 ?app) (nth 2 ?app))"), g.ctx.Tuple({g.Read("f"), t[0], g.Etuple(Svd("Y")[2])})), "no");
}

TEST_F(SvdTest, AllOutputsAreRebuilt) {
  const std::vector<VarId> outputs = Svd("X");
  const auto same = g.Values(g.Etuples(outputs));
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(*same, outputs);  // untouched: the variables themselves
  // U·V, where the peer joins lists of outputs.
  const VarId uv = g.Apply("MatMul", {outputs[0], outputs[2]});
  EXPECT_EQ(g.Value(g.Etuple(uv)), uv);
  // Of another matrix: one new node with three outputs.
  std::vector<Term> other;
  const size_t before = g.graph.num_applies();
  for (Term t : g.Etuples(outputs)) {
    other.push_back(g.ctx.Tuple({g.codec.nth, g.ctx.Children(t)[1], g.ctx.Tuple({g.ctx.Rator(g.codec.NthApp(t)), g.Read("Y")})}));
  }
  const auto made = g.Values(other);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(g.graph.num_applies(), before + 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ((*made)[static_cast<size_t>(i)], g.Sibling((*made)[0], i));
  EXPECT_THAT(g.Operands((*made)[0]), ElementsAre(g.Build("Y")));
}

TEST_F(SvdTest, ARuleOnOneOutputFiresThereAndLeavesTheOthers) {
  const std::vector<VarId> o = Svd("(linalg::Orthogonal X)"), p = Svd("Y");
  const VarId all = g.Apply("t::F", {o[0], o[1], o[2], p[1]});
  NormalizeReport report;
  const VarId out = Rewrite("(rewrite ortho (nth 1 ((linalg::SVD :num-outputs 3 ..?a) (linalg::Orthogonal ?x))) (linalg::Ones ?x) :types given)",
                            all, &report);
  EXPECT_EQ(report.stats[0].applied, 1u);
  const std::vector<VarId> in = g.Operands(out);
  ASSERT_EQ(in.size(), 4u);
  EXPECT_EQ(in[0], o[0]);
  EXPECT_EQ(g.Show(in[1]), "(linalg::Ones X)");
  EXPECT_EQ(in[2], o[2]);
  EXPECT_EQ(in[3], p[1]);
}

TEST_F(SvdTest, ARuleThatRebuildsTheNodeKeepsEachOutputInItsPlace) {
  const std::vector<VarId> o = Svd("(Identity X)");
  const VarId all = g.Apply("t::F", {o[2], o[1], o[0]});
  const VarId out = Rewrite("(rewrite id (Identity ?x) ?x)", all);
  EXPECT_EQ(g.Show(out), "(t::F (nth 2 ((linalg::SVD :full_matrices 0 :num-outputs 3) X)) (nth 1 ((linalg::SVD :full_matrices 0 :num-outputs 3) X)) "
                         "(nth 0 ((linalg::SVD :full_matrices 0 :num-outputs 3) X)))");
  const std::vector<VarId> in = g.Operands(out);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(in[static_cast<size_t>(2 - i)], g.Sibling(in[0], i));  // of one node
}

// A random node has the generator's next state and the draw; aesara's rebuild loses one of them.
TEST(AesaraRandomTest, StateAndDrawDifferAndBothSurviveARebuild) {
  PeerGraph g({"rng", "m"});
  const std::string head = "(random::Normal :num-outputs 2 :random-id ", mean = "(Identity m)";
  const VarId state = g.Apply(head + "1)", {g.Build("rng"), g.Build(mean)}), draw = g.Sibling(state, 1);
  const VarId other = g.Sibling(g.Apply(head + "2)", {g.Build("rng"), g.Build(mean)}), 1);
  const std::vector<Term> t = g.Etuples({state, draw, other});
  EXPECT_EQ(g.Unified(t[0], t[1]), "no");
  EXPECT_EQ(g.Unified(t[1], t[2]), "no");  // two draws never merge
  EXPECT_EQ(g.Unified(g.Read("(nth ?i ((random::Normal ..?a) ?r ?m))"), t[1]), "i=1 a=(:num-outputs 2 :random-id 1) r=rng m=(Identity m)");
  EXPECT_EQ(*g.Values(t), (std::vector<VarId>{state, draw, other}));
  // The mean is rewritten: both outputs come from one new node of the same identity.
  std::vector<Term> rebuilt;
  for (int i = 0; i < 2; ++i) rebuilt.push_back(g.Read("(nth " + std::to_string(i) + " (" + head + "1) rng m))"));
  const auto v = g.Values(rebuilt);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ((*v)[1], g.Sibling((*v)[0], 1));
  EXPECT_EQ(g.Show((*v)[0]), "(nth 0 ((random::Normal :num-outputs 2 :random-id 1) rng m))");
  EXPECT_EQ(g.Show((*v)[1]), "(nth 1 ((random::Normal :num-outputs 2 :random-id 1) rng m))");
  EXPECT_EQ(g.graph.op_of(g.graph.apply(g.graph.var((*v)[0]).producer)).effect, Effect::kRandom);
}

TEST(AesaraOutputListTest, AListOfOutputsIsEtuplizedAndRebuilt) {
  PeerGraph g({"x", "y"});
  const VarId two = g.Apply("(t::Two :num-outputs 2)", {g.Build("x")});
  const std::vector<VarId> outputs = {g.Build("(Add x y)"), two, g.Sibling(two, 1), g.Build("x"), two};
  const std::vector<Term> terms = g.Etuples(outputs);
  std::vector<std::string> texts;
  for (Term t : terms) texts.push_back(g.Print(t));
  EXPECT_THAT(texts, ElementsAre("(Add x y)", "(nth 0 ((t::Two :num-outputs 2) x))", "(nth 1 ((t::Two :num-outputs 2) x))", "x",
                                 "(nth 0 ((t::Two :num-outputs 2) x))"));
  EXPECT_EQ(*g.Values(terms), outputs);
  EXPECT_TRUE(g.Values({})->empty());
  // The list as one term and as its texts, into another graph.
  PeerGraph other({"x", "y"});
  std::vector<Term> read;
  for (const std::string& s : texts) read.push_back(other.Read(s));
  const auto made = other.Values(read);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ((*made)[1], (*made)[4]);
  EXPECT_EQ((*made)[2], other.Sibling((*made)[1], 1));
  EXPECT_EQ(other.graph.num_applies(), 2u);
}

}  // namespace
}  // namespace retuple
