#include "unify/substitution.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"

namespace retuple {
namespace {

// Only variables are looked up: most terms are not.
Term Walk(const Context& ctx, const Substitution& s, Term t) { return ctx.IsVariable(t) ? s.Walk(t) : t; }

// A number by term, of terms that are there at the beginning: an array over all ids if a good part of them may get one, else a hash map.
class Index {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  Index(const Context& ctx, size_t expected) {
    if (expected >= ctx.id_limit() / 16) dense_.resize(ctx.id_limit());
  }
  uint32_t Find(Term t) const {
    if (!dense_.empty()) return dense_[t.id()] - 1;
    auto it = sparse_.find(t);
    return it == sparse_.end() ? kNone : it->second;
  }
  void Put(Term t, uint32_t value) {
    if (!dense_.empty()) {
      dense_[t.id()] = value + 1;
    } else {
      sparse_[t] = value;
    }
  }

 private:
  absl::flat_hash_map<Term, uint32_t> sparse_;
  std::vector<uint32_t> dense_;  // 0: none
};

// A child of a tuple that is to be made: a term, or the new tuple of that number; in the place of a rest variable or not.
class Part {
 public:
  Part() = default;
  Part(uint32_t value, bool made, bool rest) : value_(value), made_(made), rest_(rest) {}
  uint32_t value() const { return value_; }
  bool made() const { return made_; }
  bool rest() const { return rest_; }

