// Proofs that rewriting with a set of rules ends, searched for.
//
// Tried in turn, each an order by which every rule goes down:
//   - the lexicographic path order, by a precedence (rewrite/term_order.h);
//   - the Knuth-Bendix order (1970): weights of operators, ties by a precedence, and no variable more often on the right;
//   - linear polynomials over the natural numbers (Lankford 1979): each operator a function c + a1·x1 + … + an·xn, a ≥ 1.
// Weights and coefficients are small numbers, found by improving one at a time, so a proof may be missed; a proof that is given is one.
#ifndef RETUPLE_REWRITE_TERMINATION_H_
#define RETUPLE_REWRITE_TERMINATION_H_

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "etuple/term.h"

namespace retuple {

// What shows it: "lexicographic path order, i > * > e"; nothing if none was found. Pairs are first-order (OperatorsOf), the left sides no
// variables.
std::optional<std::string> FindTermination(const Context& ctx, std::span<const std::pair<Term, Term>> pairs);

}  // namespace retuple

#endif  // RETUPLE_REWRITE_TERMINATION_H_
