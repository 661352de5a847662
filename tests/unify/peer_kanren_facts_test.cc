// What kanren's tests/test_facts.py says of relations by facts.
#include <gtest/gtest.h>

#include "etuple/reader.h"
#include "tests/unify/answers.h"

namespace retuple {
namespace {

TEST(KanrenFacts, ParentsAndGrandparents) {
  const char family[] = R"(
    (fact parent Homer Bart) (fact parent Homer Lisa) (fact parent Marge Bart)
    (fact parent Marge Lisa) (fact parent Abe Homer) (fact parent Jackie Marge)
    (defrel (grandparent ?x ?z) (fresh (?y) (parent ?x ?y) (parent ?y ?z)))
  )";
  const QueryCase cases[] = {
      {"(run 5 ?x (parent Homer ?x))", {"Bart", "Lisa"}},
      {"(run 5 ?x (parent ?x Bart))", {"Homer", "Marge"}},
      {"(run 5 ?x (grandparent ?x Bart))", {"Abe", "Jackie"}},
  };
  RETUPLE_EXPECT_ANSWERS(family, cases);
}

TEST(KanrenFacts, Membership) {
  Context ctx;
  Program p(ctx);
  for (const char* row : {"(1 2)", "(2 3)", "(3 4)", "(1 2)"}) {
    ASSERT_TRUE(p.AddFact("rel", ctx.Children(*ReadTerm(ctx, row))).ok());
  }
  EXPECT_EQ(p.Rows("rel"), (std::vector<Term>{*ReadTerm(ctx, "(1 2)"), *ReadTerm(ctx, "(2 3)"), *ReadTerm(ctx, "(3 4)")}));
  EXPECT_TRUE(p.Rows("other").empty());
  EXPECT_TRUE(p.HasRelation("rel", 2));
  EXPECT_FALSE(p.HasRelation("rel", 3));
}

TEST(KanrenFacts, OneVariableTwice) {
  const QueryCase cases[] = {
      {"(fact valido a b) (fact valido b a) (run* ?x (valido ?x ?x))", {}},
      {"(fact valido 0 1) (fact valido 1 0) (fact valido 1 1) (run* ?x (valido ?x ?x))", {"1"}},
  };
  RETUPLE_EXPECT_ANSWERS("", cases);
}

TEST(KanrenFacts, TuplesAsValues) {
  const QueryCase cases[] = {
      {"(run* ?x (fresh (?y) (valido (?x ?y))))", {"0", "1", "1"}},
      {"(run* (?x ?y) (valido (?x ?y)))", {"(0 1)", "(1 0)", "(1 1)"}},
      {"(run* ?x (valido (?x ?x)))", {"1"}},
  };
  RETUPLE_EXPECT_ANSWERS("(fact valido (0 1)) (fact valido (1 0)) (fact valido (1 1))", cases);
}

}  // namespace
}  // namespace retuple
