// Terms read by their laws: normal forms modulo a theory, under a substitution, and what must be tried of units.
//
// A term is normal if no argument of an associative operator has the same operator or is its unit, and the arguments of a commutative
// one are in the order of their handles.
#ifndef RETUPLE_UNIFY_INTERNAL_AC_ALGEBRA_H_
#define RETUPLE_UNIFY_INTERNAL_AC_ALGEBRA_H_

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "unify/ac.h"

namespace retuple::internal {

inline constexpr Term kNone{0xffffffffu};
inline constexpr size_t kMaxArguments = size_t{1} << 20;
inline constexpr uint64_t kMaxPrepare = uint64_t{1} << 26;

using TermPair = std::pair<Term, Term>;
using Count = std::pair<Term, uint32_t>;
using Counted = std::vector<Count>;

// `terms` sorted and counted.
inline Counted CountTerms(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end());
  Counted c;
  for (Term t : terms) {
    if (c.empty() || c.back().first != t) c.emplace_back(t, 0);
    ++c.back().second;
  }
  return c;
}

// Work that is done, and may be.
struct Meter {
  uint64_t steps = 0, limit = 0;
  bool within() const { return steps <= limit; }
  bool Spend(uint64_t n) {
    steps += n;
    return within();
  }
};

// Terms read by their laws, and normal forms under a substitution.
class Algebra {
 public:
  Algebra(Context& ctx, const Theory& th) : ctx_(ctx), th_(th) {}

  // The laws of the operator of `t`; nullptr if it is free, an atom or nil.
  const OperatorLaws* Laws(Term t) const {
    if (!ctx_.IsTuple(t) || t.is_nil()) return nullptr;
    const OperatorLaws* laws = th_.Find(ctx_.Rator(t));
    if (!laws || ctx_.Positional(t).size() != ctx_.Children(t).size()) return nullptr;
    if (!laws->assoc && ctx_.Rands(t).size() != 2) return nullptr;
    return laws;
  }

  // Appends the arguments that `t` has as an operand of `op`. Pre: t is normal.
  void AppendArguments(Term op, const OperatorLaws& laws, Term t, std::vector<Term>& out) const {
    if (laws.unit && t == *laws.unit) return;
    if (laws.assoc && ctx_.IsTuple(t) && !t.is_nil() && ctx_.Rator(t) == op && Laws(t) == &laws) {
      auto r = ctx_.Rands(t);
      out.insert(out.end(), r.begin(), r.end());
    } else {
      out.push_back(t);
    }
  }
  // The normal term of these arguments. Pre: they are normal, flat and not units; if there are none the
  // operator has a unit.
  Term Make(Term op, const OperatorLaws& laws, std::vector<Term> args) {
    if (args.empty()) return *laws.unit;
    if (args.size() == 1) return args[0];
    if (laws.comm) std::sort(args.begin(), args.end());
    args.insert(args.begin(), op);
    return ctx_.Tuple(args);
  }

  // The normal form of `root` with each variable replaced by value(v) (itself if it has none), throughout. If
  // the meter or kMaxArguments is passed, overflow_ is set and the result is useless. `memo` has what is
  // known; `triangular`: values are replaced in turn, so that a result stands for itself.
  template <typename Value>
  Term Apply(Term root, absl::flat_hash_map<Term, Term>& memo, Meter& meter, bool triangular, Value value) {
    std::vector<Term> stack{root}, children;
    while (!stack.empty()) {
      Term t = stack.back();
      if (memo.contains(t)) {
        stack.pop_back();
        continue;
      }
      if (!meter.Spend(1)) break;
      if (ctx_.IsVariable(t)) {
        const Term w = value(t);
        auto it = memo.find(w);
        if (w == t || it != memo.end()) {
          const Term r = w == t ? t : it->second;
          memo[t] = r;
          stack.pop_back();
        } else {
          stack.push_back(w);
        }
        continue;
      }
      if (!ctx_.IsTuple(t) || t.is_nil() || (prepared_ && ctx_.IsGround(t))) {
        memo[t] = t;
        stack.pop_back();
        continue;
      }
      bool ready = true;
      for (Term c : ctx_.Children(t)) {
        if (memo.contains(c)) continue;
        stack.push_back(c);
        ready = false;
      }
      if (!ready) continue;
      stack.pop_back();
      children.clear();
      const OperatorLaws* laws = Laws(t);
      const Term op = ctx_.Rator(t);
      if (laws) {
        for (Term c : ctx_.Rands(t)) {
          AppendArguments(op, *laws, memo[c], children);
          if (children.size() > kMaxArguments) {
            overflow_ = true;
            return root;
          }
        }
      } else {
        for (Term c : ctx_.Children(t)) children.push_back(memo[c]);
      }
      if (!meter.Spend(children.size())) break;
      const Term r = laws ? Make(op, *laws, children) : ctx_.Tuple(children);
      memo[t] = r;
      if (triangular) memo.try_emplace(r, r);
    }
    overflow_ |= !meter.within();
    return overflow_ ? root : memo[root];
  }

