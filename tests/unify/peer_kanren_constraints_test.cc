// What kanren's tests/test_constraints.py says of neq, typeo and isinstanceo: each set of goals in every order.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/unify/answers.h"

namespace retuple {
namespace {

struct GoalSet {
  std::vector<std::string> goals;
  std::vector<std::string> answers;
};

// Every order of the goals gives these answers to ?q.
void ExpectInEveryOrder(const std::string& variables, const GoalSet& set) {
  std::vector<size_t> order(set.goals.size());
  std::iota(order.begin(), order.end(), size_t{0});
  do {
    std::string query = "(run* ?q (fresh (" + variables + ")";
    for (size_t i : order) query += " " + set.goals[i];
    EXPECT_EQ(Sorted(Answers(query + "))")), Sorted(set.answers)) << query;
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(KanrenConstraints, DisequalityBasics) {
  const QueryCase cases[] = {
      {"(run* ?a (=/= ?a 1) (== ?a 1))", {}},
      {"(run* ?b (fresh (?a) (=/= ?a 1) (== ?a ?b) (== ?b 1)))", {}},
      {"(run* ?q (=/= () 1))", {"?_0"}},
      {"(run* ?q (=/= 1 ()))", {"?_0"}},
      {"(run* ?q (=/= () ()))", {}},
      {"(run* ?a (=/= ?a 1))", {"?_0 :where (=/= ?_0 1)"}},
      {"(run* ?a (=/= 1 ?a))", {"?_0 :where (=/= ?_0 1)"}},
      {"(run* ?a (=/= ?a 1) (=/= ?a 2) (=/= ?a 1))", {"?_0 :where (=/= ?_0 1) (=/= ?_0 2)"}},
      {"(run* ?a (=/= ?a 1) (== ?a 2))", {"2"}},  // nothing is left of what is decided
      {"(run* ?a (== ?a 1) (=/= ?a 1))", {}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

TEST(KanrenConstraints, DisequalityInEveryOrder) {
  const GoalSet sets[] = {
      {{"(=/= ?a 1)"}, {"?_0"}},
      {{"(=/= (1 ..?a) (1))", "(== ?a ())"}, {}},
      {{"(=/= (1 ..?a) (1))", "(== ?a ?b)", "(== ?b ())"}, {}},
      {{"(=/= (1) (1 ..?a))", "(== ?a ?b)", "(== ?b ())"}, {}},
      // Here a tuple stood for a sequence of another type; what differs from () does.
      {{"(=/= (1 ..?a) (1))", "(== ?a ?b)", "(== ?b (2))"}, {"?_0"}},
      {{"(=/= (1) (1 ..?a))", "(== ?a ?b)", "(== ?b (2))"}, {"?_0"}},
      {{"(=/= (1) (1 ..?a))", "(== ?a ?b)", "(conde ((== ?b ())) ((== ?b (2))))"}, {"?_0"}},
      {{"(=/= ?a 1)", "(== ?a 1)"}, {}},
      {{"(=/= ?a 1)", "(== ?b 1)", "(== ?a ?b)"}, {}},
      {{"(=/= ?a ?b)", "(== ?b ?c)", "(== ?c ?a)"}, {}},
      {{"(=/= (?a ?b) (1 2))", "(== ?a 1)", "(== ?b 3)"}, {"?_0"}},  // kanren#85
      {{"(=/= (?a ?b) (1 2))", "(== ?a 1)", "(== ?b 2)"}, {}},
      {{"(=/= ?q 1)", "(membero ?q (1 2 3))"}, {"2", "3"}},
  };
  for (const GoalSet& s : sets) ExpectInEveryOrder("?a ?b ?c", s);
}

TEST(KanrenConstraints, TypeBasics) {
  const QueryCase cases[] = {
      {"(run* ?q (typeo ?q integer))", {"?_0 :where (typeo ?_0 integer)"}},
      {"(run* ?q (typeo 1 integer))", {"?_0"}},
      {"(run* ?q (typeo 1 string))", {}},
      {"(run* ?q (typeo \"hi\" string))", {"?_0"}},
      {"(run* ?q (typeo () ?q))", {"?_0 :where (typeo () ?_0)"}},
      {"(run* ?q (typeo 1 1))", {"error: 1:1: (typeo 1 1): 1 is no type here"}},
      {"(run* ?q (typeo 1 intger))", {"error: 1:1: (typeo 1 intger): intger is no type here"}},
      {"(run* ?q (membero ?q (1 \"cat\" 2.2 \"hat\")) (typeo ?q string))", {"\"cat\"", "\"hat\""}},
      {"(run* ?q (typeo ?q string) (typeo ?q integer))", {}},
      {"(run* ?q (typeo ?q integer) (isinstanceo ?q number))", {"?_0 :where (typeo ?_0 integer)"}},
      {"(run* ?q (membero ?q (a :a #t 1 1.5 \"s\" () (1))) (typeo ?q symbol))", {"a"}},
      {"(run* ?q (membero ?q (a :a #t 1 1.5 \"s\" () (1))) (isinstanceo ?q symbol))", {"a", ":a"}},
      {"(run* ?q (membero ?q (a :a #t 1 1.5 \"s\" () (1))) (isinstanceo ?q atom))", {"a", ":a", "#t", "1", "1.5", "\"s\""}},
      {"(run* ?q (membero ?q (a :a #t 1 1.5 \"s\" () (1))) (typeo ?q tuple))", {"()", "(1)"}},
      {"(run* ?q (membero ?q (a :a #t 1 1.5 \"s\" () (1))) (typeo ?q boolean))", {"#t"}},
      {"(run* ?q (isinstanceo ?q atom) (numbero ?q))", {"?_0 :where (numbero ?_0)"}},
      {"(run* ?q (isinstanceo ?q atom) (== ?q (1)))", {}},
      {"(run* ?q (isinstanceo 1 any))", {"?_0"}},
      {"(run* ?q (isinstanceo 1 string))", {}},
      {"(run* ?q (typeo 1 number))", {"error: 1:1: (typeo 1 number): number is no type here"}},  // not of one kind
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

TEST(KanrenConstraints, TypesInEveryOrder) {
  for (const std::string goal : {"typeo", "isinstanceo"}) {
    const GoalSet sets[] = {
        {{"(" + goal + " ?q integer)", "(== ?q 1)"}, {"1"}},
        {{"(" + goal + " ?q tuple)", "(== ?q ())"}, {"()"}},
        {{"(" + goal + " ?a ?q)", "(== ?a 1)", "(== ?q integer)"}, {"integer"}},
        {{"(" + goal + " (1 ..?a) tuple)", "(== ?a ())"}, {"?_0"}},
        {{"(" + goal + " ?q integer)", "(== ?b 1)", "(== ?b ?q)"}, {"1"}},
        {{"(" + goal + " ?q integer)", "(conde ((== ?b 1)) ((== ?b \"hi\")))", "(== ?b ?q)"}, {"1"}},
        {{"(" + goal + " ?q integer)", "(== ?b 1.0)", "(== ?b ?q)"}, {}},
        {{"(" + goal + " ?q ?b)", "(== ?b integer)", "(== ?b ?q)"}, {}},
        {{"(" + goal + " ?q ?b)", "(== ?b 1)", "(== ?b ?q)"}, {}},
        {{"(" + goal + " ?a integer)", "(== ((?b)) ?a)"}, {}},
        {{"(" + goal + " () ?q)", "(== ?q tuple)"}, {"tuple"}},
    };
    for (const GoalSet& s : sets) ExpectInEveryOrder("?a ?b", s);
  }
}

TEST(KanrenConstraints, ArithmeticInEveryOrder) {
  const GoalSet sets[] = {
      {{"(addo ?a ?b 5)", "(== ?a 2)", "(== ?q ?b)"}, {"3"}},
      {{"(addo ?a ?b ?q)", "(== ?a 2)", "(== ?b 3)"}, {"5"}},
      {{"(addo ?a ?b ?q)", "(mulo ?a 2 6)", "(subo ?b ?a 1)"}, {"7"}},
      {{"(addo ?a ?b ?q)", "(== ?q x)"}, {}},
      {{"(mulo ?a 0 ?b)", "(== ?b 0)", "(== ?a 7)", "(== ?q ?a)"}, {"7"}},
      {{"(divo ?a 2 ?b)", "(== ?b 3)", "(== ?q ?a)"}, {"6"}},
      {{"(modo ?a 3 ?q)", "(== ?a -1)"}, {"2"}},
      {{"(lto ?q 3)", "(membero ?q (1 2 3 4))"}, {"1", "2"}},
      {{"(leo ?a ?q)", "(== ?a 2)", "(membero ?q (1 2 3))"}, {"2", "3"}},
      {{"(addo ?q ?q 4)", "(== ?q 2)"}, {"2"}},
  };
  for (const GoalSet& s : sets) ExpectInEveryOrder("?a ?b", s);
}

TEST(KanrenConstraints, Arithmetic) {
  const QueryCase cases[] = {
      {"(run* ?q (addo 1 2 ?q))", {"3"}},
      {"(run* ?q (addo 1 ?q 3))", {"2"}},
      {"(run* ?q (addo ?q 2 3))", {"1"}},
      {"(run* ?q (subo 5 2 ?q))", {"3"}},
      {"(run* ?q (subo 5 ?q 3))", {"2"}},
      {"(run* ?q (subo ?q 2 3))", {"5"}},
      {"(run* ?q (mulo 4 ?q 12))", {"3"}},
      {"(run* ?q (mulo 5 ?q 12))", {}},
      {"(run* ?q (mulo 0 ?q 12))", {}},
      {"(run* ?q (mulo 0 ?q 0))", {"?_0 :where (mulo 0 ?_0 0)"}},
      {"(run* ?q (divo 12 4 ?q))", {"3"}},
      {"(run* ?q (divo 12 ?q 4))", {"3"}},
      {"(run* ?q (divo ?q 4 3))", {"12"}},
      {"(run* ?q (divo 5 2 ?q))", {}},
      {"(run* ?q (divo 5 0 ?q))", {}},
      {"(run* ?q (divo 0 ?q 0))", {"?_0 :where (divo 0 ?_0 0)"}},
      {"(run* ?q (divo 0 ?q 3))", {}},
      {"(run* ?q (divo 5.0 2 ?q))", {"2.5"}},
      {"(run* ?q (divo 5 2.0 ?q))", {"2.5"}},
      {"(run* ?q (subo 5 2.5 ?q))", {"2.5"}},
      {"(run* ?q (addo 1 ?q 3.5))", {"2.5"}},
      {"(run* ?q (addo 1.5 ?q 3))", {}},  // no number makes an integer of 1.5 + x
      {"(run* ?q (addo 0.1 0.2 0.3))", {"?_0"}},
      {"(run* ?q (addo 1 2 3.0))", {}},
      {"(run* ?q (addo 1 2 a))", {}},
      {"(run* ?q (addo ?q a 3))", {}},
      {"(run* (?x ?y) (addo ?x ?y 5))", {"(?_0 ?_1) :where (addo ?_0 ?_1 5)"}},
      {"(run* ?q (modo 7 3 ?q))", {"1"}},
      {"(run* ?q (modo -7 3 ?q))", {"2"}},
      {"(run* ?q (modo 7 -3 ?q))", {"-2"}},
      {"(run* ?q (modo 7.5 2 ?q))", {"1.5"}},
      {"(run* ?q (modo 7 0 ?q))", {}},
      {"(run* ?q (modo -9223372036854775808 -1 ?q))", {"0"}},
      {"(run* ?q (lto 1 2) (leo 2 2) (gto 3 2) (geo 2 2.0))", {"?_0"}},
      {"(run* ?q (lto 9007199254740993 9007199254740992.0))", {}},  // exact, though no double is the left side
      {"(run* ?q (gto 9007199254740993 9007199254740992.0))", {"?_0"}},
      {"(run* ?q (lto 1 ?q))", {"?_0 :where (lto 1 ?_0)"}},
      {"(run* ?q (lto a 1))", {}},
      {"(run* ?q (addo 9223372036854775807 1 ?q))", {"error: 1:1: addo: the result has more than 64 bits"}},
      {"(run* ?q (mulo 9223372036854775807 2 ?q))", {"error: 1:1: mulo: the result has more than 64 bits"}},
      {"(run* ?q (divo -9223372036854775808 -1 ?q))", {"error: 1:1: divo: the result has more than 64 bits"}},
      {"(run* ?q (addo 1 2))", {"error: 1:1: addo takes 3 arguments, not 2"}},
      // Factorials in both directions.
      {"(defrel (facto ?n ?f) (conde ((== ?n 0) (== ?f 1)) ((fresh (?m ?g) (gto ?n 0) (subo ?n 1 ?m) (mulo ?n ?g ?f) (facto ?m ?g)))))"
       "(run* ?q (facto 10 ?q))",
       {"3628800"}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

}  // namespace
}  // namespace retuple
