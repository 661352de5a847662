// One application of one rule at the root of one term: match, conditions, replacement, types. Shared by the engines and by explain.
#ifndef RETUPLE_REWRITE_APPLY_H_
#define RETUPLE_REWRITE_APPLY_H_

#include <string>

#include "rewrite/functions.h"
#include "rewrite/normalizer.h"
#include "rewrite/rule.h"

namespace retuple::internal {

enum class Outcome : uint8_t { kNoMatch, kGuardRefused, kTypeRefused, kUnchanged, kApplied };

// Tries all matches until one is applied. `reason`, when given, receives why the last match was refused.
Outcome ApplyRule(Context& ctx, const Rule& rule, const FunctionRegistry& functions, TypeOracle* types, RuleContext& rc,
                  Term t, Bindings& bindings, Term* out, std::string* reason);

}  // namespace retuple::internal

#endif  // RETUPLE_REWRITE_APPLY_H_
