#include "unify/internal/ac_solver.h"

#include <memory>
#include <numeric>

#include "unify/diophantine.h"
#include "unify/substitution.h"

namespace retuple::internal {
namespace {

class Solver {
 public:
  // Appends to `out`; `seen` has what it holds.
  Solver(Algebra& alg, bool units_inside, const AcOptions& options, const std::vector<Term>& variables,
         FreshPool& fresh, Meter& meter, absl::flat_hash_set<std::vector<Term>>& seen, AcUnifiers& out)
      : alg_(alg),
        ctx_(alg.ctx_),
        units_inside_(units_inside),
        max_unifiers_(options.max_unifiers),
        variables_(variables),
        own_(variables.begin(), variables.end()),
        fresh_(fresh),
        meter_(meter),
        seen_(seen),
        out_(out) {}

  // Appends the unifiers of `equations` to the output; false when a limit was reached.
  bool Run(std::span<const TermPair> equations, uint32_t max_splits) {
    max_splits_ = max_splits;
    for (size_t i = equations.size(); i-- > 0;) Push(equations[i].first, equations[i].second);
    for (;;) {
      if (!meter_.Spend(1)) return false;
      bool ok = false;
      if (head_ < 0) {
        if (!Emit()) return false;
      } else {
        const Equation e = arena_[static_cast<size_t>(head_)];
        head_ = e.next;
        ok = Step(e.a, e.b);
      }
      if (alg_.overflow_) return false;
      if (!ok && !Backtrack()) return !stopped_;
    }
  }
  // No answer of the run can be an instance of another.
  bool incomparable() const { return incomparable_; }
  // A branch was given up for its splits.
  bool cut() const { return cut_; }

