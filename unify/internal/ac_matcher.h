// Matching modulo a theory: a depth-first search over a list of goals, in an arena as in ac_solver.h.
#ifndef RETUPLE_UNIFY_INTERNAL_AC_MATCHER_H_
#define RETUPLE_UNIFY_INTERNAL_AC_MATCHER_H_

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "unify/internal/ac_algebra.h"

namespace retuple::internal {

// Matches of a list of patterns against a list of subjects.
class Matcher {
 public:
  // Pre: patterns are normal.
  Matcher(Algebra& alg, std::vector<Term> patterns, const std::vector<Term>& variables, Meter& meter)
      : alg_(alg),
        ctx_(alg.ctx_),
        patterns_(std::move(patterns)),
        plan_(alg.PlanUnits(patterns_)),
        meter_(meter) {
    for (Term v : variables) slots_.try_emplace(v, static_cast<uint32_t>(slots_.size()));
  }

  // Calls accept() with each match, perhaps more than once with the same, until it returns true. Returns
  // false if the limit was reached. Pre: subjects are normal; with extension there is one only.
  bool Match(std::span<const Term> subjects, bool extension, absl::FunctionRef<bool()> accept) {
    alg_.overflow_ = false;
    Algebra::ForEachUnitChoice(plan_, [&](const std::vector<TermPair>& chosen) {
      Reset();
      absl::flat_hash_map<Term, Term> memo;
      for (const auto& [v, unit] : chosen) value_[slots_.at(v)] = memo[v] = unit;
      for (size_t i = patterns_.size(); i-- > 0;) {
        Term p = patterns_[i];
        if (!chosen.empty()) p = alg_.Apply(p, memo, meter_, false, [](Term v) { return v; });
        const OperatorLaws* laws = extension ? alg_.Laws(p) : nullptr;
        if (laws && laws->assoc) {
          PushExtension(*laws, p, subjects[i]);
        } else {
          Push({.a = p, .b = subjects[i]});
        }
      }
      for (;;) {
        if (!meter_.Spend(1) || alg_.overflow_) return false;
        bool ok = false;
        if (now_ < 0 && later_ >= 0) PickLater();
        if (now_ < 0) {
          if (accept()) return false;
        } else {
          const Goal g = goals_[static_cast<size_t>(now_)];
          now_ = g.next;
          ok = Step(g);
        }
        if (!ok && !Backtrack()) return meter_.within();
      }
    });
    return meter_.within() && !alg_.overflow_;
  }
  // Of the present match: values by variable, and the arguments of the subject that are left over.
  const std::vector<Term>& values() const { return value_; }
  std::vector<Term> before() const { return Words({whole_.begin, part_.begin}); }
  std::vector<Term> after() const {
    return whole_.begin == whole_.end ? Expand(rest_) : Words({part_.end, whole_.end});
  }

 private:
  // A part of words_ or counts_.
  struct Slice {
    uint32_t begin = 0, end = 0;
    uint32_t size() const { return end - begin; }
  };
  struct Goal {
    Term op = kNone;  // kNone: a against b. Else the arguments p of this operator against s
    Term a{}, b{};
    Slice p{}, s{};  // p in words_; s in counts_ if the operator is commutative, else in words_
    bool extension = false;
    int32_t next = -1;
  };
  enum class Branch : uint8_t {
    kSwap,       // the goal, with the arguments of a commutative operator the other way round
    kCandidate,  // the first argument of the pattern against one of the subject, then the others
    kPart,       // the variable a is a part of the multiset, then the others
    kPrefix,     // the variable a is the next words, then the others
    kWindow,     // a part of neighbours
  };
  struct Choice {
    Branch branch;
    Goal goal;
    uint32_t from = 0, to = 0;     // of the next alternative
    uint32_t mult = 0, least = 0;  // kPart: of the variable; arguments that the others need
    std::vector<uint32_t> pick{};  // kPart
    bool fresh = true;
    size_t trail = 0, goals = 0, words = 0, counts = 0, done = 0;
    int32_t now = -1, later = -1;
  };

