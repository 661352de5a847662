#include "unify/internal/store.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace retuple::internal {

namespace {

struct NamedKinds {
  const char* name;
  uint32_t kinds;
  const char* goal;  // that says it, beside typeo and isinstanceo
};
constexpr NamedKinds kNamed[] = {
    {"symbol", kSymbols, "symbolo"},   {"number", kNumbers, "numbero"},   {"string", kStringKind, "stringo"}, {"keyword", kKeywordKind, nullptr},
    {"boolean", kBooleanKind, nullptr}, {"integer", kIntegerKind, nullptr}, {"real", kRealKind, nullptr},      {"object", kObjectKind, nullptr},
    {"tuple", kTupleKind, nullptr},     {"atom", kAnyKind & ~kTupleKind, nullptr}, {"any", kAnyKind, nullptr},
};
constexpr bool IsOneKind(uint32_t kinds) { return (kinds & (kinds - 1)) == 0; }

}  // namespace

uint32_t KindsOf(std::string_view type, bool exact) {
  for (const NamedKinds& k : kNamed) {
    if (type != k.name) continue;
    if (!exact || IsOneKind(k.kinds)) return k.kinds;
    return k.kinds == kSymbols ? uint32_t{kSymbolKind} : 0;
  }
  return 0;
}

Term KindGoal(Context& ctx, uint32_t kinds, Term variable) {
  if (kinds == kSymbolKind) return ctx.Tuple({ctx.Sym("typeo"), variable, ctx.Sym("symbol")});
  for (const NamedKinds& k : kNamed) {
    if (kinds != k.kinds) continue;
    if (k.goal != nullptr) return ctx.Tuple({ctx.Sym(k.goal), variable});
    return ctx.Tuple({ctx.Sym(IsOneKind(kinds) ? "typeo" : "isinstanceo"), variable, ctx.Sym(k.name)});
  }
  return ctx.Tuple({ctx.Sym("isinstanceo"), variable, ctx.Sym("any")});  // intersections of named sets are named
}

uint32_t KindOf(const Context& ctx, Term t) {
  switch (ctx.kind(t)) {
    case Kind::kSymbol:
      if (ctx.IsKeyword(t)) return kKeywordKind;
      return ctx.Text(t) == "#t" || ctx.Text(t) == "#f" ? kBooleanKind : kSymbolKind;
    case Kind::kInteger:
      return kIntegerKind;
    case Kind::kReal:
      return kRealKind;
    case Kind::kString:
      return kStringKind;
    case Kind::kObject:
      return kObjectKind;
    case Kind::kTuple:
      return kTupleKind;
    case Kind::kVariable:
      break;
  }
  return 0;
}

Value Store::Own(Value node) {
  if (heap_.raw(node, 0) == state_.scope) return node;
  const Value copy = heap_.Object(kTrieNode, 1, heap_.header(node).aux, 8);
  heap_.raw(copy, 0) = state_.scope;
  std::memcpy(heap_.fields(copy), heap_.fields(node), 8 * sizeof(Value));
  return copy;
}

void Store::Insert(uint32_t id, Value v) {
  auto fresh = [this](uint32_t level) {
    const Value n = heap_.Object(kTrieNode, 1, static_cast<uint16_t>(level), 8);
    heap_.raw(n, 0) = state_.scope;
    return n;
  };
  if (state_.root.IsUnset()) {
    uint32_t level = 0;
    while (id >> 3 >> (3 * level) != 0) ++level;
    state_.root = fresh(level);
  }
  while (id >> 3 >> (3 * heap_.header(state_.root).aux) != 0) {
    const Value up = fresh(heap_.header(state_.root).aux + 1u);
    heap_.fields(up)[0] = state_.root;
    state_.root = up;
  }
  Value node = state_.root = Own(state_.root);
  for (uint32_t level = heap_.header(node).aux; level > 0; --level) {
    const uint32_t i = id >> (3 * level) & 7;
    Value child = heap_.fields(node)[i];
    child = child.IsUnset() ? fresh(level - 1) : Own(child);
    heap_.fields(node)[i] = child;
    node = child;
  }
  heap_.fields(node)[id & 7] = v;
}

void Store::Write(Value var, Value v) {
  VarCell& c = heap_.var(var);
  // Not into the variable when the trie may shadow it: what was mapped stays mapped.
  if (c.scope == state_.scope && !c.mapped) {
    c.value = v;
    return;
  }
  c.mapped = 1;
  Insert(c.id, v);
}

