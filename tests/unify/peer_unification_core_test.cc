// logical-unification: tests/test_core.py, test_utils.py, test_variable.py and test_benchmarks.py.
//
// Its tuples, lists and iterators are tuples; a dict is `(dict :key value …)`, a slice `(slice start stop step)`, None `none`, a set the
// arguments of an operator `set` that is declared associative and commutative.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "absl/strings/str_join.h"
#include "etuple/printer.h"
#include "etuple/reader.h"
#include "unify/script.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

// The substitution of `((?x 1) (?y ?z))`.
Substitution ReadSubstitution(Context& ctx, const char* text) {
  Substitution s;
  const Term pairs = *ReadTerm(ctx, text);
  for (Term pair : ctx.Children(pairs)) s.Bind(ctx.Children(pair)[0], ctx.Children(pair)[1]);
  return s;
}

// `x=1 y=?z`, by name; the values are walked, not reified.
std::string Show(const Context& ctx, const Substitution& s) {
  std::vector<std::string> lines;
  for (Term v : s.trail()) lines.push_back(std::string(ctx.Text(v)) + "=" + PrintTerm(ctx, s.Walk(v)));
  std::sort(lines.begin(), lines.end());
  return absl::StrJoin(lines, " ");
}

struct UnifyCase {
  const char* a;
  const char* b;
  const char* given;
  const char* unifier;  // null: there is none
};

void Check(std::span<const UnifyCase> cases) {
  for (const UnifyCase& c : cases) {
    Context ctx;
    Substitution s = ReadSubstitution(ctx, c.given);
    const Term a = *ReadTerm(ctx, c.a), b = *ReadTerm(ctx, c.b);
    const std::string before = Show(ctx, s);
    const bool ok = Unify(ctx, a, b, s);
    ASSERT_EQ(ok, c.unifier != nullptr) << c.a << " ~ " << c.b;
    EXPECT_EQ(Show(ctx, s), ok ? c.unifier : before) << c.a << " ~ " << c.b << " given " << c.given;
    if (ok) EXPECT_EQ(Reify(ctx, a, s), Reify(ctx, b, s)) << c.a << " ~ " << c.b;
  }
}

struct ReifyCase {
  const char* term;
  const char* substitution;
  const char* reified;
};

void Check(std::span<const ReifyCase> cases) {
  for (const ReifyCase& c : cases) {
    Context ctx;
    const Substitution s = ReadSubstitution(ctx, c.substitution);
    EXPECT_EQ(Reify(ctx, *ReadTerm(ctx, c.term), s), *ReadTerm(ctx, c.reified)) << c.term << " under " << c.substitution;
  }
}

// test_assoc: extending a copy leaves the original; extending in place can be undone.
TEST(PeerUnificationCore, Assoc) {
  Context ctx;
  const Term x = ctx.Variable("x"), y = ctx.Variable("y");
  Substitution d = ReadSubstitution(ctx, "((?a 1) (?b 2))");
  Substitution copy = d;
  copy.Bind(x, ctx.Integer(3));
  EXPECT_EQ(Show(ctx, copy), "a=1 b=2 x=3");
  EXPECT_EQ(Show(ctx, d), "a=1 b=2");
  const size_t mark = d.size();
  d.Bind(x, y);
  d.Bind(y, ctx.Integer(4));
  EXPECT_EQ(Show(ctx, d), "a=1 b=2 x=4 y=4");
  d.Undo(mark);
  EXPECT_EQ(Show(ctx, d), "a=1 b=2");
  EXPECT_FALSE(d.IsBound(x));
}

TEST(PeerUnificationCore, Reify) {
  const char* s = "((?x 1) (?y 2) (?z (?x ?y)))";
  Check(std::to_array<ReifyCase>({
      {"?x", s, "1"},
      {"10", s, "10"},
      {"(1 ?y)", s, "(1 2)"},
      {"(1 (?x (?y 2)))", s, "(1 (1 (2 2)))"},
      {"?z", s, "(1 2)"},
      {"?w", s, "?w"},
  }));
}

// test_reify_Mapping, _Set, _list, _complex, _slice.
TEST(PeerUnificationCore, ReifyInsideCollections) {
  const char* s = "((?x 2) (?y 4))";
  Check(std::to_array<ReifyCase>({
      {"(dict :1 ?x :3 (dict :5 ?y))", s, "(dict :1 2 :3 (dict :5 4))"},
      {"(dict :3 (dict :5 ?y) :1 ?x)", s, "(dict :1 2 :3 (dict :5 4))"},
      {"(set 1 2 ?x ?y)", "((?x 3))", "(set 1 2 3 ?y)"},
      {"(1 (?x 3) ?y)", s, "(1 (2 3) 4)"},
      {"(dict :1 (?x) :3 (?y 5))", s, "(dict :1 (2) :3 (4 5))"},
      {"(1 (dict :2 ?x))", "((?x (slice 0 ?y none)) (?y 3))", "(1 (dict :2 (slice 0 3 none)))"},
      {"(slice 1 ?x 3)", "((?x 10))", "(slice 1 10 3)"},
  }));
}