  void Reset() {
    value_.assign(slots_.size(), kNone);
    trail_.clear();
    goals_.clear();
    words_.clear();
    counts_.clear();
    done_.clear();
    done_trail_.clear();
    choices_.clear();
    now_ = later_ = -1;
    whole_ = part_ = rest_ = {};
  }
  void Push(Goal g) {
    g.next = now_;
    goals_.push_back(g);
    now_ = static_cast<int32_t>(goals_.size()) - 1;
  }
  Term Value(Term v) const { return value_[slots_.at(v)]; }
  void Bind(Term v, Term t) {
    trail_.push_back(slots_.at(v));
    value_[trail_.back()] = t;
  }
  bool Inside(const OperatorLaws& laws) const { return plan_.inside && laws.unit.has_value(); }

  Slice AddWords(std::span<const Term> w) {
    const auto from = static_cast<uint32_t>(words_.size());
    words_.insert(words_.end(), w.begin(), w.end());
    meter_.Spend(w.size());
    return {from, static_cast<uint32_t>(words_.size())};
  }
  Slice AddCounts(const Counted& c) {
    const auto from = static_cast<uint32_t>(counts_.size());
    counts_.insert(counts_.end(), c.begin(), c.end());
    meter_.Spend(c.size());
    return {from, static_cast<uint32_t>(counts_.size())};
  }
  std::vector<Term> Words(Slice s) const { return {words_.begin() + s.begin, words_.begin() + s.end}; }
  Counted Counts(Slice s) const { return {counts_.begin() + s.begin, counts_.begin() + s.end}; }
  std::vector<Term> Expand(Slice s) const {
    std::vector<Term> r;
    for (uint32_t k = s.begin; k < s.end; ++k) r.insert(r.end(), counts_[k].second, counts_[k].first);
    return r;
  }
  // The arguments of p against those of s.
  Goal ArgumentsGoal(const OperatorLaws& laws, Term p, Term s) {
    Goal g{.op = ctx_.Rator(p)};
    std::vector<Term> x, y;
    alg_.AppendArguments(g.op, laws, p, x);
    alg_.AppendArguments(g.op, laws, s, y);
    g.p = AddWords(x);
    g.s = laws.comm ? AddCounts(CountTerms(std::move(y))) : AddWords(y);
    return g;
  }
  void PushExtension(const OperatorLaws& laws, Term p, Term s) {
    Goal g = ArgumentsGoal(laws, p, s);
    g.extension = true;
    Push(g);
  }

