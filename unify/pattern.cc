#include "unify/pattern.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

namespace retuple {

struct PatternCompiler {
  const Context& ctx;
  std::vector<Term>& slots;
  const PatternOptions& options;
  Pattern& out;
  absl::flat_hash_map<Term, int> numbering = {};
  absl::flat_hash_map<Term, uint32_t> done = {};

  int Slot(Term v) {
    auto [it, fresh] = numbering.try_emplace(v, static_cast<int>(slots.size()));
    if (fresh) slots.push_back(v);
    return it->second;
  }

  bool IsAs(Term t) const {
    return ctx.IsTuple(t) && !t.is_nil() && ctx.IsSymbol(ctx.Rator(t)) && ctx.Text(ctx.Rator(t)) == "as";
  }

  // Children first, by an explicit stack; a shared pattern node compiles once.
  absl::StatusOr<uint32_t> Compile(Term root) {
    // Slots are numbered in reading order before nodes are built.
    std::vector<Term> reading{root};
    absl::flat_hash_set<Term> seen;
    while (!reading.empty()) {
      Term t = reading.back();
      reading.pop_back();
      if (ctx.IsGround(t) || !seen.insert(t).second) continue;
      if (ctx.IsVariable(t)) Slot(t);
      auto c = ctx.Children(t);
      for (size_t i = c.size(); i-- > 0;) reading.push_back(c[i]);
    }
    for (Term t : PostOrder(ctx, root)) {
      auto node = Make(t);
      if (!node.ok()) return node.status();
      done[t] = *node;
    }
    return done[root];
  }

  absl::StatusOr<uint32_t> Make(Term t) {
    Pattern::Node n{};
    if (ctx.IsVariable(t)) {
      n.op = ctx.IsRest(t) ? Pattern::Op::kRest : Pattern::Op::kAny;
      n.slot = Slot(t);
    } else if (!ctx.IsTuple(t)) {
      n.op = Pattern::Op::kAtom;
      n.atom = t;
      if (ctx.kind(t) == Kind::kInteger || ctx.kind(t) == Kind::kReal) {
        n.op = Pattern::Op::kNumber;
        n.number = ctx.kind(t) == Kind::kInteger ? static_cast<double>(ctx.IntegerValue(t)) : ctx.RealValue(t);
      }
    } else if (IsAs(t)) {
      auto rands = ctx.Rands(t);
      if (rands.size() != 2 || !ctx.IsVariable(rands[0]) || ctx.IsRest(rands[0])) {
        return absl::InvalidArgumentError("(as ?name pattern) takes a variable and a pattern");
      }
      n = out.nodes_[done[rands[1]]];
      if (n.op == Pattern::Op::kAny || n.op == Pattern::Op::kRest || n.slot >= 0) {
        return absl::InvalidArgumentError("the pattern of an `as` is a tuple or an atom");
      }
      n.slot = Slot(rands[0]);
    } else {
      n.op = Pattern::Op::kTuple;
      n.first = static_cast<uint32_t>(out.edges_.size());
      auto children = ctx.Children(t);
      size_t i = 0;
      for (; i < children.size() && !ctx.IsKeyword(children[i]); ++i) {
        out.edges_.push_back(done[children[i]]);
        out.keys_.push_back(Term());
        if (ctx.IsRest(children[i])) {
          n.has_rest = true;
        } else {
          ++n.fixed;
        }
        ++n.positional;
      }
      for (; i + 1 < children.size(); i += 2) {
        out.edges_.push_back(done[children[i + 1]]);
        out.keys_.push_back(children[i]);
        ++n.keywords;
      }
      if (i < children.size()) {
        if (!ctx.IsRest(children[i])) return absl::InvalidArgumentError("a keyword has no value");
        out.edges_.push_back(done[children[i]]);
        out.keys_.push_back(Term());
        n.keyword_rest = true;
      }
      n.head = ctx.HeadSymbol(t);
      n.commutative = options.commutative != nullptr && !n.has_rest && n.positional == 3 &&
                      options.commutative->contains(n.head);
    }
    out.nodes_.push_back(n);
    return static_cast<uint32_t>(out.nodes_.size() - 1);
  }
};

absl::StatusOr<Pattern> Pattern::Compile(const Context& ctx, Term pattern, std::vector<Term>& slots,
                                         const PatternOptions& options) {
  Pattern p;
  PatternCompiler compiler{ctx, slots, options, p};
  for (size_t i = 0; i < slots.size(); ++i) compiler.numbering[slots[i]] = static_cast<int>(i);
  auto root = compiler.Compile(pattern);
  if (!root.ok()) return root.status();
  p.root_ = *root;
  p.head_ = p.nodes_[*root].head;
  return p;
}

bool Pattern::MayMatch(const Context& ctx, Term t) const {
  const Node& n = nodes_[root_];
  if (n.op != Op::kTuple) return true;
  if (!ctx.IsTuple(t)) return false;
  auto children = ctx.Children(t);
  if (n.keywords == 0 && !n.keyword_rest && (n.has_rest ? children.size() < n.fixed : children.size() != n.positional)) {
    return false;
  }
  if (n.has_rest || n.commutative || n.positional > children.size()) return true;
  for (uint32_t i = 1; i < n.positional; ++i) {
    const Node& c = nodes_[edges_[n.first + i]];
    if (c.op == Op::kTuple && !c.head.is_nil() && ctx.HeadSymbol(children[i]) != c.head) return false;
  }
  return true;
}

// A goal asks a pattern node to match a term (kWhole), or a tuple pattern to match from its child `at` on with the term's
// positional children from `from` on. Goals form linked lists, so that a choice point is one index.
struct Pattern::State {
  static constexpr uint32_t kWhole = 0xffffffffu;
  struct Goal {
    uint32_t node;
    uint32_t at = kWhole;
    uint32_t from = 0;
    uint32_t take = 0;  // what the rest variable at `at` takes, at least
    bool swapped = false;
    Term term;
    int next;
  };
  struct Choice {
    int goal;
    size_t trail;
  };
  std::vector<Goal> goals;
  std::vector<Choice> choices;
  std::vector<int> trail;

