// The families of operators, each registered by one file schemas_<family>.cc.
#ifndef RETUPLE_IR_BRIDGE_INTERNAL_REGISTER_SCHEMAS_H_
#define RETUPLE_IR_BRIDGE_INTERNAL_REGISTER_SCHEMAS_H_

#include "ir_bridge/schema.h"

namespace retuple::internal {

void RegisterMathSchemas(Registry& r);     // element-wise arithmetic, logic, comparison, activations
void RegisterReduceSchemas(Registry& r);   // reductions, softmax, searching, losses
void RegisterNnSchemas(Registry& r);       // convolution, pooling, normalisation, products, resampling
void RegisterMoveSchemas(Registry& r);     // shapes, data movement, indexing, constants
void RegisterControlSchemas(Registry& r);  // control flow, sequences, optionals
void RegisterMiscSchemas(Registry& r);     // quantisation, random, signal, text, training

inline void RegisterAllSchemas(Registry& r) {
  RegisterMathSchemas(r);
  RegisterReduceSchemas(r);
  RegisterNnSchemas(r);
  RegisterMoveSchemas(r);
  RegisterControlSchemas(r);
  RegisterMiscSchemas(r);
}

}  // namespace retuple::internal

#endif  // RETUPLE_IR_BRIDGE_INTERNAL_REGISTER_SCHEMAS_H_
