// Memory of the relational search: 32-bit tagged values in one relocatable heap with a copying collector (Cheney 1970; here with
// an explicit stack, since pairs and variables carry no header).
//
// Terms that a search builds are mostly thrown away, so they are not interned: a list cell is 8 bytes, a logic variable 16. Only
// answers become Terms. Atoms are interned Terms already. A pair knows whether it is ground, which ends the occurs check early.
//
//   Value v = heap.Pair(Value::Atom(a), Value::Nil());
//   heap.Collect([&](auto visit) { visit(v); });        // v now points to the copy
#ifndef RETUPLE_UNIFY_INTERNAL_HEAP_H_
#define RETUPLE_UNIFY_INTERNAL_HEAP_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "etuple/term.h"

namespace retuple::internal {

class Value {
 public:
  enum Tag : uint32_t { kAtom = 0, kVar = 1, kPair = 2, kGround = 3, kAttr = 4, kObject = 5, kMoved = 6, kUnset = 7 };
  constexpr Value() = default;  // nil
  constexpr Value(Tag tag, uint32_t index) : bits_(index << 3 | tag) {}
  static constexpr Value Atom(Term t) { return Value(kAtom, t.id()); }
  static constexpr Value Nil() { return Value(); }
  static constexpr Value Unset() { return Value(kUnset, 0); }
  constexpr Tag tag() const { return static_cast<Tag>(bits_ & 7); }
  constexpr uint32_t index() const { return bits_ >> 3; }
  constexpr bool is_nil() const { return bits_ == 0; }
  constexpr bool IsAtom() const { return tag() == kAtom; }
  constexpr bool IsVar() const { return tag() == kVar; }
  constexpr bool IsPair() const { return (bits_ & 6) == 2; }
  constexpr bool IsGround() const { return tag() == kAtom || tag() == kGround; }
  constexpr bool IsUnset() const { return tag() == kUnset; }
  constexpr Term term() const { return Term(index()); }  // pre: an atom
  constexpr uint32_t bits() const { return bits_; }
  friend constexpr bool operator==(Value, Value) = default;

 private:
  uint32_t bits_ = 0;
};

struct PairCell {
  Value car, cdr;
};

// `scope` is that of the branch that made the variable: as long as the search has not branched since, a binding is written here and
// not into the branch's substitution. `id` counts the variables of the branch's path.
struct VarCell {
  Value value;  // unset, a value, or what constrains it (kAttr)
  uint32_t id : 31;
  uint32_t mapped : 1;  // some branch's substitution may hold it
  uint64_t scope;
};

// Constraints on an unbound variable, as lists.
struct AttrCell {
  Value disequalities;  // each a list of pairs (variable . term) that may not all be equal
  Value absent;         // terms that may not occur
  Value goals;          // that wait: (constraint . argument list)
  uint32_t type;        // the kinds that its value may be of
};

// Everything else: raw words (8 bytes) after the header, then values.
struct ObjectHeader {
  uint8_t type;
  uint8_t raw;
  uint16_t aux;
  uint32_t size;  // values
};

class Heap {
 public:
  Heap();
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  Value Pair(Value car, Value cdr) {
    const uint32_t i = Allocate(1);
    *reinterpret_cast<PairCell*>(base_ + i) = {car, cdr};
    return Value(car.IsGround() && cdr.IsGround() ? Value::kGround : Value::kPair, i);
  }
  Value Var(uint32_t id, uint64_t scope) {
    const uint32_t i = Allocate(2);
    *reinterpret_cast<VarCell*>(base_ + i) = {Value::Unset(), id, 0, scope};
    return Value(Value::kVar, i);
  }
  Value Attr(const AttrCell& a) {
    const uint32_t i = Allocate(2);
    *reinterpret_cast<AttrCell*>(base_ + i) = a;
    return Value(Value::kAttr, i);
  }
  // Fields are unset. The pointer that Fields gives is good until the next allocation.
  Value Object(uint8_t type, uint8_t raw, uint16_t aux, uint32_t size);

  PairCell& pair(Value v) { return *reinterpret_cast<PairCell*>(base_ + v.index()); }
  VarCell& var(Value v) { return *reinterpret_cast<VarCell*>(base_ + v.index()); }
  AttrCell& attr(Value v) { return *reinterpret_cast<AttrCell*>(base_ + v.index()); }
  ObjectHeader& header(Value v) { return *reinterpret_cast<ObjectHeader*>(base_ + v.index()); }
  uint64_t& raw(Value v, int i) { return base_[v.index() + 1 + static_cast<uint32_t>(i)]; }
  Value* fields(Value v) { return reinterpret_cast<Value*>(base_ + v.index() + 1 + header(v).raw); }
  std::span<Value> FieldSpan(Value v) { return {fields(v), header(v).size}; }

  // The list of a tuple's children; a rest variable is the list's tail, and so is what follows `..`. A variable is `variable(it)`.
  // Shared tuples of a large term become shared lists: O(distinct nodes).
  Value FromTerm(const Context& ctx, Term t, const std::function<Value(Term)>& variable = nullptr);

  // What is there now stays for good and is not moved: constants of programs.
  void Freeze() { frozen_ = top_; }
  bool WantsCollection() const { return top_ > threshold_; }
  // Keeps what `roots(visit)` reaches: it must call visit(Value&) on every root. O(live).
  template <typename Roots>
  void Collect(Roots roots) {
    BeginCollection();
    roots([this](Value& v) { Move(v); });
    EndCollection();
  }
  size_t bytes() const { return static_cast<size_t>(top_) * 8; }
  size_t peak_bytes() const { return peak_ * 8; }
  // Past the limit (at most half of the address space, so that one step stays inside): the search must stop.
  bool exhausted() const { return exhausted_; }
  // The least that is built between two collections.
  void set_collect_every(size_t bytes) { least_ = threshold_ = bytes / 8; }
  void set_limit(size_t bytes) { limit_ = bytes / 8 < kMaximum ? bytes / 8 : kMaximum; }

 private:
  static constexpr size_t kAddressable = size_t{1} << 29;
  static constexpr size_t kMaximum = kAddressable / 2;
  static constexpr size_t kFirstThreshold = size_t{1} << 21;  // 16 MiB

  uint32_t Allocate(uint32_t words) {
    const size_t i = top_;
    top_ += words;
    if (top_ > capacity_) Grow();
    return static_cast<uint32_t>(i);
  }
  void Grow();
  void BeginCollection();
  void EndCollection();
  void Move(Value& v);
  void Copy(Value& v);
  void Drain();

  uint64_t* base_ = nullptr;
  size_t top_ = 0, capacity_ = 0, frozen_ = 0, least_ = kFirstThreshold, threshold_ = kFirstThreshold, peak_ = 0, limit_ = kMaximum;
  bool exhausted_ = false;
  uint64_t* old_ = nullptr;
  size_t old_capacity_ = 0;
  std::vector<Value> grey_;
};

}  // namespace retuple::internal

#endif  // RETUPLE_UNIFY_INTERNAL_HEAP_H_
