// Substitutions, unification and reification over terms.
//
// Terms are first-order with two kinds of variable: `?x` stands for one term, `..?xs` for the rest of a tuple (it is bound to the
// tuple of what remains, possibly nil). Unification is by closure (Huet 1976; Baader & Snyder, "Unification theory", Handbook of Automated
// Reasoning, 2001): an explicit work list, classes of terms that must be equal, and the occurs check as one walk at the end. On success
// the substitution is a most general unifier. Keyword arguments unify by name, whatever their places. Almost linear in the distinct nodes.
//
//   Substitution s;
//   Unify(ctx, a, b, s) && Reify(ctx, a, s) == Reify(ctx, b, s);
#ifndef RETUPLE_UNIFY_SUBSTITUTION_H_
#define RETUPLE_UNIFY_SUBSTITUTION_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "etuple/term.h"

namespace retuple {

// A triangular substitution: a variable is bound to a term that may hold variables that are bound in turn.
class Substitution {
 public:
  // The term that `t` stands for at its root: follows bindings of variables only.
  Term Walk(Term t) const {
    for (;;) {
      auto it = map_.find(t);
      if (it == map_.end()) return t;
      t = it->second;
    }
  }
  bool IsBound(Term v) const { return map_.contains(v); }
  // Pre: v is an unbound variable.
  void Bind(Term v, Term t) {
    map_.emplace(v, t);
    trail_.push_back(v);
  }
  size_t size() const { return trail_.size(); }
  // Undoes the bindings made since size() was `mark`.
  void Undo(size_t mark) {
    while (trail_.size() > mark) {
      map_.erase(trail_.back());
      trail_.pop_back();
    }
  }
  // Bound variables in order of binding.
  const std::vector<Term>& trail() const { return trail_; }

 private:
  absl::flat_hash_map<Term, Term> map_;
  std::vector<Term> trail_;
};

// Extends `s` so that both sides become equal; false (and `s` as it was) when there is no unifier. A rest variable must be the last
// child of its tuple.
bool Unify(Context& ctx, Term a, Term b, Substitution& s);

// `t` with every bound variable replaced, throughout; a bound rest variable is spliced into its tuple. O(distinct nodes).
Term Reify(Context& ctx, Term t, const Substitution& s);

// As Reify, and the variables that remain are named _0, _1, … in order of first occurrence.
Term ReifyCanonical(Context& ctx, Term t, const Substitution& s);

// True if variable `v` occurs in `t` under `s`.
bool Occurs(const Context& ctx, Term v, Term t, const Substitution& s);

// The variables of Reify(ctx, t, s) in order of first occurrence; empty if `t` is ground under `s`. Builds no term. O(distinct nodes).
std::vector<Term> UnboundVariables(const Context& ctx, Term t, const Substitution& s);

// True if `specific` is an instance of `general`: replacing variables of `general` makes them equal. Variables of `specific` are constants,
// those of the same name too. So `general` matches whatever `specific` matches. A rest variable of `general` must be the last child of its
// tuple, and takes the rest of a tuple with its rest variable; `?x` takes no rest variable. O(distinct nodes of `general`, children of `specific`).
bool Subsumes(Context& ctx, Term general, Term specific);

}  // namespace retuple

#endif  // RETUPLE_UNIFY_SUBSTITUTION_H_
