// logical-unification: tests/test_match.py. A dispatcher is a set of rules for one head, tried with the most specific pattern first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "etuple/printer.h"
#include "etuple/reader.h"
#include "rewrite/normalizer.h"
#include "rewrite/rule_language.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

using ::testing::ElementsAre;

// The peer's supercedes(a, b): `a` is the more specific signature.
bool Supercedes(Context& ctx, Term a, Term b) { return Subsumes(ctx, b, a); }

// The peer's ordering: stable, and a pattern stands before all that are strictly more general. `left` gives an element's pattern.
template <typename T, typename Left>
std::vector<T> MostSpecificFirst(Context& ctx, const std::vector<T>& given, Left left) {
  std::vector<T> out;
  for (const T& item : given) {
    const Term a = left(item);
    auto more_general = [&](const T& other) { return Supercedes(ctx, a, left(other)) && !Supercedes(ctx, left(other), a); };
    out.insert(std::find_if(out.begin(), out.end(), more_general), item);
  }
  return out;
}

class Dispatcher {
 public:
  explicit Dispatcher(const std::vector<std::string>& rules, bool ordered = true) {
    for (const std::string& text : rules) {
      const absl::Status status = loader_.Load(text, {.file = "t.rules"});
      EXPECT_TRUE(status.ok()) << status;
    }
    std::vector<Rule> all = loader_.rules().rules();
    if (ordered) all = MostSpecificFirst(ctx_, all, [](const Rule& r) { return r.lhs; });
    for (const Rule& r : all) rules_.Add(r);
  }

  // The first rule that fires and what comes out: `inc: 3`; `none` where the peer raises NotImplementedError.
  std::string Call(const std::string& text, NormalizeReport* report = nullptr) {
    std::string rule;
    auto on_step = [&](const Step& s) { rule = rule.empty() ? s.rule->name : rule; };
    Normalizer n(ctx_, rules_, functions_, {.fuel = 1000, .on_step = on_step});
    const Term call = *ReadTerm(ctx_, text), value = n.Run(std::span<const Term>(&call, 1))[0];
    if (report != nullptr) *report = n.report();
    return value == call ? "none" : absl::StrCat(rule, ": ", PrintTerm(ctx_, value));
  }

  // Why the rule of that name does not serve a call.
  std::string Explain(const std::string& rule, const std::string& text) {
    return ExplainRule(ctx_, *rules_.Find(rule), functions_, nullptr, nullptr, *ReadTerm(ctx_, text));
  }

 private:
  Context ctx_;
  FunctionRegistry functions_{ctx_};
  FreeOperatorTable operators_{ctx_};
  RuleLoader loader_{ctx_, functions_, operators_};
  RuleSet rules_;
};

// test_simple, test_register.
TEST(PeerUnificationMatch, DispatchByValue) {
  Dispatcher d({"(rewrite inc (d 1) (int+ 1 1))", "(rewrite dec (d 10) (int- 10 1))"});
  EXPECT_EQ(d.Call("(d 1)"), "inc: 2");
  EXPECT_EQ(d.Call("(d 10)"), "dec: 9");
  Dispatcher registered({"(rewrite f (d 1) 10)", "(rewrite g (d 2) 20)"});
  EXPECT_EQ(registered.Call("(d 1)"), "f: 10");
  EXPECT_EQ(registered.Call("(d 2)"), "g: 20");
}

// test_complex, test_raises_error; in whatever order the rules are added.
TEST(PeerUnificationMatch, DispatchByPattern) {
  std::vector<std::string> rules = {
      "(rewrite add (d ?x 1) (int+ ?x 1))",
      "(rewrite foo (d ?x (?x ?x)) (?x (?x ?x)))",
      "(rewrite inc (d ?x) (int+ ?x 1))",
      "(rewrite inc-one (d 1) (int+ 1 1))",
      "(rewrite mul (d ?y ?y) (int* ?y ?y))",
  };
  int orders = 0;
  do {
    Dispatcher d(rules);
    EXPECT_EQ(d.Call("(d 1)"), "inc-one: 2");
    EXPECT_EQ(d.Call("(d 2)"), "inc: 3");
    EXPECT_EQ(d.Call("(d 2 1)"), "add: 3");
    EXPECT_EQ(d.Call("(d 10 10)"), "mul: 100");
    EXPECT_EQ(d.Call("(d 10 (10 10))"), "foo: (10 (10 10))");
    for (const char* call : {"(d 1 2)", "(d 1 2 3)", "(d)", "(d 10 (10 11))"}) EXPECT_EQ(d.Call(call), "none") << call;
    ++orders;
  } while (std::next_permutation(rules.begin(), rules.end()));
  EXPECT_EQ(orders, 120);
}

TEST(PeerUnificationMatch, ACallThatNothingMatchesIsExplained) {
  Dispatcher d({"(rewrite one (d 1) a)", "(rewrite pair (d ?y ?y) b)"});
  EXPECT_EQ(d.Explain("one", "(d 1 2)"), "no match: at the root the pattern has 1 operands, the term 2");
  EXPECT_EQ(d.Explain("pair", "(d 1 2)"), "no match: the variables that occur twice match unlike terms");
}