 private:
  uint32_t value_ : 30 = 0;
  uint32_t made_ : 1 = 0, rest_ : 1 = 0;
};

// The tuple of children from `from` on. Walks nothing.
Term Tail(Context& ctx, std::span<const Term> children, size_t from) {
  absl::InlinedVector<Term, 8> copy(children.begin() + static_cast<ptrdiff_t>(from), children.end());
  return ctx.Tuple(copy);
}

// The keyword arguments of a tuple from `from` on: pairs, sorted by key, and perhaps a rest variable (nil if none).
struct Keywords {
  absl::InlinedVector<std::pair<Term, Term>, 6> pairs;
  Term rest;
};
std::optional<Keywords> KeywordsOf(const Context& ctx, std::span<const Term> children, size_t from) {
  Keywords k;
  size_t i = from;
  for (; i + 1 < children.size() && ctx.IsKeyword(children[i]); i += 2) k.pairs.emplace_back(children[i], children[i + 1]);
  if (i + 1 == children.size() && ctx.IsRest(children[i])) k.rest = children[i++];
  if (k.pairs.empty() || i != children.size()) return std::nullopt;
  return k;
}

// Splits by name: `both` gets the values of each key that both have, the others those of the keys of one side.
void SplitByName(const Context& ctx, const Keywords& x, const Keywords& y, std::vector<std::pair<Term, Term>>& both,
                 std::vector<Term>& only_x, std::vector<Term>& only_y) {
  size_t i = 0, j = 0;
  while (i < x.pairs.size() || j < y.pairs.size()) {
    if (i < x.pairs.size() && j < y.pairs.size() && x.pairs[i].first == y.pairs[j].first) {
      both.emplace_back(x.pairs[i++].second, y.pairs[j++].second);
      continue;
    }
    const bool left = j == y.pairs.size() || (i < x.pairs.size() && ctx.Text(x.pairs[i].first) < ctx.Text(y.pairs[j].first));
    const auto& [key, value] = left ? x.pairs[i++] : y.pairs[j++];
    auto& only = left ? only_x : only_y;
    only.push_back(key);
    only.push_back(value);
  }
}

// True if some term that `roots` reach under `s` holds itself.
bool HasCycle(const Context& ctx, std::span<const Term> roots, const Substitution& s) {
  absl::flat_hash_map<Term, bool> finished;
  std::vector<std::pair<Term, bool>> stack;  // a term to enter, or to leave
  for (Term root : roots) {
    stack.emplace_back(root, false);
    while (!stack.empty()) {
      const auto [t, leave] = stack.back();
      stack.pop_back();
      if (leave) {
        finished[t] = true;
        continue;
      }
      const Term u = Walk(ctx, s, t);
      if (!ctx.IsTuple(u) || ctx.IsGround(u)) continue;
      if (auto [it, first] = finished.try_emplace(u, false); !first) {
        if (!it->second) return true;  // above us on the path
        continue;
      }
      stack.emplace_back(u, true);
      for (Term c : ctx.Children(u)) stack.emplace_back(c, false);
    }
  }
  return false;
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

std::vector<Term> UnboundVariables(const Context& ctx, Term t, const Substitution& s) {
  std::vector<Term> out, stack{t};
  absl::flat_hash_set<Term> seen;
  while (!stack.empty()) {
    const Term u = Walk(ctx, s, stack.back());
    stack.pop_back();
    if (ctx.IsGround(u) || !seen.insert(u).second) continue;
    if (ctx.IsVariable(u)) out.push_back(u);
    auto children = ctx.Children(u);
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  return out;
}

bool Subsumes(Context& ctx, Term general, Term specific) {
  absl::flat_hash_map<Term, Term> image;  // what each subterm of `general` that has variables must become: one term
  std::vector<std::pair<Term, Term>> work{{general, specific}};
  while (!work.empty()) {
    const auto [g, t] = work.back();
    work.pop_back();
    if (ctx.IsGround(g)) {
      if (g != t) return false;
      continue;
    }
    if (auto [it, first] = image.try_emplace(g, t); !first) {
      if (it->second != t) return false;
      continue;
    }
    if (ctx.IsVariable(g)) {
      if (ctx.IsRest(t) && !ctx.IsRest(g)) return false;
      continue;
    }
    if (!ctx.IsTuple(t)) return false;
    auto pattern = ctx.Children(g), children = ctx.Children(t);
    const size_t at = ctx.Positional(g).size();
    const auto named = KeywordsOf(ctx, pattern, at), given = at <= children.size() ? KeywordsOf(ctx, children, at) : std::nullopt;
    if (named.has_value() && given.has_value()) {
      std::vector<Term> only_g, only_t;
      SplitByName(ctx, *named, *given, work, only_g, only_t);
      if (!given->rest.is_nil()) only_t.push_back(given->rest);
      if (!only_g.empty() || (named->rest.is_nil() && !only_t.empty())) return false;
      if (!named->rest.is_nil()) work.emplace_back(named->rest, ctx.Tuple(only_t));
      for (size_t i = 0; i < at; ++i) {
        if (ctx.IsRest(pattern[i])) return false;
        work.emplace_back(pattern[i], children[i]);
      }
      continue;
    }
    const bool rest = ctx.IsRest(pattern.back());
    const size_t fixed = pattern.size() - (rest ? 1 : 0);
    if (rest ? children.size() < fixed : children.size() != fixed) return false;
    for (size_t i = 0; i < fixed; ++i) {
      if (ctx.IsRest(pattern[i])) return false;
      work.emplace_back(pattern[i], children[i]);
    }
    if (rest) work.emplace_back(pattern.back(), Tail(ctx, children, fixed));
  }
  return true;
}

bool Unify(Context& ctx, Term a, Term b, Substitution& s) {
  const size_t mark = s.size();
  std::vector<std::pair<Term, Term>> work{{a, b}};
  // Tuples that were compared are one class of a union-find forest, so what a pair says is worked out at most once a term. Small problems
  // need no memory of it.
  absl::flat_hash_map<Term, Term> joined;
  auto find = [&](Term t) {
    for (auto it = joined.find(t); it != joined.end(); it = joined.find(t)) {
      t = it->second;
      if (auto up = joined.find(t); up != joined.end()) it->second = up->second;
    }
    return t;
  };
  constexpr int kUnremembered = 64;
  int visited = 0;
  auto fail = [&] {
    s.Undo(mark);
    return false;
  };
  // The occurs check of all bindings is one walk at the end: one for each would be quadratic in a chain of them. Until then a term may
  // hold itself; the work still ends, since terms join at most once each.
  std::vector<Term> unchecked;
  auto bind = [&](Term v, Term t) {
    if (ctx.IsRest(v) && !ctx.IsTuple(t) && !ctx.IsVariable(t)) return false;
    if (ctx.IsTuple(t) && !ctx.IsGround(t)) unchecked.push_back(v);
    s.Bind(v, t);
    return true;
  };
  auto by_name = [&](const Keywords& x, const Keywords& y) {
    std::vector<Term> only_x, only_y;
    SplitByName(ctx, x, y, work, only_x, only_y);
    const bool open_x = !x.rest.is_nil(), open_y = !y.rest.is_nil();
    if ((!open_x && !only_y.empty()) || (!open_y && !only_x.empty())) return false;
    if (open_x && open_y) {
      if (Walk(ctx, s, x.rest) == Walk(ctx, s, y.rest)) return only_x.empty() && only_y.empty();
      // Each rest takes what the other side alone has; what both have besides is one variable.
      if (only_x.empty()) {
        only_y.push_back(y.rest);
      } else if (only_y.empty()) {
        only_x.push_back(x.rest);
      } else {
        only_x.push_back(ctx.RestVariable(ctx.Text(ctx.FreshVariable("rest"))));
        only_y.push_back(only_x.back());
      }
      const bool left = !only_y.empty(), right = !only_x.empty();
      if (left) work.emplace_back(x.rest, ctx.Tuple(only_y));
      if (right) work.emplace_back(y.rest, ctx.Tuple(only_x));
    } else if (open_x || open_y) {
      work.emplace_back(open_x ? x.rest : y.rest, ctx.Tuple(open_x ? only_y : only_x));
    }
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
    if (++visited > kUnremembered) {
      const Term u = find(x), v = find(y);
      if (u == v) continue;
      joined.emplace(u, v);
    }
    size_t i = 0;
    for (;; ++i) {
      // Taken anew each time: interning a tail may have moved nothing, but spans stay valid only while nodes live.
      auto cx = ctx.Children(x), cy = ctx.Children(y);
      if (i < cx.size() && i < cy.size() && ctx.IsKeyword(cx[i]) && ctx.IsKeyword(cy[i])) {
        const auto kx = KeywordsOf(ctx, cx, i), ky = KeywordsOf(ctx, cy, i);
        if (kx.has_value() && ky.has_value()) {
          if (!by_name(*kx, *ky)) return fail();
          break;
        }
      }
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
  return HasCycle(ctx, unchecked, s) ? fail() : true;
}

// In two passes: the first finds the tuples that change, operands first, and the hashes of what they become; the second interns them,
// asking for the memory of those to come. A term in a table of millions is three cache misses, which then overlap.
Term Reify(Context& ctx, Term root, const Substitution& s) {
  root = Walk(ctx, s, root);
  auto unchanged = [&](Term t) { return !ctx.IsTuple(t) || ctx.IsGround(t); };
  if (unchanged(root)) return root;
  struct Frame {
    std::span<const Term> children;
    Term term;
    uint32_t next, first;  // first: of its parts in `pending`
    bool irregular, is_rest;  // is_rest: it stands where a rest variable was
  };
  // Room as for a tree; what is not touched costs nothing.
  const size_t room = std::min<uint64_t>(ctx.TreeSize(root), ctx.id_limit());
  Index index(ctx, std::max(room, s.size()));
  std::vector<Part> parts, pending;
  std::vector<uint32_t> begin = {0};  // of each tuple's parts; the last is the end
  std::vector<uint64_t> hashes, of_parts;
  std::vector<uint32_t> irregular;  // tuples whose children are spliced in or get a keyword among them: the hash is none
  std::vector<Frame> stack;
  stack.reserve(std::min<size_t>(ctx.Depth(root), room) + 1);
  for (auto* v : {&parts, &pending}) v->reserve(room);
  hashes.reserve(room);
  begin.reserve(room);
  stack.push_back({ctx.Children(root), root, 0, 0, false, false});
  for (;;) {
    Frame& f = stack.back();
    bool entered = false;
    while (f.next < f.children.size()) {
      const Term c = f.children[f.next++], u = ctx.IsGround(c) ? c : Walk(ctx, s, c);
      const bool rest = u != c && ctx.IsRest(c);
      f.irregular = f.irregular || rest;
      if (unchanged(u)) {
        pending.push_back(Part(u.id(), false, rest));
        f.irregular = f.irregular || (u != c && ctx.IsKeyword(u));
        continue;
      }
      const uint32_t made = index.Find(u);
      if (made == Index::kNone) {
        stack.push_back({ctx.Children(u), u, 0, static_cast<uint32_t>(pending.size()), false, rest});
        entered = true;
        break;
      }
      pending.push_back(Part(made, true, rest));
    }
    if (entered) continue;
    of_parts.clear();
    for (size_t k = f.first; k < pending.size(); ++k) {
      of_parts.push_back(pending[k].made() ? hashes[pending[k].value()] : ctx.Hash(Term(pending[k].value())));
    }
    const auto number = static_cast<uint32_t>(hashes.size());
    const bool is_rest = f.is_rest;
    index.Put(f.term, number);
    if (f.irregular) irregular.push_back(number);
    hashes.push_back(Context::HashTuple(of_parts));
    parts.insert(parts.end(), pending.begin() + f.first, pending.end());
    begin.push_back(static_cast<uint32_t>(parts.size()));
    pending.resize(f.first);
    stack.pop_back();
    if (stack.empty()) break;
    pending.push_back(Part(number, true, is_rest));
  }
  const size_t n = hashes.size();
  std::vector<Term> made(n), children;
  size_t next_irregular = 0;
  for (size_t k = 0; k < n; ++k) {
    ctx.PrefetchTuples(hashes, k);
    children.clear();
    for (uint32_t p = begin[k]; p < begin[k + 1]; ++p) {
      const Term v = parts[p].made() ? made[parts[p].value()] : Term(parts[p].value());
      if (parts[p].rest() && ctx.IsTuple(v)) {
        auto items = ctx.Children(v);
        children.insert(children.end(), items.begin(), items.end());
      } else {
        children.push_back(v);
      }
    }
    if (next_irregular < irregular.size() && irregular[next_irregular] == k) {
      ++next_irregular;
      made[k] = ctx.Tuple(children);
    } else {
      made[k] = ctx.CanonicalTuple(children, hashes[k]);
    }
  }
  return made.back();
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
