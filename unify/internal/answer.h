// Answers: the query's value with its variables named, and the constraints that speak of them alone, without those that others imply.
#ifndef RETUPLE_UNIFY_INTERNAL_ANSWER_H_
#define RETUPLE_UNIFY_INTERNAL_ANSWER_H_

#include "unify/internal/store.h"
#include "unify/relational.h"

namespace retuple::internal {

Answer MakeAnswer(Store& store, Value value);

}  // namespace retuple::internal

#endif  // RETUPLE_UNIFY_INTERNAL_ANSWER_H_
