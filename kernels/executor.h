// Compiles a graph once into a plan and runs it many times.
//
//   auto plan = Plan::Compile(graph, {.threads = 1});
//   std::vector<Value> out = *plan->Run(inputs);       // by position of graph.inputs()
//
// Compiling orders the live nodes, makes their kernels (constants pre-packed), works out lifetimes, shares buffers,
// marks in-place nodes, and copies nothing of the constants. While running, subnormal numbers are flushed to
// zero (FTZ and DAZ) on every thread that works for the plan; the caller's mode is restored.
#ifndef RETUPLE_KERNELS_EXECUTOR_H_
#define RETUPLE_KERNELS_EXECUTOR_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir_bridge/graph.h"
#include "kernels/kernel.h"

namespace retuple {

struct PlanOptions {
  int threads = 1;
  bool flush_denormals = true;
  bool profile = false;  // keep the time of every node
  // False accepts inputs whose shape differs from the declared one (kernels check what they need all the same).
  bool check_input_shapes = true;
};

struct NodeProfile {
  ApplyId apply;
  double seconds = 0;
  int64_t runs = 0;
};

class Plan {
 public:
  virtual ~Plan() = default;
  // `graph` must outlive the plan. Unimplemented names the first operator without a kernel.
  static absl::StatusOr<std::unique_ptr<Plan>> Compile(const Graph& graph, const PlanOptions& options = {});
  // Runs once. `inputs` by position of graph.inputs(); an absent value takes the input's default, and is
  // InvalidArgument where it has none, or where dtype or static shape differ from the declared type. Outputs by
  // position of graph.outputs(); they own their memory and stay valid. Errors name the node.
  virtual absl::StatusOr<std::vector<Value>> Run(std::span<const Value> inputs) = 0;
  virtual std::span<const NodeProfile> profile() const = 0;
  // Bytes of the shared buffers after the last run.
  virtual size_t peak_bytes() const = 0;
};

// Evaluates one operator on given inputs (constant folding, rule checks). As many outputs as the op has.
absl::StatusOr<std::vector<Value>> EvaluateOp(const Op& op, std::span<const Value> inputs);

}  // namespace retuple

#endif  // RETUPLE_KERNELS_EXECUTOR_H_
