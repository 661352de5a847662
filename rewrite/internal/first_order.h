// Rewriting with plain first-order rules, for the analyses of rule sets: no guards, no keywords, no rest variables.
#ifndef RETUPLE_REWRITE_INTERNAL_FIRST_ORDER_H_
#define RETUPLE_REWRITE_INTERNAL_FIRST_ORDER_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "etuple/term.h"

namespace retuple::internal {

using PlainRule = std::pair<Term, Term>;  // left side, no variable; right side

// Values of pattern variables, few: a list.
using Match = std::vector<std::pair<Term, Term>>;

// Extends `m` so that `pattern` becomes `t`; one-sided, variables of `t` are constants. `m` is of no use if it fails.
bool MatchTerm(const Context& ctx, Term pattern, Term t, Match& m);
// The term with its variables replaced; those without a value stay. O(distinct nodes).
Term Instance(Context& ctx, Term t, const Match& m);

// Rules, and normal forms by them: operands first, the first rule that matches. The rules must terminate.
class FirstOrderRewriter {
 public:
  explicit FirstOrderRewriter(Context& ctx) : ctx_(ctx) {}
  void Add(const PlainRule& rule);
  void Remove(const PlainRule& rule);
  // Explicit stack; a term that is known to be normal costs a lookup.
  Term Normalize(Term t);
  // A rule applies somewhere in `t`.
  bool Reduces(Term t);

 private:
  Term Head(Term t) const { return ctx_.IsTuple(t) && !t.is_nil() ? ctx_.Rator(t) : t; }
  bool StepAtRoot(Term t, Term* out);

  Context& ctx_;
  absl::flat_hash_map<Term, std::vector<PlainRule>> by_head_;
  absl::flat_hash_map<Term, Term> normal_;  // under the present rules
};

}  // namespace retuple::internal

#endif  // RETUPLE_REWRITE_INTERNAL_FIRST_ORDER_H_
