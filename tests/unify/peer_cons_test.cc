// python-cons: tests/test_cons.py.
//
// cons(a, d) is `(?a ..?d)`. Its lists, tuples, iterators and OrderedDicts (of pairs) are tuples, its empty ones and None are `()`. As a term a
// tuple is a proper list; a pair whose rest is an atom, `(1 .. 2)`, is known to goals, and to the terms that go into and come out of them.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "etuple/printer.h"
#include "etuple/reader.h"
#include "unify/script.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

// The answers of `(run* WANTED GOAL …)`, ` | ` between them.
std::string Ask(const std::string& wanted, const std::string& goals) {
  constexpr char kListo[] =
      "(defrel (listo ?l) (conde ((== ?l ())) ((fresh (?a ?d) (== ?l (?a ..?d)) (listo ?d)))))";
  Context ctx;
  std::vector<std::string> out;
  auto on_answer = [&](const Answer& a) {
    out.push_back(a.ToString(ctx));
    return true;
  };
  Script script(ctx, {.on_start = nullptr, .on_answer = on_answer, .on_end = nullptr}, {});
  const absl::Status status = script.RunText(absl::StrCat(kListo, "(run* ", wanted, " ", goals, ")"), "");
  EXPECT_TRUE(status.ok()) << status;
  return absl::StrJoin(out, " | ");
}

bool IsProperText(const std::string& text) { return text[0] == '(' && text.find(" .. ") == std::string::npos; }

class Opaque : public Object {
 public:
  uint64_t Hash() const override { return 1; }
  bool Equals(const Object& o) const override { return this == &o; }
  std::string ToString(bool) const override { return "opaque"; }
};

// test_noncons_type, test_cons_type, test_cons_null, test_proper_sequence_type.
TEST(PeerCons, Types) {
  struct {
    const char* term;
    bool pair, null, proper;
  } cases[] = {
      {"(1 2)", true, false, true},
      {"(1)", true, false, true},
      {"((1 2))", true, false, true},  // an OrderedDict of one item
      {"(())", true, false, true},
      {"()", false, true, true},
      {"(1 .. \"hi\")", true, false, false},
      {"(1 .. 2)", true, false, false},
      {"(1 2 .. 3)", true, false, false},
      {"\"hi\"", false, false, false},
      {"1", false, false, false},
      {"1.5", false, false, false},
      {"symbol", false, false, false},
      {":keyword", false, false, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Ask("?q", absl::StrCat("(fresh (?a ?d) (== ", c.term, " (?a ..?d)))")), c.pair ? "?_0" : "") << c.term;
    EXPECT_EQ(Ask("?q", absl::StrCat("(== ", c.term, " ())")), c.null ? "?_0" : "") << c.term;
    EXPECT_EQ(Ask("?q", absl::StrCat("(listo ", c.term, ")")), c.proper ? "?_0" : "") << c.term;
    if (c.pair && !c.proper) continue;
    Context ctx;
    const Term t = *ReadTerm(ctx, c.term);
    EXPECT_EQ(ctx.IsTuple(t) && !t.is_nil(), c.pair) << c.term;
    EXPECT_EQ(t.is_nil(), c.null) << c.term;
    EXPECT_EQ(ctx.IsTuple(t), c.proper) << c.term;
  }
}

