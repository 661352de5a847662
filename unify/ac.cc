// Unification and matching modulo A, C, units: normal forms, the solver, the matcher, and the filter of
// redundant answers. The theory, its sources and a use stand in ac.h.
//
// The solver is a depth-first search over a list of equations. Equations are cells of an arena, so that a
// choice point is a length of the arena and of the trail of bindings. Each choice yields further equations
// (variable = term among them): nothing else is branched on.
#include "unify/ac.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "unify/diophantine.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

constexpr Term kNone{0xffffffffu};
constexpr size_t kMaxArguments = size_t{1} << 20;

using TermPair = std::pair<Term, Term>;
using Counted = std::vector<std::pair<Term, uint32_t>>;

void AddCount(Counted& c, Term t) {
  if (!c.empty() && c.back().first == t) {
    ++c.back().second;
  } else {
    c.emplace_back(t, 1);
  }
}

// `terms` sorted and counted.
Counted Count(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end());
  Counted c;
  for (Term t : terms) AddCount(c, t);
  return c;
}

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
  bool IsNormal(Term t) const { return !ctx_.IsVariable(t) && input_is_normal_ && ctx_.IsGround(t); }

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

  // The normal form of `root` with each variable replaced by value(v) (itself if it has none), throughout.
  template <typename Value>
  Term Apply(Term root, absl::flat_hash_map<Term, Term>& memo, Value value) {
    std::vector<Term> stack{root}, children;
    while (!stack.empty()) {
      Term t = stack.back();
      if (memo.contains(t)) {
        stack.pop_back();
      } else if (ctx_.IsVariable(t)) {
        Term w = value(t);
        auto it = memo.find(w);
        if (w == t || it != memo.end()) {
          Term r = w == t ? t : it->second;
          memo[t] = r;
          stack.pop_back();
        } else {
          stack.push_back(w);
        }
      } else if (!ctx_.IsTuple(t) || t.is_nil() || IsNormal(t)) {
        memo[t] = t;
        stack.pop_back();
      } else {
        bool ready = true;
        for (Term c : ctx_.Children(t)) {
          if (!memo.contains(c)) {
            stack.push_back(c);
            ready = false;
          }
        }
        if (!ready) continue;
        stack.pop_back();
        children.clear();
        const OperatorLaws* laws = Laws(t);
        if (!laws) {
          for (Term c : ctx_.Children(t)) children.push_back(memo[c]);
          Term r = ctx_.Tuple(children);
          memo[t] = r;
          memo.try_emplace(r, r);
          continue;
        }
        Term op = ctx_.Rator(t);
        for (Term c : ctx_.Rands(t)) {
          AppendArguments(op, *laws, memo[c], children);
          if (children.size() > kMaxArguments) {
            overflow_ = true;
            return root;
          }
        }
        Term r = Make(op, *laws, children);
        memo[t] = r;
        memo.try_emplace(r, r);
      }
    }
    return memo[root];
  }

  absl::Status Check(std::span<const Term> roots) const {
    for (Term t : PostOrder(ctx_, roots)) {
      if (ctx_.IsRest(t)) return absl::InvalidArgumentError("a rest variable in a problem modulo a theory");
      if (!ctx_.IsTuple(t) || t.is_nil()) continue;
      if (ctx_.IsVariable(ctx_.Rator(t))) return absl::InvalidArgumentError("a variable as operator");
      const OperatorLaws* laws = Laws(t);
      if (laws && ctx_.Rands(t).empty() && !laws->unit) {
        return absl::InvalidArgumentError(std::string(ctx_.Text(ctx_.Rator(t))) +
                                          ": an associative operator without arguments and unit");
      }
    }
    for (const auto& [op, laws] : th_.operators) {
      if (!ctx_.IsSymbol(op)) return absl::InvalidArgumentError("the operator of a law is not a symbol");
      if (laws.unit && !ctx_.IsGround(*laws.unit))
        return absl::InvalidArgumentError("a unit that is not ground");
      if (laws.unit && ctx_.IsTuple(*laws.unit))
        return absl::InvalidArgumentError("a unit that is not an atom");
    }
    return absl::OkStatus();
  }
  // Normal forms of the inputs, in place.
  absl::Status Prepare(std::span<Term> roots) {
    if (absl::Status s = Check(roots); !s.ok()) return s;
    absl::flat_hash_map<Term, Term> memo;
    for (Term& t : roots) {
      t = Apply(t, memo, [](Term v) { return v; });
      if (overflow_) return absl::ResourceExhaustedError("a term with too many arguments");
    }
    input_is_normal_ = true;
    return absl::OkStatus();
  }

  // Whether units can be dealt with inside the equation of their operator: no subterm can collapse below
  // another operator that has laws of arguments. Else `units` and `variables` say what must be tried first.
  struct UnitPlan {
    bool inside = false;
    std::vector<Term> units, variables;
  };
  UnitPlan PlanUnits(std::span<const Term> roots) const {
    UnitPlan plan;
    std::vector<Term> list;
    absl::flat_hash_set<Term> seen;
    bool odd = false;
    size_t with_unit = 0, associative = 0;
    for (Term t : PostOrder(ctx_, roots)) {
      const OperatorLaws* laws = Laws(t);
      if (!laws) continue;
      Term op = ctx_.Rator(t);
      if (laws->unit) {
        if (!(laws->assoc && laws->comm)) odd = true;
        if (std::find(plan.units.begin(), plan.units.end(), *laws->unit) == plan.units.end()) {
          plan.units.push_back(*laws->unit);
        }
        for (Term c : ctx_.Rands(t)) {
          if (ctx_.IsVariable(c) && seen.insert(c).second) plan.variables.push_back(c);
        }
      }
      if (seen.insert(op).second) {
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
  bool input_is_normal_ = false;
};

// ---- unification

class Solver {
 public:
  Solver(Algebra& alg, bool units_inside, const AcOptions& options, std::vector<Term> variables,
         AcUnifiers& out)
      : alg_(alg),
        ctx_(alg.ctx_),
        units_inside_(units_inside),
        options_(options),
        variables_(std::move(variables)),
        out_(out) {}

  // Appends the unifiers of `equations` to the output; false when a limit was reached.
  bool Run(std::span<const TermPair> equations, uint32_t max_splits) {
    max_splits_ = max_splits;
    for (size_t i = equations.size(); i-- > 0;) Push(equations[i].first, equations[i].second);
    for (;;) {
      if (++out_.steps > options_.max_steps || alg_.overflow_ || stopped_) return false;
      bool ok = true;
      if (head_ < 0) {
        if (out_.unifiers.size() >= options_.max_unifiers) return false;
        Emit();
        ok = false;
      } else {
        Equation e = arena_[static_cast<size_t>(head_)];
        head_ = e.next;
        ok = Step(e.a, e.b);
      }
      if (!ok && !Backtrack()) return !stopped_;
    }
  }
  // No answer of the run can be an instance of another.
  bool incomparable() const { return incomparable_; }
  bool cut() const { return cut_; }

 private:
  struct Equation {
    Term a, b;
    int32_t next;
  };
  struct Choice {
    size_t trail, arena, done;
    int32_t head;
    uint32_t splits;
    // Either a list of alternatives, or an equation of AC.
    std::vector<std::vector<TermPair>> alternatives;
    size_t next = 0;
    struct Ac {
      Term op;
      const OperatorLaws* laws;
      std::vector<Term> columns;
      std::vector<std::vector<uint32_t>> basis;
      std::vector<Term> value;              // of each vector: a fresh variable, or a term
      std::vector<std::vector<Term>> same;  // terms that share a vector with its value
      BasisSubsets subsets;
    };
    std::unique_ptr<Ac> ac;
  };

  void Push(Term a, Term b) {
    arena_.push_back({a, b, head_});
    head_ = static_cast<int32_t>(arena_.size()) - 1;
  }
  void Bind(Term v, Term t) {
    s_.Bind(v, t);
    memo_.clear();
  }
  Term Apply(Term t) {
    return alg_.Apply(t, memo_, [&](Term v) { return s_.Walk(v); });
  }
  bool Open(Choice c) {
    c.trail = s_.size();
    c.arena = arena_.size();
    c.done = done_trail_.size();
    c.head = head_;
    c.splits = splits_;
    choices_.push_back(std::move(c));
    return false;  // Backtrack takes the first alternative
  }
  bool Backtrack() {
    while (!choices_.empty()) {
      Choice& c = choices_.back();
      if (s_.size() != c.trail) {
        s_.Undo(c.trail);
        memo_.clear();
      }
      arena_.resize(c.arena);
      for (; done_trail_.size() > c.done; done_trail_.pop_back()) done_.erase(done_trail_.back());
      head_ = c.head;
      splits_ = c.splits;
      if (c.ac) {
        if (NextSubset(*c.ac)) return true;
        if (stopped_) return false;
      } else if (c.next < c.alternatives.size()) {
        const auto& list = c.alternatives[c.next++];
        for (size_t i = list.size(); i-- > 0;) Push(list[i].first, list[i].second);
        return true;
      }
      choices_.pop_back();
    }
    return false;
  }
  void Emit() {
    AcUnifier u;
    u.reserve(variables_.size());
    for (Term v : variables_) u.emplace_back(v, Apply(v));
    if (!alg_.overflow_) out_.unifiers.push_back(std::move(u));
  }

  // Deals with one equation: true if it holds now or was replaced by others; false if it fails or a choice
  // was opened.
  bool Step(Term a, Term b) {
    a = s_.Walk(a);
    b = s_.Walk(b);
    if (a == b) return true;
    const OperatorLaws* la = alg_.Laws(a);
    const OperatorLaws* lb = alg_.Laws(b);
    if (la || lb) {
      a = Apply(a);
      b = Apply(b);
      if (a == b) return true;
      if (alg_.overflow_) return false;
      la = alg_.Laws(a);
      lb = alg_.Laws(b);
    }
    if (ctx_.IsVariable(a) || ctx_.IsVariable(b)) return StepVariable(a, b);
    if (ctx_.IsGround(a) && ctx_.IsGround(b)) return false;  // normal and different
    if (a > b) {
      std::swap(a, b);
      std::swap(la, lb);
    }
    if (done_.insert({a, b}).second) {
      done_trail_.emplace_back(a, b);
    } else {
      return true;
    }
    if (units_inside_ && la && la->unit) return StepAc(ctx_.Rator(a), *la, a, b);
    if (units_inside_ && lb && lb->unit) return StepAc(ctx_.Rator(b), *lb, a, b);
    if (!ctx_.IsTuple(a) || !ctx_.IsTuple(b) || a.is_nil() || b.is_nil() || la != lb) return false;
    if (!la) return StepFree(a, b);
    if (ctx_.Rator(a) != ctx_.Rator(b)) return false;
    if (!la->assoc) {
      if (!la->comm) return StepFree(a, b);
      auto x = ctx_.Rands(a), y = ctx_.Rands(b);
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          if (x[i] != y[j]) continue;
          Push(x[1 - i], y[1 - j]);
          return true;
        }
      }
      Choice c{};
      c.alternatives = {{{x[0], y[0]}, {x[1], y[1]}}};
      if (x[0] != x[1] && y[0] != y[1]) c.alternatives.push_back({{x[0], y[1]}, {x[1], y[0]}});
      return Open(std::move(c));
    }
    return la->comm ? StepAc(ctx_.Rator(a), *la, a, b) : StepAssociative(ctx_.Rator(a), *la, a, b);
  }

  bool StepVariable(Term a, Term b) {
    if (ctx_.IsVariable(a) && ctx_.IsVariable(b)) {
      if (a < b) std::swap(a, b);  // the older one stays
      Bind(a, b);
      return true;
    }
    if (ctx_.IsVariable(b)) std::swap(a, b);
    if (ctx_.IsGround(b) || !Occurs(ctx_, a, b, s_)) {
      Bind(a, b);
      return true;
    }
    const OperatorLaws* laws = alg_.Laws(b);
    if (!units_inside_ || !laws || !laws->unit) return false;
    auto r = ctx_.Rands(b);
    return std::find(r.begin(), r.end(), a) != r.end() && StepAc(ctx_.Rator(b), *laws, a, b);
  }

  bool StepFree(Term a, Term b) {
    auto x = ctx_.Children(a), y = ctx_.Children(b);
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] != y[i] && ctx_.IsGround(x[i]) && ctx_.IsGround(y[i])) return false;
    }
    for (size_t i = x.size(); i-- > 0;) {
      if (x[i] != y[i]) Push(x[i], y[i]);
    }
    return true;
  }

  // Terms that may be unified with each other have one label.
  uint32_t Label(Term t) {
    if (ctx_.IsVariable(t)) return 0;
    std::pair<Term, uint32_t> key{t, 0};
    if (ctx_.IsTuple(t) && !t.is_nil()) {
      Term rator = ctx_.Rator(t);
      key = {ctx_.IsTuple(rator) ? kNone : rator,
             alg_.Laws(t) ? 1u : 1u + static_cast<uint32_t>(ctx_.Children(t).size())};
    }
    return labels_.try_emplace(key, static_cast<uint32_t>(labels_.size()) + 1).first->second;
  }

  bool StepAc(Term op, const OperatorLaws& laws, Term a, Term b) {
    std::vector<Term> x, y;
    alg_.AppendArguments(op, laws, a, x);
    alg_.AppendArguments(op, laws, b, y);
    Counted cx = Count(std::move(x)), cy = Count(std::move(y)), left, right;
    // What both sides have cancels.
    size_t i = 0, j = 0, nl = 0, nr = 0;
    while (i < cx.size() || j < cy.size()) {
      if (j == cy.size() || (i < cx.size() && cx[i].first < cy[j].first)) {
        left.push_back(cx[i++]);
      } else if (i == cx.size() || cy[j].first < cx[i].first) {
        right.push_back(cy[j++]);
      } else {
        if (cx[i].second > cy[j].second) left.emplace_back(cx[i].first, cx[i].second - cy[j].second);
        if (cx[i].second < cy[j].second) right.emplace_back(cx[i].first, cy[j].second - cx[i].second);
        ++i, ++j;
      }
    }
    for (const auto& [t, n] : left) nl += n;
    for (const auto& [t, n] : right) nr += n;
    const bool unit = units_inside_ && laws.unit.has_value();
    if (nl == 0 || nr == 0) {
      if (nl == nr) return true;
      if (!unit) return false;
      for (const auto& [t, n] : nl ? left : right) {
        if (!ctx_.IsVariable(t)) return false;
        Push(t, *laws.unit);
      }
      return true;
    }
    if (nl == 1 && nr == 1) {
      Push(left[0].first, right[0].first);
      return true;
    }
    for (const auto& [one, many] : {std::pair{&left, &right}, std::pair{&right, &left}}) {
      if ((one == &left ? nl : nr) != 1) continue;
      Term v = (*one)[0].first;
      if (!ctx_.IsVariable(v)) {
        if (!unit) return false;
        continue;
      }
      std::vector<Term> args;
      for (const auto& [t, n] : *many) args.insert(args.end(), n, t);
      Push(v, alg_.Make(op, laws, std::move(args)));
      return true;
    }
    return OpenAc(op, laws, unit, left, right);
  }

  bool OpenAc(Term op, const OperatorLaws& laws, bool unit, const Counted& left, const Counted& right) {
    std::vector<uint32_t> a, b;
    std::vector<Term> columns;
    DiophantineOptions d;
    std::vector<Demand> demands;
    bool elementary = true;
    for (const Counted* side : {&left, &right}) {
      for (const auto& [t, n] : *side) {
        (side == &left ? a : b).push_back(n);
        columns.push_back(t);
        bool variable = ctx_.IsVariable(t);
        d.upper.push_back(variable ? 0 : 1);
        d.label.push_back(Label(t));
        demands.push_back(!variable ? Demand::kOnce : unit ? Demand::kAny : Demand::kCovered);
        elementary &= variable || ctx_.IsGround(t);
      }
    }
    if (out_.steps >= options_.max_steps) return false;
    d.max_steps = options_.max_steps - out_.steps;
    DiophantineBasis basis = MinimalSolutions(a, b, d);
    out_.steps += basis.steps;
    if (!basis.complete) {
      stopped_ = true;
      return false;
    }
    std::vector<std::vector<uint32_t>> kept;
    std::vector<Term> value;
    std::vector<std::vector<Term>> same;
    std::vector<bool> forced;
    for (auto& v : basis.vectors) {
      Term first = kNone;
      std::vector<Term> others;
      bool clash = false;
      for (size_t c = 0; c < columns.size(); ++c) {
        if (v[c] == 0 || ctx_.IsVariable(columns[c])) continue;
        if (first == kNone) {
          first = columns[c];
        } else {
          others.push_back(columns[c]);
          clash |= ctx_.IsGround(first) && ctx_.IsGround(columns[c]);
        }
      }
      if (clash) continue;
      forced.push_back(unit && first == kNone);
      value.push_back(first);
      same.push_back(std::move(others));
      kept.push_back(std::move(v));
    }
    if (elementary && choices_.empty() && head_ < 0) incomparable_ = true;
    BasisSubsets subsets(kept, std::move(demands), std::move(forced));
    Choice c{};
    c.ac = std::make_unique<Choice::Ac>(Choice::Ac{op, &laws, std::move(columns), std::move(kept),
                                                   std::move(value), std::move(same), std::move(subsets)});
    return Open(std::move(c));
  }

  bool NextSubset(Choice::Ac& ac) {
    uint64_t before = ac.subsets.steps();
    bool more = out_.steps < options_.max_steps && ac.subsets.Next(before + options_.max_steps - out_.steps);
    out_.steps += ac.subsets.steps() - before;
    if (!more) {
      stopped_ = ac.subsets.exhausted() || out_.steps >= options_.max_steps;
      return false;
    }
    std::vector<Term> args;
    for (size_t c = ac.columns.size(); c-- > 0;) {
      if (!ctx_.IsVariable(ac.columns[c])) continue;
      args.clear();
      for (size_t k = 0; k < ac.basis.size(); ++k) {
        if (!ac.subsets.taken(k) || ac.basis[k][c] == 0) continue;
        if (ac.value[k] == kNone) ac.value[k] = ctx_.FreshVariable("z");
        args.insert(args.end(), ac.basis[k][c], ac.value[k]);
      }
      Push(ac.columns[c], alg_.Make(ac.op, *ac.laws, args));
    }
    for (size_t k = 0; k < ac.basis.size(); ++k) {
      if (!ac.subsets.taken(k)) continue;
      for (Term t : ac.same[k]) Push(ac.value[k], t);
    }
    return true;
  }

  bool StepAssociative(Term op, const OperatorLaws& laws, Term a, Term b) {
    std::vector<Term> x, y;
    alg_.AppendArguments(op, laws, a, x);
    alg_.AppendArguments(op, laws, b, y);
    // Equal ends cancel; so do ends that are no variables, which must be unified.
    size_t i = 0, j = 0, m = x.size(), n = y.size();
    std::vector<TermPair> pairs;
    auto fits = [&](Term s, Term t) { return s == t || (!ctx_.IsVariable(s) && !ctx_.IsVariable(t)); };
    while (i < m && j < n && fits(x[i], y[j])) pairs.emplace_back(x[i++], y[j++]);
    while (i < m && j < n && fits(x[m - 1], y[n - 1])) pairs.emplace_back(x[--m], y[--n]);
    if ((i == m) != (j == n)) return false;
    for (const auto& [s, t] : pairs) {
      if (s != t && Label(s) != Label(t)) return false;
    }
    std::vector<Term> p(x.begin() + i, x.begin() + m), q(y.begin() + j, y.begin() + n);
    if (!p.empty()) {
      if (p.size() > 1 && q.size() > 1 && pairs.empty()) return OpenAssociative(op, laws, p, q);
      if ((p.size() == 1 && q.size() > 1 && !ctx_.IsVariable(p[0])) ||
          (q.size() == 1 && p.size() > 1 && !ctx_.IsVariable(q[0]))) {
        return false;
      }
      Push(alg_.Make(op, laws, p), alg_.Make(op, laws, q));
    }
    for (const auto& [s, t] : pairs) Push(s, t);
    return true;
  }

  bool OpenAssociative(Term op, const OperatorLaws& laws, const std::vector<Term>& p,
                       const std::vector<Term>& q) {
    // The two sides as multisets: ground terms alone cannot be equal.
    Counted cp = Count(p), cq = Count(q);
    bool variables = false, left = false, right = false;
    for (const Counted* side : {&cp, &cq}) {
      const Counted& other = side == &cp ? cq : cp;
      for (const auto& [t, n] : *side) {
        auto it = std::lower_bound(other.begin(), other.end(), std::pair<Term, uint32_t>{t, 0});
        uint32_t m = it != other.end() && it->first == t ? it->second : 0;
        if (n <= m) continue;
        variables |= !ctx_.IsGround(t);
        (side == &cp ? left : right) = true;
      }
    }
    if (!variables && (left || right)) return false;
    if (splits_ >= max_splits_) {
      cut_ = true;
      return false;
    }
    Choice c{};
    auto rest = [&](const std::vector<Term>& s, Term front) {
      std::vector<Term> r(s.begin() + 1, s.end());
      if (front != kNone) r.insert(r.begin(), front);
      return alg_.Make(op, laws, std::move(r));
    };
    c.alternatives.push_back({{p[0], q[0]}, {rest(p, kNone), rest(q, kNone)}});
    Term z = ctx_.FreshVariable("z");
    if (ctx_.IsVariable(p[0])) {
      c.alternatives.push_back({{p[0], alg_.Make(op, laws, {q[0], z})}, {rest(p, z), rest(q, kNone)}});
    }
    if (ctx_.IsVariable(q[0])) {
      c.alternatives.push_back({{q[0], alg_.Make(op, laws, {p[0], z})}, {rest(p, kNone), rest(q, z)}});
    }
    Open(std::move(c));
    choices_.back().splits = splits_ + 1;
    return false;
  }

  Algebra& alg_;
  Context& ctx_;
  const bool units_inside_;
  const AcOptions& options_;
  const std::vector<Term> variables_;
  AcUnifiers& out_;
  Substitution s_;
  absl::flat_hash_map<Term, Term> memo_;
  std::vector<Equation> arena_;
  int32_t head_ = -1;
  std::vector<Choice> choices_;
  absl::flat_hash_set<TermPair> done_;
  std::vector<TermPair> done_trail_;
  absl::flat_hash_map<std::pair<Term, uint32_t>, uint32_t> labels_;
  uint32_t splits_ = 0, max_splits_ = 0;
  bool stopped_ = false, incomparable_ = false, cut_ = false;
};

