// Evaluates both sides of rules on random tensors.
//
// An instance of a rule comes from a `:test`, or is found by trying small shapes. Its left side is built, the rule is applied to it as an engine
// would (conditions and types included), and both terms run through the kernels on random inputs: for an `exact` rule also on infinities,
// NaN and −0. A `:test` binds variables of the left side:
//   (?x (in f32 (2 3)))        an input of random values; (in f32 (2 3) 0.5 2) within a range
//   (?w (const f32 (4 3 3 3))) a random constant
//   (?p (1 0)), (?c #<f32[] 1>) the term itself
// Unbound attributes `..?a` are the operator's defaults.
#ifndef RETUPLE_TOOLS_RULE_CHECK_H_
#define RETUPLE_TOOLS_RULE_CHECK_H_

#include <string>
#include <vector>

#include "tools/optimize.h"

namespace retuple {

struct RuleCheckOptions {
  uint64_t seed = 1;
  int search = 400;     // instances to try for a rule without :test
  int want = 4;         // instances to evaluate for a rule without :test
};

struct RuleCheckResult {
  std::string rule;
  std::string where;
  int evaluated = 0;           // instances whose sides were evaluated and agree
  std::string failure;         // what went wrong, with the instance; empty when all is well
};

struct RuleCheckReport {
  std::vector<RuleCheckResult> results;
  bool ok() const;
};

// Checks every rule of the session; a rule without a single evaluated instance fails.
RuleCheckReport CheckRules(RuleSession& session, const RuleCheckOptions& options = {});
// Failures, and last a line "N rules: M instances agree, F rules fail".
std::string RuleCheckText(const RuleCheckReport& report, bool verbose);

}  // namespace retuple

#endif  // RETUPLE_TOOLS_RULE_CHECK_H_
