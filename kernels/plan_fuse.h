// Chains of nodes that a plan runs as one: a convolution, a batch normalisation or a product with
// what follows it element by element. The graph is not changed; this is how a plan runs it. Results
// differ from the separate nodes by rounding at most.
#ifndef RETUPLE_KERNELS_PLAN_FUSE_H_
#define RETUPLE_KERNELS_PLAN_FUSE_H_

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir_bridge/graph.h"
#include "kernels/dense/activation.h"
#include "kernels/kernel.h"

namespace retuple::internal {

struct Fused {
  ApplyId head = kNoApply;  // the node that computes
  ApplyId last = kNoApply;  // the node whose output the chain gives
  Activation post;
  VarId add = kNoVar;       // added before `post`
  std::vector<float> bias;  // of a product
};

struct Fusions {
  std::unordered_map<ApplyId, Fused> by_last;
  std::vector<bool> skipped;  // by ApplyId: the chain's other members
};

// The constant value of a variable, or null.
using ConstantOf = std::function<const Tensor*(VarId)>;

// Finds the chains among `order`. Every intermediate value of a chain has no other reader and is no
// output of the graph.
Fusions FindFusions(const Graph& g, std::span<const ApplyId> order, const ConstantOf& constant);

// The kernel of a chain; `init` is that of its head. Its inputs are the head's, padded to three
// with absent ones, then `add` if there is one.
absl::StatusOr<std::unique_ptr<Kernel>> MakeFusedKernel(const Fused& f, const KernelInit& init);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_PLAN_FUSE_H_