// ---- matching

// Matches of a list of patterns against a list of subjects, by a depth-first search over states that are
// copied where they branch.
class Matcher {
 public:
  // Pre: patterns are normal.
  Matcher(Algebra& alg, std::vector<Term> patterns, const std::vector<Term>& variables, uint64_t max_steps)
      : alg_(alg),
        ctx_(alg.ctx_),
        patterns_(std::move(patterns)),
        plan_(alg.PlanUnits(patterns_)),
        max_steps_(max_steps) {
    for (Term v : variables) slots_.try_emplace(v, static_cast<uint32_t>(slots_.size()));
  }

  // Calls accept(values by variable, before, after) with each match, perhaps more than once with the same,
  // until it returns true. Returns false if the limit on steps was reached. Pre: subjects are normal; with
  // extension there is one only.
  template <typename Accept>
  bool Match(std::span<const Term> subjects, bool extension, Accept accept) {
    bool within = true;
    Algebra::ForEachUnitChoice(plan_, [&](const std::vector<TermPair>& chosen) {
      State st;
      st.value.assign(slots_.size(), kNone);
      absl::flat_hash_map<Term, Term> memo;
      for (const auto& [v, unit] : chosen) st.value[slots_.at(v)] = memo[v] = unit;
      auto pattern = [&](size_t i) {
        return chosen.empty() ? patterns_[i] : alg_.Apply(patterns_[i], memo, [](Term v) { return v; });
      };
      const Term first = patterns_.empty() ? Term() : pattern(0);
      const OperatorLaws* laws = extension ? alg_.Laws(first) : nullptr;
      if (laws && laws->assoc) {
        OpenExtension(std::move(st), first, subjects[0]);
      } else {
        for (size_t i = patterns_.size(); i-- > 0;) {
          st.goals.push_back({kNone, pattern(i), subjects[i], {}, {}, false});
        }
        frames_.push_back({std::move(st), {}});
      }
      bool stop = false;
      while (!stop && !frames_.empty() && within) {
        if (++steps_ > max_steps_) within = false;
        if (frames_.back().odometer) {
          Turn();
          continue;
        }
        State s = std::move(frames_.back().state);
        frames_.pop_back();
        bool going = true;
        while (going && !s.goals.empty()) {
          Goal g = std::move(s.goals.back());
          s.goals.pop_back();
          ++steps_;
          going = g.op == kNone               ? Plain(s, g.a, g.b)
                  : alg_.th_.Find(g.op)->comm ? Ac(s, g)
                                              : Associative(s, g);
        }
        if (going) stop = accept(s.value, s.before, s.after);
      }
      frames_.clear();
      return !stop && within;
    });
    return within;
  }
  uint64_t steps() const { return steps_; }