 private:
  struct Equation {
    Term a, b;
    int32_t next;
  };
  struct Marks {
    size_t trail = 0, arena = 0, done = 0, fresh = 0;
    int32_t head = -1;
    uint32_t splits = 0;
  };
  // An equation of an AC operator: the unknowns (arguments of both sides), the basis, and the sub-set on
  // trial.
  struct AcChoice {
    Term op;
    const OperatorLaws* laws;
    std::vector<Term> columns;
    DiophantineBasis basis;
    std::vector<Term> value;              // of each vector: kNone (a fresh variable), or a term
    std::vector<std::vector<Term>> same;  // terms that share a vector with its value
    BasisSubsets subsets;
  };
  struct Choice {
    Marks marks;
    std::vector<std::vector<TermPair>> alternatives;
    size_t next = 0;
    std::unique_ptr<AcChoice> ac;  // instead of alternatives
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
    return alg_.Apply(t, memo_, meter_, true, [&](Term v) { return s_.Walk(v); });
  }
  bool Open(Choice c) {
    c.marks = {s_.size(), arena_.size(), done_trail_.size(), fresh_used_, head_, splits_};
    choices_.push_back(std::move(c));
    return false;  // Backtrack takes the first alternative
  }
  bool Backtrack() {
    while (!choices_.empty()) {
      Choice& c = choices_.back();
      if (s_.size() != c.marks.trail) {
        s_.Undo(c.marks.trail);
        memo_.clear();
      }
      arena_.resize(c.marks.arena);
      for (; done_trail_.size() > c.marks.done; done_trail_.pop_back()) done_.erase(done_trail_.back());
      fresh_used_ = c.marks.fresh;
      head_ = c.marks.head;
      splits_ = c.marks.splits;
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
  // False at a limit.
  bool Emit() {
    std::vector<Term> values;
    for (Term v : variables_) values.push_back(Apply(v));
    absl::flat_hash_map<Term, Term> names;
    size_t used = 0;
    for (Term t : values) {
      if (ctx_.IsGround(t)) continue;
      for (Term v : Variables(ctx_, t)) {
        if (!own_.contains(v) && !names.contains(v)) names[v] = fresh_[used++];
      }
    }
    if (used > 0) {
      for (Term& t : values) t = alg_.Apply(t, names, meter_, false, [](Term v) { return v; });
    }
    if (alg_.overflow_) return false;
    if (!incomparable_ && !seen_.insert(values).second) return true;
    if (out_.unifiers.size() >= max_unifiers_) return false;
    AcUnifier u;
    u.reserve(values.size());
    for (size_t i = 0; i < values.size(); ++i) u.emplace_back(variables_[i], values[i]);
    out_.unifiers.push_back(std::move(u));
    return true;
  }

  // Deals with one equation: true if it holds now or was replaced by others; false if it fails or a choice
  // was opened.
  bool Step(Term a, Term b) {
    a = s_.Walk(a);
    b = s_.Walk(b);
    if (a == b) return true;
    const OperatorLaws* la = alg_.Laws(a);
    const OperatorLaws* lb = alg_.Laws(b);
    if ((la && (la->assoc || la->unit)) || (lb && (lb->assoc || lb->unit))) {
      a = Apply(a);
      b = Apply(b);
      if (a == b || alg_.overflow_) return !alg_.overflow_;
      la = alg_.Laws(a);
      lb = alg_.Laws(b);
    }
    if (ctx_.IsVariable(a) || ctx_.IsVariable(b)) return StepVariable(a, b);
    if (ctx_.IsGround(a) && ctx_.IsGround(b)) return false;  // normal and different
    if (a > b) {
      std::swap(a, b);
      std::swap(la, lb);
    }
    if (!done_.insert({a, b}).second) return true;
    done_trail_.emplace_back(a, b);
    if (units_inside_ && la && la->unit) return StepAc(ctx_.Rator(a), *la, a, b);
    if (units_inside_ && lb && lb->unit) return StepAc(ctx_.Rator(b), *lb, a, b);
    if (!ctx_.IsTuple(a) || !ctx_.IsTuple(b) || a.is_nil() || b.is_nil() || la != lb) return false;
    if (!la) return StepFree(a, b);
    if (!la->assoc) return la->comm ? StepCommutative(a, b) : StepFree(a, b);
    return la->comm ? StepAc(ctx_.Rator(a), *la, a, b) : StepAssociative(ctx_.Rator(a), *la, a, b);
  }

  bool StepVariable(Term a, Term b) {
    if (ctx_.IsVariable(a) && ctx_.IsVariable(b)) {
      if (a < b) std::swap(a, b);  // the older one stays
      Bind(a, b);
      return true;
    }
    if (ctx_.IsVariable(b)) std::swap(a, b);
    if (!Occurs(a, b)) {
      Bind(a, b);
      return true;
    }
    const OperatorLaws* laws = alg_.Laws(b);
    if (!units_inside_ || !laws || !laws->unit) return false;
    auto r = ctx_.Rands(b);
    return std::find(r.begin(), r.end(), a) != r.end() && StepAc(ctx_.Rator(b), *laws, a, b);
  }
  bool Occurs(Term v, Term root) {
    if (ctx_.IsGround(root)) return false;
    std::vector<Term> stack{root};
    absl::flat_hash_set<Term> seen{root};
    while (!stack.empty()) {
      Term t = stack.back();
      stack.pop_back();
      if (t == v) return true;
      meter_.Spend(1);
      auto visit = [&](Term c) {
        if (!ctx_.IsGround(c) && seen.insert(c).second) stack.push_back(c);
      };
      if (ctx_.IsVariable(t)) visit(s_.Walk(t));
      for (Term c : ctx_.Children(t)) visit(c);
    }
    return false;
  }

  bool StepFree(Term a, Term b) {
    auto x = ctx_.Children(a), y = ctx_.Children(b);
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] != y[i] && ctx_.IsGround(x[i]) && ctx_.IsGround(y[i])) return false;
    }
    meter_.Spend(x.size());
    for (size_t i = x.size(); i-- > 0;) {
      if (x[i] != y[i]) Push(x[i], y[i]);
    }
    return true;
  }

