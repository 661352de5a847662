// The kernel interface: one kernel an operator form, made once a node from its Op, run many times.
//
// A kernel is stateless after construction (Run is const and may be called from one thread at a time per plan;
// pre-packed constants live in the kernel object). It reads inputs and asks the context for output tensors,
// whose memory the plan provides. Shapes are always concrete here. A kernel returns Unimplemented for
// an element type or an attribute that it does not serve, InvalidArgument for inputs that contradict the operator;
// it never trusts an index, axis or size that comes from a tensor or a model.
//
//   absl::Status Relu(KernelContext& ctx);                       // a plain function is enough for most
//   void RegisterActivations(KernelRegistry& r) { r.Add("Relu", Relu, {.in_place = true}); }
#ifndef RETUPLE_KERNELS_KERNEL_H_
#define RETUPLE_KERNELS_KERNEL_H_

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir_bridge/graph.h"
#include "ir_bridge/tensor.h"

namespace retuple {

class ThreadPool;  // kernels/thread_pool.h

// A run-time value.
struct Value {
  enum class Kind : uint8_t { kAbsent, kTensor, kSequence, kNone };  // kNone: an empty optional
  Kind kind = Kind::kAbsent;
  Tensor tensor;
  std::shared_ptr<const std::vector<Value>> sequence;

  Value() = default;
  Value(Tensor t) : kind(Kind::kTensor), tensor(std::move(t)) {}  // NOLINT
  static Value Sequence(std::vector<Value> items);
  static Value None() {
    Value v;
    v.kind = Kind::kNone;
    return v;
  }
  bool is_tensor() const { return kind == Kind::kTensor; }
};

class KernelContext {
 public:
  virtual ~KernelContext() = default;
  virtual const Op& op() const = 0;
  // Inputs without captures. has(i) is false for an absent optional input.
  virtual int num_inputs() const = 0;
  virtual bool has(int i) const = 0;
  // Pre: has(i) and it is a tensor. `tensor_or_null` is the checked form.
  virtual const Tensor& input(int i) const = 0;
  virtual const Value& value(int i) const = 0;
  const Tensor* tensor_or_null(int i) const {
    return has(i) && value(i).is_tensor() ? &input(i) : nullptr;
  }
  virtual int num_outputs() const = 0;
  // False when nothing reads output i: the kernel may skip it.
  virtual bool output_used(int i) const = 0;
  // The output tensor, memory provided by the plan, uninitialised (strings: empty). If the kernel was registered
  // in_place the memory may be that of input 0 (same dtype and shape; the kernel then reads each element
  // before it writes it). ResourceExhausted when dims are negative or too large.
  virtual absl::StatusOr<Tensor*> Output(int i, DType dtype, Dims dims) = 0;
  // Forwards a value (an alias of an input, a sequence, a tensor made elsewhere) as output i.
  virtual void SetOutput(int i, Value v) = 0;
  // Temporary memory, valid until Run returns, 64-byte aligned.
  virtual void* Scratch(size_t bytes) = 0;
  virtual ThreadPool& threads() = 0;
  // Runs a subgraph attribute: formals given by `args`, captures appended by the context.
  virtual absl::StatusOr<std::vector<Value>> RunSubgraph(std::string_view attr,
                                                         std::span<const Value> args) = 0;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual absl::Status Run(KernelContext& ctx) const = 0;
};

// What is known when a plan is made: the op, and the constant inputs (null where not constant) to pre-pack.
struct KernelInit {
  const Op& op;
  std::span<const Tensor* const> constants;
};

struct KernelFlags {
  bool in_place = false;  // output 0 may overwrite input 0 when shapes and dtypes agree
  bool view = false;      // output 0 aliases input 0 (Reshape, Identity, …): its buffer lives as long
};

class KernelRegistry {
 public:
  // All kernels, registered once; thread-safe to read.
  static const KernelRegistry& Get();

  using Function = absl::Status (*)(KernelContext&);
  using Factory = std::function<absl::StatusOr<std::unique_ptr<Kernel>>(const KernelInit&)>;
  void Add(std::string_view form, Function f, KernelFlags flags = {});
  void AddFactory(std::string_view form, Factory f, KernelFlags flags = {});
  // Unimplemented naming the form when there is none.
  absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelInit& init) const;
  bool Has(std::string_view form) const;
  KernelFlags Flags(std::string_view form) const;
  std::vector<std::string> Forms() const;  // sorted

 private:
  struct Entry {
    Factory factory;
    KernelFlags flags;
  };
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace retuple

#endif  // RETUPLE_KERNELS_KERNEL_H_
