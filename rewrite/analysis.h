// What can be proven of a rule set without running it: that rewriting ends, and that its result does not depend on the order of the rules.
//
// Both are undecidable in general, so an answer may be "not shown". Termination: by an order that is searched (rewrite/termination.h). Confluence of a terminating set: every critical pair has one normal form (Knuth & Bendix 1970; Huet 1980). Rules
// that are not first-order (conditions, functions, keywords, rest variables), or match modulo commutativity, are left out, and listed: what
// is said holds for the others.
#ifndef RETUPLE_REWRITE_ANALYSIS_H_
#define RETUPLE_REWRITE_ANALYSIS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "rewrite/functions.h"
#include "rewrite/rule.h"

namespace retuple {

struct RuleOverlap {
  const Rule* outer;
  const Rule* inner;   // its left side meets a part of the other's
  Term peak;           // the common instance
  Term left, right;    // the normal forms of what the two rules make of it; not reduced if termination is not shown
};

struct RuleAnalysis {
  struct LeftOut {
    const Rule* rule;
    std::string reason;
  };
  size_t rules = 0;                        // analysed
  std::vector<LeftOut> left_out;
  std::optional<std::string> termination;  // what shows it; none: termination is not shown
  std::vector<const Rule*> rising;         // rules for which, alone, nothing shows it
  size_t overlaps = 0;
  size_t not_compared = 0;                 // pairs of rules whose left sides are too large to look for overlaps
  std::vector<RuleOverlap> divergent;    // overlaps with two results; if termination is not shown, those that differ at once
  bool terminates() const { return termination.has_value(); }
  bool confluent() const { return terminates() && divergent.empty() && not_compared == 0; }
  std::string ToString(const Context& ctx) const;
};

// `max_divergent`: as many are listed; all are counted in `overlaps`.
RuleAnalysis AnalyseRules(Context& ctx, const RuleSet& rules, const FunctionRegistry& functions,
                          const absl::flat_hash_set<Term>& commutative = {}, size_t max_divergent = 100);

}  // namespace retuple

#endif  // RETUPLE_REWRITE_ANALYSIS_H_