 private:
  struct Goal {
    Term op;  // kNone: a against b. Else the arguments p of this operator against s
    Term a, b;
    std::vector<Term> p, s;
    bool extension;  // what is left of s goes to the state's `after`
  };
  struct State {
    std::vector<Term> value;
    std::vector<Goal> goals;
    std::vector<Term> before, after;
    absl::flat_hash_set<TermPair> done;
  };
  // The ways to give a variable a part of a multiset.
  struct Odometer {
    Term op, variable;
    uint32_t mult;
    Counted s;
    std::vector<uint32_t> pick;
    std::vector<Term> others;
    size_t least;  // arguments that the others need
    bool extension;
  };
  struct Frame {
    State state;
    std::unique_ptr<Odometer> odometer;
  };

  bool Inside(const OperatorLaws& laws) const { return plan_.inside && laws.unit.has_value(); }
  Term& Value(State& st, Term v) { return st.value[slots_.at(v)]; }

  // The steps return false if the state failed or was replaced by frames.
  bool Plain(State& st, Term p, Term s) {
    if (ctx_.IsVariable(p)) {
      Term& value = Value(st, p);
      if (value == kNone) value = s;
      return value == s;
    }
    if (ctx_.IsGround(p)) return p == s;
    const OperatorLaws* laws = alg_.Laws(p);
    if (laws && (laws->assoc || Inside(*laws))) {
      Goal g{ctx_.Rator(p), p, s, {}, {}, false};
      alg_.AppendArguments(g.op, *laws, p, g.p);
      alg_.AppendArguments(g.op, *laws, s, g.s);
      st.goals.push_back(std::move(g));
      return true;
    }
    if (!MayMatch(p, s)) return false;
    if (!st.done.insert({p, s}).second) return true;
    auto x = ctx_.Children(p), y = ctx_.Children(s);
    if (laws && laws->comm) {
      State other = st;
      other.goals.push_back({kNone, x[2], y[1], {}, {}, false});
      other.goals.push_back({kNone, x[1], y[2], {}, {}, false});
      frames_.push_back({std::move(other), {}});
    }
    for (size_t i = x.size(); i-- > 0;) st.goals.push_back({kNone, x[i], y[i], {}, {}, false});
    return true;
  }
  bool MayMatch(Term p, Term s) const {
    if (!ctx_.IsTuple(s) || s.is_nil()) return false;
    Term a = ctx_.Rator(p), b = ctx_.Rator(s);
    if (a != b && ctx_.IsGround(a)) return false;
    const OperatorLaws* laws = alg_.Laws(p);
    return laws == alg_.Laws(s) && (laws || ctx_.Children(p).size() == ctx_.Children(s).size());
  }

