// The adapter concept: what a foreign IR shows of itself so that etuplize and reify, written once, work on it.
//
// Ten verbs, no base class, no macro. A *head is an exemplar*: a term keeps a handle to some op of the input that has this head, so attributes,
// types, regions and locations ride along unread, and `Clone` gives them back. The optional verbs, detected by `requires`, let rules see more:
//   Term HeadTerm(Context&, Op)             attributes as keyword arguments, instead of an opaque atom
//   std::optional<Term> LeafTerm(Context&, Value)   inputs and constants as terms
//   absl::StatusOr<Value> LeafValue(Term)   and back
//   absl::StatusOr<Op> CreateFromHead(Term head, std::span<const Value>)   a head that no exemplar has
//   bool IsTuple(Op)                        whether an application is wrapped in nth (default: NumResults > 1)
//   Value NoValue()                         an absent operand
#ifndef RETUPLE_IR_BRIDGE_ADAPTER_H_
#define RETUPLE_IR_BRIDGE_ADAPTER_H_

#include <concepts>
#include <ranges>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace retuple {

// What may happen to an application: kPure may be merged, moved and dropped; kIdempotent (it may trap) merged, not moved; kOpaque nothing.
enum class AdapterEffect : unsigned char { kPure, kIdempotent, kOpaque };

template <class A>
concept IrAdapter = requires(A& ir, typename A::Value v, typename A::Op op, std::string_view name,
                             std::span<const typename A::Value> args) {
  { ir.DefiningOp(v) } -> std::same_as<typename A::Op>;  // a value-initialised Op: a leaf
  { ir.ResultIndex(v) } -> std::convertible_to<int>;
  { ir.Name(op) } -> std::convertible_to<std::string_view>;
  { ir.Operands(op) } -> std::ranges::input_range;
  { ir.NumResults(op) } -> std::convertible_to<int>;
  { ir.EffectOf(op) } -> std::convertible_to<AdapterEffect>;
  { ir.SameHead(op, op) } -> std::convertible_to<bool>;  // equal but for operands
  { ir.Clone(op, args) } -> std::same_as<absl::StatusOr<typename A::Op>>;
  { ir.Create(name, args) } -> std::same_as<absl::StatusOr<typename A::Op>>;
  { ir.Result(op, 0) } -> std::same_as<typename A::Value>;
};

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_ADAPTER_H_
