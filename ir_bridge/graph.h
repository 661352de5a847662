// The IR: a Graph of Variables, each an input, a constant, or an output of an Apply of an Op.
//
// The words are Aesara's: an Op is an operator with its attributes, without operands; an Apply is one
// application of an Op to Variables and owns the Variables that are its outputs. Everything is held by
// index in flat vectors, so that a million nodes are a few allocations and ids are stable.
//
// An Apply always owns *all* outputs that its Op has (num_outputs: the schema's maximum, or the node's count
// for variadic and unknown operators); unused ones are simply not referenced, and the exporter leaves
// them out. An absent optional input is kNoVar; trailing ones are dropped.
//
// Subgraphs (If, Loop, Scan) are closed: a body is a Graph whose inputs are its formals followed by its
// captures, and the Apply lists the captured outer Variables after its ordinary inputs (num_captures of
// them, the same list for every body of the Op). Constants of the outer graph are not captured but
// repeated inside the body, sharing storage.
#ifndef RETUPLE_IR_BRIDGE_GRAPH_H_
#define RETUPLE_IR_BRIDGE_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir_bridge/attribute.h"
#include "ir_bridge/schema.h"
#include "ir_bridge/tensor.h"
#include "ir_bridge/type.h"

namespace retuple {

using VarId = uint32_t;
using ApplyId = uint32_t;
using OpId = uint32_t;
inline constexpr VarId kNoVar = 0xffffffffu;
inline constexpr ApplyId kNoApply = 0xffffffffu;
inline constexpr OpId kNoOp = 0xffffffffu;

struct Op {
  const OpSchema* schema = nullptr;  // null: no schema (custom domain, unknown operator)
  std::string domain;
  std::string name;
  AttrMap attrs;        // canonical: defaults filled, sorted
  int num_outputs = 1;
  int num_captures = 0;
  Effect effect = Effect::kPure;
  uint64_t identity = 0;  // tells random and effectful applications apart; 0 for pure ones

  // Head symbol: the schema's form, or OpaqueForm(domain, name).
  std::string form() const;
  bool multi_output() const { return schema ? schema->multi_output() : num_outputs != 1; }
  friend bool operator==(const Op& a, const Op& b);
  uint64_t Hash() const;
};

// An Op with canonical attributes: fills the schema's defaults, rejects unknown attribute names or kinds
// (InvalidArgument naming operator and attribute). `num_outputs` is used for variadic and unknown operators.
absl::StatusOr<Op> MakeOp(const OpSchema& schema, AttrMap attrs, int num_outputs = 1);
Op MakeOpaqueOp(std::string domain, std::string name, AttrMap attrs, int num_outputs);

struct Apply {
  OpId op = 0;
  VarId first_output = kNoVar;  // outputs are first_output … first_output + num_outputs - 1
  absl::InlinedVector<VarId, 3> inputs;
};

struct Variable {
  enum class Kind : uint8_t { kInput, kConstant, kOutput };
  Kind kind = Kind::kInput;
  ApplyId producer = kNoApply;  // kOutput
  uint32_t index = 0;           // which output of the producer; else index into constants or inputs
};

// A named result of the graph.
struct GraphOutput {
  std::string name;
  VarId var;
  Type type;  // as declared; unknown when not
};

struct OpsetImport {
  std::string domain;
  int64_t version;
  friend bool operator==(const OpsetImport&, const OpsetImport&) = default;
};

// What a file says beside the computation; kept for the way back.
struct ModelInfo {
  int64_t ir_version = 8;
  std::vector<OpsetImport> opsets;
  std::string producer_name, producer_version, domain, doc;
  int64_t model_version = 0;
  int64_t source_nodes = 0;  // nodes of the file, Constant nodes and subgraphs included
  std::vector<std::pair<std::string, std::string>> metadata;
  // Serialised FunctionProtos of model-local functions, kept verbatim, opaque to everybody but onnx/.
  std::vector<std::string> functions;
  // Version of a domain, or -1.
  int64_t OpsetOf(std::string_view onnx_domain) const;
};

class Graph {
 public:
  Graph() = default;

