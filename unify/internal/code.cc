#include "unify/internal/code.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"

namespace retuple::internal {
namespace {

// The kinds of symbolo, numbero, stringo; 0 for other goals.
uint32_t KindGoalSet(std::string_view name) {
  return name == "symbolo" ? uint32_t{kSymbols} : name == "numbero" ? uint32_t{kNumbers} : name == "stringo" ? uint32_t{kStringKind} : 0;
}

bool IsBranch(std::string_view name) {
  return name == "conde" || name == "conda" || name == "condu" || name == "once" || name == "in-order";
}

}  // namespace

absl::Status Compiler::Bad(Term goal, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrFormat("%s: %s", Brief(ctx_, goal, 100), what));
}

Term Compiler::Head(Term goal) const {
  const bool named = ctx_.IsTuple(goal) && !goal.is_nil() && ctx_.IsSymbol(ctx_.Rator(goal));
  return named ? ctx_.Rator(goal) : Term();
}

Term Compiler::Key(Term v) { return ctx_.IsRest(v) ? ctx_.Variable(ctx_.Text(v)) : v; }

Operand Compiler::Constant(Term t) {
  auto [it, added] = constant_of_.try_emplace(t, static_cast<uint32_t>(code_.constants.size()));
  if (added) code_.constants.push_back(t);
  return Operand(Operand::kConstant, it->second);
}

absl::StatusOr<uint32_t> Compiler::Relation(const std::string& name, uint32_t arity) {
  for (uint32_t i = 0; i < code_.relations.size(); ++i) {
    RelationCode& r = code_.relations[i];
    if (r.name != name) continue;
    if (r.arity != arity) {
      return absl::InvalidArgumentError(absl::StrFormat("%s takes %d arguments, not %d", name, r.arity, arity));
    }
    return i;
  }
  RelationCode r;
  r.name = name;
  r.arity = arity;
  code_.relations.push_back(std::move(r));
  return static_cast<uint32_t>(code_.relations.size() - 1);
}

Compiler::Scope::~Scope() {
  // A long chain is taken apart link by link.
  std::shared_ptr<Scope> next = std::move(outer);
  while (next != nullptr && next.use_count() == 1) next = std::exchange(next->outer, nullptr);
}

const uint32_t* Compiler::Scope::Find(Term key) const {
  for (const Scope* s = this;; s = s->outer.get()) {
    const auto it = s->slots.find(key);
    if (it != s->slots.end()) return &it->second;
    if (s->complete) return nullptr;
  }
}

std::shared_ptr<Compiler::Scope> Compiler::Scope::Inside(std::shared_ptr<Scope> outer, absl::flat_hash_map<Term, uint32_t> slots) {
  auto s = std::make_shared<Scope>();
  s->slots = std::move(slots);
  s->visible = outer->visible + s->slots.size();
  s->hops = outer->hops + 1;
  s->complete = s->hops > 64 + s->visible / 64;
  s->outer = std::move(outer);
  if (s->complete) {
    s->hops = 0;
    for (const Scope* o = s->outer.get();; o = o->outer.get()) {
      s->slots.insert(o->slots.begin(), o->slots.end());  // what is there already shadows
      if (o->complete) break;
    }
  }
  return s;
}

void Compiler::Init(uint32_t slot) {
  if (block_.unready.erase(slot) == 0) return;
  Instruction i;
  i.op = Op::kInit;
  i.a = slot;
  code_.instructions.push_back(i);
}

// Makes every variable that has no value yet: from here on the frame may be shared.
void Compiler::InitAll() {
  while (!block_.unready.empty()) Init(*block_.unready.begin());
}

// Slots of different clauses differ, since their branches share the frame.
uint32_t Compiler::NewSlot() {
  const uint32_t slot = code_.relations[relation_].slots++;
  block_.unready.insert(slot);
  return slot;
}

