// The compiled form of a graph: values in a flat array of slots, nodes in order, each with its
// kernel.
//
// A slot is a live variable. Constants are bound once, when compiling; a node's inputs are pointers
// to slots. The node after which a slot is not read any more lists it, so that its buffer goes back
// to the pool. Bodies of If, Loop and Scan are plans of their own that share pool, scratch memory
// and threads with the root.
#ifndef RETUPLE_KERNELS_PLAN_H_
#define RETUPLE_KERNELS_PLAN_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/executor.h"
#include "kernels/memory.h"
#include "kernels/plan_fuse.h"
#include "kernels/thread_pool.h"

namespace retuple::internal {

// What a tree of plans has in common.
struct PlanShared {
  explicit PlanShared(const PlanOptions& o) : options(o), threads(o.threads) {}
  PlanOptions options;
  ThreadPool threads;
  BufferPool pool;
  ScratchArena scratch;
};

struct Slot {
  Value value;
  Buffer* buffer = nullptr;  // the pool's buffer that the value holds, if any
  bool used = false;         // somebody reads it
  bool constant = false;
};

// Stands for an absent optional input.
const Slot* AbsentSlot();

class PlanImpl;

struct PlanBody {
  std::string attr;
  std::unique_ptr<PlanImpl> plan;
};

struct PlanNode {
  std::unique_ptr<Kernel> kernel;
  const Op* op = nullptr;
  ApplyId apply = kNoApply;
  uint32_t first_input = 0;  // into inputs_: ordinary inputs, then captures
  uint32_t num_inputs = 0;   // ordinary ones
  uint32_t num_captures = 0;
  uint32_t first_output = 0;  // into slots_
  uint32_t num_outputs = 0;
  uint32_t first_free = 0, num_frees = 0;  // into frees_
  bool in_place = false;      // input 0 is a temporary that dies here, and the kernel allows it
  bool tensors_only = false;  // an operator to which sequences and optionals are foreign
  std::vector<PlanBody> bodies;
};

class PlanImpl final : public Plan {
 public:
  // A null `shared` makes a root plan. Subgraphs nest at most kMaxDepth deep. `captured` are the
  // values of the graph's last inputs where they are known constants, else null.
  static absl::StatusOr<std::unique_ptr<PlanImpl>> Make(
      const Graph& graph, const PlanOptions& options, std::shared_ptr<PlanShared> shared, int depth,
      std::span<const Value* const> captured = {});
  ~PlanImpl() override;

  absl::StatusOr<std::vector<Value>> Run(std::span<const Value> inputs) override;
  std::span<const NodeProfile> profile() const override { return profile_; }
  size_t peak_bytes() const override {
    return shared_->pool.total_bytes() + shared_->scratch.total_bytes();
  }

  // Runs a body: formals from `args`, then captures. No validation, no copies.
  absl::StatusOr<std::vector<Value>> RunBody(std::span<const Value> args,
                                             std::span<const Slot* const> captures);

 private:
  friend class RunContext;
  static constexpr int kMaxDepth = 64;

  explicit PlanImpl(const Graph& g) : graph_(g) {}
  absl::Status Compile(int depth, std::span<const Value* const> captured);
  // Runs a node whose inputs are all constants and makes its outputs constants; false if it is to
  // run later.
  bool Fold(const PlanNode& n);
  // Appends the node of an apply, or of the chain that ends in it. With `fold` it is run at once,
  // and not appended if its outputs become constants.
  absl::Status CompileNode(ApplyId id, const Fused* chain, bool fold,
                           const std::vector<uint32_t>& slot_of, int depth, bool* folded);
  void ComputeLifetimes();
  absl::Status CheckInput(size_t i, const Value& v) const;
  void Bind(size_t input, const Value& v);
  absl::Status RunNodes();
  std::vector<Value> TakeOutputs();
  void Clear();
  // An error of node `n` with the node's name in front.
  absl::Status NameError(const PlanNode& n, const absl::Status& s) const;
  void Release(Slot& s) {
    s.value = Value();
    if (s.buffer != nullptr) {
      shared_->pool.Drop(s.buffer);
      s.buffer = nullptr;
    }
  }

  const Graph& graph_;
  std::shared_ptr<PlanShared> shared_;
  std::vector<Slot> slots_;
  std::vector<const Slot*> inputs_;
  std::vector<uint32_t> frees_;
  std::vector<PlanNode> nodes_;
  std::vector<uint32_t> graph_inputs_, graph_outputs_;  // slots
  std::vector<uint32_t> end_frees_;  // graph inputs and outputs, cleared after a run
  std::vector<NodeProfile> profile_;
};

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_PLAN_H_