  bool StepCommutative(Term a, Term b) {
    if (ctx_.Rator(a) != ctx_.Rator(b)) return false;
    auto x = ctx_.Rands(a), y = ctx_.Rands(b);
    for (size_t i = 0; i < 2; ++i) {
      for (size_t j = 0; j < 2; ++j) {
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

  // Terms that may be unified with each other have one label.
  uint32_t Label(Term t) {
    if (ctx_.IsVariable(t)) return 0;
    std::pair<Term, uint32_t> key{t, 0};
    if (ctx_.IsTuple(t) && !t.is_nil()) {
      const Term rator = ctx_.Rator(t);
      key = {ctx_.IsTuple(rator) ? kNone : rator,
             alg_.Laws(t) ? 1u : 1u + static_cast<uint32_t>(ctx_.Children(t).size())};
    }
    return labels_.try_emplace(key, static_cast<uint32_t>(labels_.size()) + 1).first->second;
  }
  // Two arguments that no substitution makes equal, by a look at them and their children. Pre: no variables.
  bool Clash(Term a, Term b) {
    auto differ = [&](Term s, Term t) {
      return s != t && ((ctx_.IsGround(s) && ctx_.IsGround(t)) || Label(s) != Label(t));
    };
    if (differ(a, b)) return true;
    if (alg_.Laws(a) || !ctx_.IsTuple(a)) return false;
    auto x = ctx_.Children(a), y = ctx_.Children(b);
    for (size_t i = 0; i < x.size(); ++i) {
      const OperatorLaws* la = alg_.Laws(x[i]);
      const OperatorLaws* lb = alg_.Laws(y[i]);
      if ((la && la->unit) || (lb && lb->unit) || ctx_.IsVariable(x[i]) || ctx_.IsVariable(y[i])) continue;
      if (differ(x[i], y[i])) return true;
    }
    return false;
  }

  bool StepAc(Term op, const OperatorLaws& laws, Term a, Term b) {
    std::vector<Term> x, y;
    alg_.AppendArguments(op, laws, a, x);
    alg_.AppendArguments(op, laws, b, y);
    meter_.Spend(x.size() + y.size());
    // What both sides have cancels.
    const Counted cx = CountTerms(std::move(x)), cy = CountTerms(std::move(y));
    Counted left, right;
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
      const Term v = (*one)[0].first;
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
        const bool variable = ctx_.IsVariable(t);
        d.upper.push_back(variable ? 0 : 1);
        d.label.push_back(Label(t));
        demands.push_back(!variable ? Demand::kOnce : unit ? Demand::kAny : Demand::kCovered);
        elementary &= variable || ctx_.IsGround(t);
      }
    }
    if (!meter_.within()) return false;
    d.max_steps = meter_.limit - meter_.steps;
    const DiophantineBasis all = MinimalSolutions(a, b, d);
    meter_.Spend(all.steps);
    if (!all.complete) {
      stopped_ = true;
      return false;
    }
    DiophantineBasis basis(columns.size());
    std::vector<Term> value;
    std::vector<std::vector<Term>> same;
    std::vector<bool> forced;
    for (size_t k = 0; k < all.size(); ++k) {
      Term first = kNone;
      std::vector<Term> others;
      bool clash = false;
      for (auto [c, n] : all[k]) {
        if (ctx_.IsVariable(columns[c])) continue;
        if (first == kNone) {
          first = columns[c];
        } else {
          others.push_back(columns[c]);
          clash |= Clash(first, columns[c]);
        }
      }
      if (clash) continue;
      forced.push_back(unit && first == kNone);
      value.push_back(first);
      same.push_back(std::move(others));
      basis.Append(all[k]);
    }
    if (elementary && choices_.empty() && head_ < 0) incomparable_ = true;
    BasisSubsets subsets(basis, std::move(demands), forced);
    Choice c{};
    c.ac = std::make_unique<AcChoice>(AcChoice{op, &laws, std::move(columns), std::move(basis),
                                               std::move(value), std::move(same), std::move(subsets)});
    return Open(std::move(c));
  }

  bool NextSubset(AcChoice& ac) {
    const uint64_t before = ac.subsets.steps();
    const bool more = meter_.within() && ac.subsets.Next(before + meter_.limit - meter_.steps);
    meter_.Spend(ac.subsets.steps() - before);
    if (!more) {
      stopped_ = ac.subsets.exhausted() || !meter_.within();
      return false;
    }
    const std::vector<uint32_t> taken = ac.subsets.taken();
    std::vector<std::vector<Term>> sums(ac.columns.size());
    size_t arguments = 0;
    for (uint32_t k : taken) {
      const Term z = ac.value[k] == kNone ? fresh_[fresh_used_++] : ac.value[k];
      for (auto [c, n] : ac.basis[k]) {
        if (!ctx_.IsVariable(ac.columns[c])) continue;
        arguments += n;
        if (sums[c].size() + n > kMaxArguments) alg_.overflow_ = true;
        if (alg_.overflow_) return true;
        sums[c].insert(sums[c].end(), n, z);
      }
    }
    if (!meter_.Spend(arguments + ac.columns.size())) return true;
    for (size_t c = sums.size(); c-- > 0;) {
      if (ctx_.IsVariable(ac.columns[c])) {
        Push(ac.columns[c], alg_.Make(ac.op, *ac.laws, std::move(sums[c])));
      }
    }
    for (uint32_t k : taken) {
      for (Term t : ac.same[k]) Push(ac.value[k], t);
    }
    return true;
  }

  bool StepAssociative(Term op, const OperatorLaws& laws, Term a, Term b) {
    auto x = ctx_.Rands(a), y = ctx_.Rands(b);
    meter_.Spend(x.size() + y.size());
    // Equal ends cancel; so do ends that are no variables, which must be unified.
    size_t i = 0, j = 0, m = x.size(), n = y.size();
    std::vector<TermPair> pairs;
    auto fits = [&](Term s, Term t) { return s == t || (!ctx_.IsVariable(s) && !ctx_.IsVariable(t)); };
    while (i < m && j < n && fits(x[i], y[j])) pairs.emplace_back(x[i++], y[j++]);
    while (i < m && j < n && fits(x[m - 1], y[n - 1])) pairs.emplace_back(x[--m], y[--n]);
    if ((i == m) != (j == n)) return false;
    for (const auto& [s, t] : pairs) {
      if (s != t && Clash(s, t)) return false;
    }
    const std::vector<Term> p(x.begin() + static_cast<ptrdiff_t>(i), x.begin() + static_cast<ptrdiff_t>(m));
    const std::vector<Term> q(y.begin() + static_cast<ptrdiff_t>(j), y.begin() + static_cast<ptrdiff_t>(n));
    if (!p.empty()) {
      if (p.size() > 1 && q.size() > 1 && pairs.empty()) return OpenAssociative(op, laws, p, q);
      if ((p.size() == 1 && q.size() > 1 && !ctx_.IsVariable(p[0])) ||
          (q.size() == 1 && p.size() > 1 && !ctx_.IsVariable(q[0]))) {
        return false;
      }
      Push(alg_.Make(op, laws, p), alg_.Make(op, laws, q));
    }
    for (const auto& [s, t] : pairs) {
      if (s != t) Push(s, t);
    }
    return true;
  }

  // What the two sides have beyond each other, as multisets and by length, may become equal.
  bool Balanced(const std::vector<Term>& p, const std::vector<Term>& q) const {
    const Counted cp = CountTerms(p), cq = CountTerms(q);
    uint64_t divisor = 0;        // of the multiplicities of variables
    uint64_t least[2] = {0, 0};  // arguments beyond the other side, a variable being one at least
    bool variable[2] = {false, false};
    bool ground = true;
    for (int side = 0; side < 2; ++side) {
      const Counted& other = side == 0 ? cq : cp;
      for (const auto& [t, n] : side == 0 ? cp : cq) {
        auto it = std::lower_bound(other.begin(), other.end(), Count{t, 0});
        const uint32_t m = it != other.end() && it->first == t ? it->second : 0;
        if (n <= m) continue;
        least[side] += n - m;
        ground &= ctx_.IsGround(t);
        if (!ctx_.IsVariable(t)) continue;
        variable[side] = true;
        divisor = std::gcd(divisor, uint64_t{n - m});
      }
    }
    if (ground && least[0] + least[1] > 0) return false;
    if (least[0] == least[1]) return true;
    const bool less = least[1] < least[0];
    const uint64_t gap = less ? least[0] - least[1] : least[1] - least[0];
    return variable[less ? 1 : 0] && gap % divisor == 0;
  }

  bool OpenAssociative(Term op, const OperatorLaws& laws, const std::vector<Term>& p,
                       const std::vector<Term>& q) {
    if (!Balanced(p, q)) return false;
    if (splits_ >= max_splits_) {
      cut_ = true;
      return false;
    }
    auto rest = [&](const std::vector<Term>& s, Term front) {
      std::vector<Term> r(s.begin() + 1, s.end());
      if (front != kNone) r.insert(r.begin(), front);
      return alg_.Make(op, laws, std::move(r));
    };
    meter_.Spend(2 * (p.size() + q.size()));
    Choice c{};
    c.alternatives.push_back({{p[0], q[0]}, {rest(p, kNone), rest(q, kNone)}});
    const Term z = fresh_[fresh_used_++];
    if (ctx_.IsVariable(p[0])) {
      c.alternatives.push_back({{p[0], alg_.Make(op, laws, {q[0], z})}, {rest(p, z), rest(q, kNone)}});
    }
    if (ctx_.IsVariable(q[0])) {
      c.alternatives.push_back({{q[0], alg_.Make(op, laws, {p[0], z})}, {rest(p, kNone), rest(q, z)}});
    }
    Open(std::move(c));
    choices_.back().marks.splits = splits_ + 1;
    return false;
  }

  Algebra& alg_;
  Context& ctx_;
  const bool units_inside_;
  const size_t max_unifiers_;
  const std::vector<Term>& variables_;
  const absl::flat_hash_set<Term> own_;
  FreshPool& fresh_;
  size_t fresh_used_ = 0;
  Meter& meter_;
  absl::flat_hash_set<std::vector<Term>>& seen_;
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

}  // namespace

SolveResult Solve(Algebra& algebra, bool units_inside, const AcOptions& options, const std::vector<Term>& variables, FreshPool& fresh,
                  Meter& meter, absl::flat_hash_set<std::vector<Term>>& seen, std::span<const TermPair> equations, uint32_t max_splits,
                  AcUnifiers& out) {
  Solver solver(algebra, units_inside, options, variables, fresh, meter, seen, out);
  const bool finished = solver.Run(equations, max_splits);
  return {finished, solver.incomparable(), solver.cut()};
}

}  // namespace retuple::internal