// The operand of a term; a variable without a value stays a first occurrence if that is allowed, or is made.
absl::StatusOr<Operand> Compiler::Compile(Term root, bool first_allowed) {
  auto variable = [&](Term v) -> absl::StatusOr<Operand> {
    const uint32_t* slot = block_.scope->Find(Key(v));
    if (slot == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrFormat("?%s is bound by no fresh, argument or query", std::string(ctx_.Text(v))));
    }
    if (first_allowed && block_.unready.erase(*slot) != 0) return Operand(Operand::kFirst, *slot);
    Init(*slot);
    return Operand(Operand::kSlot, *slot);
  };
  if (ctx_.IsVariable(root)) return variable(root);
  if (ctx_.IsGround(root) && !ctx_.IsTuple(root)) return Constant(root);
  // A skeleton is a tree, so a shared term with variables must not be too large when it is written out.
  constexpr uint64_t kLargest = 10'000'000;
  if (!ctx_.IsGround(root) && ctx_.TreeSize(root) > kLargest) {
    return absl::InvalidArgumentError("a term with variables is too large when its shared parts are written out");
  }
  // A tuple becomes pairs, left to right, so that first occurrences come first.
  struct Frame {
    std::span<const Term> children;
    size_t next;
    std::vector<Operand> done;
    Operand tail;
  };
  const Term dots = ctx_.Sym("..");
  auto dotted = [&](Term t) {
    auto c = ctx_.Children(t);
    return c.size() >= 3 && c[c.size() - 2] == dots;
  };
  std::vector<Frame> stack;
  Operand done;
  // Gives an operand at once, or opens a frame.
  auto enter = [&](Term t) -> absl::StatusOr<bool> {
    if (ctx_.IsVariable(t)) {
      auto o = variable(t);
      if (!o.ok()) return o.status();
      done = *o;
      return true;
    }
    bool plain = ctx_.IsGround(t);
    if (plain && ctx_.IsTuple(t)) {
      for (Term u : PostOrder(ctx_, t)) plain = plain && !dotted(u);
    }
    if (plain) {
      done = Constant(t);
      return true;
    }
    stack.push_back({ctx_.Children(t), 0, {}, Constant(ctx_.Nil())});
    return false;
  };
  auto at_once = enter(root);
  if (!at_once.ok()) return at_once.status();
  while (!stack.empty()) {
    Frame& f = stack.back();
    if (f.next < f.children.size()) {
      const size_t i = f.next++;
      Term c = f.children[i];
      const bool last = f.next == f.children.size();
      if (ctx_.IsRest(c)) {
        if (!last) return absl::InvalidArgumentError("a rest variable must be the last of its tuple");
        auto o = variable(c);
        if (!o.ok()) return o.status();
        f.tail = *o;
        continue;
      }
      const bool tail = c == dots && i > 0 && i + 2 == f.children.size();
      if (tail) c = f.children[f.next++];
      if (tail) f.tail = Operand(Operand::kPair, 0xffffffff >> 2);  // marks that the next operand is the tail
      auto immediate = enter(c);
      if (!immediate.ok()) return immediate.status();
      if (!*immediate) continue;
      Frame& g = stack.back();
      if (tail) {
        g.tail = done;
      } else {
        g.done.push_back(done);
      }
      continue;
    }
    Operand list = f.tail;
    for (size_t i = f.done.size(); i-- > 0;) {
      code_.pairs.emplace_back(f.done[i], list);
      list = Operand(Operand::kPair, static_cast<uint32_t>(code_.pairs.size() - 1));
    }
    done = list;
    stack.pop_back();
    if (stack.empty()) break;
    Frame& g = stack.back();
    if (g.tail.kind() == Operand::kPair && g.tail.index() == 0xffffffff >> 2) {
      g.tail = done;
    } else {
      g.done.push_back(done);
    }
  }
  return done;
}