bool Store::Occurs(Value var, Value in) {
  const size_t base = walk_stack_.size();
  Visited visited;
  walk_stack_.push_back(in);
  while (walk_stack_.size() > base) {
    const Value v = Walk(walk_stack_.back());
    walk_stack_.pop_back();
    if (v == var) {
      walk_stack_.resize(base);
      return true;
    }
    if (v.tag() == Value::kPair && !visited.Again(v)) {
      const PairCell p = heap_.pair(v);
      walk_stack_.push_back(p.cdr);
      if (!p.car.IsGround()) walk_stack_.push_back(p.car);
    }
  }
  return false;
}

void Store::BindUnchecked(Value var, Value value) {
  const Value attr = Constraints(var);
  if (!attr.IsUnset()) woken_.emplace_back(attr, value);
  Write(var, value);
}

bool Store::Bind(Value var, Value value) {
  if (value.tag() == Value::kPair && Occurs(var, value)) return false;
  BindUnchecked(var, value);
  return true;
}

bool Store::Unify(Value a, Value b) {
  const size_t base = stack_.size();
  Visited visited;
  stack_.emplace_back(a, b);
  while (stack_.size() > base) {
    Value u = stack_.back().first, v = stack_.back().second;
    stack_.pop_back();
    for (;;) {
      if (u == v) break;
      u = Walk(u);
      v = Walk(v);
      if (u == v) break;
      if (u.IsVar() || v.IsVar()) {
        // The younger of two variables is bound to the older.
        if (!u.IsVar() || (v.IsVar() && heap_.var(v).id > heap_.var(u).id)) std::swap(u, v);
        if (!Bind(u, v)) {
          stack_.resize(base);
          return false;
        }
        break;
      }
      if (!u.IsPair() || !v.IsPair()) {
        stack_.resize(base);
        return false;
      }
      if (visited.Again(u, v)) break;
      const PairCell p = heap_.pair(u), q = heap_.pair(v);
      stack_.emplace_back(p.cdr, q.cdr);
      u = p.car;
      v = q.car;
    }
  }
  return true;
}

// Unification for the sake of its answer: bindings are written into the variables and taken back by UndoTrial.
bool Store::Trial(Value a, Value b, std::vector<std::pair<Value, Value>>* added) {
  const size_t base = stack_.size();
  Visited visited;
  stack_.emplace_back(a, b);
  while (stack_.size() > base) {
    Value u = Walk(stack_.back().first), v = Walk(stack_.back().second);
    stack_.pop_back();
    if (u == v) continue;
    if (u.IsVar() || v.IsVar()) {
      if (!u.IsVar() || (v.IsVar() && heap_.var(v).id > heap_.var(u).id)) std::swap(u, v);
      if (v.tag() == Value::kPair && Occurs(u, v)) {
        stack_.resize(base);
        return false;
      }
      added->emplace_back(u, v);
      saved_.push_back(heap_.var(u).value);
      heap_.var(u).value = v;
      continue;
    }
    if (!u.IsPair() || !v.IsPair()) {
      stack_.resize(base);
      return false;
    }
    if (visited.Again(u, v)) continue;
    const PairCell p = heap_.pair(u), q = heap_.pair(v);
    stack_.emplace_back(p.cdr, q.cdr);
    stack_.emplace_back(p.car, q.car);
  }
  return true;
}

void Store::UndoTrial(const std::vector<std::pair<Value, Value>>& added) {
  for (size_t i = added.size(); i-- > 0;) {
    heap_.var(added[i].first).value = saved_.back();
    saved_.pop_back();
  }
}

AttrCell Store::AttrOf(Value var) {
  const Value a = Constraints(var);
  return a.IsUnset() ? AttrCell{Value::Nil(), Value::Nil(), Value::Nil(), kAnyKind} : heap_.attr(a);
}

bool Store::AddDisequality(const std::vector<std::pair<Value, Value>>& needs) {
  if (needs.empty()) return false;
  Value list = Value::Nil();
  for (size_t i = needs.size(); i-- > 0;) list = heap_.Pair(heap_.Pair(needs[i].first, needs[i].second), list);
  // All pairs must become equal to violate it, so it is enough to watch the first.
  auto attach = [&](Value var) {
    AttrCell a = AttrOf(var);
    a.disequalities = heap_.Pair(list, a.disequalities);
    Write(var, heap_.Attr(a));
  };
  attach(needs[0].first);
  if (needs[0].second.IsVar()) attach(needs[0].second);
  return true;
}

