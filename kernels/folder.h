// `fold`: computes a term of constants with the kernels, at rewrite time.
#ifndef RETUPLE_KERNELS_FOLDER_H_
#define RETUPLE_KERNELS_FOLDER_H_

#include "absl/status/statusor.h"
#include "ir_bridge/term_codec.h"
#include "rewrite/functions.h"

namespace retuple {

// The constant that `t` (operators over constants) has as its value. FailedPrecondition when an operand is not constant, otherwise
// the kernel's own error. Explicit stack; shared subterms are computed once.
absl::StatusOr<Term> FoldTerm(TermCodec& codec, Term t);

// Adds the function `fold` to a registry. `codec` must outlive it.
void AddFoldFunction(FunctionRegistry& functions, TermCodec& codec);

}  // namespace retuple

#endif  // RETUPLE_KERNELS_FOLDER_H_