// conde, conda, condu, once: blocks of their own.
absl::Status Compiler::Branch(Term goal) {
  const std::string_view head = ctx_.Text(ctx_.Rator(goal));
  InitAll();
  std::vector<std::vector<Term>> blocks;
  const bool ordered = head == "in-order", commit = head != "conde" && !ordered;
  if (head == "once") {
    if (ctx_.Rands(goal).empty()) return Bad(goal, "once takes goals");
    std::vector<Term> all(ctx_.Rands(goal).begin(), ctx_.Rands(goal).end());
    blocks = {all, {}};
  } else {
    for (Term clause : ctx_.Rands(goal)) {
      auto c = ctx_.Children(clause);
      if (!ctx_.IsTuple(clause) || c.empty()) return Bad(goal, "a clause is a list of goals");
      if (commit) {
        blocks.push_back({c[0]});
        blocks.emplace_back(c.begin() + 1, c.end());
      } else {
        blocks.emplace_back(c.begin(), c.end());
      }
    }
  }
  Instruction i;
  i.op = Op::kSuspend;
  code_.instructions.push_back(i);
  if (blocks.empty()) {
    i.op = Op::kFail;
  } else {
    i.op = commit ? Op::kCommit : Op::kConde;
    i.a = static_cast<uint32_t>(code_.blocks.size());
    i.b = static_cast<uint32_t>(commit ? blocks.size() / 2 : blocks.size());
    i.c = head == "condu" || head == "once" || ordered;
  }
  for (auto& goals : blocks) {
    Block b;
    b.goals = std::move(goals);
    b.scope = block_.scope;
    b.once = block_.once && !commit;
    b.at = static_cast<uint32_t>(code_.blocks.size());
    b.is_relation = false;
    code_.blocks.push_back(0);
    pending_blocks_.push_back(std::move(b));
  }
  code_.instructions.push_back(i);
  block_.once = false;
  return absl::OkStatus();
}

// (symbolo T), (typeo T KIND), (isinstanceo T KIND). A type that is not a kind, or not known yet, is the constraint of that name.
absl::Status Compiler::TypeGoal(Term goal, std::string_view name) {
  auto args = ctx_.Rands(goal);
  uint32_t kinds = KindGoalSet(name);
  const size_t wants = kinds != 0 ? 1 : 2;
  if (args.size() != wants) return Bad(goal, absl::StrFormat("%s takes %d arguments, not %d", std::string(name), wants, args.size()));
  if (kinds == 0 && ctx_.IsSymbol(args[1])) kinds = KindsOf(ctx_.Text(args[1]), name == "typeo");
  if (kinds == 0 && wants == 2 && ctx_.IsGround(args[1]) && !is_type(args[1], name == "typeo")) {
    return Bad(goal, absl::StrFormat("%s is no type here", Brief(ctx_, args[1], 40)));
  }
  Instruction i;
  i.op = kinds != 0 ? Op::kType : Op::kConstrain;
  auto x = Compile(kinds != 0 ? args[0] : ctx_.Tuple(args), false);
  if (!x.ok()) return Bad(goal, std::string(x.status().message()));
  i.a = kinds != 0 ? kinds : constraints.at(std::string(name));
  i.x = *x;
  code_.instructions.push_back(i);
  return absl::OkStatus();
}

// (call R T …): the relation is what R is when the goal runs: a symbol, or (name U …), whose arguments come first.
absl::Status Compiler::Apply(Term goal) {
  auto args = ctx_.Rands(goal);
  if (args.empty()) return Bad(goal, "call takes a relation and its arguments");
  std::vector<Operand> operands;
  for (Term a : args) {
    auto o = Compile(a, false);
    if (!o.ok()) return Bad(goal, std::string(o.status().message()));
    operands.push_back(*o);
  }
  InitAll();
  Instruction i;
  i.op = Op::kApply;
  i.x = operands[0];
  i.b = static_cast<uint32_t>(code_.operands.size());
  i.c = static_cast<uint32_t>(operands.size() - 1);
  code_.operands.insert(code_.operands.end(), operands.begin() + 1, operands.end());
  code_.instructions.push_back(i);
  code_.applies = true;
  block_.once = false;
  return absl::OkStatus();
}