bool Store::Violation(Value pairs, std::vector<std::pair<Value, Value>>* needs) {
  bool possible = true;
  for (; possible && pairs.IsPair(); pairs = heap_.pair(pairs).cdr) {
    const PairCell p = heap_.pair(heap_.pair(pairs).car);
    possible = Trial(p.car, p.cdr, needs);
  }
  UndoTrial(*needs);
  return possible;
}

bool Store::Implies(const std::vector<std::pair<Value, Value>>& first, const std::vector<std::pair<Value, Value>>& second) {
  std::vector<std::pair<Value, Value>> added;
  bool possible = true;
  for (size_t i = 0; possible && i < first.size(); ++i) possible = Trial(first[i].first, first[i].second, &added);
  const size_t own = added.size();
  bool holds = possible;
  for (size_t i = 0; holds && i < second.size(); ++i) holds = Trial(second[i].first, second[i].second, &added);
  holds = holds && added.size() == own;
  UndoTrial(added);
  return holds;
}

bool Store::Disequal(Value a, Value b) {
  std::vector<std::pair<Value, Value>> needs;
  const bool possible = Trial(a, b, &needs);
  UndoTrial(needs);
  return !possible || AddDisequality(needs);
}

bool Store::OfKind(Value v, uint32_t kinds) {
  v = Walk(v);
  if (v.IsAtom()) return (KindOf(ctx_, v.term()) & kinds) != 0;
  if (!v.IsVar()) return (kinds & kTupleKind) != 0;
  AttrCell a = AttrOf(v);
  const uint32_t both = a.type & kinds;
  if (both == a.type) return true;
  if (both == 0) return false;
  a.type = both;
  Write(v, heap_.Attr(a));
  return true;
}

bool Store::Absent(Value what, Value in) {
  what = Walk(what);
  std::vector<Value> stack = {in};
  Visited visited;
  while (!stack.empty()) {
    const Value v = Walk(stack.back());
    stack.pop_back();
    if (v.IsAtom()) {
      if (what.IsAtom()) {
        if (what == v) return false;
        continue;
      }
      if (!Disequal(what, v)) return false;
      continue;
    }
    if (v.IsPair()) {
      if (visited.Again(v)) continue;
      if (!what.IsAtom() && !Disequal(what, v)) return false;
      const PairCell p = heap_.pair(v);
      stack.push_back(p.cdr);
      stack.push_back(p.car);
      continue;
    }
    AttrCell a = AttrOf(v);
    bool known = false;
    for (Value l = a.absent; l.IsPair() && !known; l = heap_.pair(l).cdr) known = heap_.pair(l).car == what;
    if (known) continue;
    if (!Disequal(what, v)) return false;
    a = AttrOf(v);
    a.absent = heap_.Pair(what, a.absent);
    Write(v, heap_.Attr(a));
  }
  return true;
}

bool Store::IsGround(Value v) {
  std::vector<Value> stack = {v};
  Visited visited;
  while (!stack.empty()) {
    const Value u = Walk(stack.back());
    stack.pop_back();
    if (u.IsVar()) return false;
    if (u.tag() != Value::kPair || visited.Again(u)) continue;
    stack.push_back(heap_.pair(u).cdr);
    stack.push_back(heap_.pair(u).car);
  }
  return true;
}

void Store::Watch(Value var, uint32_t constraint, Value args) {
  AttrCell a = AttrOf(var);
  for (Value l = a.goals; l.IsPair(); l = heap_.pair(l).cdr) {
    const PairCell known = heap_.pair(heap_.pair(l).car);
    if (known.car.index() == constraint && known.cdr == args) return;
  }
  const Value goal = heap_.Pair(Value(Value::kAtom, constraint), args);
  a.goals = heap_.Pair(goal, a.goals);
  Write(var, heap_.Attr(a));
}