  std::string name = "graph";
  std::string doc;
  ModelInfo info;

  // ---- building
  // Room for this many more applies and variables; a hint.
  void Reserve(size_t applies, size_t vars);
  VarId AddInput(std::string input_name, Type type);
  VarId AddConstant(Tensor value, std::string constant_name = "");
  // Equal ops share an id. O(hash).
  OpId InternOp(Op op);
  // Applies `op`; returns the apply, whose outputs are new variables. Inputs must exist (or be kNoVar).
  ApplyId AddApply(OpId op, std::span<const VarId> inputs, std::string apply_name = "");
  void AddOutput(std::string output_name, VarId v, Type type = {});
  void set_var_name(VarId v, std::string n);
  void set_type(VarId v, Type t);
  void set_apply_name(ApplyId a, std::string n);
  // An initialiser that a caller may override (it is an input with a default value): an input, not a constant.
  void set_default(VarId input, Tensor t) { defaults_[input] = std::move(t); }

  // ---- reading
  size_t num_vars() const { return vars_.size(); }
  size_t num_applies() const { return applies_.size(); }
  size_t num_ops() const { return ops_.size(); }
  const Variable& var(VarId v) const { return vars_[v]; }
  const Apply& apply(ApplyId a) const { return applies_[a]; }
  const Op& op(OpId o) const { return *ops_[o]; }
  const Op& op_of(const Apply& a) const { return *ops_[a.op]; }
  std::shared_ptr<const Op> op_ptr(OpId o) const { return ops_[o]; }
  VarId output(ApplyId a, int i) const { return applies_[a].first_output + static_cast<VarId>(i); }
  std::span<const VarId> inputs() const { return inputs_; }
  std::span<const GraphOutput> outputs() const { return outputs_; }
  std::vector<GraphOutput>& mutable_outputs() { return outputs_; }
  // Operands and outputs that are `v` become first[v]. Pre: first[v] is `v` or a variable of the same value made before it.
  void Redirect(std::span<const VarId> first);
  // Pre: v is a constant.
  const Tensor& constant(VarId v) const { return constants_[vars_[v].index]; }
  const std::map<VarId, Tensor>& defaults() const { return defaults_; }
  // "" when it has none.
  const std::string& var_name(VarId v) const;
  const std::string& apply_name(ApplyId a) const;
  // Declared or inferred; unknown when neither.
  const Type& type(VarId v) const;

  // Applies that the outputs need, producers first; among independent ones the order of creation. Applies are
  // created after their inputs, so this is a liveness sweep: O(nodes + edges).
  std::vector<ApplyId> LiveApplies() const;
  // Live applies, those in bodies of subgraphs included (each body counted once an application).
  size_t CountNodes() const;
  // Elements of all live constants.
  size_t CountParameters() const;
  // Structural equality from the outputs: ops, constants by content, input names and order; names of interior
  // values and dead code aside.
  friend bool StructurallyEqual(const Graph& a, const Graph& b);
  uint64_t StructuralHash() const;

 private:
  std::vector<Variable> vars_;
  std::vector<Apply> applies_;
  std::vector<std::shared_ptr<const Op>> ops_;
  std::vector<uint64_t> op_hashes_;  // by OpId
  std::vector<OpId> op_table_;       // open addressing over op_hashes_; kNoOp: free
  std::vector<Tensor> constants_;
  std::vector<VarId> inputs_;
  std::vector<GraphOutput> outputs_;
  std::map<VarId, Tensor> defaults_;
  // Sparse side vectors, grown on demand.
  std::vector<std::string> var_names_, apply_names_;
  std::vector<Type> types_;
};

// Runs type and shape inference over the live part of `g` and stores the types of all variables. Declared types of
// inputs are trusted; a contradiction between operator and operands is InvalidArgument naming the node. `infos`,
// when given, receives what is known of every variable (indexed by VarId).
absl::Status InferTypes(Graph& g, std::vector<ValueInfo>* infos = nullptr);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_GRAPH_H_