TEST(PeerUnificationMatch, DictPattern) {
  Dispatcher d({"(rewrite identity (d (dict :x ?x :key 1)) (dict :x ?x :key 1))"});
  EXPECT_EQ(d.Call("(d (dict :x 1 :key 1))"), "identity: (dict :key 1 :x 1)");
  EXPECT_EQ(d.Call("(d (dict :key 1 :x 1))"), "identity: (dict :key 1 :x 1)");
  EXPECT_EQ(d.Call("(d (dict :x 1 :key 2))"), "none");
  EXPECT_EQ(d.Call("(d (dict :key 1))"), "none");
}

TEST(PeerUnificationMatch, Ordering) {
  Context ctx;
  std::vector<Term> given;
  for (const char* text : {"(1)", "(?x)", "(2)", "(?y)", "(?x ?x)", "(1 ?x)", "(?x 1)", "(1 2)"}) given.push_back(*ReadTerm(ctx, text));
  auto ordered = [&] {
    const auto out = MostSpecificFirst(ctx, given, [](Term t) { return t; });
    for (size_t i = 0; i < out.size(); ++i) {
      for (size_t j = i + 1; j < out.size(); ++j) {
        EXPECT_TRUE(Supercedes(ctx, out[i], out[j]) || !Supercedes(ctx, out[j], out[i])) << i << " " << j;
      }
    }
    std::vector<std::string> texts;
    for (Term t : out) texts.push_back(PrintTerm(ctx, t));
    return texts;
  };
  EXPECT_THAT(ordered(), ElementsAre("(1)", "(2)", "(?x)", "(?y)", "(?x ?x)", "(1 2)", "(1 ?x)", "(?x 1)"));
  std::reverse(given.begin(), given.end());
  EXPECT_THAT(ordered(), ElementsAre("(1 2)", "(?x 1)", "(1 ?x)", "(?x ?x)", "(2)", "(1)", "(?y)", "(?x)"));
}

// test_dispatcher. The rule for all n comes first in the text.
TEST(PeerUnificationMatch, Fibonacci) {
  const std::vector<std::string> rules = {
      "(rewrite fib (fib ?n) (sum (fib (int- ?n 1)) (fib (int- ?n 2))))",
      "(rewrite fib-1 (fib 1) 1)",
      "(rewrite fib-0 (fib 0) 0)",
      "(rewrite sum (sum ?a ?b) (int+ ?a ?b))",
  };
  Dispatcher d(rules);
  const char* fib[] = {"fib-0: 0", "fib-1: 1", "fib: 1", "fib: 2", "fib: 3", "fib: 5", "fib: 8", "fib: 13", "fib: 21", "fib: 34"};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(d.Call(absl::StrCat("(fib ", i, ")")), fib[i]);

  NormalizeReport report;
  Dispatcher(rules, false).Call("(fib 1)", &report);
  EXPECT_EQ(report.stop, StopReason::kFuel) << "as written, the first rule serves every call";
}

// test_supercedes, and what test_supercedes_more expects to fail.
TEST(PeerUnificationMatch, Supercedes) {
  struct {
    const char* a;
    const char* b;
    bool supercedes;
  } cases[] = {
      {"1", "2", false},
      {"1", "?x", true},
      {"?x", "1", false},
      {"(1 2)", "(1 ?x)", true},
      {"(1 ?x)", "(1 2)", false},
      {"(1 ?x)", "(?y ?z)", true},
      {"?x", "?y", true},
      {"(1 (?x 3))", "(1 ?y)", true},
      {"(1 ?y)", "(1 (?x 3))", false},
      {"(1 ?x)", "(?y ?y)", false},  // (1 2) is an instance of the first alone, (2 2) of the second alone
      {"(?y ?y)", "(1 ?x)", false},
      {"(1 ?x)", "(?x ?x)", false},
      {"(?x ?x)", "(1 ?x)", false},
  };
  for (const auto& c : cases) {
    Context ctx;
    EXPECT_EQ(Supercedes(ctx, *ReadTerm(ctx, c.a), *ReadTerm(ctx, c.b)), c.supercedes) << c.a << " " << c.b;
  }
}

// test_VarDispatcher: the right side takes its arguments by name.
TEST(PeerUnificationMatch, ArgumentsByName) {
  Dispatcher d({"(rewrite swap (d ?x ?y) (?y ?x))", "(rewrite foo (d (1 ?z) 2) ?z)"});
  EXPECT_EQ(d.Call("(d 1 2)"), "swap: (2 1)");
  EXPECT_EQ(d.Call("(d (1 3) 2)"), "foo: 3");
  EXPECT_EQ(d.Call("(d (1 3) 3)"), "swap: (3 (1 3))");
}

}  // namespace
}  // namespace retuple