bool Store::Constrain(uint32_t c, Value args) {
  // The first variable of each argument; a constraint of ground arguments needs but one.
  const Constraint& constraint = (*constraints_)[c];
  std::vector<Value> stack, unknown;
  Visited visited;
  std::vector<std::optional<Term>> known;
  for (Value l = Walk(args); l.IsPair(); l = Walk(heap_.pair(l).cdr)) {
    stack.assign(1, heap_.pair(l).car);
    bool ground = true;
    while (ground && !stack.empty()) {
      const Value u = Walk(stack.back());
      stack.pop_back();
      if (u.IsVar()) {
        ground = false;
        if (std::find(unknown.begin(), unknown.end(), u) == unknown.end()) unknown.push_back(u);
      } else if (u.tag() == Value::kPair && !visited.Again(u)) {
        stack.push_back(heap_.pair(u).cdr);
        stack.push_back(heap_.pair(u).car);
      }
    }
    known.emplace_back();
    if (ground) known.back() = ToTerm(heap_.pair(l).car, [](Value, bool) { return Term(); });
    if (!ground && constraint.ground_only) {
      Watch(unknown[0], c, args);
      return true;
    }
  }
  auto verdict = constraint.decide(known);
  if (!verdict.ok()) {
    error_ = verdict.status();
    return false;
  }
  switch (verdict->kind) {
    case Verdict::kFails:
      return false;
    case Verdict::kHolds:
      return true;
    case Verdict::kWaits:
      for (Value v : unknown) Watch(v, c, args);
      return true;
    case Verdict::kDetermines: {
      Value l = Walk(args);
      for (size_t k = 0; k < verdict->index; ++k) l = Walk(heap_.pair(l).cdr);
      return Unify(heap_.pair(l).car, heap_.FromTerm(ctx_, verdict->value));
    }
  }
  return false;
}

bool Store::Settle(bool unified) {
  if (!unified) {
    woken_.clear();
    return false;
  }
  while (!woken_.empty()) {
    const auto [attr, value] = woken_.back();
    woken_.pop_back();
    const AttrCell a = heap_.attr(attr);
    bool ok = a.type == kAnyKind || OfKind(value, a.type);
    for (Value l = a.absent; ok && l.IsPair(); l = heap_.pair(l).cdr) ok = Absent(heap_.pair(l).car, value);
    for (Value l = a.disequalities; ok && l.IsPair(); l = heap_.pair(l).cdr) {
      std::vector<std::pair<Value, Value>> needs;
      ok = !Violation(heap_.pair(l).car, &needs) || AddDisequality(needs);
    }
    for (Value l = a.goals; ok && l.IsPair(); l = heap_.pair(l).cdr) {
      const PairCell goal = heap_.pair(heap_.pair(l).car);
      ok = Constrain(goal.car.index(), goal.cdr);
    }
    if (!ok) {
      woken_.clear();
      return false;
    }
  }
  return true;
}

Term Store::ToTerm(Value root, const std::function<Term(Value var, bool rest)>& name) {
  struct Frame {
    std::vector<Term> children;
    Value rest;
    uint32_t pair;  // where the list begins
  };
  constexpr size_t kSmall = 4096;
  std::vector<Frame> stack;
  absl::flat_hash_map<uint32_t, Term> made;  // by the pair that a list begins with, once the term is large
  size_t cells = 0;
  Value v = Walk(root);
  Term done;
  for (;;) {
    // Down: `v` is walked.
    bool known = false;
    if (v.IsPair()) {
      auto it = made.find(v.index());
      known = it != made.end();
      if (known) {
        done = it->second;
      } else {
        const PairCell p = heap_.pair(v);
        stack.push_back({{}, p.cdr, v.index()});
        v = Walk(p.car);
        continue;
      }
    }
    if (!known) done = v.IsVar() ? name(v, false) : v.term();
    // Up: `done` is a child of the top frame.
    for (;;) {
      if (stack.empty()) return done;
      Frame& f = stack.back();
      f.children.push_back(done);
      if (++cells > kLargestTerm) {
        too_large_ = true;
        return Term();
      }
      const Value rest = Walk(f.rest);
      if (rest.IsPair()) {
        f.rest = heap_.pair(rest).cdr;
        v = Walk(heap_.pair(rest).car);
        break;
      }
      if (rest.IsVar()) {
        f.children.push_back(name(rest, true));
      } else if (!rest.is_nil()) {
        f.children.push_back(ctx_.Sym(".."));
        f.children.push_back(rest.term());
      }
      done = ctx_.Tuple(f.children);
      if (cells > kSmall) made[f.pair] = done;
      stack.pop_back();
    }
  }
}

}  // namespace retuple::internal