TEST(PeerUnificationCore, Unify) {
  Check(std::to_array<UnifyCase>({
      {"?x", "?x", "()", ""},
      {"1", "1", "()", ""},
      {"1", "2", "()", nullptr},
      {"?x", "2", "()", "x=2"},
      {"2", "?x", "()", "x=2"},
      {"?x", "?y", "()", "x=?y"},
      {"?y", "?x", "()", "y=?x"},
      {"?y", "?x", "((?y ?x))", "y=?x"},
      {"?x", "?y", "((?y ?x))", "y=?x"},
      {"?y", "?x", "((?x ?y))", "x=?y"},
      {"?x", "?y", "((?x ?y))", "x=?y"},
      {"?y", "?x", "((?y ?z))", "y=?x z=?x"},  // y → z → x
      {"?x", "?y", "((?y ?z))", "x=?z y=?z"},
      {"?x", "(1 ?x)", "()", nullptr},  // the peer builds a cycle (unification#38)
  }));
}

TEST(PeerUnificationCore, UnifySlice) {
  Check(std::to_array<UnifyCase>({
      {"(slice none 1 none)", "(slice none 1 none)", "()", ""},
      {"(slice 1 2 1)", "(slice 2 2 1)", "()", nullptr},
      {"(slice 1 2 1)", "(slice ?x 2 1)", "((?x 2))", nullptr},
      {"(slice 1 2 1)", "(slice 1 3 1)", "()", nullptr},
      {"(slice 1 4 2)", "(slice 1 4 1)", "()", nullptr},
      {"(slice none ?x none)", "(slice none ?x none)", "()", ""},
      {"(slice 1 2 3)", "?x", "()", "x=(slice 1 2 3)"},
      {"(slice 1 2 none)", "(slice ?x ?y none)", "()", "x=1 y=2"},
  }));
}

// test_unify_iter, test_unify_seq. Sequences of different types are tuples with different heads.
TEST(PeerUnificationCore, UnifySequences) {
  Check(std::to_array<UnifyCase>({
      {"(list 1)", "(tuple 1)", "()", nullptr},
      {"(generator 1 2)", "(list 1 2)", "()", nullptr},
      {"(1 ?x)", "(1 2)", "()", "x=2"},
      {"()", "()", "()", ""},
      {"(?x)", "(?x)", "()", ""},
      {"(1 2)", "(1 2)", "()", ""},
      {"(1 2)", "(1 2 3)", "()", nullptr},
      {"(1 2 3)", "(1 2)", "()", nullptr},
      {"(1 ?x)", "(1 2 3)", "()", nullptr},
      {"(?x 2 3)", "(1 2)", "()", nullptr},
      {"(1 ?x)", "(1 2)", "((?x 3))", nullptr},
      {"(?x ?x)", "(1 2)", "()", nullptr},
      {"(?a ?b)", "?x", "((?x (?z 1)))", "a=?z b=1 x=(?z 1)"},
  }));
}

TEST(PeerUnificationCore, UnifyDict) {
  Check(std::to_array<UnifyCase>({
      {"(dict :1 2)", "(dict :1 2)", "()", ""},
      {"(dict :1 ?x)", "(dict :1 ?x)", "()", ""},
      {"(dict :1 2)", "(dict :1 3)", "()", nullptr},
      {"(dict :2 2)", "(dict :1 2)", "()", nullptr},
      {"(dict :2 2 :3 3)", "(dict :1 2)", "()", nullptr},
      {"(dict :1 ?x)", "(dict :1 2)", "()", "x=2"},
      {"(dict :b 1 :a ?x)", "(dict :a 2 :b ?y)", "()", "x=2 y=1"},
  }));
}

TEST(PeerUnificationCore, UnifyComplex) {
  Check(std::to_array<UnifyCase>({
      {"(1 (dict :2 3))", "(1 (dict :2 3))", "()", ""},
      {"(1 (dict :2 3))", "(1 (dict :2 4))", "()", nullptr},
      {"(1 (dict :2 ?x))", "(1 (dict :2 4))", "()", "x=4"},
      {"(1 (dict :2 ?x))", "(1 (dict :2 (slice 1 ?y none)))", "((?y 2))", "x=(slice 1 ?y none) y=2"},
      {"(dict :1 (2 3))", "(dict :1 (2 ?x))", "()", "x=3"},
      {"(dict :1 (list 2 3))", "(dict :1 (list 2 ?x))", "()", "x=3"},
  }));
}

