// What kanren's tests/test_core.py says of goals, streams and run, in our language. docs/peer-suites.md lists what differs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "tests/unify/answers.h"

namespace retuple {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST(KanrenCore, GoalsAndConjunctions) {
  const QueryCase cases[] = {
      {"(run* ?x (== ?x 2))", {"2"}},
      {"(run* ?x (== ?x 3) (== ?x 2))", {}},
      {"(run* (?a ?b) (== 1 ?a) (== 2 ?b))", {"(1 2)"}},
      {"(run* ?a (== 1 ?a))", {"1"}},
      {"(run* ?a)", {"?_0"}},  // an empty conjunction holds
      {"(run* ?a (== 1 ?a) (== 2 ?a))", {}},
      {"(run* ?a (== 1 2))", {}},
      {"(run* ?a (== 1 1))", {"?_0"}},
      {"(run* ?a succeed succeed)", {"?_0"}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

TEST(KanrenCore, Disjunctions) {
  const QueryCase cases[] = {
      {"(run* ?a (conde ((== 1 ?a))))", {"1"}},
      {"(run* ?a (conde ((== 1 2))))", {}},
      {"(run* ?a (conde ((== 1 1))))", {"?_0"}},
      {"(run* ?a (conde ((== 1 ?a)) ((== 1 ?a))))", {"1", "1"}},  // answers are not made unique
      {"(run* ?a (conde ((== 1 ?a)) ((== 2 ?a))))", {"1", "2"}},
      {"(run* ?a (conde (succeed) (succeed)))", {"?_0", "?_0"}},
      {"(run* (?a ?b) (conde ((== 1 ?a) (== 2 ?b)) ((== 1 ?b) (== 2 ?a))))", {"(1 2)", "(2 1)"}},
      {"(run* (?a ?b) (conde ((== 1 ?a) (== 2 1)) ((== 1 ?b) (== 2 ?a))))", {"(2 1)"}},
      {"(run* ?a (conde ((== 1 2)) ((== 1 1))))", {"?_0"}},
      {"(run* ?a (conde ((== 1 2)) ((== 1 1))) (conde ((== 1 2)) ((== 1 1))))", {"?_0"}},
      {"(run* ?x (conde ((== ?x 2) (== ?x 3))))", {}},
      // Interleaved: a11, b111, a12, b121.
      {"(run* ?q (conde ((fresh () (conde ((== ?q a11)) ((== ?q a12))))) ((fresh () (conde ((== ?q b111)) ((== ?q b121)))))))",
       {"a11", "b111", "a12", "b121"}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

// Python takes endless generators of goals; here an endless disjunction is a relation.
TEST(KanrenCore, EndlessStreams) {
  const char natural[] = "(defrel (natural ?n ?x) (conde ((== ?x ?n)) ((fresh (?m) (addo ?n 1 ?m) (natural ?m ?x)))))";
  const QueryCase cases[] = {
      {"(run 1 ?x (natural 0 ?x))", {"0"}},
      {"(run 3 ?x (natural 0 ?x))", {"0", "1", "2"}},
      {"(run 3 ?x (natural 0 ?x)) (run 1 ?x (natural 0 ?x))", {"0", "1", "2", "0"}},  // a goal has no state
  };
  RETUPLE_EXPECT_ANSWERS(natural, cases);
}

TEST(KanrenCore, Run) {
  const QueryCase cases[] = {
      {"(run 1 ?x (== ?x 1))", {"1"}},
      {"(run 2 ?x (== ?x 1))", {"1"}},
      {"(run* ?x (== ?x 1))", {"1"}},
      {"(run 1 ?x (fresh (?y ?z) (== ?x (?y ?z)) (== ?y 3) (== ?z 4)))", {"(3 4)"}},
      {"(run 2 ?x (conde ((== ?x 1)) ((== ?x 2))))", {"1", "2"}},
      {"(run* ?q (fresh (?x) (== ?q (1 2 ?x)) (== ?x 3)))", {"(1 2 3)"}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

class KanrenCoreApi : public ::testing::Test {
 protected:
  Term Read(const char* text) { return *ReadTerm(ctx_, text); }
  Context ctx_;
  Program program_{ctx_};
};

TEST_F(KanrenCoreApi, AGoalThatFailsIsNeverReached) {
  int calls = 0;
  ASSERT_TRUE(program_.AddGoal("bad", 0, [&](Context&, std::span<const Term>) -> absl::StatusOr<std::vector<Term>> {
                ++calls;
                return absl::InternalError("some error");
              }).ok());
  const std::vector<Term> behind = {Read("fail"), Read("(bad)")}, alone = {Read("(bad)")};
  EXPECT_TRUE(retuple::Run(program_, 5, Read("?x"), behind)->empty());
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(retuple::Run(program_, std::nullopt, Read("?x"), alone).status(), absl::InternalError("some error"));
  EXPECT_EQ(calls, 1);
}

TEST_F(KanrenCoreApi, AnswersAreLazy) {
  int made = 0;
  ASSERT_TRUE(program_.AddPredicate("count", [&](std::span<const Term>) { return ++made > 0; }).ok());
  const std::vector<Term> goals = {Read("(membero ?x (1 2 3))"), Read("(count ?x)")};
  auto q = program_.Solve(Read("?x"), goals);
  ASSERT_TRUE(q.ok());
  EXPECT_EQ(made, 0);
  EXPECT_EQ((*q)->Next()->ToString(ctx_), "1");
  EXPECT_EQ(made, 1);
}

TEST(KanrenCore, SoftCut) {  // ifa
  const QueryCase cases[] = {
      {"(run* (?x ?y) (conda ((== ?x #t) (== ?y 1)) ((== ?y 2))))", {"(#t 1)"}},
      {"(run* ?y (fresh (?x) (== ?x #f) (conda ((fresh () (== ?x #t) (== ?y 1))) ((== ?y 2)))))", {"2"}},
      {"(run* ?y (fresh (?x) (== ?x #f) (conda ((fresh () (== ?x #t) (== ?y 1))) ((== ?x #t) (== ?y 2)))))", {}},
      {"(run* ?y (fresh (?x) (== ?x #t) (conda ((fresh () (== ?x #t) (== ?y 1))) ((== ?x #t) (== ?y 2)))))", {"1"}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

TEST(KanrenCore, GroundOrder) {
  const QueryCase cases[] = {
      {"(run* ?x (fresh (?y ?z) (ground_order (?y (1 ?z) 1) ?x)))", {"(1 (1 ?_0) ?_1)"}},
      {"(run* (?a ?b ?c) (fresh (?y ?z) (ground_order (?y (1 ?z) 1) (?a ?b ?c))))", {"(1 (1 ?_0) ?_1)"}},
      {"(run* ?z (fresh (?x ?y) (ground_order ((?x ..?y) (?x ?y)) ?z)))", {"((?_0 ?_1) (?_0 ..?_1))"}},
      {"(run* ?z (fresh (?x ?y) (ground_order ((?x ?y) (?x ..?y)) ?z)))", {"((?_0 ?_1) (?_0 ..?_1))"}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

TEST(KanrenCore, InOrderExhaustsAClauseFirst) {
  const QueryCase cases[] = {
      {"(run* ?q (in-order ((conde ((== ?q 1)) ((== ?q 2)))) ((== ?q 3))))", {"1", "2", "3"}},
      {"(run* ?q (in-order ((membero ?q (1 2 3))) ((membero ?q (4 5)))))", {"1", "2", "3", "4", "5"}},
      {"(run* (?p ?q) (in-order ((membero ?p (1 2))) ((== ?p 3))) (membero ?q (a b)))",
       {"(1 a)", "(1 b)", "(2 a)", "(3 a)", "(2 b)", "(3 b)"}, true},
      {"(run* ?q (conde ((in-order ((membero ?q (1 2))) ((== ?q 3)))) ((membero ?q (4 5)))))", {"1", "2", "3", "4", "5"}, true},
      {"(run* ?q (in-order (fail) ((== ?q 1)) (fail)))", {"1"}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

TEST(KanrenCore, ProjectAndCall) {
  const QueryCase cases[] = {
      {"(run* ?q (fresh (?x) (== ?x 5) (project (?x) (addo ?x 1 ?q))))", {"6"}},
      {"(run* ?q (fresh (?x) (project (?x) (addo ?x 1 ?q))))", {"error: 1:1: project: a variable has no value yet"}},
      {"(run* ?q (project ?q succeed))", {"error: 1:1: (project ?q succeed): project takes a list of variables and goals"}},
      {"(run* ?q (call == ?q 1))", {"1"}},
      {"(run* ?q (call (== 1) ?q))", {"1"}},
      {"(run* ?q (call ((appendo (1)) (2)) ?q))", {"(1 2)"}},
      {"(run* ?q (call =/= ?q 1) (call symbolo ?q))", {"?_0 :where (symbolo ?_0)"}},
      {"(run* ?q (call absento 1 ?q) (== ?q (2 1)))", {}},
      {"(run* ?q (fresh (?r) (membero ?r (succeed fail)) (call ?r) (== ?q ?r)))", {"succeed"}},
      {"(fact p 1) (fact p 2) (run* ?q (call p ?q))", {"1", "2"}},
      {"(deftabled (t ?x) (membero ?x (1 2))) (run* ?q (call t ?q))", {"1", "2"}},
      {"(defrel (membero ?x ?l) (== ?x mine)) (run* ?q (call membero ?q (1 2)))", {"mine"}},
      {"(run* ?q (call ?q 1))", {"error: 1:1: call: the relation is not known yet"}},
      {"(run* ?q (call nowhere ?q))", {"error: 1:1: call: there is no relation nowhere"}},
      {"(run* ?q (call appendo ?q))", {"error: 1:1: call: appendo takes 3 arguments, not 1"}},
      {"(run* ?q (call 5 ?q))", {"error: 1:1: call: there is no relation 5"}},
      {"(run* ?q (call))", {"error: 1:1: (call): call takes a relation and its arguments"}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

}  // namespace
}  // namespace retuple
