// Goals that wait for their arguments: what such a goal says when it is asked.
#ifndef RETUPLE_UNIFY_CONSTRAINT_H_
#define RETUPLE_UNIFY_CONSTRAINT_H_

#include <functional>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "etuple/term.h"

namespace retuple {

struct Verdict {
  enum Kind {
    kFails,
    kHolds,
    kWaits,       // it cannot be said yet
    kDetermines,  // it holds exactly if the argument `index` is `value`
  } kind = kFails;
  size_t index = 0;
  Term value;
};

// Gets the arguments that are ground. Asked at the goal's turn and whenever one of the others becomes known, so its answers must agree: what
// it says of some arguments must hold for all that they may become.
using ConstraintFn = std::function<absl::StatusOr<Verdict>(std::span<const std::optional<Term>> args)>;

}  // namespace retuple

#endif  // RETUPLE_UNIFY_CONSTRAINT_H_