  bool Ac(State& st, Goal& g) {
    const OperatorLaws& laws = *alg_.th_.Find(g.op);
    Counted s = Count(std::move(g.s));
    std::vector<Term> fixed, open, variables;
    for (Term p : g.p) {
      if (ctx_.IsVariable(p)) {
        Term v = Value(st, p);
        if (v == kNone) {
          variables.push_back(p);
        } else {
          alg_.AppendArguments(g.op, laws, v, fixed);
        }
      } else {
        (ctx_.IsGround(p) ? fixed : open).push_back(p);
      }
    }
    for (Term t : fixed) {
      auto it = std::lower_bound(s.begin(), s.end(), std::pair<Term, uint32_t>{t, 0});
      if (it == s.end() || it->first != t || it->second == 0) return false;
      --it->second;
    }
    std::erase_if(s, [](const auto& e) { return e.second == 0; });
    size_t total = 0;
    for (const auto& [t, n] : s) total += n;
    const bool unit = Inside(laws);
    if (total < open.size() + (unit ? 0 : variables.size())) return false;
    auto expand = [](const Counted& c, size_t without) {
      std::vector<Term> r;
      for (size_t i = 0; i < c.size(); ++i) r.insert(r.end(), c[i].second - (i == without), c[i].first);
      return r;
    };
    if (!open.empty()) {
      Term first = open[0];
      std::vector<Term> p(open.begin() + 1, open.end());
      p.insert(p.end(), variables.begin(), variables.end());
      std::vector<size_t> candidates;
      for (size_t k = s.size(); k-- > 0;) {
        if (MayMatch(first, s[k].first)) candidates.push_back(k);
      }
      if (candidates.empty() || (p.empty() && total > 1 && !g.extension)) return false;
      auto choose = [&](State& child, size_t k) {
        if (!p.empty() || g.extension) child.goals.push_back({g.op, {}, {}, p, expand(s, k), g.extension});
        child.goals.push_back({kNone, first, s[k].first, {}, {}, false});
      };
      if (candidates.size() == 1) {
        choose(st, candidates[0]);
        return true;
      }
      for (size_t k : candidates) {
        State child = st;
        choose(child, k);
        frames_.push_back({std::move(child), {}});
      }
      return false;
    }
    if (variables.empty()) {
      if (!g.extension) return total == 0;
      st.after = expand(s, kMaxArguments);
      return true;
    }
    // The variable that occurs most often has the fewest ways.
    std::vector<std::pair<Term, uint32_t>> by_mult;
    for (Term v : variables) {
      auto it = std::find_if(by_mult.begin(), by_mult.end(), [&](const auto& e) { return e.first == v; });
      if (it == by_mult.end())
        by_mult.emplace_back(v, 1);
      else
        ++it->second;
    }
    auto most = std::max_element(by_mult.begin(), by_mult.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
    auto [v, mult] = *most;
    if (by_mult.size() == 1 && !g.extension) {
      if (total == 0 && !unit) return false;
      for (auto& [t, n] : s) {
        if (n % mult) return false;
        n /= mult;
      }
      Value(st, v) = alg_.Make(g.op, laws, expand(s, kMaxArguments));
      return true;
    }
    std::erase(variables, v);
    auto o = std::make_unique<Odometer>();
    o->op = g.op;
    o->variable = v;
    o->mult = mult;
    o->pick.assign(s.size(), 0);
    o->s = std::move(s);
    o->least = unit ? 0 : variables.size();
    o->others = std::move(variables);
    o->extension = g.extension;
    frames_.push_back({std::move(st), std::move(o)});
    if (unit) PushPick(frames_.back(), laws);
    return false;
  }
  // The next part for the variable of the frame on top.
  void Turn() {
    Odometer& o = *frames_.back().odometer;
    size_t i = 0;
    while (i < o.pick.size() && (o.pick[i] + 1) * o.mult > o.s[i].second) o.pick[i++] = 0;
    if (i == o.pick.size()) {
      frames_.pop_back();
      return;
    }
    ++o.pick[i];
    PushPick(frames_.back(), *alg_.th_.Find(o.op));
  }
  void PushPick(const Frame& f, const OperatorLaws& laws) {
    const Odometer& o = *f.odometer;
    std::vector<Term> part, left;
    for (size_t i = 0; i < o.s.size(); ++i) {
      part.insert(part.end(), o.pick[i], o.s[i].first);
      left.insert(left.end(), o.s[i].second - o.pick[i] * o.mult, o.s[i].first);
    }
    if (left.size() < o.least) return;
    State child = f.state;
    Value(child, o.variable) = alg_.Make(o.op, laws, std::move(part));
    child.goals.push_back({o.op, {}, {}, o.others, std::move(left), o.extension});
    frames_.push_back({std::move(child), {}});
  }

  bool Associative(State& st, Goal& g) {
    const OperatorLaws& laws = *alg_.th_.Find(g.op);
    size_t i = 0, j = 0;
    for (; i < g.p.size(); ++i) {
      if (g.s.size() - j < g.p.size() - i) return false;
      Term p = g.p[i];
      if (!ctx_.IsVariable(p)) {
        if (ctx_.IsGround(p) ? p != g.s[j] : !MayMatch(p, g.s[j])) return false;
        st.goals.push_back({kNone, p, g.s[j], {}, {}, false});
        ++j;
        continue;
      }
      Term v = Value(st, p);
      if (v != kNone) {
        std::vector<Term> args;
        alg_.AppendArguments(g.op, laws, v, args);
        if (g.s.size() - j < args.size() || !std::equal(args.begin(), args.end(), g.s.begin() + j))
          return false;
        j += args.size();
        continue;
      }
      size_t rest = g.p.size() - i - 1, most = g.s.size() - j - rest;
      std::vector<Term> tail(g.p.begin() + i + 1, g.p.end());
      for (size_t n = most; n > 0; --n) {
        if (rest == 0 && n != most) break;
        State child = st;
        Value(child, p) = alg_.Make(g.op, laws, {g.s.begin() + j, g.s.begin() + j + n});
        child.goals.push_back({g.op, {}, {}, tail, {g.s.begin() + j + n, g.s.end()}, false});
        frames_.push_back({std::move(child), {}});
      }
      return false;
    }
    return j == g.s.size();
  }

  void OpenExtension(State st, Term pattern, Term subject) {
    Goal g{ctx_.Rator(pattern), pattern, subject, {}, {}, true};
    const OperatorLaws& laws = *alg_.Laws(pattern);
    alg_.AppendArguments(g.op, laws, pattern, g.p);
    alg_.AppendArguments(g.op, laws, subject, g.s);
    if (laws.comm) {
      st.goals.push_back(std::move(g));
      frames_.push_back({std::move(st), {}});
      return;
    }
    for (size_t from = g.s.size(); from-- > 0;) {
      for (size_t to = from + g.p.size(); to <= g.s.size(); ++to) {
        State child = st;
        child.before.assign(g.s.begin(), g.s.begin() + from);
        child.after.assign(g.s.begin() + to, g.s.end());
        child.goals.push_back({g.op, {}, {}, g.p, {g.s.begin() + from, g.s.begin() + to}, false});
        frames_.push_back({std::move(child), {}});
      }
    }
  }

  Algebra& alg_;
  Context& ctx_;
  std::vector<Term> patterns_;
  Algebra::UnitPlan plan_;
  const uint64_t max_steps_;
  uint64_t steps_ = 0;
  absl::flat_hash_map<Term, uint32_t> slots_;
  std::vector<Frame> frames_;
};

// What a match cannot change for the worse, of the values of a unifier. Without units an instance keeps the
// operator or atom at the root of each value and is never smaller. Each variable z of the general one becomes
// a term with some leaf w: w stands in each value at least as often as z did. And each variable of the
// instance comes from one of the general one.
class Profile {
 public:
  Profile(const Algebra& alg, const AcUnifier& u) {
    const Context& ctx = alg.ctx_;
    std::vector<Term> values;
    for (const auto& [v, t] : u) values.push_back(t);
    const std::vector<Term> order = PostOrder(ctx, values);
    absl::flat_hash_map<Term, size_t> index;
    for (size_t i = 0; i < order.size(); ++i) index[order[i]] = i;
    std::vector<size_t> leaf(order.size(), ~size_t{0});
    std::vector<uint64_t> weight;
    for (size_t k = 0; k < u.size(); ++k) {
      roots_.emplace_back(Head(ctx, values[k]), ctx.TreeSize(values[k]));
      // Occurrences in the tree of the value, by weights from the root down.
      weight.assign(order.size(), 0);
      weight[index[values[k]]] = 1;
      for (size_t i = index[values[k]] + 1; i-- > 0;) {
        const uint64_t w = weight[i];
        if (w == 0) continue;
        auto children = ctx.Children(order[i]);
        for (size_t c = alg.Laws(order[i]) ? 1 : 0; c < children.size(); ++c) {
          uint64_t& sum = weight[index[children[c]]];
          sum = sum + w < w ? ~uint64_t{0} : sum + w;
        }
        if (!children.empty()) continue;
        if (leaf[i] == ~size_t{0}) {
          leaf[i] = leaves_.size();
          leaves_.push_back({ctx.IsVariable(order[i]), std::vector<uint64_t>(u.size(), 0)});
        }
        leaves_[leaf[i]].count[k] = w;
      }
    }
  }
  // False: `o` is no instance of this one.
  bool MayHaveInstance(const Profile& o, const Context& ctx) const {
    for (size_t k = 0; k < roots_.size(); ++k) {
      const auto& [head, size] = roots_[k];
      const auto& [ohead, osize] = o.roots_[k];
      if (size > osize || (head != kNone && head != ohead && ctx.IsGround(head))) return false;
    }
    for (const Leaf& z : leaves_) {
      if (z.variable &&
          std::none_of(o.leaves_.begin(), o.leaves_.end(), [&](const Leaf& w) { return Below(z, w); }))
        return false;
    }
    for (const Leaf& w : o.leaves_) {
      if (!w.variable) continue;
      if (std::none_of(leaves_.begin(), leaves_.end(),
                       [&](const Leaf& z) { return z.variable && Below(z, w); }))
        return false;
    }
    return true;
  }

