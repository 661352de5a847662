// Scan outputs of Loop and Scan: tensors of one shape, one an iteration, stacked along a new axis.
#ifndef RETUPLE_KERNELS_DENSE_STACK_H_
#define RETUPLE_KERNELS_DENSE_STACK_H_

#include <span>

#include "kernels/kernel.h"

namespace retuple::internal {

// The subgraph attribute; InvalidArgument when absent.
absl::StatusOr<const Graph*> BodyOf(const KernelContext& ctx, std::string_view attr);

// Output `o` = `items` stacked along a new axis `axis` (counted in the result's rank), backwards if
// `reverse`. Pre: items is not empty. InvalidArgument when types or shapes differ.
absl::Status Stack(KernelContext& ctx, int o, std::span<const Tensor> items, int64_t axis = 0,
                   bool reverse = false);

// Output `o` of zero iterations: the element type and shape that the body declares for its result
// `result`, with a new axis of 0; dimensions that are not known count as 0.
absl::Status EmptyStack(KernelContext& ctx, int o, const Graph& body, size_t result, int64_t axis);

// t without axis `axis`, at position `i` of it (copied). Pre: 0 <= axis < rank, 0 <= i < dim.
Tensor Select(const Tensor& t, int axis, int64_t i);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_STACK_H_
