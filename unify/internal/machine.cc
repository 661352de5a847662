#include "unify/internal/machine.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"

namespace retuple::internal {
namespace {

Value Number(uint32_t n) { return Value(Value::kAtom, n); }

// Calls in a row without a suspension after which one is made: a relation that only calls itself must not starve the others.
constexpr uint32_t kEagerCalls = 100'000;

}  // namespace

Machine::Machine(Context& ctx, const Code& code, std::vector<Facts>& facts, const std::vector<NativeFn>& natives,
                 const std::vector<Constraint>& constraints)
    : store_(ctx), heap_(store_.heap()), state_(store_.state()), code_(code), facts_(facts), natives_(natives) {
  store_.set_constraints(&constraints);
}

void Machine::Start(uint32_t main) {
  constants_.reserve(code_.constants.size());
  for (Term t : code_.constants) constants_.push_back(heap_.FromTerm(store_.context(), t));
  heap_.Freeze();
  const RelationCode& r = code_.relations[main];
  state_.scope = store_.NewScope();
  frame_ = heap_.Object(kFrame, 0, 0, r.slots);
  for (uint32_t i = 0; i < r.arity; ++i) {
    query_.push_back(store_.NewVar());
    heap_.fields(frame_)[i] = query_.back();
  }
  pc_ = r.entry;
  end_ = code_.block_end[pc_];
  stream_ = MakeTask();
}

Step Machine::Next(uint64_t& fuel) {
  limit_ = executed_ + fuel;
  if (limit_ < executed_) limit_ = ~uint64_t{0};
  const uint64_t before = executed_;
  auto leave = [&](Step s) {
    const uint64_t used = executed_ - before;
    fuel -= std::min(fuel, used);
    return s;
  };
  for (;;) {
    if (!paused_) {
      if (stream_.IsUnset() || !error_.ok()) return leave(Step::kDone);
      force_ = stream_;
      stream_ = Value::Unset();
    }
    paused_ = false;
    const Result r = Run();
    switch (r) {
      case Result::kEmpty:
        return leave(Step::kDone);
      case Result::kSuspended:
        stream_ = rest_;
        rest_ = Value::Unset();
        break;
      case Result::kAnswer:
        return leave(Step::kAnswer);
      case Result::kAnswerRest:
        stream_ = rest_;
        rest_ = Value::Unset();
        return leave(Step::kAnswer);
      case Result::kRun:
        return leave(Step::kLimit);
    }
  }
}

void Machine::Collect() {
  heap_.Collect([this](auto visit) {
    visit(state_.root);
    visit(frame_);
    visit(goals_);
    visit(stream_);
    visit(rest_);
    visit(force_);
    for (Return& r : returns_) {
      visit(r.node);
      visit(r.rest);
      visit(r.state.root);
      visit(r.frame);
    }
    for (Value& q : query_) visit(q);
  });
}

// ---- objects

Value Machine::Pair2(uint8_t type, Value a, Value b) {
  const Value o = heap_.Object(type, 0, 0, 2);
  Value* f = heap_.fields(o);
  f[0] = a;
  f[1] = b;
  return o;
}

Value Machine::SaveState(uint8_t type, const State& s, std::initializer_list<Value> fields, uint16_t aux) {
  const Value o = heap_.Object(type, 1, aux, static_cast<uint32_t>(2 + fields.size()));
  heap_.raw(o, 0) = s.scope;
  Value* f = heap_.fields(o);
  f[0] = s.root;
  f[1] = Number(s.next_id);
  std::copy(fields.begin(), fields.end(), f + 2);
  return o;
}

State Machine::LoadState(Value o) {
  const Value* f = heap_.fields(o);
  return {f[0], f[1].index(), heap_.raw(o, 0)};
}

Value Machine::MakeTask() { return SaveState(kTask, state_, {frame_, Number(pc_), Number(end_), goals_}); }

Value Machine::Cont(uint32_t pc, uint32_t end, Value frame, Value next) {
  const Value o = heap_.Object(kCont, 0, 0, 4);
  Value* f = heap_.fields(o);
  f[0] = frame;
  f[1] = next;
  f[2] = Number(pc);
  f[3] = Number(end);
  return o;
}

Value Machine::Append(Value first, Value second) {
  if (first.is_nil()) return second;
  if (second.is_nil()) return first;
  return Pair2(kSeq, first, second);
}

bool Machine::PopGoal() {
  if (goals_.is_nil()) return false;
  // ((a b) c) becomes (a (b c)), so that each sequence is taken apart once.
  while (heap_.header(goals_).type == kSeq) {
    const Value first = heap_.fields(goals_)[0], second = heap_.fields(goals_)[1];
    if (heap_.header(first).type == kSeq) {
      const Value a = heap_.fields(first)[0], b = heap_.fields(first)[1];
      goals_ = Pair2(kSeq, a, Pair2(kSeq, b, second));
      continue;
    }
    const Value* f = heap_.fields(first);
    frame_ = f[0];
    pc_ = f[2].index();
    end_ = f[3].index();
    const Value next = f[1];
    goals_ = Append(next, second);
    return true;
  }
  const Value* f = heap_.fields(goals_);
  frame_ = f[0];
  pc_ = f[2].index();
  end_ = f[3].index();
  goals_ = f[1];
  return true;
}

void Machine::AbsorbBinds() {
  while (!returns_.empty() && returns_.back().kind == Return::kBind) {
    goals_ = Append(goals_, returns_.back().rest);
    returns_.pop_back();
  }
}

void Machine::PushRest() {
  Value rest = goals_;
  if (pc_ + 1 < end_) rest = Cont(pc_ + 1, end_, frame_, goals_);
  if (rest.is_nil()) return;
  returns_.push_back({.kind = Return::kBind, .rest = rest});
}

// ---- values

Value Machine::Get(Operand o) {
  switch (o.kind()) {
    case Operand::kConstant:
      return constants_[o.index()];
    case Operand::kSlot:
      return heap_.fields(frame_)[o.index()];
    case Operand::kFirst: {
      const Value v = store_.NewVar();
      heap_.fields(frame_)[o.index()] = v;
      return v;
    }
    case Operand::kPair:
      return Build(o);
  }
  return Value::Nil();
}

Value Machine::Build(Operand root) {
  const size_t base = build_stack_.size(), first_value = values_.size();
  build_stack_.emplace_back(root, false);
  while (build_stack_.size() > base) {
    const auto [o, built] = build_stack_.back();
    build_stack_.pop_back();
    if (o.kind() != Operand::kPair) {
      Value v = Get(o);
      // A variable that is bound for good is its value.
      while (v.IsVar()) {
        const Value b = heap_.var(v).value;
        if (b.tag() == Value::kUnset || b.tag() == Value::kAttr) break;
        v = b;
      }
      values_.push_back(v);
    } else if (built) {
      const Value cdr = values_.back();
      values_.pop_back();
      values_.back() = heap_.Pair(values_.back(), cdr);
    } else {
      const auto [left, right] = code_.pairs[o.index()];
      build_stack_.emplace_back(o, true);
      build_stack_.emplace_back(right, false);
      build_stack_.emplace_back(left, false);
    }
  }
  const Value v = values_.back();
  values_.resize(first_value);
  return v;
}

bool Machine::Match(Operand root, Value root_value) {
  const size_t base = match_stack_.size();
  Operand o = root;
  Value v = root_value;
  for (;;) {
    switch (o.kind()) {
      case Operand::kConstant: {
        const Value c = constants_[o.index()];
        v = store_.Walk(v);
        if (!(v == c)) {
          const bool ok = v.IsVar() ? (store_.BindUnchecked(v, c), true) : v.IsPair() && c.IsPair() && store_.Unify(v, c);
          if (!ok) goto fail;
        }
        break;
      }
      case Operand::kFirst:
        heap_.fields(frame_)[o.index()] = v;
        break;
      case Operand::kSlot:
        if (!store_.Unify(heap_.fields(frame_)[o.index()], v)) goto fail;
        break;
      case Operand::kPair: {
        v = store_.Walk(v);
        if (v.IsPair()) {
          const auto& [left, right] = code_.pairs[o.index()];
          const PairCell p = heap_.pair(v);
          match_stack_.emplace_back(right, p.cdr);
          o = left;
          v = p.car;
          continue;
        }
        if (!v.IsVar()) goto fail;
        if (!store_.Bind(v, Build(o))) goto fail;
        break;
      }
    }
    if (match_stack_.size() == base) return true;
    o = match_stack_.back().first;
    v = match_stack_.back().second;
    match_stack_.pop_back();
  }
fail:
  match_stack_.resize(base);
  return false;
}

// ---- the instructions that give one state or none

bool Machine::Execute(const Instruction& i) {
  switch (i.op) {
    case Op::kEqual: {
      const Operand x = i.x, y = i.y;
      bool ok = true;
      if (x.kind() == Operand::kFirst) {
        const Value v = Get(y);
        heap_.fields(frame_)[x.index()] = v;
      } else {
        ok = Match(y, Get(x));
      }
      return store_.Settle(ok);
    }
    case Op::kDisequal:
      return store_.Disequal(Get(i.x), Get(i.y));
    case Op::kAbsent:
      return store_.Absent(Get(i.x), Get(i.y));
    case Op::kType:
      return store_.OfKind(Get(i.x), i.a);
    case Op::kConstrain:
      return store_.Settle(store_.Constrain(i.a, Get(i.x)));
    case Op::kProject:
      if (!store_.Walk(Get(i.x)).IsVar()) return true;
      error_ = absl::InvalidArgumentError("project: a variable has no value yet");
      return false;
    case Op::kInit:
      heap_.fields(frame_)[i.a] = store_.NewVar();
      return true;
    default:
      return false;
  }
}

// ---- the loop

Machine::Result Machine::Run() {
  uint32_t eager = 0;
  for (;;) {
    if (heap_.WantsCollection()) {
      Collect();
      if (heap_.exhausted()) {
        error_ = absl::ResourceExhaustedError("the search is out of memory");
        returns_.clear();
        return Result::kEmpty;
      }
    }
    if (executed_ >= limit_) {
      paused_ = true;
      return Result::kRun;
    }
    Result r = Result::kRun;
    if (!force_.IsUnset()) {
      const Value stream = force_;
      force_ = Value::Unset();
      r = Force(stream);
      if (r != Result::kRun) r = Deliver(r);
    } else if (pc_ == end_) {
      if (PopGoal()) continue;
      r = Deliver(Result::kAnswer);
    } else {
      ++executed_;
      const Instruction& i = code_.instructions[pc_];
      switch (i.op) {
        case Op::kEnd:
        case Op::kFail:
          r = Deliver(Result::kEmpty);
          break;
        case Op::kSuspend:
          ++pc_;
          eager = 0;
          if (!returns_.empty()) {
            rest_ = MakeTask();
            r = Deliver(Result::kSuspended);
          }
          break;
        case Op::kCall:
          if (++eager > kEagerCalls && !returns_.empty()) {
            eager = 0;
            rest_ = MakeTask();
            r = Deliver(Result::kSuspended);
          } else {
            r = Call(i);
          }
          break;
        case Op::kApply:
          r = Apply(i);
          break;
        case Op::kConde: {
          PushRest();
          State s = state_;
          s.scope = store_.NewScope();
          r = Clause(pc_, 0, s, frame_);
          break;
        }
        case Op::kCommit: {
          PushRest();
          r = CommitClause(pc_, 0, state_, frame_);
          break;
        }
        case Op::kNative:
          r = Native(i.a, Get(i.x));
          break;
        default:
          if (Execute(i)) {
            ++pc_;
          } else {
            r = Deliver(Result::kEmpty);
          }
      }
    }
    if (r != Result::kRun) return r;
  }
}

Machine::Result Machine::Clause(uint32_t pc, uint32_t index, State state, Value frame) {
  const Instruction& i = code_.instructions[pc];
  state_ = state;
  frame_ = frame;
  goals_ = Value::Nil();
  if (index + 1 < i.b) {
    returns_.push_back({.kind = Return::kClauses, .state = state, .frame = frame, .pc = pc, .index = index + 1, .ordered = i.c != 0});
  } else {
    AbsorbBinds();
  }
  pc_ = code_.blocks[i.a + index];
  end_ = code_.block_end[pc_];
  return Result::kRun;
}

Machine::Result Machine::CommitClause(uint32_t pc, uint32_t index, State state, Value frame) {
  const Instruction& i = code_.instructions[pc];
  returns_.push_back({.kind = Return::kCommit, .state = state, .frame = frame, .pc = pc, .index = index});
  state_ = state;
  state_.scope = store_.NewScope();
  frame_ = frame;
  goals_ = Value::Nil();
  pc_ = code_.blocks[i.a + 2 * index];
  end_ = code_.block_end[pc_];
  return Result::kRun;
}

Machine::Result Machine::Force(Value stream) {
  for (;;) {
    const Value* f = heap_.fields(stream);
    switch (heap_.header(stream).type) {
      case kTask: {
        state_ = LoadState(stream);
        frame_ = f[2];
        pc_ = f[3].index();
        end_ = f[4].index();
        goals_ = f[5];
        AbsorbBinds();
        return Result::kRun;
      }
      case kMplus:
      case kOrdered:
        returns_.push_back({.kind = Return::kMplus, .node = stream, .rest = f[1], .ordered = heap_.header(stream).type == kOrdered});
        stream = f[0];
        break;
      case kBind:
        returns_.push_back({.kind = Return::kBind, .node = stream, .rest = f[1]});
        stream = f[0];
        break;
      case kClauses:
        return Clause(f[3].index(), f[4].index(), LoadState(stream), f[2]);
      case kCommit:
        returns_.push_back({.kind = Return::kCommit, .state = LoadState(stream), .frame = f[2], .pc = f[3].index(), .index = f[4].index()});
        stream = f[5];
        break;
      case kRange:
        if (heap_.header(stream).aux == 0) return NextAlternative(LoadState(stream), f[2], f[3]);
        return NextFact(LoadState(stream), f[2], f[3].index(), f[4].index(), f[5], f[6].index());
      default:
        return Result::kEmpty;
    }
  }
}

// Hands a result to the frames above until one has something to run, or to the root.
Machine::Result Machine::Deliver(Result r) {
  if (r == Result::kEmpty && Broken()) return Stop(store_.error());
  while (!returns_.empty()) {
    Return& top = returns_.back();
    switch (top.kind) {
      case Return::kClauses: {
        if (r == Result::kEmpty) {
          const Return c = top;
          returns_.pop_back();
          return Clause(c.pc, c.index, c.state, c.frame);
        }
        top.rest = SaveState(kClauses, top.state, {top.frame, Number(top.pc), Number(top.index)});
        top.kind = Return::kMplus;
        [[fallthrough]];
      }
      case Return::kMplus: {
        const Value other = top.rest, node = top.node;
        const bool ordered = top.ordered;
        returns_.pop_back();
        switch (r) {
          case Result::kEmpty:
            force_ = other;
            return Result::kRun;
          case Result::kAnswer:
            rest_ = other;
            r = Result::kAnswerRest;
            break;
          default: {  // suspended, or an answer with a rest: the other stream's turn, unless it has to wait
            const Value first = ordered ? rest_ : other, second = ordered ? other : rest_;
            if (node.IsUnset()) {
              rest_ = Pair2(ordered ? kOrdered : kMplus, first, second);
            } else {
              Value* f = heap_.fields(node);
              f[0] = first;
              f[1] = second;
              rest_ = node;
            }
          }
        }
        break;
      }
      case Return::kBind: {
        const Value goals = top.rest, node = top.node;
        if (r == Result::kEmpty) {
          returns_.pop_back();
          break;
        }
        if (r == Result::kSuspended) {
          returns_.pop_back();
          if (heap_.header(rest_).type == kTask) {
            const Value all = Append(heap_.fields(rest_)[5], goals);
            heap_.fields(rest_)[5] = all;
          } else if (node.IsUnset()) {
            rest_ = Pair2(kBind, rest_, goals);
          } else {
            heap_.fields(node)[0] = rest_;
            rest_ = node;
          }
          break;
        }
        returns_.pop_back();
        if (r == Result::kAnswer) {
          goals_ = goals;
          AbsorbBinds();
          pc_ = end_ = 0;
          return Result::kRun;
        }
        // An answer and a rest: the first goal that may suspend or branch runs on the answer beside the rest, which has the goals up to
        // that one before it.
        const Value rest = rest_;
        rest_ = Value::Unset();
        goals_ = goals;
        pc_ = end_ = 0;
        std::vector<std::array<uint32_t, 2>> blocks;  // done so far
        std::vector<Value> frames;
        bool running = true, failed = false;
        while (running) {
          if (pc_ == end_) {
            if (!PopGoal()) break;
            blocks.push_back({pc_, end_});
            frames.push_back(frame_);
            continue;
          }
          const Instruction& i = code_.instructions[pc_];
          switch (i.op) {
            case Op::kSuspend:
            case Op::kCall:
            case Op::kApply:
            case Op::kConde:
            case Op::kCommit:
            case Op::kNative:
              running = false;
              break;
            default:
              ++executed_;
              if (!Execute(i)) {
                running = false;
                failed = true;
              }
              ++pc_;
          }
        }
        if (failed || running) {
          if (failed) {
            if (Broken()) return Stop(store_.error());
            returns_.push_back({.kind = Return::kBind, .rest = goals});
            force_ = rest;
            return Result::kRun;
          }
          rest_ = Pair2(kBind, rest, goals);  // still an answer and a rest
          break;
        }
        // Suspension and what it suspends are one goal.
        const uint32_t goal_end = code_.instructions[pc_].op == Op::kSuspend ? pc_ + 2 : pc_ + 1;
        Value after = goals_;
        if (goal_end < end_) after = Cont(goal_end, end_, frame_, goals_);
        Value before = goals;
        if (!after.is_nil()) {
          blocks.back()[1] = goal_end;
          before = Value::Nil();
          for (size_t k = blocks.size(); k-- > 0;) before = Cont(blocks[k][0], blocks[k][1], frames[k], before);
          returns_.push_back({.kind = Return::kBind, .rest = after});
        }
        returns_.push_back({.kind = Return::kMplus, .rest = Pair2(kBind, rest, before)});
        end_ = goal_end;
        goals_ = Value::Nil();
        return Result::kRun;
      }
      case Return::kCommit: {
        const Return c = top;
        returns_.pop_back();
        const Instruction& i = code_.instructions[c.pc];
        if (r == Result::kEmpty) {
          if (c.index + 1 < i.b) return CommitClause(c.pc, c.index + 1, c.state, c.frame);
          break;
        }
        if (r == Result::kSuspended) {
          rest_ = SaveState(kCommit, c.state, {c.frame, Number(c.pc), Number(c.index), rest_});
          break;
        }
        const uint32_t body = code_.blocks[i.a + 2 * c.index + 1];
        if (r == Result::kAnswer || i.c != 0) {
          rest_ = Value::Unset();
          goals_ = Value::Nil();
          frame_ = c.frame;
          AbsorbBinds();
          pc_ = body;
          end_ = code_.block_end[body];
          return Result::kRun;
        }
        if (body == code_.block_end[body]) break;
        returns_.push_back({.kind = Return::kBind, .rest = Cont(body, code_.block_end[body], c.frame, Value::Nil())});
        break;
      }
    }
  }
  return r;
}

Machine::Result Machine::Stop(absl::Status error) {
  if (error_.ok()) error_ = std::move(error);
  returns_.clear();
  return Result::kEmpty;
}

Machine::Result Machine::Call(const Instruction& i) {
  const RelationCode& r = code_.relations[i.a];
  if (r.facts >= 0 || r.native >= 0) {
    Value args = Value::Nil();
    for (uint32_t k = r.arity; k-- > 0;) args = heap_.Pair(Get(code_.operands[i.b + k]), args);
    return r.native >= 0 ? Native(static_cast<uint32_t>(r.native), args) : CallFacts(r, args);
  }
  const Value frame = heap_.Object(kFrame, 0, 0, r.slots);
  for (uint32_t k = 0; k < r.arity; ++k) {
    const Value v = Get(code_.operands[i.b + k]);
    heap_.fields(frame)[k] = v;
  }
  return Enter(r, frame);
}

Machine::Result Machine::Enter(const RelationCode& r, Value frame) {
  if (pc_ + 1 < end_) goals_ = Cont(pc_ + 1, end_, frame_, goals_);
  frame_ = frame;
  pc_ = r.entry;
  end_ = code_.block_end[pc_];
  return Result::kRun;
}

Machine::Result Machine::CallFacts(const RelationCode& r, Value args) {
  // The first position that is bound to an atom or a ground term chooses the index.
  Facts& table = facts_[static_cast<size_t>(r.facts)];
  uint32_t position = 0, p = 0;
  Value key = Value::Nil();
  for (Value l = args; l.IsPair() && position == 0; l = heap_.pair(l).cdr, ++p) {
    const Value v = store_.Walk(heap_.pair(l).car);
    if (!v.IsGround()) continue;
    position = p + 1;
    key = v.IsAtom() ? v : Value::Atom(store_.ToTerm(v, [](Value, bool) { return Term(); }));
    if (table.by.size() < r.arity) {
      table.by.resize(r.arity);
      table.indexed.resize(r.arity, 0);
    }
    for (size_t& row = table.indexed[p]; row < table.rows(); ++row) {
      table.by[p][table.terms[row * r.arity + p]].push_back(static_cast<uint32_t>(row));
    }
  }
  PushRest();
  return Deliver(NextFact(state_, args, static_cast<uint32_t>(r.facts), position, key, 0));
}

// A relation by its value: a symbol, or (symbol U …), whose arguments come first.
Machine::Result Machine::Apply(const Instruction& i) {
  Value args = Value::Nil();
  for (uint32_t k = i.c; k-- > 0;) args = heap_.Pair(Get(code_.operands[i.b + k]), args);
  Value relation = store_.Walk(Get(i.x));
  std::vector<Value> first;
  // ((name A …) B …) is (name A … B …).
  while (relation.IsPair()) {
    std::vector<Value> more;
    for (Value l = store_.Walk(heap_.pair(relation).cdr); l.IsPair(); l = store_.Walk(heap_.pair(l).cdr)) more.push_back(heap_.pair(l).car);
    first.insert(first.begin(), more.begin(), more.end());
    relation = store_.Walk(heap_.pair(relation).car);
  }
  for (size_t k = first.size(); k-- > 0;) args = heap_.Pair(first[k], args);
  if (relation.IsVar()) return Stop(absl::InvalidArgumentError("call: the relation is not known yet"));
  const Term name = relation.term();
  const auto it = code_.callables.find(name);
  if (it == code_.callables.end()) {
    return Stop(absl::NotFoundError(absl::StrFormat("call: there is no relation %s", Brief(store_.context(), name, 40))));
  }
  const int32_t given = static_cast<int32_t>(i.c + first.size());
  if (it->second.arity >= 0 && it->second.arity != given) {
    return Stop(absl::InvalidArgumentError(
        absl::StrFormat("call: %s takes %d arguments, not %d", Brief(store_.context(), name, 40), it->second.arity, given)));
  }
  return ApplyTo(it->second, args);
}

Machine::Result Machine::ApplyTo(const Callable& c, Value args) {
  const auto argument = [&](int k) {
    for (; k > 0; --k) args = heap_.pair(args).cdr;
    return heap_.pair(args).car;
  };
  bool holds = true;
  switch (c.kind) {
    case Callable::kNative:
      return Native(c.index, args);
    case Callable::kRelation: {
      const RelationCode& r = code_.relations[c.index];
      if (r.facts >= 0) return CallFacts(r, args);
      const Value frame = heap_.Object(kFrame, 0, 0, r.slots);
      uint32_t k = 0;
      for (Value l = args; l.IsPair(); l = heap_.pair(l).cdr) heap_.fields(frame)[k++] = heap_.pair(l).car;
      return Enter(r, frame);
    }
    case Callable::kConstraint:
      holds = store_.Settle(store_.Constrain(c.index, args));
      break;
    case Callable::kGoal:
      switch (static_cast<Op>(c.index)) {
        case Op::kEqual: {
          const Value x = argument(0);
          holds = store_.Settle(store_.Unify(x, argument(1)));
          break;
        }
        case Op::kDisequal: {
          const Value x = argument(0);
          holds = store_.Disequal(x, argument(1));
          break;
        }
        case Op::kAbsent: {
          const Value x = argument(0);
          holds = store_.Absent(x, argument(1));
          break;
        }
        case Op::kType:
          holds = store_.OfKind(argument(0), c.kinds);
          break;
        default:
          holds = static_cast<Op>(c.index) == Op::kEnd;
      }
  }
  if (!holds) return Deliver(Result::kEmpty);
  ++pc_;
  return Result::kRun;
}

Machine::Result Machine::NextFact(State state, Value args, uint32_t relation, uint32_t position, Value key, uint32_t next) {
  const Facts& table = facts_[relation];
  const std::vector<uint32_t>* rows = nullptr;
  if (position > 0) {
    auto it = table.by[position - 1].find(key.term());
    if (it == table.by[position - 1].end()) return Result::kEmpty;
    rows = &it->second;
  }
  const size_t count = rows != nullptr ? rows->size() : table.rows();
  for (; next < count; ++next) {
    ++executed_;
    state_ = state;
    state_.scope = store_.NewScope();
    const size_t row = rows != nullptr ? (*rows)[next] : next;
    bool ok = true;
    uint32_t p = 0;
    for (Value l = args; ok && l.IsPair(); l = heap_.pair(l).cdr, ++p) {
      const Term t = table.terms[row * table.arity + p];
      ok = p + 1 == position || store_.Unify(heap_.pair(l).car, heap_.FromTerm(store_.context(), t));
    }
    if (!store_.Settle(ok)) {
      if (Broken()) break;
      continue;
    }
    if (next + 1 == count) return Result::kAnswer;
    rest_ = SaveState(kRange, state, {args, Number(relation), Number(position), key, Number(next + 1)}, 1);
    return Result::kAnswerRest;
  }
  return Result::kEmpty;
}

Machine::Result Machine::NextAlternative(State state, Value args, Value list) {
  for (; list.IsPair(); list = heap_.pair(list).cdr) {
    ++executed_;
    state_ = state;
    state_.scope = store_.NewScope();
    if (!store_.Settle(store_.Unify(args, heap_.pair(list).car))) {
      if (Broken()) break;
      continue;
    }
    if (heap_.pair(list).cdr.is_nil()) return Result::kAnswer;
    rest_ = SaveState(kRange, state, {args, heap_.pair(list).cdr}, 0);
    return Result::kAnswerRest;
  }
  return Result::kEmpty;
}

Machine::Result Machine::Native(uint32_t native, Value args) {
  Context& ctx = store_.context();
  absl::flat_hash_map<uint32_t, Term> name_of;
  absl::flat_hash_map<Term, Value> variable;
  const Term all = store_.ToTerm(args, [&](Value v, bool rest) {
    auto [it, added] = name_of.try_emplace(v.index());
    if (added) {
      it->second = ctx.FreshVariable("v");
      variable[it->second] = v;
    }
    return rest ? ctx.RestVariable(ctx.Text(it->second)) : it->second;
  });
  auto alternatives = natives_[native](ctx, ctx.Children(all));
  if (!alternatives.ok()) return Stop(alternatives.status());
  // New variables of an alternative belong to the state before: all alternatives may hold them.
  Value list = Value::Nil();
  for (size_t k = alternatives->size(); k-- > 0;) {
    const Value v = heap_.FromTerm(ctx, (*alternatives)[k], [&](Term t) {
      const Term key = ctx.IsRest(t) ? ctx.Variable(ctx.Text(t)) : t;
      auto [it, added] = variable.try_emplace(key);
      if (added) it->second = store_.NewVar();
      return it->second;
    });
    list = heap_.Pair(v, list);
  }
  PushRest();
  return Deliver(NextAlternative(state_, args, list));
}

}  // namespace retuple::internal