// test_cons_join, and cars and cdrs of what is joined: the same law three times, for goals, for unification, for the C++ functions.
TEST(PeerCons, JoinAndPart) {
  struct {
    const char* car;
    const char* cdr;
    const char* joined;
  } cases[] = {
      {"\"a\"", "()", "(\"a\")"},
      {"none", "\"a\"", "(none .. \"a\")"},
      {"()", "\"a\"", "(() .. \"a\")"},
      {"()", "1", "(() .. 1)"},
      {"()", "()", "(())"},
      {"\"a\"", "\"b\"", "(\"a\" .. \"b\")"},
      {"\"a\"", "(\"b\")", "(\"a\" \"b\")"},
      {"\"a\"", "(\"b\" \"c\")", "(\"a\" \"b\" \"c\")"},
      {"\"a\"", "(\"b\" .. \"c\")", "(\"a\" \"b\" .. \"c\")"},
      {"(\"a\" 1)", "((\"b\" 2))", "((\"a\" 1) (\"b\" 2))"},  // OrderedDicts are merged
      {"(1 2)", "((3 4))", "((1 2) (3 4))"},
      {"(1 2)", "()", "((1 2))"},
      {"(\"a\" \"b\")", "\"c\"", "((\"a\" \"b\") .. \"c\")"},
      {"(\"a\" \"b\")", "(\"c\" \"d\")", "((\"a\" \"b\") \"c\" \"d\")"},
      {"(1 2)", "(3 4)", "((1 2) 3 4)"},
      {"1", "(2)", "(1 2)"},
      {"1", "(2 3)", "(1 2 3)"},
      {"1", "()", "(1)"},
      {"1", "2", "(1 .. 2)"},
      {"1", "(2 .. 3)", "(1 2 .. 3)"},
      {"1", "(\"a\" .. \"b\")", "(1 \"a\" .. \"b\")"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Ask("?q", absl::StrCat("(fresh (?a ?d) (== ?q (?a ..?d)) (== ?a ", c.car, ") (== ?d ", c.cdr, "))")), c.joined);
    EXPECT_EQ(Ask("?q", absl::StrCat("(== ?q (", c.car, " .. ", c.cdr, "))")), c.joined);
    EXPECT_EQ(Ask("?a", absl::StrCat("(fresh (?d) (== ", c.joined, " (?a ..?d)))")), c.car) << c.joined;
    EXPECT_EQ(Ask("?d", absl::StrCat("(fresh (?a) (== ", c.joined, " (?a ..?d)))")), c.cdr) << c.joined;
    if (!IsProperText(c.cdr)) continue;
    Context ctx;
    const Term car = *ReadTerm(ctx, c.car), cdr = *ReadTerm(ctx, c.cdr), joined = *ReadTerm(ctx, c.joined);
    EXPECT_EQ(ctx.Cons(car, cdr), joined);
    EXPECT_EQ(ctx.Car(joined), car);
    EXPECT_EQ(ctx.Cdr(joined), cdr);
    const Term pair = *ReadTerm(ctx, "(?a ..?d)"), a = ctx.Variable("a"), d = ctx.RestVariable("d");
    Substitution s;
    ASSERT_TRUE(Unify(ctx, joined, pair, s)) << c.joined;
    EXPECT_EQ(Reify(ctx, a, s), car) << c.joined;
    EXPECT_EQ(Reify(ctx, d, s), cdr) << c.joined;
    EXPECT_EQ(Reify(ctx, pair, s), joined);
  }
  EXPECT_EQ(Ask("?q", "(== (1 2 3 .. 4) (1 .. (2 .. (3 .. 4))))"), "?_0");
  EXPECT_EQ(Ask("?q", "(== ?q (\"a\" .. (\"b\" .. (\"c\" .. ()))))"), "(\"a\" \"b\" \"c\")");
  EXPECT_EQ(Ask("?q", "(== (1 .. 2) (1 2))"), "") << "a pair is no list of two";
}

// test_cons_class: equal pairs are one term, of one hash and one text.
TEST(PeerCons, EqualityAndText) {
  Context ctx;
  const Term a = *ReadTerm(ctx, "(1 .. 2)"), b = *ReadTerm(ctx, "(1 .. 2)");
  EXPECT_EQ(a, b);
  EXPECT_EQ(ctx.Hash(a), ctx.Hash(b));
  EXPECT_EQ(PrintTerm(ctx, a), "(1 .. 2)");
  EXPECT_EQ(Ask("?q", "(== ?q (1 .. (2 .. 3)))"), "(1 2 .. 3)");
}

