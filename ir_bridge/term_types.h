// Types of terms: a side table, each term inferred once from the types of its operands.
#ifndef RETUPLE_IR_BRIDGE_TERM_TYPES_H_
#define RETUPLE_IR_BRIDGE_TERM_TYPES_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir_bridge/infer.h"
#include "ir_bridge/schema.h"
#include "ir_bridge/term_codec.h"
#include "rewrite/normalizer.h"

namespace retuple {

class TermTypes : public TypeOracle {
 public:
  explicit TermTypes(TermCodec& codec) : codec_(codec), ctx_(codec.ctx()) {}

  // What is known of the value of `t`; an application of several outputs and what is no value have an unknown type. O(new nodes).
  const ValueInfo& Info(Term t);
  const Type& TypeOf(Term t) { return Info(t).type; }
  // Declares a type beforehand (an input whose dims are the model's own symbols).
  void Set(Term t, ValueInfo info) { infos_[t] = {std::move(info)}; }
  // False when inference found operands that contradict an operator somewhere in `t`.
  bool IsWellTyped(Term t);

  // Same: equal element type and rank, and each dimension the same number or symbol. Different: provably not. A right side
  // that contradicts itself is different from everything.
  TypeVerdict Compare(Term a, Term b) override;
  std::string Describe(Term t) override;

 private:
  void Infer(Term t);
  // How many values a term that denotes a tuple has; -1 for a value.
  int Outputs(Term t);
  const ValueInfo& Operand(Term t);

  TermCodec& codec_;
  Context& ctx_;
  absl::flat_hash_map<Term, std::vector<ValueInfo>> infos_;  // outputs of an application; one entry for values
  absl::flat_hash_map<Term, std::string> errors_;
  ValueInfo unknown_;
};

TypeVerdict CompareTypes(const Type& a, const Type& b);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_TERM_TYPES_H_