  bool Open(Choice c) {
    c.trail = trail_.size();
    c.goals = goals_.size();
    c.words = words_.size();
    c.counts = counts_.size();
    c.done = done_trail_.size();
    c.now = now_;
    c.later = later_;
    choices_.push_back(std::move(c));
    return false;
  }
  bool Backtrack() {
    while (!choices_.empty()) {
      Choice& c = choices_.back();
      for (; trail_.size() > c.trail; trail_.pop_back()) value_[trail_.back()] = kNone;
      goals_.resize(c.goals);
      words_.resize(c.words);
      counts_.resize(c.counts);
      for (; done_trail_.size() > c.done; done_trail_.pop_back()) done_.erase(done_trail_.back());
      now_ = c.now;
      later_ = c.later;
      meter_.Spend(1);
      if (meter_.within() && Advance(c)) return true;
      choices_.pop_back();
    }
    return false;
  }
  // Pushes the next alternative; false if there is none.
  bool Advance(Choice& c) {
    switch (c.branch) {
      case Branch::kSwap: {
        if (c.from > 1) return false;
        auto x = ctx_.Children(c.goal.a), y = ctx_.Children(c.goal.b);
        Push({.a = x[2], .b = y[2 - c.from]});
        Push({.a = x[1], .b = y[1 + c.from]});
        ++c.from;
        return true;
      }
      case Branch::kCandidate:
        return AdvanceCandidate(c);
      case Branch::kPart:
        return AdvancePart(c);
      case Branch::kPrefix: {
        const Goal& g = c.goal;
        if (c.from == 0) return false;
        const uint32_t cut = g.s.begin + c.from--;
        meter_.Spend(cut - g.s.begin);
        Push({.op = g.op, .p = g.p, .s = {cut, g.s.end}});
        Bind(g.a, alg_.Make(g.op, *alg_.th_.Find(g.op), Words({g.s.begin, cut})));
        return true;
      }
      case Branch::kWindow: {
        const Goal& g = c.goal;
        if (c.to > g.s.end) c.to = ++c.from + g.p.size();
        if (c.to > g.s.end) return false;
        whole_ = g.s;
        part_ = {c.from, c.to++};
        Push({.op = g.op, .p = g.p, .s = part_});
        return true;
      }
    }
    return false;
  }
  bool AdvanceCandidate(Choice& c) {
    const Goal& g = c.goal;
    const Term p = words_[g.p.begin];
    for (; c.from < g.s.end; ++c.from) {
      const Term s = counts_[c.from].first;
      if (!MayMatch(p, s)) continue;
      const Slice others{g.p.begin + 1, g.p.end};
      if (others.size() > 0 || g.extension) {
        Counted left = Counts(g.s);
        const uint32_t k = c.from - g.s.begin;
        if (--left[k].second == 0) left.erase(left.begin() + k);
        Push({.op = g.op, .p = others, .s = AddCounts(left), .extension = g.extension});
      }
      Push({.a = p, .b = s});
      ++c.from;
      return true;
    }
    return false;
  }
  bool AdvancePart(Choice& c) {
    const Goal& g = c.goal;
    const OperatorLaws& laws = *alg_.th_.Find(g.op);
    for (bool first = c.fresh && Inside(laws);; first = false) {
      c.fresh = false;
      if (!first) {
        size_t i = 0;
        while (i < c.pick.size() && (c.pick[i] + 1) * c.mult > counts_[g.s.begin + i].second) c.pick[i++] = 0;
        if (i == c.pick.size() || !meter_.Spend(1 + c.pick.size() / 4)) return false;
        ++c.pick[i];
      }
      std::vector<Term> part;
      Counted left;
      size_t total = 0;
      for (size_t i = 0; i < c.pick.size(); ++i) {
        const auto [t, n] = counts_[g.s.begin + i];
        const uint32_t more = n - c.pick[i] * c.mult;
        part.insert(part.end(), c.pick[i], t);
        if (more) left.emplace_back(t, more);
        total += more;
      }
      if (total < c.least) continue;
      meter_.Spend(part.size());
      Push({.op = g.op, .p = g.p, .s = AddCounts(left), .extension = g.extension});
      Bind(g.a, alg_.Make(g.op, laws, std::move(part)));
      return true;
    }
  }

  // True if the goal holds or was replaced by others; false if it fails or a choice was opened.
  bool Step(const Goal& g) {
    if (g.op == kNone) return Plain(g);
    return alg_.th_.Find(g.op)->comm ? Ac(g) : Associative(g);
  }