  int Push(Goal g) {
    goals.push_back(g);
    return static_cast<int>(goals.size()) - 1;
  }
};

namespace {

Term Slice(Context& ctx, std::span<const Term> children) {
  absl::InlinedVector<Term, 16> copy(children.begin(), children.end());
  return ctx.Tuple(copy);
}

}  // namespace

bool Pattern::Match(Context& ctx, Term t, Bindings& bindings,
                    absl::FunctionRef<bool(const Bindings&)> accept) const {
  // States are pooled a thread: matching allocates nothing in the steady state, and may be entered again from `accept`.
  thread_local std::vector<State> pool;
  State st;
  if (!pool.empty()) {
    st = std::move(pool.back());
    pool.pop_back();
  }
  auto bind = [&](int slot, Term value) {
    Term& b = bindings[static_cast<size_t>(slot)];
    if (b == kUnbound) {
      b = value;
      st.trail.push_back(slot);
      return true;
    }
    return b == value;
  };

  // One step: true and the next goal in `current`, or false when the goal fails.
  int current = st.Push({.node = root_, .term = t, .next = -1});
  auto step = [&]() -> bool {
    const State::Goal g = st.goals[static_cast<size_t>(current)];
    const Node& n = nodes_[g.node];
    if (g.at == State::kWhole) {
      current = g.next;
      switch (n.op) {
        case Op::kAny:
        case Op::kRest:
          return bind(n.slot, g.term);
        case Op::kNumber:
          if (n.atom != g.term) {
            if (ctx.kind(g.term) != Kind::kObject) return false;
            auto v = ctx.ObjectValue(g.term)->UniformValue();
            if (!v.has_value() || *v != n.number) return false;
          }
          return n.slot < 0 || bind(n.slot, g.term);
        case Op::kAtom:
          return n.atom == g.term && (n.slot < 0 || bind(n.slot, g.term));
        case Op::kTuple:
          break;
      }
      if (!ctx.IsTuple(g.term)) return false;
      const size_t count = ctx.Children(g.term).size();
      if (n.keywords == 0 && !n.keyword_rest && (n.has_rest ? count < n.fixed : count != n.positional)) return false;
      if (n.slot >= 0 && !bind(n.slot, g.term)) return false;
      if (n.commutative && count == 3) {
        st.choices.push_back(
            {st.Push({.node = g.node, .at = 0, .swapped = true, .term = g.term, .next = g.next}), st.trail.size()});
      }
      current = st.Push({.node = g.node, .at = 0, .term = g.term, .next = g.next});
      return true;
    }
    auto children = ctx.Children(g.term);
    const bool by_keyword = n.keywords > 0 || n.keyword_rest;
    if (g.at < n.positional) {
      const uint32_t edge = edges_[n.first + g.at];
      const Node& child = nodes_[edge];
      if (child.op != Op::kRest) {
        size_t i = g.from;
        if (i >= children.size() || (by_keyword && ctx.IsKeyword(children[i]))) return false;
        if (g.swapped && i > 0) i = 3 - i;
        const int after = st.Push({.node = g.node, .at = g.at + 1, .from = g.from + 1, .swapped = g.swapped,
                                   .term = g.term, .next = g.next});
        current = st.Push({.node = edge, .term = children[i], .next = after});
        return true;
      }
      uint32_t fixed_after = 0;
      bool rest_after = false;
      for (uint32_t k = g.at + 1; k < n.positional; ++k) {
        const bool rest = nodes_[edges_[n.first + k]].op == Op::kRest;
        rest_after = rest_after || rest;
        fixed_after += rest ? 0 : 1;
      }
      const size_t end = by_keyword ? ctx.Positional(g.term).size() : children.size();
      if (g.from + fixed_after > end) return false;
      const uint32_t most = static_cast<uint32_t>(end - g.from - fixed_after);
      const Term bound = bindings[static_cast<size_t>(child.slot)];
      uint32_t take = most;
      if (bound != kUnbound) {
        take = static_cast<uint32_t>(ctx.Children(bound).size());
      } else if (rest_after) {
        take = g.take;
        if (take < most) {
          State::Goal longer = g;
          longer.take = take + 1;
          st.choices.push_back({st.Push(longer), st.trail.size()});
        }
      }
      if (take > most || !bind(child.slot, Slice(ctx, children.subspan(g.from, take)))) return false;
      current = st.Push({.node = g.node, .at = g.at + 1, .from = g.from + take, .term = g.term, .next = g.next});
      return true;
    }
    // Positional children are done.
    current = g.next;
    if (!by_keyword) return g.from == children.size();
    if (g.from < children.size() && !ctx.IsKeyword(children[g.from])) return false;
    absl::InlinedVector<Term, 16> rest;
    uint32_t found = 0;
    for (size_t i = g.from; i + 1 < children.size(); i += 2) {
      uint32_t k = 0;
      while (k < n.keywords && keys_[n.first + n.positional + k] != children[i]) ++k;
      if (k < n.keywords) {
        ++found;
        current = st.Push({.node = edges_[n.first + n.positional + k], .term = children[i + 1], .next = current});
      } else {
        rest.push_back(children[i]);
        rest.push_back(children[i + 1]);
      }
    }
    if (found != n.keywords) return false;
    if (!n.keyword_rest) return rest.empty();
    const Node& tail = nodes_[edges_[n.first + n.positional + n.keywords]];
    return bind(tail.slot, ctx.Tuple(rest));
  };

  bool matched = false;
  for (;;) {
    bool ok;
    if (current < 0) {
      if (accept(bindings)) {
        matched = true;
        break;
      }
      ok = false;
    } else {
      ok = step();
    }
    if (ok) continue;
    const size_t mark = st.choices.empty() ? 0 : st.choices.back().trail;
    while (st.trail.size() > mark) {
      bindings[static_cast<size_t>(st.trail.back())] = kUnbound;
      st.trail.pop_back();
    }
    if (st.choices.empty()) break;
    current = st.choices.back().goal;
    st.choices.pop_back();
  }
  st.goals.clear();
  st.choices.clear();
  st.trail.clear();
  pool.push_back(std::move(st));
  return matched;
}

Template Template::Compile(const Context& ctx, Term t, const std::vector<Term>& slots) {
  absl::flat_hash_map<Term, int> numbering;
  for (size_t i = 0; i < slots.size(); ++i) numbering[slots[i]] = static_cast<int>(i);
  Template out;
  struct Frame {
    Term term;
    size_t next;
  };
  std::vector<Frame> stack;
  auto visit = [&](Term u) {
    if (ctx.IsVariable(u)) {
      auto it = numbering.find(u);
      int slot = it == numbering.end() ? -1 : it->second;
      for (size_t i = 0; slot < 0 && i < slots.size(); ++i) {
        if (ctx.Text(slots[i]) == ctx.Text(u)) slot = static_cast<int>(i);
      }
      out.steps_.push_back({ctx.IsRest(u) ? Code::kSplice : Code::kSlot, u, slot});
    } else if (!ctx.IsTuple(u) || u.is_nil()) {
      out.steps_.push_back({Code::kPush, u, -1});
    } else {
      out.steps_.push_back({Code::kOpen, u, -1});
      stack.push_back({u, 0});
    }
  };
  visit(t);
  while (!stack.empty()) {
    Frame& f = stack.back();
    auto children = ctx.Children(f.term);
    if (f.next == children.size()) {
      out.steps_.push_back({Code::kClose, f.term, -1});
      stack.pop_back();
    } else {
      visit(children[f.next++]);
    }
  }
  return out;
}

absl::StatusOr<Term> Template::Instantiate(Context& ctx, const Bindings& bindings,
                                           const absl::flat_hash_set<Term>& functions, CallHook call) const {
  absl::InlinedVector<Term, 32> values;
  absl::InlinedVector<size_t, 16> opens;
  for (const Step& s : steps_) {
    switch (s.code) {
      case Code::kPush:
        values.push_back(s.term);
        break;
      case Code::kSlot:
      case Code::kSplice: {
        const Term v = s.slot < 0 ? kUnbound : bindings[static_cast<size_t>(s.slot)];
        if (v == kUnbound) {
          return absl::InternalError("variable ?" + std::string(ctx.Text(s.term)) + " is unbound");
        }
        if (s.code == Code::kSlot) {
          values.push_back(v);
        } else {
          auto items = ctx.Children(v);
          values.insert(values.end(), items.begin(), items.end());
        }
        break;
      }
      case Code::kOpen:
        opens.push_back(values.size());
        break;
      case Code::kClose: {
        const size_t first = opens.back();
        opens.pop_back();
        std::span<const Term> children(values.data() + first, values.size() - first);
        Term made;
        if (!children.empty() && ctx.IsSymbol(children[0]) && functions.contains(children[0])) {
          auto r = call(children[0], children.subspan(1));
          if (!r.ok()) return r.status();
          made = *r;
        } else {
          made = ctx.Tuple(children);
        }
        values.resize(first);
        values.push_back(made);
        break;
      }
    }
  }
  return values[0];
}

}  // namespace retuple