absl::Status Compiler::CompileGoal(Term goal) {
  if (!ctx_.IsSymbol(goal) && Head(goal).is_nil()) return Bad(goal, "a goal begins with its name");
  const std::string name(ctx_.Text(ctx_.IsSymbol(goal) ? goal : Head(goal)));
  auto args = ctx_.Rands(goal);
  auto arity = [&](size_t n) {
    return args.size() == n ? absl::OkStatus() : Bad(goal, absl::StrFormat("%s takes %d arguments, not %d", name, n, args.size()));
  };
  auto in_goal = [&](const absl::Status& s) { return Bad(goal, std::string(s.message())); };
  Instruction i;
  if (name == "succeed") return absl::OkStatus();
  if (name == "fail") {
    i.op = Op::kFail;
    code_.instructions.push_back(i);
    return absl::OkStatus();
  }
  if (ctx_.IsSymbol(goal)) return Bad(goal, "a goal other than succeed and fail stands in parentheses");
  if (name == "==") {
    if (auto s = arity(2); !s.ok()) return s;
    Term a = args[0], b = args[1];
    // The side that is a variable is the value, the other the skeleton that it is matched with.
    if (ctx_.IsTuple(a) && !ctx_.IsTuple(b)) std::swap(a, b);
    const bool recursive = ctx_.IsVariable(a) && a != b && [&] {
      const auto vs = Variables(ctx_, b);
      return std::any_of(vs.begin(), vs.end(), [&](Term v) { return Key(v) == Key(a); });
    }();
    auto x = Compile(a, block_.once && !recursive && a != b);
    if (!x.ok()) return in_goal(x.status());
    auto y = Compile(b, block_.once);
    if (!y.ok()) return in_goal(y.status());
    i.op = Op::kEqual;
    i.x = *x;
    i.y = *y;
    code_.instructions.push_back(i);
    return absl::OkStatus();
  }
  if (name == "=/=" || name == "absento") {
    if (auto s = arity(2); !s.ok()) return s;
    auto x = Compile(args[0], false);
    if (!x.ok()) return in_goal(x.status());
    auto y = Compile(args[1], false);
    if (!y.ok()) return in_goal(y.status());
    i.op = name == "=/=" ? Op::kDisequal : Op::kAbsent;
    i.x = *x;
    i.y = *y;
    code_.instructions.push_back(i);
    return absl::OkStatus();
  }
  if (KindGoalSet(name) != 0 || name == "typeo" || name == "isinstanceo") return TypeGoal(goal, name);
  if (name == "project") {
    if (args.empty() || !ctx_.IsTuple(args[0])) return Bad(goal, "project takes a list of variables and goals");
    for (Term v : ctx_.Children(args[0])) {
      if (!ctx_.IsVariable(v)) return Bad(goal, "project takes a list of variables and goals");
      auto x = Compile(v, false);
      if (!x.ok()) return in_goal(x.status());
      i.op = Op::kProject;
      i.x = *x;
      code_.instructions.push_back(i);
    }
    return absl::OkStatus();  // its goals follow
  }
  if (name == "call") return Apply(goal);
  if (IsBranch(name)) return Branch(goal);
  const auto constraint = constraints.find(name);
  const auto native = natives.find(name);
  if (constraint != constraints.end() || native != natives.end()) {
    const bool is_native = native != natives.end();
    const int wants = is_native ? native_arity[native->second] : constraint_arity[constraint->second];
    if (wants >= 0) {
      if (auto s = arity(static_cast<size_t>(wants)); !s.ok()) return s;
    }
    if (is_native) InitAll();
    auto x = Compile(ctx_.Tuple(args), false);
    if (!x.ok()) return in_goal(x.status());
    i.op = is_native ? Op::kNative : Op::kConstrain;
    i.a = is_native ? native->second : constraint->second;
    i.x = *x;
    code_.instructions.push_back(i);
    if (is_native) block_.once = false;
    return absl::OkStatus();
  }
  auto relation = Relation(name, static_cast<uint32_t>(args.size()));
  if (!relation.ok()) return in_goal(relation.status());
  std::vector<Operand> operands;
  for (Term a : args) {
    auto o = Compile(a, block_.once);
    if (!o.ok()) return in_goal(o.status());
    operands.push_back(*o);
  }
  InitAll();
  i.op = Op::kCall;
  i.a = *relation;
  i.b = static_cast<uint32_t>(code_.operands.size());
  code_.operands.insert(code_.operands.end(), operands.begin(), operands.end());
  code_.instructions.push_back(i);
  block_.once = false;
  return absl::OkStatus();
}