 private:
  struct Leaf {
    bool variable;
    std::vector<uint64_t> count;  // in each value
  };
  static Term Head(const Context& ctx, Term t) {
    return ctx.IsVariable(t) ? kNone : ctx.IsTuple(t) && !t.is_nil() ? ctx.Rator(t) : t;
  }
  static bool Below(const Leaf& z, const Leaf& w) {
    for (size_t k = 0; k < z.count.size(); ++k) {
      if (z.count[k] > w.count[k]) return false;
    }
    return true;
  }
  std::vector<std::pair<Term, uint64_t>> roots_;  // operator or atom (kNone: a variable), and size
  std::vector<Leaf> leaves_;
};

// Drops every unifier that is an instance of another, of equal ones all but the first; false if the limit was
// reached.
bool DropInstances(Algebra& alg, std::vector<AcUnifier>& unifiers, uint64_t max_steps) {
  Context& ctx = alg.ctx_;
  bool units = false;
  for (const auto& [op, laws] : alg.th_.operators) units |= laws.unit.has_value();
  std::vector<Profile> profiles;
  for (const AcUnifier& u : unifiers) {
    if (!units) profiles.emplace_back(alg, u);
  }
  std::vector<bool> dead(unifiers.size(), false);
  std::vector<Term> patterns, subjects, variables;
  uint64_t steps = 0;
  bool within = true;
  for (size_t i = 0; i < unifiers.size() && within; ++i) {
    if (dead[i]) continue;
    patterns.clear();
    variables.clear();
    absl::flat_hash_set<Term> seen;
    for (const auto& [v, t] : unifiers[i]) {
      patterns.push_back(t);
      for (Term w : Variables(ctx, t)) {
        if (seen.insert(w).second) variables.push_back(w);
      }
    }
    Matcher m(alg, patterns, variables, max_steps - steps);
    for (size_t j = 0; j < unifiers.size() && within; ++j) {
      if (++steps > max_steps) within = false;
      if (j == i || dead[j] || (!units && !profiles[i].MayHaveInstance(profiles[j], ctx))) continue;
      subjects.clear();
      for (const auto& [v, t] : unifiers[j]) subjects.push_back(t);
      bool instance = false;
      within &=
          m.Match(subjects, false, [&](const auto&, const auto&, const auto&) { return instance = true; });
      if (instance) dead[j] = true;
    }
    steps += m.steps();
    within &= steps <= max_steps;
  }
  size_t n = 0;
  for (size_t i = 0; i < unifiers.size(); ++i) {
    if (dead[i]) continue;
    if (n != i) unifiers[n] = std::move(unifiers[i]);
    ++n;
  }
  unifiers.resize(n);
  return within;
}

}  // namespace