  bool Plain(const Goal& g) {
    const Term p = g.a, s = g.b;
    if (ctx_.IsVariable(p)) {
      const Term value = Value(p);
      if (value == kNone) Bind(p, s);
      return value == kNone || value == s;
    }
    if (ctx_.IsGround(p)) return p == s;
    const OperatorLaws* laws = alg_.Laws(p);
    if (laws && (laws->assoc || Inside(*laws))) {
      Push(ArgumentsGoal(*laws, p, s));
      return true;
    }
    if (!MayMatch(p, s)) return false;
    if (!done_.insert({p, s}).second) return true;
    done_trail_.emplace_back(p, s);
    auto x = ctx_.Children(p), y = ctx_.Children(s);
    if (laws && laws->comm && x[1] != x[2] && y[1] != y[2]) {
      return Open({.branch = Branch::kSwap, .goal = g});
    }
    meter_.Spend(x.size());
    for (size_t i = x.size(); i-- > 0;) {
      if (!ctx_.IsGround(x[i])) {
        Push({.a = x[i], .b = y[i]});
      } else if (x[i] != y[i]) {
        return false;
      }
    }
    return true;
  }
  // Pre: p is not ground and no variable.
  bool MayMatch(Term p, Term s) const {
    if (!ctx_.IsTuple(s) || s.is_nil()) return false;
    const Term a = ctx_.Rator(p), b = ctx_.Rator(s);
    if (a != b && ctx_.IsGround(a)) return false;
    const OperatorLaws* laws = alg_.Laws(p);
    return laws == alg_.Laws(s) && (laws || ctx_.Children(p).size() == ctx_.Children(s).size());
  }

  // What a multiset goal asks once the bound part is taken away.
  struct Needs {
    bool possible = true;
    std::vector<Term> open;  // neither ground nor a variable
    Counted variables;       // unbound
    Counted left;            // of the subject
    uint64_t total = 0;      // its size
  };
  Needs Reduce(const Goal& g) {
    const OperatorLaws& laws = *alg_.th_.Find(g.op);
    Needs n;
    std::vector<Term> fixed, variables;
    for (uint32_t k = g.p.begin; k < g.p.end; ++k) {
      const Term p = words_[k];
      if (ctx_.IsGround(p)) {
        fixed.push_back(p);
      } else if (!ctx_.IsVariable(p)) {
        n.open.push_back(p);
      } else if (const Term v = Value(p); v != kNone) {
        alg_.AppendArguments(g.op, laws, v, fixed);
      } else {
        variables.push_back(p);
      }
    }
    n.left = Counts(g.s);
    meter_.Spend(g.p.size() + fixed.size() + n.left.size());
    for (Term t : fixed) {
      auto it = std::lower_bound(n.left.begin(), n.left.end(), Count{t, 0});
      if (it == n.left.end() || it->first != t || it->second == 0) {
        n.possible = false;
        return n;
      }
      --it->second;
    }
    std::erase_if(n.left, [](const Count& e) { return e.second == 0; });
    for (const auto& [t, k] : n.left) n.total += k;
    n.possible = n.total >= n.open.size() + (Inside(laws) ? 0 : variables.size());
    n.variables = CountTerms(std::move(variables));
    return n;
  }

