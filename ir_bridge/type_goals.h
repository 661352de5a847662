// Types of the IR in relational queries: (typeo T TYPE) and (isinstanceo T TYPE).
//
//   f32            an element type
//   (f32 (2 N))    a type as the leaf `(input "x" f32 (2 N))` spells it; `_` is any dimension
//   (f32)          a tensor of unknown rank
//
// `typeo` asks for this very type; `isinstanceo` also takes a more special one: a number for a symbol or `_`, a shape for an unknown rank.
#ifndef RETUPLE_IR_BRIDGE_TYPE_GOALS_H_
#define RETUPLE_IR_BRIDGE_TYPE_GOALS_H_

#include "ir_bridge/term_types.h"
#include "unify/relational.h"

namespace retuple {

// `codec` and `types` must outlive the program.
void AddIrTypes(Program& program, TermCodec& codec, TermTypes& types);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_TYPE_GOALS_H_
