// Redundant unifiers: those that are instances of others.
#ifndef RETUPLE_UNIFY_INTERNAL_AC_FILTER_H_
#define RETUPLE_UNIFY_INTERNAL_AC_FILTER_H_

#include <vector>

#include "unify/internal/ac_algebra.h"

namespace retuple::internal {

// Drops every unifier that is an instance of another, of equal ones all but the first; false if the limit was
// reached. Those that are equal but for names fall first, by hash. The others meet by shape, then by profile.
// Two of one shape have as many constants and variables in values of the same sizes: an instance is equal but
// for names, which hashing has found if the spelling is unique. `units`: an operator of the values has a
// unit.
bool DropInstances(Algebra& alg, bool units, FreshPool& fresh, std::vector<AcUnifier>& unifiers,
                   uint64_t max_steps);

}  // namespace retuple::internal

#endif  // RETUPLE_UNIFY_INTERNAL_AC_FILTER_H_
