// The optimiser on small graphs, the shipped rules' own checks, and the rules of a user.
#include "tools/optimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "ir_bridge/onnx/model_io.h"
#include "ir_bridge/tensor_object.h"
#include "tools/compare.h"
#include "tools/rule_check.h"

namespace retuple {
namespace {

using ::testing::HasSubstr;

// Normal form of a term under the shipped rules (lowering left out), printed.
std::string Normal(const char* text, Validity allow = Validity::kRounding, int64_t opset = 17) {
  RuleSession session(opset);
  EXPECT_TRUE(session.LoadShipped().ok());
  auto term = ReadTerm(session.ctx, text, {.object_reader = ReadTensorObject});
  EXPECT_TRUE(term.ok()) << term.status();
  const RuleSet rules = session.loader.rules().Filter([](const Rule& r) { return r.ruleset.rfind("lower-", 0) != 0; });
  Normalizer n(session.ctx, rules, session.functions, {.allow = allow, .types = &session.types});
  return PrintTerm(session.ctx, n.Run(std::span<const Term>(&*term, 1))[0]);
}

TEST(ShippedRulesTest, LoadWithoutALint) {
  RuleSession session;
  ASSERT_TRUE(session.LoadShipped().ok()) << session.LoadShipped();
  for (const auto& w : session.loader.warnings()) ADD_FAILURE() << w.ToString();
  EXPECT_GE(session.loader.rules().rules().size(), 80u);
}

// One test a file, so that a failure names it: both sides of every rule on random tensors.
class ShippedFileTest : public ::testing::TestWithParam<int> {};
TEST_P(ShippedFileTest, BothSidesAgree) {
  const auto files = ShippedRules();
  if (static_cast<size_t>(GetParam()) >= files.size()) return;
  const ShippedFile f = files[static_cast<size_t>(GetParam())];
  RuleSession session(100);
  ASSERT_TRUE(session.loader.Load(f.text, {.file = f.name, .object_reader = ReadTensorObject}).ok());
  const RuleCheckReport report = CheckRules(session);
  EXPECT_TRUE(report.ok()) << RuleCheckText(report, false);
  for (const auto& r : report.results) EXPECT_GT(r.evaluated, 0) << r.where;
}
INSTANTIATE_TEST_SUITE_P(Files, ShippedFileTest, ::testing::Range(0, 16));

TEST(ShippedRulesTest, OneLineExamples) {
  const std::pair<const char*, const char*> cases[] = {
      {"(Identity (Identity (input \"x\" f32 (2))))", "(input \"x\" f32 (2))"},
      {"(Add (input \"x\" f32 (2)) #<f32[] 0>)", "(input \"x\" f32 (2))"},
      {"(Add #<f32[] 0> (input \"x\" f32 (2)))", "(input \"x\" f32 (2))"},
      // A larger zero enlarges the result: the types differ, so the rule declines.
      {"(Add (input \"x\" f32 (2)) #<f32[1,2] 0 0>)", "(Add (input \"x\" f32 (2)) #<f32[1,2] 0 0>)"},
      {"(Add (input \"x\" f32) #<f32[1,2] 0 0>)", "(Add (input \"x\" f32) #<f32[1,2] 0 0>)"},
      {"(Mul #<f32[2] 1 2> #<f32[2] 3 4>)", "#<f32[2] 3 8>"},
      {"((Transpose :perm (1 2 0)) ((Transpose :perm (2 0 1)) (input \"x\" f32 (2 3 4))))", "(input \"x\" f32 (2 3 4))"},
      {"(Gather ((Shape :start 0) (input \"x\" f32 (N 3 4))) #<i64[] 1>)", "#<i64[] 3>"},
      {"(Size (input \"x\" f32 (2 3)))", "#<i64[] 6>"},
      {"(nth 0 ((Dropout :seed 1) (input \"x\" f32 (2))))", "(input \"x\" f32 (2))"},
      {"(Log (Exp (input \"x\" f32 (2))))", "(Log (Exp (input \"x\" f32 (2))))"},
  };
  for (const auto& [in, out] : cases) EXPECT_EQ(Normal(in), out) << in;
  EXPECT_EQ(Normal("(Log (Exp (input \"x\" f32 (2))))", Validity::kReal), "(input \"x\" f32 (2))");
  EXPECT_EQ(Normal("(Add (input \"x\" f32 (2)) #<f32[] 0>)", Validity::kExact), "(Add (input \"x\" f32 (2)) #<f32[] 0>)");
}

TEST(ShippedRulesTest, RandomOperatorsNeverMerge) {
  const char* two = "(Sub ((RandomUniformLike :high 1.0 :low 0.0 :random-id 1) (input \"x\" f32 (2))) "
                    "((RandomUniformLike :high 1.0 :low 0.0 :random-id 2) (input \"x\" f32 (2))))";
  EXPECT_THAT(Normal(two, Validity::kReal), HasSubstr(":random-id 2"));
}

std::string WriteRules(const std::string& text) {
  const std::string path = ::testing::TempDir() + "user_" + std::to_string(::getpid()) + ".rules";
  std::ofstream(path) << text;
  return path;
}

TEST(OptimizeTest, AUsersRuleForAnOperatorOfTheirOwnDomain) {
  Graph g;
  g.info.opsets = {{"", 17}, {"acme", 1}};
  VarId v = g.AddInput("x", Type::Tensor(DType::kF32, {2}));
  const OpId op = g.InternOp(MakeOpaqueOp("acme", "Mirror", {{"axis", int64_t{0}}}, 1));
  for (int i = 0; i < 2; ++i) {
    const VarId in[] = {v};
    v = g.output(g.AddApply(op, in), 0);
  }
  g.AddOutput("y", v);
  // Mirror twice is nothing; its type is not known to us, so the author vouches for it.
  const std::string path = WriteRules("(rewrite mirror-twice ((acme::Mirror :axis ?a) ((acme::Mirror :axis ?a) ?x)) ?x :types given)");
  auto report = Optimize(g, {.rule_files = {path}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->nodes_after, 0u);
  EXPECT_EQ(report->rules[0].name, "mirror-twice");
  EXPECT_EQ(report->rules[0].stats.applied, 1u);
}

TEST(OptimizeTest, BadRuleFilesAreErrors) {
  Graph g;
  g.info.opsets = {{"", 17}};
  g.AddOutput("y", g.AddInput("x", Type::Tensor(DType::kF32, {2})));
  const std::pair<const char*, const char*> cases[] = {
      {"(rewrite r (Relu ?x) ?y)", "variable ?y is bound by neither"},
      {"(rewrite r (Rleu ?x) ?x)", "unknown operator Rleu"},
      {"(rewrite r (Relu ?x ?y) ?x)", "operator Relu does not take 2 operands"},
      {"(rewrite r ((Relu :slope 1) ?x) ?x)", "operator Relu has no attribute slope"},
      {"(rewrite r (Concat ?x) ?x)", "operator Concat needs attribute axis"},
      {"(rewrite r (Relu ?x) (Add ?x 1))", "a bare number has no element type"},
      {"(rewrite r (Relu ?x) ?x", "is never closed"},
  };
  for (const auto& [text, message] : cases) {
    auto report = Optimize(g, {.rule_files = {WriteRules(text)}});
    ASSERT_FALSE(report.ok()) << text;
    EXPECT_THAT(std::string(report.status().message()), HasSubstr(message));
    EXPECT_THAT(std::string(report.status().message()), HasSubstr(".rules:1:1"));
  }
}

TEST(OptimizeTest, ALoopingRuleSetStopsAndIsNamed) {
  Graph g;
  g.info.opsets = {{"", 17}};
  const VarId in[] = {g.AddInput("x", Type::Tensor(DType::kF32, {2}))};
  g.AddOutput("y", g.output(g.AddApply(g.InternOp(*MakeOp(*Registry::Get().FindForm("Sin"), {})), in), 0));
  const std::string path = WriteRules("(rewrite to-cos (Sin ?x) (Cos ?x) :valid real)\n(rewrite to-sin (Cos ?x) (Sin ?x) :valid real)");
  auto report = Optimize(g, {.rule_files = {path}, .allow = Validity::kReal});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->stop, StopReason::kCycle);
  EXPECT_THAT(report->cycle, ::testing::ElementsAre("to-cos", "to-sin"));
  EXPECT_FALSE(report->warnings.empty());
}

}  // namespace
}  // namespace retuple