  // Normal forms of the inputs, in place.
  absl::Status Prepare(std::span<Term> roots) {
    if (absl::Status s = Check(roots); !s.ok()) return s;
    absl::flat_hash_map<Term, Term> memo;
    Meter meter{0, kMaxPrepare};
    for (Term& t : roots) t = Apply(t, memo, meter, false, [](Term v) { return v; });
    if (overflow_) return TooLarge();
    prepared_ = true;
    return absl::OkStatus();
  }
  static absl::Status TooLarge() {
    return absl::ResourceExhaustedError("a term with too many arguments when it is flattened");
  }

  // Whether units can be dealt with inside the equation of their operator: no subterm can collapse below
  // another operator that has laws of arguments. Else `units` and `variables` say what must be tried first.
  struct UnitPlan {
    bool inside = false;
    std::vector<Term> units, variables;
  };
  UnitPlan PlanUnits(std::span<const Term> roots) const {
    UnitPlan plan;
    absl::flat_hash_set<Term> seen;
    bool odd = false;
    size_t with_unit = 0, associative = 0;
    for (Term t : PostOrder(ctx_, roots)) {
      const OperatorLaws* laws = Laws(t);
      if (!laws) continue;
      if (laws->unit) {
        odd |= !(laws->assoc && laws->comm);
        if (std::find(plan.units.begin(), plan.units.end(), *laws->unit) == plan.units.end()) {
          plan.units.push_back(*laws->unit);
        }
        for (Term c : ctx_.Rands(t)) {
          if (ctx_.IsVariable(c) && seen.insert(c).second) plan.variables.push_back(c);
        }
      }
      if (seen.insert(ctx_.Rator(t)).second) {
        with_unit += laws->unit.has_value();
        associative += laws->assoc;
      }
    }
    plan.inside = with_unit == 0 || (with_unit == 1 && associative == 1 && !odd);
    return plan;
  }
  // Calls solve(values) with each way to give units to the plan's variables (nil: none); false as soon as
  // solve does.
  template <typename Solve>
  static bool ForEachUnitChoice(const UnitPlan& plan, Solve solve) {
    std::vector<TermPair> chosen;
    if (plan.inside) return solve(chosen);
    std::vector<size_t> digit(plan.variables.size(), 0);
    for (;;) {
      chosen.clear();
      for (size_t i = 0; i < digit.size(); ++i) {
        if (digit[i]) chosen.emplace_back(plan.variables[i], plan.units[digit[i] - 1]);
      }
      if (!solve(chosen)) return false;
      size_t i = 0;
      while (i < digit.size() && ++digit[i] > plan.units.size()) digit[i++] = 0;
      if (i == digit.size()) return true;
    }
  }

  Context& ctx_;
  const Theory& th_;
  bool overflow_ = false;

 private:
  absl::Status Check(std::span<const Term> roots) const {
    for (const auto& [op, laws] : th_.operators) {
      if (!ctx_.IsSymbol(op)) return absl::InvalidArgumentError("the operator of a law is not a symbol");
      if (laws.unit && (!ctx_.IsGround(*laws.unit) || (ctx_.IsTuple(*laws.unit) && !laws.unit->is_nil()))) {
        return absl::InvalidArgumentError(std::string(ctx_.Text(op)) + ": a unit that is not a ground atom");
      }
    }
    for (Term t : PostOrder(ctx_, roots)) {
      if (ctx_.IsRest(t)) {
        return absl::InvalidArgumentError("a rest variable in a problem modulo a theory: ..?" +
                                          std::string(ctx_.Text(t)));
      }
      if (!ctx_.IsTuple(t) || t.is_nil()) continue;
      if (ctx_.IsVariable(ctx_.Rator(t))) {
        return absl::InvalidArgumentError("a variable as operator: ?" +
                                          std::string(ctx_.Text(ctx_.Rator(t))));
      }
      const OperatorLaws* laws = Laws(t);
      if (laws && ctx_.Rands(t).empty() && !laws->unit) {
        return absl::InvalidArgumentError(std::string(ctx_.Text(ctx_.Rator(t))) +
                                          ": an associative operator without arguments and unit");
      }
    }
    return absl::OkStatus();
  }

  bool prepared_ = false;
};

// Variables that no problem holds, named in order; the same ones serve each unifier.
class FreshPool {
 public:
  explicit FreshPool(Context& ctx) : ctx_(ctx) {}
  Term operator[](size_t i) {
    while (pool_.size() <= i) pool_.push_back(ctx_.FreshVariable("_" + std::to_string(pool_.size() + 1)));
    return pool_[i];
  }

 private:
  Context& ctx_;
  std::vector<Term> pool_;
};

}  // namespace retuple::internal

#endif  // RETUPLE_UNIFY_INTERNAL_AC_ALGEBRA_H_