absl::Status Compiler::CompileBlock(Block block) {
  block_ = std::move(block);
  const uint32_t entry = static_cast<uint32_t>(code_.instructions.size());
  if (block_.is_relation) {
    code_.relations[block_.at].entry = entry;
  } else {
    code_.blocks[block_.at] = entry;
  }
  // Goals to come, the next one last; `close` ends a fresh.
  constexpr Term close{0xffffffffu};
  std::vector<Term> todo(block_.goals.rbegin(), block_.goals.rend());
  while (!todo.empty()) {
    Term goal = todo.back();
    todo.pop_back();
    if (goal == close) {
      block_.scope = block_.scope->outer;
      continue;
    }
    auto args = ctx_.Rands(goal);
    if (Head(goal).is_nil() || ctx_.Text(Head(goal)) != "fresh") {
      if (auto s = CompileGoal(goal); !s.ok()) return s;
      if (!Head(goal).is_nil() && ctx_.Text(Head(goal)) == "project") todo.insert(todo.end(), args.rbegin(), args.rend() - 1);
      continue;
    }
    if (args.empty() || !ctx_.IsTuple(args[0])) return Bad(goal, "fresh takes a list of variables and goals");
    for (Term v : ctx_.Children(args[0])) {
      if (!ctx_.IsVariable(v)) return Bad(goal, "fresh takes a list of variables and goals");
    }
    if (block_.once) {
      Instruction i;
      i.op = Op::kSuspend;
      code_.instructions.push_back(i);
      absl::flat_hash_map<Term, uint32_t> slots;
      for (Term v : ctx_.Children(args[0])) slots[Key(v)] = NewSlot();
      block_.scope = Scope::Inside(std::move(block_.scope), std::move(slots));
      todo.push_back(close);
      for (size_t k = args.size(); k-- > 1;) todo.push_back(args[k]);
      continue;
    }
    // Lambda lifting: the variables of the goal that are bound outside become arguments.
    std::vector<Term> captured;
    for (Term v : Variables(ctx_, goal)) {
      const Term key = Key(v);
      if (block_.scope->Find(key) != nullptr && std::find(captured.begin(), captured.end(), key) == captured.end()) captured.push_back(key);
    }
    std::string name = code_.relations[relation_].name;
    name = name.substr(0, name.find('/')) + absl::StrFormat("/%d", ++auxiliary_);
    auto r = Relation(name, static_cast<uint32_t>(captured.size()));
    if (!r.ok()) return r.status();
    Instruction i;
    i.op = Op::kCall;
    i.a = *r;
    i.b = static_cast<uint32_t>(code_.operands.size());
    for (Term v : captured) {
      auto o = Compile(v, false);
      if (!o.ok()) return o.status();
      code_.operands.push_back(*o);
    }
    code_.instructions.push_back(i);
    code_.relations[*r].defined = true;
    code_.relations[*r].slots = static_cast<uint32_t>(captured.size());
    Block b;
    b.goals = {goal};
    auto scope = std::make_shared<Scope>();
    for (uint32_t k = 0; k < captured.size(); ++k) scope->slots[captured[k]] = k;
    b.scope = std::move(scope);
    b.once = true;
    b.at = *r;
    b.is_relation = true;
    pending_relations_.push_back(std::move(b));
  }
  code_.instructions.push_back(Instruction());
  const uint32_t end = static_cast<uint32_t>(code_.instructions.size() - 1);
  code_.block_end.resize(code_.instructions.size(), end);
  return absl::OkStatus();
}