// test_car_cdr: what has neither.
TEST(PeerCons, NoCarNoCdr) {
  for (const char* text : {"()", "\"ab\"", "none", "1", ":keyword"}) {
    EXPECT_EQ(Ask("?a", absl::StrCat("(fresh (?d) (== ", text, " (?a ..?d)))")), "") << text;
    EXPECT_EQ(Ask("?d", absl::StrCat("(fresh (?a) (== ", text, " (?a ..?d)))")), "") << text;
  }
  Context ctx;
  for (Term t : {ctx.Nil(), ctx.String("ab"), ctx.Sym("none"), ctx.Integer(1), ctx.Keyword("keyword"), ctx.Obj(std::make_shared<Opaque>())}) {
    Substitution s;
    EXPECT_FALSE(Unify(ctx, t, *ReadTerm(ctx, "(?a ..?d)"), s)) << PrintTerm(ctx, t);
    EXPECT_TRUE(ctx.Children(t).empty() && ctx.Rands(t).empty()) << PrintTerm(ctx, t);
  }
}

// test_unification.
TEST(PeerCons, Unify) {
  struct {
    const char* a;
    const char* b;
    const char* answer;  // car and cdr; empty: they do not unify
  } cases[] = {
      {"(1 2)", "(?a ..?d)", "(1 (2))"},
      {"()", "(?a ..?d)", ""},
      {"(1)", "(?a ..?d)", "(1 ())"},
      {"(?a ..?d)", "(1)", "(1 ())"},
      {"((\"a\" 1) (\"b\" 2))", "(?a ..?d)", "((\"a\" 1) ((\"b\" 2)))"},
      {"((\"a\" 1))", "(?a ..?d)", "((\"a\" 1) ())"},
      {"(1)", "(1 .. ())", "(?_0 ?_1)"},
      {"(1 .. 2)", "(?a .. 2)", "(1 ?_0)"},
      {"(1 .. 2)", "(1 ..?d)", "(?_0 2)"},
      {"(2)", "(3 .. ())", ""},
      {"(1 .. 2)", "(?a .. 3)", ""},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Ask("(?a ?d)", absl::StrCat("(== ", c.a, " ", c.b, ")")), c.answer) << c.a << " ~ " << c.b;
    if (!IsProperText(c.a) || !IsProperText(c.b)) continue;
    Context ctx;
    Substitution s;
    const bool ok = Unify(ctx, *ReadTerm(ctx, c.a), *ReadTerm(ctx, c.b), s);
    const Term bound = ctx.Tuple({s.Walk(ctx.Variable("a")), s.Walk(ctx.RestVariable("d"))});
    EXPECT_EQ(ok ? PrintTerm(ctx, bound) : "", c.answer) << c.a << " ~ " << c.b;
  }
}

TEST(PeerCons, Reify) {
  struct {
    const char* term;
    const char* cdr;
    const char* reified;
  } cases[] = {
      {"(1 ..?d)", "(2 3)", "(1 2 3)"},
      {"(1 ..?d)", "()", "(1)"},
      {"(1 2 3 ..?d)", "()", "(1 2 3)"},
      {"(1 2 3 ..?d)", "(4 5)", "(1 2 3 4 5)"},
      {"((\"a\" 1) ..?d)", "()", "((\"a\" 1))"},
      {"((\"a\" 1) ..?d)", "((\"b\" 2))", "((\"a\" 1) (\"b\" 2))"},
      {"(1 ..?d)", "(2 ..?e)", "(1 2 ..?e)"},
  };
  for (const auto& c : cases) {
    Context ctx;
    Substitution s;
    s.Bind(ctx.RestVariable("d"), *ReadTerm(ctx, c.cdr));
    EXPECT_EQ(PrintTerm(ctx, Reify(ctx, *ReadTerm(ctx, c.term), s)), c.reified) << c.term;
  }
}

}  // namespace
}  // namespace retuple
