// Substitutions, unification and reification over terms.
//
// Terms are first-order with two kinds of variable: `?x` stands for one term, `..?xs` for the rest of a tuple (it is bound to the
// tuple of what remains, possibly nil). Unification is Robinson's with an explicit work list and the occurs check (J. ACM 12, 1965); on
// success the substitution is a most general unifier. A shared pair of subterms is visited once.
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

}  // namespace retuple

#endif  // RETUPLE_UNIFY_SUBSTITUTION_H_
