// What kanren's tests/test_graph.py and test_term.py say of relations over lists and terms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unify/answers.h"

namespace retuple {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;

constexpr char kRelations[] = R"(
  (defrel (math ?t ?u)
    (fresh (?x) (conde ((== ?t (add ?x ?x)) (== ?u (mul 2 ?x)))
                       ((== ?t (log (exp ?x))) (== ?u ?x)))))
  (defrel (maths ?t ?u) (reduceo math ?t ?u))
  (defrel (letter ?x ?y) (conde ((== ?x 1) (== ?y a)) ((== ?x 3) (== ?y b))))
  (defrel (one-three ?x ?y) (== ?x 1) (== ?y 3))
  (defrel (one-two ?x ?y) (== ?x 1) (== ?y 2))
  (defrel (adds ?f ?g) (== ?f add) (== ?g add))
)";

std::vector<std::string> Ask(const std::string& query) { return Answers(kRelations + query, {.steps = 50'000'000}); }
std::set<std::string> Distinct(const std::string& query) {
  const auto all = Ask(query);
  return {all.begin(), all.end()};
}

TEST(KanrenGraph, Reduce) {
  const QueryCase cases[] = {
      {"(run* ?q (maths (log (exp (log 1))) ?q))", {"(log 1)"}},
      // The fixed point first, then what was on the way.
      {"(run* ?q (maths (log (exp (log (exp 1)))) ?q))", {"1", "(log (exp 1))"}},
      {"(run* ?q (maths (log (exp (log (exp (log (exp 1)))))) ?q))", {"1", "(log (exp 1))", "(log (exp (log (exp 1))))"}},
      // Backward the smallest first.
      {"(run 2 ?q (maths ?q 1))", {"(log (exp 1))", "(log (exp (log (exp 1))))"}},
  };
  RETUPLE_EXPECT_ANSWERS(kRelations, cases);
}

TEST(KanrenGraph, Map) {
  const QueryCase cases[] = {
      {"(run* ?q (mapo letter () ?q))", {"()"}},
      {"(run* ?q (mapo letter (1 2 3) ?q))", {}},
      {"(run* ?q (mapo letter (1 1 3) ?q))", {"(a a b)"}},
      {"(run* ?q (mapo letter ?q (a a b)))", {"(1 1 3)"}},
      {"(run 5 (?q ?a) (mapo letter ?q ?a))", {"(() ())", "((1) (a))", "((3) (b))", "((1 1) (a a))", "((3 1) (b a))"}, true},
  };
  RETUPLE_EXPECT_ANSWERS(kRelations, cases);
}

