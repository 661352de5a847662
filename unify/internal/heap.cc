#include "unify/internal/heap.h"

#include <algorithm>
#include <cstdio>

#include "absl/container/flat_hash_map.h"

namespace retuple::internal {

Heap::Heap() {
  capacity_ = 4096;
  base_ = static_cast<uint64_t*>(std::malloc(capacity_ * 8));
}

Heap::~Heap() {
  std::free(base_);
  std::free(old_);
}

void Heap::Grow() {
  // What was asked for is given, and the machine stops at its next step.
  if (top_ > limit_) exhausted_ = true;
  capacity_ = std::max(capacity_ * 2, top_ + 4096);
  base_ = static_cast<uint64_t*>(std::realloc(base_, capacity_ * 8));
  if (base_ == nullptr || top_ > kAddressable) {
    std::fputs("retuple: no memory for a relational search\n", stderr);
    std::abort();
  }
}

Value Heap::Object(uint8_t type, uint8_t raw, uint16_t aux, uint32_t size) {
  const uint32_t i = Allocate(1u + raw + (size + 1) / 2);
  *reinterpret_cast<ObjectHeader*>(base_ + i) = {type, raw, aux, size};
  Value* f = reinterpret_cast<Value*>(base_ + i + 1 + raw);
  std::fill(f, f + (size + 1) / 2 * 2, Value::Unset());
  return Value(Value::kObject, i);
}

Value Heap::FromTerm(const Context& ctx, Term root, const std::function<Value(Term)>& variable) {
  auto atom = [&](Term t) { return variable && ctx.IsVariable(t) ? variable(t) : Value::Atom(t); };
  if (!ctx.IsTuple(root)) return atom(root);
  // Children are turned from the last to the first; a frame holds the list so far.
  struct Frame {
    std::span<const Term> children;
    size_t left;
    Value list;
    bool dotted;
    Term term;
  };
  constexpr size_t kSmall = 4096;
  std::vector<Frame> stack;
  absl::flat_hash_map<Term, Value> made;  // once the term is large
  size_t cells = 0;
  auto is_dots = [&](Term t) { return ctx.IsSymbol(t) && ctx.Text(t) == ".."; };
  auto open = [&](Term t) {
    auto c = ctx.Children(t);
    stack.push_back({c, c.size(), Value::Nil(), c.size() >= 3 && is_dots(c[c.size() - 2]), t});
  };
  open(root);
  for (;;) {
    Frame& f = stack.back();
    Value done;
    if (f.left == 0) {
      done = f.list;
      if (cells > kSmall) made[f.term] = done;
      stack.pop_back();
      if (stack.empty()) return done;
    } else {
      Term c = f.children[--f.left];
      ++cells;
      if (auto it = made.find(c); it != made.end()) {
        done = it->second;
      } else if (ctx.IsTuple(c) && !c.is_nil()) {
        open(c);
        continue;
      } else if (variable && ctx.IsRest(c) && f.left + 1 == f.children.size()) {
        f.list = variable(c);
        continue;
      } else {
        done = atom(c);
      }
    }
    Frame& g = stack.back();
    if (g.dotted && g.left + 1 == g.children.size()) {
      g.list = done;
      --g.left;  // the dots
    } else {
      g.list = Pair(done, g.list);
    }
  }
}

void Heap::BeginCollection() {
  peak_ = std::max(peak_, top_);
  std::swap(base_, old_);
  std::swap(capacity_, old_capacity_);
  const size_t wanted = std::max<size_t>(4096, old_capacity_);
  if (capacity_ < wanted) {
    std::free(base_);
    capacity_ = wanted;
    base_ = static_cast<uint64_t*>(std::malloc(capacity_ * 8));
    if (base_ == nullptr) std::abort();
  }
  std::memcpy(base_, old_, frozen_ * 8);
  top_ = frozen_;
}

void Heap::Copy(Value& v) {
  switch (v.tag()) {
    case Value::kPair:
    case Value::kGround: {
      auto& from = *reinterpret_cast<PairCell*>(old_ + v.index());
      if (from.car.tag() == Value::kMoved) {
        v = Value(v.tag(), from.car.index());
        return;
      }
      const uint32_t to = Allocate(1);
      *reinterpret_cast<PairCell*>(base_ + to) = from;
      from.car = Value(Value::kMoved, to);
      v = Value(v.tag(), to);
      grey_.push_back(v);
      return;
    }
    case Value::kVar: {
      auto& from = *reinterpret_cast<VarCell*>(old_ + v.index());
      if (from.value.tag() == Value::kMoved) {
        v = Value(Value::kVar, from.value.index());
        return;
      }
      const uint32_t to = Allocate(2);
      *reinterpret_cast<VarCell*>(base_ + to) = from;
      from.value = Value(Value::kMoved, to);
      v = Value(Value::kVar, to);
      grey_.push_back(v);
      return;
    }
    case Value::kAttr: {
      auto& from = *reinterpret_cast<AttrCell*>(old_ + v.index());
      if (from.disequalities.tag() == Value::kMoved) {
        v = Value(Value::kAttr, from.disequalities.index());
        return;
      }
      const uint32_t to = Allocate(2);
      *reinterpret_cast<AttrCell*>(base_ + to) = from;
      from.disequalities = Value(Value::kMoved, to);
      v = Value(Value::kAttr, to);
      grey_.push_back(v);
      return;
    }
    case Value::kObject: {
      auto& from = *reinterpret_cast<ObjectHeader*>(old_ + v.index());
      if (from.type == 0xff) {
        v = Value(Value::kObject, from.size);
        return;
      }
      const uint32_t words = 1u + from.raw + (from.size + 1) / 2;
      const uint32_t to = Allocate(words);
      std::memcpy(base_ + to, old_ + v.index(), words * size_t{8});
      from.type = 0xff;
      from.size = to;
      v = Value(Value::kObject, to);
      grey_.push_back(v);
      return;
    }
    default:
      return;
  }
}

void Heap::Move(Value& v) {
  // A variable that is bound for good is its value.
  while (v.IsVar() && v.index() >= frozen_) {
    const Value bound = reinterpret_cast<VarCell*>(old_ + v.index())->value;
    const auto tag = bound.tag();
    if (tag == Value::kUnset || tag == Value::kAttr || tag == Value::kMoved) break;
    v = bound;
  }
  if (v.tag() == Value::kAtom || v.tag() == Value::kUnset || v.index() < frozen_) return;
  Copy(v);
}

void Heap::Drain() {
  while (!grey_.empty()) {
    const Value v = grey_.back();
    grey_.pop_back();
    // Move may grow the heap: no pointer is kept across it.
    auto field = [this](size_t word, size_t half) {
      Value f = reinterpret_cast<Value*>(base_ + word)[half];
      Move(f);
      reinterpret_cast<Value*>(base_ + word)[half] = f;
    };
    switch (v.tag()) {
      case Value::kPair:
      case Value::kGround:
        field(v.index(), 0);
        field(v.index(), 1);
        break;
      case Value::kVar:
        field(v.index(), 0);
        break;
      case Value::kAttr:
        field(v.index(), 0);
        field(v.index(), 1);
        field(v.index() + 1, 0);
        break;
      default: {
        const ObjectHeader h = header(v);
        for (uint32_t i = 0; i < h.size; ++i) field(v.index() + 1 + h.raw, i);
      }
    }
  }
}

void Heap::EndCollection() {
  Drain();
  exhausted_ = top_ > limit_;
  threshold_ = std::min(std::max(top_ + least_, top_ * 3), std::max(limit_, top_));
  if (old_capacity_ > 4 * kFirstThreshold && old_capacity_ > 4 * top_) {
    std::free(old_);
    old_ = nullptr;
    old_capacity_ = 0;
  }
}

}  // namespace retuple::internal
