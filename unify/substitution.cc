#include "unify/substitution.h"

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"

namespace retuple {
namespace {

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
    Term u = s.Walk(stack.back());
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
    x = s.Walk(x);
    y = s.Walk(y);
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
    if (!done.insert({x, y}).second) continue;
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
      work.emplace_back(cx[i], cy[i]);
    }
  }
  return true;
}

Term Reify(Context& ctx, Term t, const Substitution& s) {
  absl::flat_hash_map<Term, Term> memo;
  struct Frame {
    Term term;      // walked
    uint32_t next;
  };
  std::vector<Frame> stack;
  auto value = [&](Term u, Term* out) {
    u = s.Walk(u);
    if (!ctx.IsTuple(u) || ctx.IsGround(u)) {
      *out = u;
      return true;
    }
    auto it = memo.find(u);
    if (it == memo.end()) return false;
    *out = it->second;
    return true;
  };
  Term result;
  if (value(t, &result)) return result;
  stack.push_back({s.Walk(t), 0});
  while (!stack.empty()) {
    Frame& f = stack.back();
    auto children = ctx.Children(f.term);
    bool pushed = false;
    while (f.next < children.size()) {
      Term c = children[f.next];
      Term ignored;
      if (value(c, &ignored)) {
        ++f.next;
        continue;
      }
      stack.push_back({s.Walk(c), 0});
      pushed = true;
      break;
    }
    if (pushed) continue;
    absl::InlinedVector<Term, 8> out;
    for (Term c : children) {
      Term v;
      value(c, &v);
      if (ctx.IsRest(c) && ctx.IsTuple(v)) {
        auto items = ctx.Children(v);
        out.insert(out.end(), items.begin(), items.end());
      } else {
        out.push_back(v);
      }
    }
    const Term done = f.term;
    stack.pop_back();
    memo[done] = ctx.Tuple(out);
  }
  value(t, &result);
  return result;
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
