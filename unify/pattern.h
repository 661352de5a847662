// Patterns: terms with variables, compiled once and matched many times against ground terms.
//
//   (Add ?x 0)                      a number also matches a constant object all of whose elements equal it
//   ((Conv :group 1 ..?a) ?x ?w)    keywords match by name; a rest variable takes the keywords that are not named
//   (Concat ?x ..?xs)               a rest variable takes any number of children, anywhere in the list
//   (as ?c (Conv ?x ?w))            binds ?c to what the inner pattern matches
//
// Matching is one-sided and non-linear (a variable that occurs twice matches equal terms). Where there is a choice (the two orders of
// a commutative operator, the length of a rest variable that is not last) the matches are enumerated in a fixed order until the
// caller accepts one. The matcher keeps its own stacks: depth of pattern and term are bounded by memory alone.
#ifndef RETUPLE_UNIFY_PATTERN_H_
#define RETUPLE_UNIFY_PATTERN_H_

#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "etuple/term.h"

namespace retuple {

// Values of a pattern's variables by slot.
using Bindings = std::vector<Term>;
inline constexpr Term kUnbound{0xffffffffu};

struct PatternOptions {
  // Operator symbols whose two operands match in either order.
  const absl::flat_hash_set<Term>* commutative = nullptr;
};

class Pattern {
 public:
  // InvalidArgument for a malformed `as`. Slots are numbered in order of first occurrence; `slots` may hold variables already
  // (so that several patterns share a numbering) and is extended.
  static absl::StatusOr<Pattern> Compile(const Context& ctx, Term pattern, std::vector<Term>& slots,
                                         const PatternOptions& options = {});

  // Operator symbol at the root, nil when the root is a variable, an atom, or has a variable as rator.
  Term head() const { return head_; }
  // The root is an atom or a number.
  bool is_atom() const { return nodes_[root_].op == Op::kAtom || nodes_[root_].op == Op::kNumber; }
  // Enumerates matches of `t` until `accept` returns true; returns whether it did. `bindings` must have a slot for every variable and
  // may hold bindings made before; on false they are as they were.
  bool Match(Context& ctx, Term t, Bindings& bindings, absl::FunctionRef<bool(const Bindings&)> accept) const;
  // Quick refusal: false if `t` cannot match by its operator, operand count or the operators of its operands.
  bool MayMatch(const Context& ctx, Term t) const;

 private:
  enum class Op : uint8_t { kAny, kRest, kAtom, kNumber, kTuple };
  struct Node {
    Op op;
    bool commutative = false;
    bool has_rest = false;      // among the positional children
    bool keyword_rest = false;  // the last child is a rest variable after keywords
    int slot = -1;              // kAny, kRest; for others the `as` variable
    Term atom;                  // kAtom; kNumber keeps it too
    double number = 0;
    uint32_t first = 0, positional = 0, keywords = 0;  // into edges_: positional children, then (key, value) pairs, then the rest
    uint32_t fixed = 0;                                // positional children that are not rest variables
    Term head;
  };
  struct State;
  friend struct PatternCompiler;

  Term head_;
  uint32_t root_ = 0;
  std::vector<Node> nodes_;
  std::vector<uint32_t> edges_;
  std::vector<Term> keys_;  // parallel to edges_ (key of a keyword value)
};

// Builds terms from bindings: the right side of a rule. A rest variable `..?xs` is spliced; `?xs` is its list as one term, and a
// list bound to `?xs` is spliced by `..?xs`.
class Template {
 public:
  static Template Compile(const Context& ctx, Term t, const std::vector<Term>& slots);
  // Called at each tuple whose head is in `functions`, with its instantiated children; gives the value.
  using CallHook = absl::FunctionRef<absl::StatusOr<Term>(Term function, std::span<const Term> args)>;
  // O(template nodes). Pre: all slots that occur are bound.
  absl::StatusOr<Term> Instantiate(Context& ctx, const Bindings& bindings,
                                   const absl::flat_hash_set<Term>& functions, CallHook call) const;

 private:
  // Post-order program: push an atom, push a slot, splice a slot, or make a tuple of the last n.
  enum class Code : uint8_t { kPush, kSlot, kSplice, kOpen, kClose };
  struct Step {
    Code code;
    Term term;
    int slot = -1;
  };
  std::vector<Step> steps_;
};

}  // namespace retuple

#endif  // RETUPLE_UNIFY_PATTERN_H_
