// What an operator is: its arity, attributes, inference, algebra and purity; and the registry of all of them.
//
// ONNX versions an operator by the opset that changed it. Most versions only widen the element types, some
// change the *form*: axes move from an attribute to an input, a default changes. The registry therefore keeps
// one OpSchema a form, with the list of since-versions that share it. The newest form of an operator is
// written by its plain name (`Squeeze`), an older one with the first since-version of that form
// (`Squeeze-1`, which serves opset 1 to 12). Rules are written for plain names; the version rules
// (rules/versions.rules) lift older forms to them and lower them again.
//
// Whether an application is wrapped in `(nth i …)` depends on the schema alone: multi_output().
#ifndef RETUPLE_IR_BRIDGE_SCHEMA_H_
#define RETUPLE_IR_BRIDGE_SCHEMA_H_

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir_bridge/attribute.h"
#include "ir_bridge/type.h"

namespace retuple {

struct Op;

// kRandom and kEffectful applications carry an identity and never merge.
enum class Effect : uint8_t { kPure, kRandom, kEffectful };

// What inference knows of one value: its type and, for a small integer (or bool) tensor of rank 0 or 1, its
// elements as dims; `constant` is set when the value is a constant.
struct ValueInfo {
  Type type;
  std::optional<std::vector<Dim>> elements;
  const Tensor* constant = nullptr;
};

// Handed to an inference function. Inputs that are absent (optional) give null.
class InferContext {
 public:
  InferContext(const Op& op, std::span<const ValueInfo* const> inputs);
  const Op& op() const { return op_; }
  const AttrMap& attrs() const;
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const ValueInfo* input(int i) const { return i < num_inputs() ? inputs_[i] : nullptr; }
  // Type of input i; unknown when absent.
  const Type& type(int i) const;
  DType dtype(int i) const { return type(i).dtype(); }
  // The shape of input i, or null if absent, not a tensor, or of unknown rank.
  const Shape* shape(int i) const;
  // Constant tensor of input i, or null.
  const Tensor* constant(int i) const;
  // Integer elements of input i (from a constant or carried through shape arithmetic); nullopt when unknown.
  std::optional<std::vector<Dim>> elements(int i) const;
  // As above, all known numbers.
  std::optional<std::vector<int64_t>> ints(int i) const;

  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  void set_type(int i, Type t);
  void set_elements(int i, std::vector<Dim> e);
  // Runs inference over the subgraph attribute `name`, its formals (then captures) given by `inputs`.
  absl::StatusOr<std::vector<ValueInfo>> InferSubgraph(std::string_view name,
                                                       std::span<const ValueInfo* const> inputs);
  std::vector<ValueInfo>& outputs() { return outputs_; }

 private:
  const Op& op_;
  std::span<const ValueInfo* const> inputs_;
  std::vector<ValueInfo> outputs_;
};

// Fills the outputs' types as far as known (unknown is never an error); InvalidArgument when the inputs
// contradict the operator (rank, element type, sizes that cannot match).
using InferFn = absl::Status (*)(InferContext&);

struct AttrSpec {
  std::string name;
  AttrKind kind;
  std::optional<AttrValue> default_value;  // nullopt: required, or optional without default
  bool required = false;
};

inline constexpr int kVariadic = std::numeric_limits<int>::max();

struct OpSchema {
  std::string domain;      // "" is ai.onnx
  std::string name;        // "Squeeze"
  std::string form;        // head symbol: "Squeeze", "Squeeze-1", "com.acme::Foo"
  std::vector<int> since;  // since-versions of this form, ascending
  int min_inputs = 1;
  int max_inputs = 1;      // kVariadic
  int min_outputs = 1;
  int max_outputs = 1;     // kVariadic: the head carries the number (`:outputs n`)
  int default_output = 0;  // what a multi-output application means in value position of a pattern
  std::vector<std::string> input_names;
  std::vector<bool> input_optional;  // by position of input_names
  std::vector<std::string> output_names;
  std::vector<AttrSpec> attrs;  // sorted by name
  InferFn infer = nullptr;
  bool commutative = false;  // in its (first) two inputs
  bool associative = false;
  std::optional<double> unit, zero;  // algebraic constants
  Effect effect = Effect::kPure;

  bool multi_output() const { return max_outputs > 1; }
  bool variadic_outputs() const { return max_outputs == kVariadic; }
  const AttrSpec* attr(std::string_view attr_name) const;
};

class Registry {
 public:
  // All operators that Retuple knows, built once; thread-safe to read.
  static const Registry& Get();

  // An empty one, for tests and embedders.
  Registry();
  ~Registry();
  // Adds a form. AlreadyExists if the form name or one of its since-versions is taken.
  absl::Status Add(OpSchema schema);
  // The form that opset `version` of `domain` means by `name`; null if there is none.
  const OpSchema* Resolve(std::string_view domain, std::string_view name, int version) const;
  // By head symbol ("Conv", "Squeeze-1", "ai.onnx.ml::Scaler"); null if unknown.
  const OpSchema* FindForm(std::string_view form) const;
  // All forms, ordered by domain, name, since.
  std::span<const OpSchema* const> All() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The head symbol of an operator that has no schema: "domain::Name", or "Name" in the default domain.
std::string OpaqueForm(std::string_view domain, std::string_view name);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_SCHEMA_H_