TEST(PeerUnificationCore, UnifySet) {
  struct {
    const char* goals;
    std::vector<std::string> x;
  } cases[] = {
      {"(== (set) (set))", {"?_0"}},
      {"(ac== (set ?x) (set ?x))", {"?_0"}},
      {"(ac== (set 1 2) (set 2 1))", {"?_0"}},
      {"(ac== (set 1 ?x) (set 1 2))", {"2"}},
      {"(ac== (set ?x 2) (set 1 2))", {"1"}},
      {"(== ?x 2) (fresh (?y) (ac== (set 1 ?y ?x) (set 2 1)))", {}},
      {"(ac== (set 1 ?x) (set 2 3))", {}},
  };
  for (const auto& c : cases) {
    Context ctx;
    std::vector<std::string> answers;
    auto on_answer = [&](const Answer& a) {
      answers.push_back(a.ToString(ctx));
      return true;
    };
    Script script(ctx, {.on_start = nullptr, .on_answer = on_answer, .on_end = nullptr}, {});
    const auto status = script.RunText("(operator set :assoc :comm) (run* ?x " + std::string(c.goals) + ")", "");
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(answers, c.x) << c.goals;
  }
}

// test_unground_lvars: the peer's five constructors are heads here.
TEST(PeerUnificationCore, UngroundVariables) {
  struct {
    const char* term;
    const char* substitution;
    const char* unground;
  } cases[] = {
      {"(C 1 2)", "()", "()"},
      {"(C 1 (sub ?a (sub ?b 2) 3))", "()", "(?a ?b)"},
      {"(C 1 (sub ?a (sub ?b 2) 3))", "((?a 4))", "(?b)"},
      {"(C 1 (sub ?a (sub ?b 2) 3))", "((?a 4) (?b 5))", "()"},
      {"(C 1 ?a)", "((?a 2))", "()"},
      {"(C ?a (sub ?b 2) 3)", "((?a ?b) (?b 1))", "()"},
      {"(C 1 ?a)", "((?a ?b))", "(?b)"},
      {"(C 1 ?c)", "()", "(?c)"},
      {"(C ?a (sub ?b 2) 3)", "((?a ?b) (?b ?c))", "(?c)"},
  };
  for (const char* type : {"tuple", "list", "iter", "set", "frozenset"}) {
    for (const auto& c : cases) {
      std::string text = c.term;
      text.replace(text.find('C'), 1, type);
      Context ctx;
      const Substitution s = ReadSubstitution(ctx, c.substitution);
      const Term t = *ReadTerm(ctx, text), expected = *ReadTerm(ctx, c.unground);
      const auto nodes = ctx.num_nodes();
      EXPECT_EQ(UnboundVariables(ctx, t, s), std::vector<Term>(ctx.Children(expected).begin(), ctx.Children(expected).end())) << text;
      EXPECT_EQ(ctx.num_nodes(), nodes) << "builds nothing";
      EXPECT_EQ(ctx.IsGround(Reify(ctx, t, s)), expected.is_nil()) << text << " under " << c.substitution;
    }
  }
}

// test_unify_freeze.
TEST(PeerUnificationCore, KeysHaveNoOrder) {
  Check(std::to_array<UnifyCase>({
      {"(account :name ?name :debit ?amount)", "(account :debit 100 :name \"Bob\")", "()", "amount=100 name=\"Bob\""},
  }));
}

// [1 [2 … [n-1 last]]], or with variables ?1 ?2 … in the first places. As gen_long_chain of the peer.
Term Chain(Context& ctx, Term last, int n, bool variables) {
  Term t = last;
  for (int i = n - 1; i > 0; --i) t = ctx.Tuple({variables ? ctx.Variable(std::to_string(i)) : ctx.Integer(i), t});
  return t;
}

