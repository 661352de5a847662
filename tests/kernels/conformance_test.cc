// The whole ONNX backend suite of libonnx-testdata, where it is installed.
#include <filesystem>

#include "gtest/gtest.h"
#include "tools/conformance.h"

namespace retuple {
namespace {

constexpr char kSuite[] = "/usr/share/libonnx-testdata/data";
constexpr int kMustPass = 1069;

TEST(Conformance, SuitePasses) {
  if (!std::filesystem::exists(kSuite)) GTEST_SKIP() << kSuite << " is not installed";
  auto report = RunConformance({.folder = kSuite});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->cases.size(), 1072u);
  EXPECT_GE(report->passed, kMustPass) << ConformanceText(*report);
}

TEST(Conformance, FilterAndPrinters) {
  if (!std::filesystem::exists(kSuite)) GTEST_SKIP() << kSuite << " is not installed";
  auto report = RunConformance({.folder = kSuite, .filter = "^node/test_(abs|bernoulli)$"});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->cases.size(), 2u);
  EXPECT_EQ(report->cases[0].op, "Abs");
  EXPECT_TRUE(report->cases[1].shape_only);
  const std::string text = ConformanceText(*report);
  EXPECT_NE(text.find("\n2 passed, 0 failed, 0 unsupported\n"), std::string::npos) << text;
  EXPECT_NE(ConformanceJson(*report).find("\"outcome\": \"passed\""), std::string::npos);
  EXPECT_EQ(RunConformance({.filter = "("}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RunConformance({.folder = "/nonexistent"}).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace retuple