  bool Ac(const Goal& g) {
    const OperatorLaws& laws = *alg_.th_.Find(g.op);
    Needs n = Reduce(g);
    if (!n.possible) return false;
    std::vector<Term> pattern = n.open;
    for (const auto& [v, k] : n.variables) pattern.insert(pattern.end(), k, v);
    if (!n.open.empty()) {
      if (pattern.size() == 1 && n.total > 1 && !g.extension) return false;
      Goal next = g;
      next.p = AddWords(pattern);
      next.s = AddCounts(n.left);
      const uint32_t from = next.s.begin;
      return Open({.branch = Branch::kCandidate, .goal = next, .from = from});
    }
    if (n.variables.empty()) {
      if (g.extension) rest_ = AddCounts(n.left);
      return g.extension || n.total == 0;
    }
    if (n.variables.size() == 1 && !g.extension) {
      const auto [v, mult] = n.variables[0];
      for (auto& [t, k] : n.left) {
        if (k % mult) return false;
        k /= mult;
      }
      Bind(v, alg_.Make(g.op, laws, Expand(AddCounts(n.left))));
      return true;
    }
    if (now_ >= 0) {
      Goal later = g;
      later.next = later_;
      goals_.push_back(later);
      later_ = static_cast<int32_t>(goals_.size()) - 1;
      return true;
    }
    // The variable that occurs most often has the fewest ways.
    const auto [v, mult] =
        *std::max_element(n.variables.begin(), n.variables.end(),
                          [](const Count& a, const Count& b) { return a.second < b.second; });
    std::erase(pattern, v);
    Goal next = g;
    next.a = v;
    next.p = AddWords(pattern);
    next.s = AddCounts(n.left);
    Choice c{.branch = Branch::kPart, .goal = next};
    c.mult = mult;
    c.least = Inside(laws) ? 0 : static_cast<uint32_t>(pattern.size());
    c.pick.assign(n.left.size(), 0);
    return Open(std::move(c));
  }
  // Moves the goal with the fewest unbound variables from later_ to now_. Pre: now_ is empty, later_ is not.
  void PickLater() {
    std::vector<Goal> list;
    for (int32_t k = later_; k >= 0; k = goals_[static_cast<size_t>(k)].next) {
      list.push_back(goals_[static_cast<size_t>(k)]);
    }
    size_t best = 0;
    if (list.size() > 1) {
      std::pair<size_t, uint64_t> least{~size_t{0}, 0};
      for (size_t k = 0; k < list.size(); ++k) {
        const Needs n = Reduce(list[k]);
        const std::pair<size_t, uint64_t> cost{n.possible ? n.variables.size() : 0, n.total};
        if (cost < least) {
          least = cost;
          best = k;
        }
      }
    }
    later_ = -1;
    for (size_t k = list.size(); k-- > 0;) {
      if (k == best) continue;
      list[k].next = later_;
      goals_.push_back(list[k]);
      later_ = static_cast<int32_t>(goals_.size()) - 1;
    }
    Push(list[best]);
  }

  bool Associative(const Goal& g) {
    if (g.extension) {
      Goal next = g;
      next.extension = false;
      return Open({.branch = Branch::kWindow, .goal = next, .from = g.s.begin, .to = g.s.begin + g.p.size()});
    }
    uint32_t j = g.s.begin;
    for (uint32_t i = g.p.begin; i < g.p.end; ++i) {
      if (g.s.end - j < g.p.end - i || !meter_.Spend(1)) return false;
      const Term p = words_[i];
      if (!ctx_.IsVariable(p)) {
        if (ctx_.IsGround(p) ? p != words_[j] : !MayMatch(p, words_[j])) return false;
        if (!ctx_.IsGround(p)) Push({.a = p, .b = words_[j]});
        ++j;
        continue;
      }
      if (const Term v = Value(p); v != kNone) {
        std::vector<Term> args;
        alg_.AppendArguments(g.op, *alg_.th_.Find(g.op), v, args);
        if (g.s.end - j < args.size() || !std::equal(args.begin(), args.end(), words_.begin() + j))
          return false;
        j += static_cast<uint32_t>(args.size());
        continue;
      }
      Goal next = g;
      next.a = p;
      next.p.begin = i + 1;
      next.s.begin = j;
      const uint32_t most = g.s.end - j - next.p.size();
      if (next.p.size() == 0) {
        Bind(p, alg_.Make(g.op, *alg_.th_.Find(g.op), Words(next.s)));
        meter_.Spend(most);
        return true;
      }
      return Open({.branch = Branch::kPrefix, .goal = next, .from = most});
    }
    return j == g.s.end;
  }

  Algebra& alg_;
  Context& ctx_;
  const std::vector<Term> patterns_;
  const Algebra::UnitPlan plan_;
  Meter& meter_;
  absl::flat_hash_map<Term, uint32_t> slots_;
  std::vector<Term> value_;
  std::vector<uint32_t> trail_;
  std::vector<Goal> goals_;
  std::vector<Term> words_;
  Counted counts_;
  absl::flat_hash_set<TermPair> done_;
  std::vector<TermPair> done_trail_;
  std::vector<Choice> choices_;
  int32_t now_ = -1, later_ = -1;
  Slice whole_, part_, rest_;  // of the extension
};

}  // namespace retuple::internal

#endif  // RETUPLE_UNIFY_INTERNAL_AC_MATCHER_H_
