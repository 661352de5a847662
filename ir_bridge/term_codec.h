// How the IR is spelled as terms, and read back.
//
//   input           (input "X" f32 (N 3 224 224))        unknown dims `_`; unknown rank: (input "X" f32)
//   constant        #<f32[2] 1 2>
//   application     (Relu x)   ((Conv :dilations (1 1) … ) x w b)      absent optional operand: none
//   one output      (nth 0 (MaxPool x))                   for every operator whose schema has several outputs
//   body            (lambda (p0 p1 …) (o0 o1 …))         parameters (bound i TYPE…), outputs; an attribute of If, Loop, Scan
//
// A head carries, beside the operator's attributes, what an application needs to be told apart: `:num-outputs n` (variadic outputs, or an
// operator without schema that has not one), `:num-captures n` (operands that are captures of bodies), `:random-id k`.
#ifndef RETUPLE_IR_BRIDGE_TERM_CODEC_H_
#define RETUPLE_IR_BRIDGE_TERM_CODEC_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "etuple/term.h"
#include "ir_bridge/graph.h"

namespace retuple {

class TermCodec {
 public:
  explicit TermCodec(Context& ctx);
  Context& ctx() const { return ctx_; }

  // ---- leaves and types
  Term Input(std::string_view name, const Type& type);
  Term Bound(int index, const Type& type);
  bool IsInput(Term t) const { return HasRator(t, input); }
  bool IsBound(Term t) const { return HasRator(t, bound); }
  // The type that an input or bound leaf declares; unknown dims become fresh symbols, so ask once and keep it.
  absl::StatusOr<Type> LeafType(Term leaf) const;
  // The type that a leaf's words say: an element type, and perhaps a list of dims.
  absl::StatusOr<Type> ReadTypeWords(std::span<const Term> words) const;
  absl::StatusOr<std::string> InputName(Term input) const;
  absl::StatusOr<int> BoundIndex(Term leaf) const;

  // ---- selection of an output
  Term Nth(int i, Term app);
  bool IsNth(Term t) const { return ctx_.Children(t).size() == 3 && HasRator(t, nth) && ctx_.kind(ctx_.Children(t)[1]) == Kind::kInteger; }
  int NthIndex(Term t) const { return static_cast<int>(ctx_.IntegerValue(ctx_.Children(t)[1])); }
  Term NthApp(Term t) const { return ctx_.Children(t)[2]; }
  // An application of an operator: a tuple with a head that is none of the leaves above.
  bool IsApp(Term t) const;

  // ---- heads
  // Canonical head of `op`. Bodies are etuplized with their declared types, captures with `capture_types`.
  Term Head(const Op& op, std::span<const Type> capture_types = {});
  // The op that a head means; cached a head. InvalidArgument naming the operator for unknown attributes or bad values.
  absl::StatusOr<std::shared_ptr<const Op>> OpOf(Term head);
  // Makes `op` what OpOf(head) gives (an exemplar keeps the names inside its bodies).
  void Remember(Term head, std::shared_ptr<const Op> op) { ops_[head] = std::move(op); }

  // ---- attributes
  Term Attr(const AttrValue& v, bool known_kind);
  // `kind` when the schema knows it.
  absl::StatusOr<AttrValue> ReadAttr(Term t, const AttrKind* kind);
  Term Lambda(const Graph& body, std::span<const Type> capture_types);
  absl::StatusOr<GraphPtr> ReadLambda(Term t);

  const Term input, bound, nth, none, lambda, tuple;

 private:
  bool HasRator(Term t, Term rator) const {
    return ctx_.IsTuple(t) && !t.is_nil() && ctx_.Rator(t) == rator;
  }
  void AppendType(const Type& type, std::vector<Term>& out);

  Context& ctx_;
  const Term seq_, optional_, unknown_, num_outputs_, num_captures_, random_id_;
  absl::flat_hash_map<Term, std::shared_ptr<const Op>> ops_;
};

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_TERM_CODEC_H_
