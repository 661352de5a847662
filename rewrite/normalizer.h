// Directed rewriting: applies rules until none applies, and says what happened.
//
// Terms are hash-consed, so a normal form is remembered by term and a shared subterm is normalised once. The strategy is innermost (operands
// first) or outermost (a reducible root first; operands one by one, the root tried again as soon as one changed, so that a rule on `if` need
// not evaluate the branch that is dropped). Both keep an explicit stack.
//
// A rule applies at a term if its pattern matches, its conditions hold, and both sides have the same type (TypeOracle). A rule that declines
// changes nothing. What stops a run that would not end: fuel, and the detection of a term that comes back while it is being reduced; either
// way the terms reached so far are valid results, and the report names the rules that went round.
//
//   Normalizer n(ctx, rules, functions, {.fuel = 1000000});
//   std::vector<Term> out = n.Run(roots);
//   n.report().stop == StopReason::kNormalForm;
#ifndef RETUPLE_REWRITE_NORMALIZER_H_
#define RETUPLE_REWRITE_NORMALIZER_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "etuple/term.h"
#include "rewrite/functions.h"
#include "rewrite/rule.h"

namespace retuple {

enum class TypeVerdict : uint8_t { kSame, kDifferent, kUnknown };

// Compares the types of two terms; what knows types implements it.
class TypeOracle {
 public:
  virtual ~TypeOracle() = default;
  virtual TypeVerdict Compare(Term a, Term b) = 0;
  virtual std::string Describe(Term t) = 0;
};

enum class Strategy : uint8_t { kInnermost, kOutermost };

enum class StopReason : uint8_t { kNormalForm, kFuel, kCycle, kPassLimit };
std::string_view StopReasonName(StopReason r);

struct RuleStats {
  uint64_t tried = 0;          // asked to match
  uint64_t matched = 0;        // the pattern matched
  uint64_t guard_refused = 0;  // a condition failed or a function declined
  uint64_t type_refused = 0;   // the sides' types differ or cannot be compared
  uint64_t applied = 0;
};

struct Step {
  const Rule* rule;
  Term before, after;
};

struct NormalizeOptions {
  Strategy strategy = Strategy::kInnermost;
  uint64_t fuel = 100'000'000;  // rule applications
  int max_passes = 64;
  Validity allow = Validity::kRounding;  // rules of this class and the ones before it
  TypeOracle* types = nullptr;           // none: untyped rewriting
  std::function<void(const Step&)> on_step;
};

struct NormalizeReport {
  StopReason stop = StopReason::kNormalForm;
  uint64_t steps = 0;
  int passes = 0;
  std::vector<RuleStats> stats;     // by index in the rule set
  std::vector<std::string> cycle;   // rule names, in order, when the run went round
};

class Normalizer {
 public:
  Normalizer(Context& ctx, const RuleSet& rules, const FunctionRegistry& functions, NormalizeOptions options = {});
  ~Normalizer();

  // Normal forms of `roots`, in order. Passes are repeated until one changes nothing, because use counts change.
  std::vector<Term> Run(std::span<const Term> roots);
  const NormalizeReport& report() const { return report_; }

 private:
  class Uses;
  struct Frame;
  // One rewrite step at the root of `t`; nil-safe: nullopt when no rule applies.
  bool ApplyAt(Term t, Term* out);
  bool TryRule(uint32_t id, Term t, Term* out);
  Term NormalForm(Term root);
  Term WithChildren(const Frame& f);
  void FoundCycle(size_t first_step);
  void NamePeriod();

  Context& ctx_;
  const RuleSet& rules_;
  const FunctionRegistry& functions_;
  NormalizeOptions options_;
  NormalizeReport report_;
  std::unique_ptr<Uses> uses_;
  absl::flat_hash_map<Term, Term> memo_;
  absl::flat_hash_map<Term, size_t> active_;  // being reduced → number of steps when it was first met
  std::vector<uint32_t> recent_;              // ring of applied rules
  Bindings bindings_;
  bool stopped_ = false;
};

// Why rule `rule` does not rewrite the root of `t`: the first place where the pattern and the term part, the condition that failed, or the
// types that differ; "it applies" when it does.
std::string ExplainRule(Context& ctx, const Rule& rule, const FunctionRegistry& functions, TypeOracle* types,
                        const UseCounts* uses, Term t);

}  // namespace retuple

#endif  // RETUPLE_REWRITE_NORMALIZER_H_
