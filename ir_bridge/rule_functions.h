// Guards and functions of rules that know types and constants of the IR. docs/rules.md lists them for rule authors.
#ifndef RETUPLE_IR_BRIDGE_RULE_FUNCTIONS_H_
#define RETUPLE_IR_BRIDGE_RULE_FUNCTIONS_H_

#include "ir_bridge/term_codec.h"
#include "ir_bridge/term_types.h"
#include "rewrite/functions.h"

namespace retuple {

// What the rules may ask about the model at hand.
struct RuleEnvironment {
  int64_t opset = 17;                        // the opset that the result is written in
  int64_t fold_limit = int64_t{1} << 22;     // elements that constant folding may make out of fewer
};

// `codec`, `types` and `env` must outlive the registry.
void AddIrFunctions(FunctionRegistry& functions, TermCodec& codec, TermTypes& types, const RuleEnvironment& env);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_RULE_FUNCTIONS_H_