TEST(KanrenGraph, EqualLength) {
  const QueryCase cases[] = {
      {"(run* ?q (eq_length (1 2 3) ?q))", {"(?_0 ?_1 ?_2)"}},
      {"(run* ?q (eq_length ?q (1 2 3)))", {"(?_0 ?_1 ?_2)"}},
      {"(run* ?q (eq_length (1 ..?q) (1 2 3)))", {"(?_0 ?_1)"}},
      {"(run 3 (?q ?v) (eq_length ?q ?v))", {"(() ())", "((?_0) (?_1))", "((?_0 ?_1) (?_2 ?_3))"}},
      {"(run* ?q (eq_length (1 2) (1 2 3)))", {}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

TEST(KanrenGraph, MapAny) {
  const QueryCase cases[] = {
      {"(run 1 ?q (map_anyo == (1) ?q))", {"(1)"}},
      {"(run 1 ?q (map_anyo == ?q (1)))", {"(1)"}},
      {"(run 1 ?q (map_anyo == (1 2) (1 2)))", {"?_0"}},
      {"(run 1 ?q (map_anyo == (1 2) (1 3)))", {}},
      {"(run* ?q (map_anyo == (1 2 3) (1 2 3)))", std::vector<std::string>(7, "?_0")},  // 2^3 - 1 ways
      {"(run* ?q (map_anyo == (1 2 3) (1 3 3)))", {}},
      {"(run 4 ?q (fresh (?x) (map_anyo maths ((mul 2 ?x)) ?q)))", {}},
      {"(run 4 ?q (map_anyo maths ((add 2 2) 1) ?q))", {"((mul 2 2) 1)"}},
      {"(run 4 ?q (map_anyo maths (1 (add 2 2)) ?q))", {"(1 (mul 2 2))"}},
      // The nine parametrised rewrites.
      {"(run* ?q (map_anyo maths () ?q))", {}},
      {"(run* ?q (map_anyo maths (1) ?q))", {}},
      {"(run* ?q (map_anyo maths ((add 1 1)) ?q))", {"((mul 2 1))"}},
      {"(run* ?q (map_anyo maths (1 (add 1 1)) ?q))", {"(1 (mul 2 1))"}},
      {"(run* ?q (map_anyo maths ((add 1 1) 1) ?q))", {"((mul 2 1) 1)"}},
      {"(run* ?q (map_anyo maths ((mul 2 1) (add 1 1) 1) ?q))", {"((mul 2 1) (mul 2 1) 1)"}},
      {"(run* ?q (map_anyo maths ((add 1 1) (log (exp 5))) ?q))",
       {"((mul 2 1) 5)", "((add 1 1) 5)", "((mul 2 1) (log (exp 5)))"}, true},
      // Backward.
      {"(run 1 ?q (map_anyo maths ((add ?q 1)) ((mul 2 1))))", {"1"}},
  };
  RETUPLE_EXPECT_ANSWERS(kRelations, cases);
  EXPECT_THAT(Ask("(run* ?q (map_anyo one-three (1 2 4 1 4 1 1) ?q))"), Contains("(3 2 4 3 4 3 3)"));
  EXPECT_THAT(Ask("(run 12 ?q (map_anyo maths ?q ((mul 2 1))))"),
              IsSupersetOf({"((add 1 1))", "((log (exp (add 1 1))))", "((log (exp (log (exp (add 1 1))))))",
                            "((log (exp (log (exp (log (exp (add 1 1))))))))"}));
  // Both unknown: the ten forms of the peer are among ours.
  EXPECT_THAT(Ask("(run 60 (?x ?y) (map_anyo one-two ?x ?y))"),
              IsSupersetOf({"((1) (2))", "((?_0 1) (?_0 2))", "((1 1) (2 2))", "((?_0 ?_1 1) (?_0 ?_1 2))", "((1 ?_0) (2 ?_0))",
                            "((?_0 1 1) (?_0 2 2))", "((1 1 1) (2 2 2))", "((?_0 ?_1 ?_2 1) (?_0 ?_1 ?_2 2))", "((1 ?_0 1) (2 ?_0 2))",
                            "((?_0 1 ?_1) (?_0 2 ?_1))"}));
}

TEST(KanrenGraph, Walk) {
  EXPECT_EQ(Ask("(run* ?q (walko == (add (mul 2 1) (add 1 1)) (add (mul 2 1) (add 1 1))))").size(), 162u);
  const QueryCase cases[] = {
      {"(run* ?q (walko == (add (mul 2 1) (add 1 1)) (add (mul 2 1) (add 2 1))))", {}},
      {"(run 2 ?q (walko == ?q ?q))", {"?_0", "()"}},
      {"(run* ?q (walk_termo math == 1 ?q))", {}},
      {"(run* ?q (reduceo (walk_termo math ==) (add 1 1) ?q))", {"(mul 2 1)"}},
  };
  RETUPLE_EXPECT_ANSWERS(kRelations, cases);
  // Into additions only: the product stays.
  const auto additions = Ask("(run* ?q (walk_termo one-three adds (add 1 (mul (add 1 2) 1) (add (add 1 2) 2)) ?q))");
  EXPECT_THAT(additions, testing::UnorderedElementsAre("(add 3 (mul (add 1 2) 1) (add (add 1 2) 2))", "(add 1 (mul (add 1 2) 1) (add (add 3 2) 2))",
                                                       "(add 3 (mul (add 1 2) 1) (add (add 3 2) 2))"));
  EXPECT_THAT(Ask("(run* ?q (walko one-three (1 (1 2 4) 2 ((4 1 1)) 1) ?q))"), Contains("(3 (3 2 4) 2 ((4 3 3)) 3)"));
}

TEST(KanrenGraph, WalkToAFixedPoint) {
  EXPECT_EQ(Distinct("(run* ?q (reduceo (walk_termo math ==) (add (mul 2 1) (add 1 1)) ?q))"),
            (std::set<std::string>{"(mul 2 (mul 2 1))", "(add (mul 2 1) (mul 2 1))"}));
  EXPECT_EQ(Distinct("(run* ?q (reduceo (walk_termo math ==) (add (mul (log (exp 2)) 1) (add 1 1)) ?q))"),
            (std::set<std::string>{"(mul 2 (mul 2 1))", "(add (mul 2 1) (mul 2 1))", "(add (mul (log (exp 2)) 1) (mul 2 1))",
                                   "(add (mul 2 1) (add 1 1))"}));
  // The fixed point is the first answer.
  EXPECT_EQ(Ask("(run 1 ?q (reduceo (walk_termo math ==) (add (mul 2 1) (add 1 1)) ?q))")[0], "(mul 2 (mul 2 1))");
}

TEST(KanrenGraph, WalkBackward) {
  EXPECT_THAT(Ask("(run 2 ?q (walk_termo maths == ?q 5))"), testing::ElementsAre("(log (exp 5))", "(log (exp (log (exp 5))))"));
  // Expansions of the root and of the operands.
  EXPECT_THAT(Ask("(run 40 ?q (walk_termo maths == ?q (mul 2 5)))"),
              IsSupersetOf({"(add 5 5)", "(mul (log (exp 2)) (log (exp 5)))", "(mul 2 (log (exp 5)))"}));
}

TEST(KanrenTerm, Apply) {
  const QueryCase cases[] = {
      {"(run* ?x (applyo add (1 2 3) ?x))", {"(add 1 2 3)"}},
      {"(run* ?x (applyo ?x (1 2 3) (add 1 2 3)))", {"add"}},
      {"(run* ?x (applyo add ?x (add 1 2 3)))", {"(1 2 3)"}},
      {"(run* ?x (fresh (?a) (applyo add ?a ?x)))", {"(add ..?_0)"}},
      {"(run* ?x (fresh (?a ?b) (applyo ?a ?b ?x)))", {"(?_0 ..?_1)"}},
      {"(run* ?x (applyo (Conv :group 1) (x w) ?x))", {"((Conv :group 1) x w)"}},  // an operator with attributes
      {"(run* (?f ?as) (applyo ?f ?as ((Conv :group 1) x w)))", {"((Conv :group 1) (x w))"}},
      {"(run* ?x (fresh (?y) (applyo ?x ?y 5)))", {}},  // an atom is no application
      {"(run* ?x (fresh (?y) (applyo ?x ?y ())))", {}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

}  // namespace
}  // namespace retuple
