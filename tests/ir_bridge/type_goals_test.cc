#include "ir_bridge/type_goals.h"

#include <gtest/gtest.h>

#include "ir_bridge/tensor_object.h"
#include "unify/script.h"

namespace retuple {
namespace {

std::vector<std::string> Ask(const std::string& query) {
  Context ctx;
  TermCodec codec(ctx);
  TermTypes types(codec);
  std::vector<std::string> out;
  Script script(ctx, {.on_start = nullptr,
                      .on_answer =
                          [&](const Answer& a) {
                            out.push_back(a.ToString(ctx));
                            return true;
                          },
                      .on_end = nullptr});
  script.set_object_reader(ReadTensorObject);
  AddIrTypes(script.program(), codec, types);
  auto s = script.RunText(query, "");
  if (!s.ok()) out.push_back("error: " + std::string(s.message()));
  return out;
}

TEST(TypeGoalsTest, Table) {
  const struct {
    const char *term, *type;
    bool typeo, isinstanceo;
  } cases[] = {
      {"(input \"x\" f32 (2 3))", "f32", true, true},
      {"(input \"x\" f32 (2 3))", "f64", false, false},
      {"(input \"x\" f32 (2 3))", "(f32 (2 3))", true, true},
      {"(input \"x\" f32 (2 3))", "(f32 (2 4))", false, false},
      {"(input \"x\" f32 (2 3))", "(f32 (2))", false, false},
      {"(input \"x\" f32 (2 3))", "(f32 (N 3))", false, true},
      {"(input \"x\" f32 (2 3))", "(f32 (_ _))", false, true},
      {"(input \"x\" f32 (2 3))", "(f32)", false, true},
      {"(input \"x\" f32 (N 3))", "(f32 (N 3))", true, true},
      {"(input \"x\" f32 (N 3))", "(f32 (M 3))", false, true},
      {"(input \"x\" f32 (N 3))", "(f32 (2 3))", false, false},
      {"(input \"x\" f32 (_ 3))", "(f32 (_ 3))", true, true},
      {"(input \"x\" f32)", "(f32)", true, true},
      {"(input \"x\" f32)", "(f32 (2))", false, false},
      {"#<f32[] 2>", "(f32 ())", true, true},
      {"#<f64[2] 2 2>", "(f64 (2))", true, true},
      {"#<i64[] 2>", "f32", false, false},
      {"(Add (input \"x\" f32 (2 1)) (input \"y\" f32 (3)))", "(f32 (2 3))", true, true},  // inferred
      {"(input \"x\" (seq f32 (2)))", "((seq f32 (2)))", true, true},
      {"(input \"x\" (seq f32 (2)))", "((seq f32))", false, true},
      {"(input \"x\" (seq f32 (2)))", "f32", false, false},
      {"(unknown thing)", "f32", false, false},
      {"5", "(i64 ())", false, false},  // an integer term is no tensor
  };
  for (const auto& c : cases) {
    for (const char* goal : {"typeo", "isinstanceo"}) {
      const bool holds = *goal == 't' ? c.typeo : c.isinstanceo;
      const std::vector<std::string> want = holds ? std::vector<std::string>{"?_0"} : std::vector<std::string>{};
      const std::string g = std::string("(") + goal;
      EXPECT_EQ(Ask("(run* ?q " + g + " " + c.term + " " + c.type + "))"), want) << goal << " " << c.term << " " << c.type;
      // Before the term is known, and before the type is.
      EXPECT_EQ(Ask("(run* ?q (fresh (?x ?t) " + g + " ?x ?t) (== ?t " + c.type + ") (== ?x " + c.term + ")))"), want);
    }
  }
}

TEST(TypeGoalsTest, AnswersAndErrors) {
  EXPECT_EQ(Ask("(run* ?q (typeo ?q f32))"), (std::vector<std::string>{"?_0 :where (typeo ?_0 f32)"}));
  EXPECT_EQ(Ask("(run* ?q (typeo ?q f23))"), (std::vector<std::string>{"error: 1:1: (typeo ?q f23): f23 is no type here"}));
  EXPECT_EQ(Ask("(run* ?q (typeo ?q (f32 2)))"), (std::vector<std::string>{"error: 1:1: (typeo ?q (f32 2)): (f32 2) is no type here"}));
  std::string deep = "f32";
  for (int i = 0; i < 10000; ++i) deep = "(seq " + deep + ")";
  EXPECT_EQ(Ask("(run* ?q (typeo ?q (" + deep + ")))").size(), 1u);
}

}  // namespace
}  // namespace retuple
