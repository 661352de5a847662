// Type and shape inference, one operator at a time and over whole graphs.
//
// Inference never guesses: what it cannot tell stays unknown (a type, a rank) or becomes a symbol
// (a dimension). What it says follows from the operator and the operands alone. Small integer
// tensors carry their elements, so that shapes computed by Shape → Gather → Concat → Reshape chains
// come out symbolically.
#ifndef RETUPLE_IR_BRIDGE_INFER_H_
#define RETUPLE_IR_BRIDGE_INFER_H_

#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir_bridge/graph.h"
#include "ir_bridge/schema.h"

namespace retuple {

// Integer tensors of up to this many elements carry them through inference.
inline constexpr int64_t kMaxCarriedElements = 64;

// What is known of a constant; the pointer must stay valid as long as the info is used.
ValueInfo InfoOf(const Tensor& constant);

// The elements of an integer or bool tensor of rank 0 or 1 with at most kMaxCarriedElements; else
// nullopt.
std::optional<std::vector<Dim>> ElementsOf(const Tensor& constant);

// What is known of the outputs of one application of `op`, op.num_outputs entries. Absent inputs
// are null; captures follow the ordinary inputs. Operators without schema or inference give unknown
// outputs. InvalidArgument naming the operator when the inputs contradict it.
absl::StatusOr<std::vector<ValueInfo>> InferOp(const Op& op,
                                               std::span<const ValueInfo* const> inputs);

// What is known of the outputs of the closed graph `body` when its inputs are as given; missing or
// null inputs have the types that the body declares.
absl::StatusOr<std::vector<ValueInfo>> InferBody(const Graph& body,
                                                 std::span<const ValueInfo* const> inputs);

// The common knowledge of two types of one value: dims that are known in one are known in the
// result. InvalidArgument when they contradict each other.
absl::StatusOr<Type> MergeTypes(const Type& a, const Type& b);
// The most precise type that both are instances of: dims that differ become fresh, ranks that
// differ unknown.
Type JoinTypes(const Type& a, const Type& b);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_INFER_H_
