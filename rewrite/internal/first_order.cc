#include "rewrite/internal/first_order.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"

namespace retuple::internal {

bool MatchTerm(const Context& ctx, Term pattern, Term t, Match& m) {
  absl::InlinedVector<std::pair<Term, Term>, 16> work = {{pattern, t}};
  while (!work.empty()) {
    const Term p = work.back().first, u = work.back().second;
    work.pop_back();
    if (ctx.IsGround(p)) {
      if (p != u) return false;
      continue;
    }
    if (ctx.IsVariable(p)) {
      const auto it = std::find_if(m.begin(), m.end(), [&](const auto& b) { return b.first == p; });
      if (it == m.end()) {
        m.emplace_back(p, u);
      } else if (it->second != u) {
        return false;
      }
      continue;
    }
    auto cp = ctx.Children(p), cu = ctx.Children(u);
    if (cp.size() != cu.size() || cp[0] != cu[0]) return false;
    for (size_t i = cp.size(); i-- > 1;) work.emplace_back(cp[i], cu[i]);
  }
  return true;
}

Term Instance(Context& ctx, Term root, const Match& m) {
  if (ctx.IsGround(root)) return root;
  absl::flat_hash_map<Term, Term> done;
  const auto value = [&](Term t) -> Term {
    if (ctx.IsGround(t)) return t;
    if (!ctx.IsVariable(t)) return done.at(t);
    const auto it = std::find_if(m.begin(), m.end(), [&](const auto& b) { return b.first == t; });
    return it == m.end() ? t : it->second;
  };
  if (ctx.IsVariable(root)) return value(root);
  std::vector<std::pair<Term, bool>> stack = {{root, false}};
  absl::InlinedVector<Term, 8> children;
  while (!stack.empty()) {
    const auto [t, ready] = stack.back();
    stack.pop_back();
    if (done.contains(t)) continue;
    if (!ready) {
      stack.emplace_back(t, true);
      for (Term c : ctx.Children(t)) {
        if (!ctx.IsGround(c) && !ctx.IsVariable(c)) stack.emplace_back(c, false);
      }
      continue;
    }
    children.clear();
    for (Term c : ctx.Children(t)) children.push_back(value(c));
    done[t] = ctx.Tuple(children);
  }
  return done.at(root);
}

void FirstOrderRewriter::Add(const PlainRule& rule) {
  by_head_[Head(rule.first)].push_back(rule);
  normal_.clear();
}

void FirstOrderRewriter::Remove(const PlainRule& rule) {
  auto& rules = by_head_[Head(rule.first)];
  rules.erase(std::find(rules.begin(), rules.end(), rule));
  normal_.clear();
}

bool FirstOrderRewriter::StepAtRoot(Term t, Term* out) {
  const auto it = by_head_.find(Head(t));
  if (it == by_head_.end()) return false;
  Match m;
  for (const auto& [l, r] : it->second) {
    m.clear();
    if (!MatchTerm(ctx_, l, t, m)) continue;
    *out = Instance(ctx_, r, m);
    return true;
  }
  return false;
}

Term FirstOrderRewriter::Normalize(Term root) {
  // A frame's term is rewritten to `current`; all that it was gets the normal form in the end.
  struct Frame {
    Term current;
    size_t next = 0;
    std::vector<Term> was;
  };
  std::vector<Frame> stack;
  stack.push_back({root, 0, {}});
  absl::InlinedVector<Term, 8> children;
  for (;;) {
    Frame& f = stack.back();
    const auto known = normal_.find(f.current);
    Term result;
    if (known != normal_.end()) {
      result = known->second;
    } else {
      auto c = ctx_.Children(f.current);
      // The first child that is not known to be normal.
      while (f.next < c.size()) {
        const Term child = c[f.next];
        if (ctx_.IsVariable(child) || (f.next == 0 && ctx_.IsSymbol(child)) || normal_.contains(child)) {
          ++f.next;
          continue;
        }
        break;
      }
      if (f.next < c.size()) {
        const Term child = c[f.next++];
        stack.push_back({child, 0, {}});
        continue;
      }
      children.assign(c.begin(), c.end());
      for (size_t i = 1; i < children.size(); ++i) {
        if (!ctx_.IsVariable(children[i])) children[i] = normal_.at(children[i]);
      }
      const Term rebuilt = c.empty() ? f.current : ctx_.Tuple(children);
      if (rebuilt != f.current) {
        f.was.push_back(f.current);
        f.current = rebuilt;
        f.next = 0;
        continue;
      }
      Term out;
      if (!ctx_.IsVariable(f.current) && StepAtRoot(f.current, &out)) {
        f.was.push_back(f.current);
        f.current = out;
        f.next = 0;
        continue;
      }
      result = f.current;
    }
    normal_[f.current] = result;
    for (Term t : f.was) normal_[t] = result;
    stack.pop_back();
    if (stack.empty()) return result;
  }
}

bool FirstOrderRewriter::Reduces(Term t) { return Normalize(t) != t; }

}  // namespace retuple::internal
