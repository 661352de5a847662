// The state of one branch of a relational search: bindings and constraints.
//
// A binding of a variable that this very branch made (same scope) is written into the variable; any other goes into a persistent radix-8
// trie whose nodes are copied on write, unless the branch owns them. So a deterministic program binds in O(1), and a branch of n
// bindings looks one up in O(log n). Constraints (disequality after Comon & Lescanne 1989, absence, types, predicates) sit on the
// variables that they speak of, and are looked at when one of these is bound.
#ifndef RETUPLE_UNIFY_INTERNAL_STORE_H_
#define RETUPLE_UNIFY_INTERNAL_STORE_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "unify/constraint.h"
#include "unify/internal/heap.h"

namespace retuple::internal {

enum ObjectType : uint8_t { kTrieNode = 1, kFrame, kCont, kSeq, kTask, kMplus, kBind, kClauses, kCommit, kRange, kOrdered };

// What a value may be: a set of kinds.
enum KindSet : uint32_t {
  kSymbolKind = 1,
  kKeywordKind = 2,
  kBooleanKind = 4,  // #t and #f, which are not symbols, as in Scheme
  kIntegerKind = 8,
  kRealKind = 16,
  kStringKind = 32,
  kObjectKind = 64,
  kTupleKind = 128,  // () and pairs
  kAnyKind = 255,
  kSymbols = kSymbolKind | kKeywordKind,
  kNumbers = kIntegerKind | kRealKind,
};
// The set that a type's name stands for; 0 if it names none. `exact`: of one kind alone ("number" and "atom" are not).
uint32_t KindsOf(std::string_view type, bool exact);
// The goal that says a variable's value is of those kinds: (symbolo ?x), (typeo ?x integer), …
Term KindGoal(Context& ctx, uint32_t kinds, Term variable);
uint32_t KindOf(const Context& ctx, Term t);

struct State {
  Value root = Value::Unset();  // substitution
  uint32_t next_id = 0;
  uint64_t scope = 0;
};

// Remembers what a walk has seen, once the walk is long: shared parts of a term are then visited once, and short walks cost nothing.
class Visited {
 public:
  // True if `key` was there before.
  bool Again(uint64_t key) {
    if (++steps_ < kLong) return false;
    return !seen_.insert(key).second;
  }
  bool Again(Value v) { return Again(v.bits()); }
  bool Again(Value a, Value b) { return Again(uint64_t{a.bits()} << 32 | b.bits()); }

 private:
  static constexpr int kLong = 4096;
  int steps_ = 0;
  absl::flat_hash_set<uint64_t> seen_;
};

// A goal that waits.
struct Constraint {
  std::string name;         // as answers print it
  bool ground_only = true;  // asked only when all arguments are ground
  ConstraintFn decide;
};

class Store {
 public:
  explicit Store(Context& ctx) : ctx_(ctx) {}

  Context& context() { return ctx_; }
  Heap& heap() { return heap_; }
  State& state() { return state_; }

  Value NewVar() { return heap_.Var(state_.next_id++, state_.scope); }
  uint64_t NewScope() { return ++scopes_; }

  // What the value is at its root.
  Value Walk(Value v) {
    while (v.IsVar()) {
      const Value b = Lookup(v);
      if (b.tag() == Value::kUnset || b.tag() == Value::kAttr) return v;
      v = b;
    }
    return v;
  }
  // The constraints of an unbound variable, or unset.
  Value Constraints(Value var) {
    const Value b = Lookup(var);
    return b.tag() == Value::kAttr ? b : Value::Unset();
  }

  // Each returns false when the branch fails; the state is then of no use.
  bool Unify(Value a, Value b);
  // Binds an unbound variable to a value that is walked, with the occurs check. Constraints wait for Settle.
  bool Bind(Value var, Value value);
  // Binds a variable to what holds no variable older than itself but those that were checked.
  void BindUnchecked(Value var, Value value);
  // After a unification: checks the constraints of what it bound. Must be told of a failed one too.
  bool Settle(bool unified);
  bool Disequal(Value a, Value b);
  bool Absent(Value what, Value in);
  bool OfKind(Value v, uint32_t kinds);
  // `args` is a list. Like Unify, needs Settle after it.
  bool Constrain(uint32_t constraint, Value args);

  void set_constraints(const std::vector<Constraint>* all) { constraints_ = all; }
  const Constraint& constraint(uint32_t c) const { return (*constraints_)[c]; }
  // Of a constraint that could not decide; the search ends with it.
  const absl::Status& error() const { return error_; }

  bool Occurs(Value var, Value in);
  bool IsGround(Value v);
  // The term that a value stands for. Unbound variables become `name(var)`, a list with an open end `(a ..?x)`, an improper one
  // `(a .. b)`.
  Term ToTerm(Value v, const std::function<Term(Value var, bool rest)>& name);
  // A term that ToTerm made would have had more than kLargestTerm children in all.
  bool too_large() const { return too_large_; }
  // The pairs (variable . term) that a disequality still needs to be violated: nullopt when it can no longer be, empty when it is.
  bool Violation(Value pairs, std::vector<std::pair<Value, Value>>* needs);
  // Whether the second equations hold wherever the first do.
  bool Implies(const std::vector<std::pair<Value, Value>>& first, const std::vector<std::pair<Value, Value>>& second);

 private:
  Value Lookup(Value v) {
    const VarCell& c = heap_.var(v);
    const auto tag = c.value.tag();
    if (tag != Value::kUnset && tag != Value::kAttr) return c.value;
    if (!c.mapped) return c.value;
    const Value m = Find(c.id);
    return m.IsUnset() ? c.value : m;
  }
  Value Find(uint32_t id) {
    Value node = state_.root;
    if (node.IsUnset()) return node;
    uint32_t level = heap_.header(node).aux;
    if (id >> 3 >> (3 * level) != 0) return Value::Unset();
    for (;; --level) {
      const Value child = heap_.fields(node)[id >> (3 * level) & 7];
      if (level == 0 || child.IsUnset()) return child;
      node = child;
    }
  }
  void Insert(uint32_t id, Value v);
  Value Own(Value node);
  // Writes a value or constraints to a variable.
  void Write(Value var, Value v);
  bool Trial(Value a, Value b, std::vector<std::pair<Value, Value>>* added);
  void UndoTrial(const std::vector<std::pair<Value, Value>>& added);
  bool AddDisequality(const std::vector<std::pair<Value, Value>>& needs);
  AttrCell AttrOf(Value var);
  void Watch(Value var, uint32_t constraint, Value args);

  Context& ctx_;
  Heap heap_;
  State state_;
  static constexpr size_t kLargestTerm = size_t{1} << 24;
  uint64_t scopes_ = 0;
  bool too_large_ = false;
  std::vector<std::pair<Value, Value>> stack_;
  std::vector<Value> walk_stack_;
  std::vector<std::pair<Value, Value>> woken_;  // constraints of a variable that was bound, its value
  std::vector<Value> saved_;                    // what trial bindings overwrote
  const std::vector<Constraint>* constraints_ = nullptr;
  absl::Status error_;
};

}  // namespace retuple::internal

#endif  // RETUPLE_UNIFY_INTERNAL_STORE_H_
