// Knuth–Bendix completion: from equations to a terminating and confluent set of rules, which decides what follows from the equations.
//
//   CompletionInput in;                       // (* e ?x) = ?x, (* (i ?x) ?x) = e, (* (* ?x ?y) ?z) = (* ?x (* ?y ?z))
//   auto out = Complete(ctx, in);
//   out->complete && out->rules.size() == 10
//
// Method: Knuth & Bendix 1970 in the form of Huet (J. CSS 23, 1981): the smallest equation is brought to normal form, oriented by a
// lexicographic path order and made a rule; rules that it reduces become equations again or get smaller right sides; its overlaps with all
// rules are new equations. The precedence is given, or those that orient the equations are tried in turn. An equation that cannot be
// oriented waits, since later rules may make it smaller; if it stays, the completion fails and names it.
#ifndef RETUPLE_REWRITE_COMPLETION_H_
#define RETUPLE_REWRITE_COMPLETION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "etuple/term.h"
#include "rewrite/term_order.h"

namespace retuple {

using Equation = std::pair<Term, Term>;

struct CompletionOptions {
  std::optional<Precedence> precedence;
  uint64_t most_pairs = 100'000;  // equations and critical pairs that are looked at
  size_t most_rules = 1'000;
};

struct Completion {
  bool complete = false;
  std::string reason;             // why not
  std::vector<Equation> rules;    // left to right, variables named ?x, ?y, …; smallest left side first
  std::vector<Equation> stuck;    // equations that no order of the precedence orients
  Precedence precedence;
  uint64_t critical_pairs = 0;    // overlaps
  uint64_t equations = 0;         // looked at, the given ones too
};

// InvalidArgument for terms that are not first-order (a rest variable, a keyword, a tuple that does not begin with a symbol).
absl::StatusOr<Completion> Complete(Context& ctx, std::span<const Equation> equations, const CompletionOptions& options = {});

// An overlap of two rules, and what the two make of it.
struct CriticalPair {
  size_t outer, inner;  // rules: the left side of `inner` meets a part of that of `outer`
  Term peak, left, right;  // peak → left by `outer`, peak → right by `inner`
};
// All overlaps of rule `a` with rule `b`, in both directions; once if they are the same. Left sides are no variables. ResourceExhausted if
// the left sides are so large that this is no longer work for seconds.
absl::StatusOr<std::vector<CriticalPair>> CriticalPairs(Context& ctx, std::span<const Equation> rules, size_t a, size_t b);

}  // namespace retuple

#endif  // RETUPLE_REWRITE_COMPLETION_H_