absl::StatusOr<AcUnifiers> AcUnify(Context& ctx, const Theory& theory, Term a, Term b,
                                   const AcOptions& options) {
  std::vector<Term> variables = Variables(ctx, a);
  absl::flat_hash_set<Term> seen(variables.begin(), variables.end());
  for (Term v : Variables(ctx, b)) {
    if (seen.insert(v).second) variables.push_back(v);
  }
  Algebra alg(ctx, theory);
  Term roots[] = {a, b};
  if (absl::Status s = alg.Prepare(roots); !s.ok()) return s;
  uint32_t splits = options.max_assoc_splits;
  for (Term t : PostOrder(ctx, roots)) {
    const OperatorLaws* laws = alg.Laws(t);
    if (laws && laws->assoc && !laws->comm) splits += static_cast<uint32_t>(ctx.Rands(t).size());
  }
  AcUnifiers out;
  bool incomparable = false;
  Algebra::UnitPlan plan = alg.PlanUnits(roots);
  Algebra::ForEachUnitChoice(plan, [&](const std::vector<TermPair>& chosen) {
    std::vector<TermPair> equations = chosen;
    equations.emplace_back(roots[0], roots[1]);
    Solver solver(alg, plan.inside, options, variables, out);
    bool finished = solver.Run(equations, splits);
    out.complete &= finished && !solver.cut();
    incomparable = plan.inside && solver.incomparable();
    return finished;
  });
  if (options.filter && (!incomparable || options.always_test)) {
    out.irredundant = DropInstances(alg, out.unifiers, options.max_steps);
  } else {
    out.irredundant = incomparable || out.unifiers.size() < 2;
  }
  return out;
}

