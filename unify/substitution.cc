#include "unify/substitution.h"

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"

namespace retuple {
namespace {

// Only variables are looked up: most terms are not.
Term Walk(const Context& ctx, const Substitution& s, Term t) { return ctx.IsVariable(t) ? s.Walk(t) : t; }

// A table by term: a hash map while it is small, an array over all ids once it holds a good part of them.
class Memo {
 public:
  explicit Memo(const Context& ctx) : limit_(ctx.id_limit()) {}
  const Term* Find(Term t) const {
    if (!dense_.empty()) return known_[t.id()] ? &dense_[t.id()] : nullptr;
    auto it = sparse_.find(t);
    return it == sparse_.end() ? nullptr : &it->second;
  }
  void Put(Term t, Term value) {
    if (dense_.empty()) {
      sparse_[t] = value;
      if (sparse_.size() < 4096 || sparse_.size() < limit_ / 64) return;
      dense_.resize(limit_);
      known_.resize(limit_);
      for (const auto& [k, v] : sparse_) {
        dense_[k.id()] = v;
        known_[k.id()] = true;
      }
      sparse_.clear();
      return;
    }
    dense_[t.id()] = value;
    known_[t.id()] = true;
  }

 private:
  const uint32_t limit_;  // keys are terms that were there at the beginning
  absl::flat_hash_map<Term, Term> sparse_;
  std::vector<Term> dense_;
  std::vector<bool> known_;
};

// The tuple of children from `from` on. Walks nothing.
Term Tail(Context& ctx, std::span<const Term> children, size_t from) {
  absl::InlinedVector<Term, 8> copy(children.begin() + static_cast<ptrdiff_t>(from), children.end());
  return ctx.Tuple(copy);
}

}  // namespace

bool Occurs(const Context& ctx, Term v, Term t, const Substitution& s) {
  absl::flat_hash_set<Term> seen;
  std::vector<Term> stack{t};
  while (!stack.empty()) {
    Term u = Walk(ctx, s, stack.back());
    stack.pop_back();
    if (u == v) return true;
    if (ctx.IsGround(u) || !seen.insert(u).second) continue;
    for (Term c : ctx.Children(u)) stack.push_back(c);
  }
  return false;
}

bool Unify(Context& ctx, Term a, Term b, Substitution& s) {
  const size_t mark = s.size();
  std::vector<std::pair<Term, Term>> work{{a, b}};
  absl::flat_hash_set<std::pair<Term, Term>> done;
  constexpr int kUnremembered = 64;
  int visited = 0;
  auto fail = [&] {
    s.Undo(mark);
    return false;
  };
  auto bind = [&](Term v, Term t) {
    if (Occurs(ctx, v, t, s)) return false;
    s.Bind(v, t);
    return true;
  };
  while (!work.empty()) {
    auto [x, y] = work.back();
    work.pop_back();
    x = Walk(ctx, s, x);
    y = Walk(ctx, s, y);
    if (x == y) continue;
    if (ctx.IsVariable(x)) {
      if (!bind(x, y)) return fail();
      continue;
    }
    if (ctx.IsVariable(y)) {
      if (!bind(y, x)) return fail();
      continue;
    }
    if (!ctx.IsTuple(x) || !ctx.IsTuple(y)) return fail();
    if (ctx.IsGround(x) && ctx.IsGround(y)) return fail();  // hash-consed: equal would be identical
    // A pair that comes up again is a shared one; small problems need no memory of them.
    if (++visited > kUnremembered && !done.insert({x, y}).second) continue;
    size_t i = 0;
    for (;; ++i) {
      // Taken anew each time: interning a tail may have moved nothing, but spans stay valid only while nodes live.
      auto cx = ctx.Children(x), cy = ctx.Children(y);
      const bool rest_x = i < cx.size() && ctx.IsRest(cx[i]), rest_y = i < cy.size() && ctx.IsRest(cy[i]);
      if (rest_x || rest_y) {
        if ((rest_x && i + 1 != cx.size()) || (rest_y && i + 1 != cy.size())) return fail();
        Term left = rest_x ? cx[i] : Tail(ctx, cx, i);
        Term right = rest_y ? ctx.Children(y)[i] : Tail(ctx, ctx.Children(y), i);
        work.emplace_back(left, right);
        break;
      }
      if (i == cx.size() || i == cy.size()) {
        if (cx.size() != cy.size()) return fail();
        break;
      }
      if (cx[i] != cy[i]) work.emplace_back(cx[i], cy[i]);
    }
  }
  return true;
}

Term Reify(Context& ctx, Term root, const Substitution& s) {
  // What a tuple with variables became; one that is being worked on is not there yet.
  Memo memo(ctx);
  struct Frame {
    Term term;  // walked
    uint32_t next;
    uint32_t first;  // into `out`
  };
  std::vector<Frame> stack;
  std::vector<Term> out;  // children done so far, of all frames
  // Gives the value of a walked term if nothing needs to be done for it.
  auto value = [&](Term u, Term* v) {
    *v = u;
    if (!ctx.IsTuple(u) || ctx.IsGround(u)) return true;
    const Term* known = memo.Find(u);
    if (known == nullptr) return false;
    *v = *known;
    return true;
  };
  auto append = [&](Term child, Term v) {
    if (ctx.IsRest(child) && ctx.IsTuple(v)) {
      auto items = ctx.Children(v);
      out.insert(out.end(), items.begin(), items.end());
    } else {
      out.push_back(v);
    }
  };
  Term done = Walk(ctx, s, root);
  if (value(done, &done)) return done;
  stack.push_back({done, 0, 0});
  for (;;) {
    Frame& f = stack.back();
    auto children = ctx.Children(f.term);
    if (f.next < children.size()) {
      const Term c = children[f.next], u = Walk(ctx, s, c);
      Term v;
      if (value(u, &v)) {
        append(c, v);
        ++f.next;
      } else {
        stack.push_back({u, 0, static_cast<uint32_t>(out.size())});
      }
      continue;
    }
    done = ctx.Tuple(std::span<const Term>(out).subspan(f.first));
    out.resize(f.first);
    memo.Put(f.term, done);
    stack.pop_back();
    if (stack.empty()) return done;
    Frame& parent = stack.back();
    append(ctx.Children(parent.term)[parent.next++], done);
  }
}

Term ReifyCanonical(Context& ctx, Term t, const Substitution& s) {
  Term r = Reify(ctx, t, s);
  Substitution names;
  int next = 0;
  for (Term v : Variables(ctx, r)) {
    names.Bind(v, ctx.IsRest(v) ? ctx.RestVariable("_" + std::to_string(next)) : ctx.Sym("_" + std::to_string(next)));
    ++next;
  }
  return Reify(ctx, r, names);
}

}  // namespace retuple
