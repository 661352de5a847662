// Arithmetic on numbers as constraints: (addo A B C) says A + B = C, and finds the one that is not known.
//
//   (addo A B C)  A + B = C        (subo A B C)  A - B = C        (mulo A B C)  A · B = C
//   (divo A B C)  A / B = C, exact for integers                   (modo A B C)  A mod B = C, with the sign of B
//   (lto A B) (leo A B) (gto A B) (geo A B)
//
// A result is an integer if both operands are, else a real. With one unknown the goal gives its value where there is exactly one (0 · x = 0
// and x mod 3 = 1 wait); with more it waits and stands with the answer. Integers that overflow 64 bits end the query with an error.
// Reals are rounded, so A + B = C is taken to hold within 4 units in the last place.
#ifndef RETUPLE_UNIFY_ARITHMETIC_H_
#define RETUPLE_UNIFY_ARITHMETIC_H_

#include <string>

#include "unify/relational.h"

namespace retuple {

// Adds the goals, each name behind `prefix`; answers show them without it.
absl::Status AddArithmetic(Context& ctx, Program& program, const std::string& prefix);

}  // namespace retuple

#endif  // RETUPLE_UNIFY_ARITHMETIC_H_
