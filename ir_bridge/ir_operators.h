// The pattern normalizer: what the rule language has to know of the IR's operators.
#ifndef RETUPLE_IR_BRIDGE_IR_OPERATORS_H_
#define RETUPLE_IR_BRIDGE_IR_OPERATORS_H_

#include "absl/container/flat_hash_set.h"
#include "ir_bridge/term_codec.h"
#include "rewrite/functions.h"
#include "rewrite/rule_language.h"

namespace retuple {

// Resolves a pattern's sugar:
//   - a bare operator with attributes means all defaults: (Flatten ?x) → ((Flatten :axis 1) ?x);
//   - attributes that are left out get their defaults unless `..?a` takes the rest;
//   - an application of several outputs in value position means its default output: (MaxPool ?x) → (nth 0 (MaxPool ?x)).
// Errors: an operator that neither the registry, nor a declaration `(operator NAME)`, nor a domain prefix "domain::" knows, an attribute that it
// does not have, an operand count that it does not take, a bare number as operand on a right side.
class IrOperators : public OperatorTable {
 public:
  IrOperators(TermCodec& codec, const FunctionRegistry& functions);
  absl::StatusOr<Term> Normalize(Term pattern, bool right_side) override;
  const absl::flat_hash_set<Term>& commutative() const override { return commutative_; }
  absl::Status Declare(Term name, std::span<const Term> flags) override;

 private:
  enum class Role : uint8_t { kValue, kTuple };  // kTuple: the operand of nth
  absl::StatusOr<Term> Application(Term t, std::span<const Term> rands, Role role, bool right_side);

  TermCodec& codec_;
  Context& ctx_;
  const FunctionRegistry& functions_;
  absl::flat_hash_set<Term> commutative_;
  absl::flat_hash_set<Term> declared_;
  const Term as_;
};

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_IR_OPERATORS_H_
