// Associative and commutative equality by trying all forms, as Python's kanren has it: (eq_comm T U), (eq_assoc T U) and
// (eq_assoccomm T U) relate a term to those that it becomes by permuting and regrouping operands, where `ac==` (unify/ac_goal.h) gives
// most general unifiers. Operators are n-ary and differ from their nested forms: (+ 1 2 3) and (+ 1 (+ 2 3)) are two terms, which are
// equal. Which operators have the laws is said by facts:
//
//   (fact commutative +) (fact associative +)
//   (run* (?x ?y) (eq_assoccomm (+ (+ 1 ?x) ?y) (+ 2 (+ 3 1))))        ; (2 3), (3 2)
#ifndef RETUPLE_UNIFY_ASSOC_COMM_H_
#define RETUPLE_UNIFY_ASSOC_COMM_H_

#include <string>
#include <vector>

#include "unify/relational.h"

namespace retuple {

// The operands of `op`, those of nested applications of `op` to something in their place.  + : 1 (+ 2 (+ 3 4)) (+) → 1 2 3 4 (+)
std::vector<Term> FlattenAssocArgs(Context& ctx, Term op, std::span<const Term> args);

// Every way to put `n` neighbours of `args` into an application of `op`; `args` itself if there are n. Pre: n > 0.
//   + : 1 2 3 by 2 → (((+ 1 2) 3) (1 (+ 2 3)))
std::vector<std::vector<Term>> AssocArgs(Context& ctx, Term op, std::span<const Term> args, size_t n);

// The goals that the library's text builds on, each name behind `prefix`.
absl::Status AddAssocComm(Context& ctx, Program& program, const std::string& prefix);

}  // namespace retuple

#endif  // RETUPLE_UNIFY_ASSOC_COMM_H_
