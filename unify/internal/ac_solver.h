// The unifiers of equations modulo a theory: a depth-first search over a list of equations.
//
// Equations are cells of an arena, so that a choice point is the length of the arena and of the trail of bindings, and the next
// alternative. Each alternative yields further equations (variable = term among them): nothing else is branched on.
#ifndef RETUPLE_UNIFY_INTERNAL_AC_SOLVER_H_
#define RETUPLE_UNIFY_INTERNAL_AC_SOLVER_H_

#include <span>
#include <vector>

#include "unify/internal/ac_algebra.h"

namespace retuple::internal {

struct SolveResult {
  bool finished = false;      // no limit was reached
  bool incomparable = false;  // no answer of the run can be an instance of another
  bool cut = false;           // a branch was given up for its splits
};

// Appends the unifiers of `equations`, as values of `variables`, to `out`. `seen` has what it holds. `units_inside`: see
// Algebra::UnitPlan.
SolveResult Solve(Algebra& algebra, bool units_inside, const AcOptions& options, const std::vector<Term>& variables, FreshPool& fresh,
                  Meter& meter, absl::flat_hash_set<std::vector<Term>>& seen, std::span<const TermPair> equations, uint32_t max_splits,
                  AcUnifiers& out);

}  // namespace retuple::internal

#endif  // RETUPLE_UNIFY_INTERNAL_AC_SOLVER_H_
