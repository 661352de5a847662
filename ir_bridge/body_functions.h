// Functions of rules on bodies (lambda terms): inlining a branch, and tidying what an application's bodies capture.
#ifndef RETUPLE_IR_BRIDGE_BODY_FUNCTIONS_H_
#define RETUPLE_IR_BRIDGE_BODY_FUNCTIONS_H_

#include <span>

#include "absl/status/statusor.h"
#include "ir_bridge/term_codec.h"
#include "rewrite/functions.h"

namespace retuple {

// Output `index` of `lambda` with its parameters replaced by `args`. Bodies inside it are closed, so nothing is captured by mistake.
absl::StatusOr<Term> InlineBody(TermCodec& codec, Term lambda, int64_t index, std::span<const Term> args);

// `app` with constant captures moved into its bodies and captures that no body uses dropped; `app` itself when there are none.
absl::StatusOr<Term> SinkCaptures(TermCodec& codec, Term app);

// Adds `inline`, `sink-captures` and the guard `sinkable-captures`.
void AddBodyFunctions(FunctionRegistry& functions, TermCodec& codec);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_BODY_FUNCTIONS_H_