absl::StatusOr<AcMatches> AcMatch(Context& ctx, const Theory& theory, Term pattern, Term subject,
                                  bool extension, const AcOptions& options) {
  std::vector<Term> variables = Variables(ctx, pattern);
  Algebra alg(ctx, theory);
  Term roots[] = {pattern, subject};
  if (absl::Status s = alg.Prepare(roots); !s.ok()) return s;
  AcMatches out;
  absl::flat_hash_set<std::vector<Term>> seen;
  Matcher m(alg, {roots[0]}, variables, options.max_steps);
  auto accept = [&](const std::vector<Term>& values, const std::vector<Term>& before,
                    const std::vector<Term>& after) {
    std::vector<Term> key = values;
    for (const auto* part : {&before, &after}) {
      key.push_back(kNone);
      key.insert(key.end(), part->begin(), part->end());
    }
    if (!seen.insert(std::move(key)).second) return false;
    if (out.matches.size() >= options.max_unifiers) {
      out.complete = false;
      return true;
    }
    AcMatchResult r{{}, before, after};
    for (size_t i = 0; i < variables.size(); ++i) r.bindings.emplace_back(variables[i], values[i]);
    out.matches.push_back(std::move(r));
    return false;
  };
  out.complete &= m.Match({&roots[1], 1}, extension, accept);
  out.steps = m.steps();
  return out;
}

absl::StatusOr<Term> AcNormalize(Context& ctx, const Theory& theory, Term t) {
  Algebra alg(ctx, theory);
  if (absl::Status s = alg.Prepare({&t, 1}); !s.ok()) return s;
  return t;
}

absl::StatusOr<Term> AcApply(Context& ctx, const Theory& theory, Term t, const AcUnifier& values) {
  Algebra alg(ctx, theory);
  std::vector<Term> roots{t};
  for (const auto& [v, value] : values) roots.push_back(value);
  if (absl::Status s = alg.Prepare(roots); !s.ok()) return s;
  absl::flat_hash_map<Term, Term> memo;
  for (size_t i = 0; i < values.size(); ++i) memo[values[i].first] = roots[i + 1];
  Term r = alg.Apply(roots[0], memo, [](Term v) { return v; });
  if (alg.overflow_) return absl::ResourceExhaustedError("a term with too many arguments");
  return r;
}

}  // namespace retuple
