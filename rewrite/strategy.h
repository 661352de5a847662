// Strategies: where rules are applied, and in which order, as terms.
//
//   id fail                      the term itself; nothing
//   (rule NAME …)                the first of these rules that applies at the root
//   (rules SET …) any            the first rule of these rule sets, or of all, that applies at the root
//   (rules-except SET …)         of all sets but these
//   (seq S …) (choice S …)       one after the other; the first that succeeds
//   (try S) (not S) (where S)    S or the term itself; succeeds if S fails; succeeds if S does, and keeps the term
//   (if S T U)                   T after S if S succeeds, else U
//   (repeat S) (repeat N S)      S again and again, until it fails or changes nothing; at most N times
//   (all S) (some S) (one S)     S on all operands; on all where it succeeds, at least one; on the first where it does
//   (topdown S) (bottomup S)     S everywhere, parents first, or operands first; fails where S fails: (topdown (try S))
//   (oncetd S) (oncebu S)        at the first place where S succeeds
//   (innermost S) (outermost S)  until S applies nowhere
//   (at (1 2) S)                 at operand 2 of operand 1; operands count from 1
//   (equilibrium RATIO S)        (repeat S), but S succeeds at most RATIO times the nodes of the term
//   (rec X S)  X                 S, in which X is S again;   NAME   a named strategy
//
// A strategy gives a term or fails (Luttik & Visser, "Specification of rewriting strategies", 1997; Visser et al., "Building program
// optimizers with rewriting strategies", ICFP 1998). Operands are those of an application: its head, attributes, and the number of
// `(nth i app)` are data and no places. What a strategy gives for a term it gives for every occurrence, so a shared subterm is
// worked on once. Nothing recurs on the native stack.
//
//   auto s = StrategyProgram::Compile(ctx, rules, *ReadTerm(ctx, "(innermost (rules algebra))"));
//   StrategyResult r = s->Run(ctx, functions, term);
#ifndef RETUPLE_REWRITE_STRATEGY_H_
#define RETUPLE_REWRITE_STRATEGY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rewrite/functions.h"
#include "rewrite/normalizer.h"
#include "rewrite/rule.h"

namespace retuple {

struct StrategyOptions {
  uint64_t fuel = 100'000'000;           // rule applications
  uint64_t steps = 10'000'000'000;       // of the strategy
  Validity allow = Validity::kRounding;  // rules of this class and the ones before it
  TypeOracle* types = nullptr;
  std::function<void(const Step&)> on_step;
};

struct StrategyResult {
  std::optional<Term> term;  // nothing: the strategy fails, or was stopped
  // kNormalForm: it came to its end; kFuel: also for the steps; kCycle: it asks for what it is just working out; kPassLimit: an equilibrium
  // reached its ratio, and `term` is what it had then.
  StopReason stop = StopReason::kNormalForm;
  uint64_t applications = 0;
  std::vector<RuleStats> stats;  // by index in the rule set
};

class StrategyProgram {
 public:
  // InvalidArgument for a malformed strategy, naming it; NotFound for a rule, rule set or strategy that is not there. `named` are strategies
  // that it may call, themselves too. `rules` must outlive the program.
  static absl::StatusOr<StrategyProgram> Compile(Context& ctx, const RuleSet& rules, Term strategy, const std::map<std::string, Term>& named = {});

  StrategyResult Run(Context& ctx, const FunctionRegistry& functions, Term term, const StrategyOptions& options = {}) const;

 private:
  enum class Code : uint8_t { kId, kFail, kRules, kSeq, kChoice, kNot, kWhere, kIf, kRepeat, kAll, kSome, kOne, kAt, kEquilibrium, kJump };
  struct Node {
    Code code = Code::kId;
    std::vector<uint32_t> parts;  // kRules: rules; kAt: the path, then the strategy; else strategies
    uint64_t count = 0;           // kRepeat: at most
    double ratio = 0;
  };
  friend class StrategyCompiler;
  friend class StrategyMachine;

  const RuleSet* rules_ = nullptr;
  std::vector<Node> nodes_;
  uint32_t start_ = 0;
};

}  // namespace retuple

#endif  // RETUPLE_REWRITE_STRATEGY_H_