// test_reify_recursion_limit, test_unify_recursion_limit, and test_benchmarks with a size of our own.
TEST(PeerUnificationCore, DeepChains) {
  for (int n : {10, 35, 200, 300, 1000, 5000, 100'000}) {
    Context ctx;
    const Term a = ctx.Variable("a"), leaf = ctx.Sym("leaf");
    const Term form = Chain(ctx, a, n, true), term = Chain(ctx, leaf, n, false);
    Substitution s;
    ASSERT_TRUE(Unify(ctx, form, term, s));
    EXPECT_EQ(s.Walk(a), leaf);
    EXPECT_EQ(s.Walk(ctx.Variable("1")), ctx.Integer(1));
    EXPECT_EQ(s.size(), static_cast<size_t>(n));
    EXPECT_EQ(Reify(ctx, form, s), term);
    EXPECT_TRUE(UnboundVariables(ctx, form, s).empty());

    // One variable, at the leaf.
    Substitution one;
    const Term open = Chain(ctx, a, n, false);
    ASSERT_TRUE(Unify(ctx, term, open, one));
    EXPECT_EQ(Show(ctx, one), "a=leaf");
    EXPECT_EQ(Reify(ctx, open, one), term);
    EXPECT_EQ(UnboundVariables(ctx, open, Substitution()), std::vector<Term>{a});

    // Chains that part at the leaf.
    Substitution none;
    EXPECT_FALSE(Unify(ctx, Chain(ctx, ctx.Integer(0), n, true), term, none));
    EXPECT_EQ(none.size(), 0u);
    EXPECT_FALSE(Unify(ctx, a, form, none));  // the occurs check goes to the leaf
  }
}

// The same depth in the substitution: v0 → v1 → … → leaf, and v0 → (v1), v1 → (v2), …
TEST(PeerUnificationCore, DeepSubstitutions) {
  for (int n : {10, 35, 300, 1000, 5000, 100'000}) {
    Context ctx;
    const Term leaf = ctx.Sym("leaf");
    Substitution chain, nested;
    Term expected = leaf;
    auto v = [&](int i) { return i == n ? leaf : ctx.Variable(std::to_string(i)); };
    for (int i = 0; i < n; ++i) {
      chain.Bind(v(i), v(i + 1));
      nested.Bind(v(i), ctx.Tuple({v(i + 1)}));
      expected = ctx.Tuple({expected});
    }
    EXPECT_EQ(chain.Walk(v(0)), leaf);
    EXPECT_EQ(Reify(ctx, v(0), chain), leaf);
    EXPECT_EQ(Reify(ctx, v(0), nested), expected);
  }
}

// test_transitive_get.
TEST(PeerUnificationUtils, Walk) {
  Context ctx;
  const Substitution s = ReadSubstitution(ctx, "((?x ?y) (?y 1))");
  EXPECT_EQ(s.Walk(ctx.Variable("x")), ctx.Integer(1));
  const Term dict = *ReadTerm(ctx, "(dict :1 2)"), open = *ReadTerm(ctx, "(dict :1 ?x)");
  EXPECT_EQ(s.Walk(dict), dict);
  EXPECT_EQ(s.Walk(open), open);  // the root only
}

// test_freeze: every term is immutable and has a hash; the order of keys does not count.
TEST(PeerUnificationUtils, TermsAreHashable) {
  Context ctx;
  const Term a = *ReadTerm(ctx, "(dict :1 (2 3) :0 (4))"), b = *ReadTerm(ctx, "(dict :0 (4) :1 (2 3))");
  EXPECT_EQ(a, b);
  EXPECT_EQ(ctx.Hash(a), ctx.Hash(b));
  EXPECT_EQ(PrintTerm(ctx, a), "(dict :0 (4) :1 (2 3))");
  EXPECT_NE(a, *ReadTerm(ctx, "(dict :0 (4) :1 (3 2))"));
}

// test_isvar, test_var, test_var_inputs, test_vars.
TEST(PeerUnificationVariable, VariablesAreInterned) {
  Context ctx;
  EXPECT_FALSE(ctx.IsVariable(ctx.Integer(3)));
  EXPECT_FALSE(ctx.IsVariable(ctx.Sym("3")));
  EXPECT_TRUE(ctx.IsVariable(ctx.Variable("3")));
  EXPECT_TRUE(ctx.IsVariable(ctx.RestVariable("3")));
  EXPECT_NE(ctx.RestVariable("3"), ctx.Variable("3"));
  EXPECT_EQ(ctx.Variable("1"), ctx.Variable("1"));
  EXPECT_EQ(*ReadTerm(ctx, "?1"), ctx.Variable("1"));
  EXPECT_NE(ctx.Variable("1"), ctx.Variable("2"));

  std::set<Term> fresh;
  for (const char* prefix : {"", "a", "a", "a"}) {
    const Term v = ctx.FreshVariable(prefix);
    EXPECT_TRUE(ctx.IsVariable(v));
    EXPECT_EQ(ctx.Text(v).substr(0, std::string_view(prefix).size()), prefix);
    EXPECT_NE(v, ctx.Variable(prefix));
    fresh.insert(v);
  }
  EXPECT_EQ(fresh.size(), 4u);
}

}  // namespace
}  // namespace retuple
