// Tabled relations: each distinct call is answered once, so that left recursion and cycles end.
//
//   (deftabled (path ?x ?y)
//     (conde ((edge ?x ?y)) ((fresh (?z) (path ?x ?z) (edge ?z ?y)))))
//
// A call is looked up by what is known of its arguments (up to renaming of variables). Its table is filled by running the body against
// the tables as they are, and again whenever a table that it used has grown, until none grows: the least fixed point, computed by a work
// list (compare Tamaki & Sato, "OLD Resolution with Tabulation", 1986). Calls that come up meanwhile join the work list, so nothing recurs
// on the native stack. A call with infinitely many answers does not end, unless the limits of its program do it; answers may hold
// variables but no constraints.
#ifndef RETUPLE_UNIFY_TABLING_H_
#define RETUPLE_UNIFY_TABLING_H_

#include "unify/relational.h"

namespace retuple {

// Defines the relation in `program`, which must outlive it: `(deftabled (name ?a …) GOAL …)`. Errors as of Program::Define. The steps of
// `limits` bound each call from outside with all that it needs.
absl::Status DefineTabled(Context& ctx, Program& program, Term form, const QueryLimits& limits = {});

}  // namespace retuple

#endif  // RETUPLE_UNIFY_TABLING_H_