absl::Status Compiler::Define(uint32_t relation, std::span<const Term> parameters, std::span<const Term> goals) {
  sizes_ = {code_.instructions.size(), code_.constants.size(), code_.pairs.size(),
            code_.operands.size(),     code_.blocks.size(),    code_.relations.size()};
  before_ = code_.relations[relation];
  Block b;
  b.goals.assign(goals.begin(), goals.end());
  // Several goals suspend, so that a relation that calls itself first lets others go on.
  if (goals.size() != 1) {
    std::vector<Term> fresh = {ctx_.Sym("fresh"), ctx_.Nil()};
    fresh.insert(fresh.end(), goals.begin(), goals.end());
    b.goals = {ctx_.Tuple(fresh)};
  }
  auto scope = std::make_shared<Scope>();
  for (Term p : parameters) {
    if (!ctx_.IsVariable(p) || ctx_.IsRest(p)) return Bad(p, "a parameter is a variable");
    if (!scope->slots.try_emplace(p, static_cast<uint32_t>(scope->slots.size())).second) return Bad(p, "a parameter occurs twice");
  }
  b.scope = std::move(scope);
  b.once = true;
  b.at = relation;
  b.is_relation = true;
  code_.relations[relation].defined = true;
  code_.relations[relation].slots = static_cast<uint32_t>(parameters.size());
  pending_relations_.push_back(std::move(b));
  // Clause blocks follow the relation that they belong to: they are compiled before the next relation's.
  while (!pending_blocks_.empty() || !pending_relations_.empty()) {
    auto& from = pending_blocks_.empty() ? pending_relations_ : pending_blocks_;
    Block next = std::move(from.back());
    from.pop_back();
    if (next.is_relation) relation_ = next.at;
    if (auto s = CompileBlock(std::move(next)); !s.ok()) {
      pending_blocks_.clear();
      pending_relations_.clear();
      Undo(relation);
      return s;
    }
  }
  return absl::OkStatus();
}

void Compiler::Undo(uint32_t relation) {
  code_.instructions.resize(sizes_[0]);
  code_.block_end.resize(sizes_[0]);
  code_.constants.resize(sizes_[1]);
  code_.pairs.resize(sizes_[2]);
  code_.operands.resize(sizes_[3]);
  code_.blocks.resize(sizes_[4]);
  code_.relations.resize(sizes_[5]);
  code_.relations[relation] = before_;
  absl::erase_if(constant_of_, [&](const auto& c) { return c.second >= sizes_[1]; });
}

bool Compiler::IsReserved(const std::string& name) const {
  static constexpr std::string_view kGoals[] = {"==",      "=/=",     "absento", "succeed", "fail",        "fresh",    "call",
                                                "symbolo", "numbero", "stringo", "typeo",   "isinstanceo", "project"};
  return std::find(std::begin(kGoals), std::end(kGoals), name) != std::end(kGoals) || IsBranch(name) || natives.contains(name) ||
         constraints.contains(name);
}

void Compiler::FillCallables() {
  auto& all = code_.callables;
  all.clear();
  auto add = [&](std::string_view name, Callable c) { all[ctx_.Sym(name)] = c; };
  auto goal = [](Op op, int32_t arity, uint32_t kinds = 0) { return Callable{Callable::kGoal, static_cast<uint32_t>(op), kinds, arity}; };
  add("==", goal(Op::kEqual, 2));
  add("=/=", goal(Op::kDisequal, 2));
  add("absento", goal(Op::kAbsent, 2));
  add("succeed", goal(Op::kEnd, -1));
  add("fail", goal(Op::kFail, -1));
  for (std::string_view name : {"symbolo", "numbero", "stringo"}) add(name, goal(Op::kType, 1, KindGoalSet(name)));
  for (const auto& [name, index] : natives) add(name, {Callable::kNative, index, 0, native_arity[index]});
  for (const auto& [name, index] : constraints) add(name, {Callable::kConstraint, index, 0, constraint_arity[index]});
  for (uint32_t k = 0; k < code_.relations.size(); ++k) {
    const RelationCode& r = code_.relations[k];
    if (r.native >= 0) continue;
    if (r.defined || r.facts >= 0) add(r.name, {Callable::kRelation, k, 0, static_cast<int32_t>(r.arity)});
  }
}

}  // namespace retuple::internal
