// Unification modulo a theory as a goal: `(ac== T U)`, with one answer for each most general unifier (unify/ac.h).
//
//   (operator + :assoc :comm :unit 0)
//   (run* (?x ?y) (ac== (+ ?x ?y) (+ a b)))
//
// What is known when the goal is called counts: put it behind the goals that bind its variables. Where the unifiers are infinitely many or
// past the limits, the goal is an error rather than an answer too few.
#ifndef RETUPLE_UNIFY_AC_GOAL_H_
#define RETUPLE_UNIFY_AC_GOAL_H_

#include <memory>

#include "unify/ac.h"
#include "unify/relational.h"

namespace retuple {

// Adds the goal; the theory may be extended afterwards.
absl::Status AddAcGoal(Program& program, std::shared_ptr<const Theory> theory, const AcOptions& options = {});

// `+ :assoc :comm :unit 0`, the words after `operator`, into the theory. InvalidArgument for an unknown word.
absl::Status DeclareOperator(Context& ctx, std::span<const Term> words, Theory& theory);

}  // namespace retuple

#endif  // RETUPLE_UNIFY_AC_GOAL_H_
