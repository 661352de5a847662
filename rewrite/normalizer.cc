#include "rewrite/normalizer.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "rewrite/apply.h"

namespace retuple {
namespace {

constexpr size_t kRecent = 256;  // applications remembered to name the rules of a run that does not end

}  // namespace

std::string_view StopReasonName(StopReason r) {
  static constexpr std::string_view kNames[] = {"normal form", "fuel", "cycle", "pass limit"};
  return kNames[static_cast<int>(r)];
}

// Use counts of a pass, taken over by the terms that others become.
class Normalizer::Uses : public UseCounts {
 public:
  explicit Uses(Context& ctx) : ctx_(ctx), nth_(ctx.Sym("nth")) {}

  void Recount(std::span<const Term> roots) {
    map_.clear();
    for (Term t : PostOrder(ctx_, roots)) {
      auto children = ctx_.Children(t);
      for (Term c : children) ++map_[c].count;
      NoteOutput(t);
    }
    for (Term r : roots) ++map_[r].count;
  }
  // `t` has become `u`.
  void Merge(Term t, Term u) {
    auto it = map_.find(t);
    if (it == map_.end() || t == u) return;
    const Use use = it->second;
    Use& other = map_[u];
    other.count += use.count;
    other.outputs |= use.outputs;
  }
  uint32_t Count(Term t) const override {
    auto it = map_.find(t);
    return it == map_.end() || it->second.count == 0 ? 1 : it->second.count;
  }
  bool OutputUsed(Term t, int64_t i) const override {
    auto it = map_.find(t);
    if (it == map_.end() || i < 0 || i >= 64) return true;
    return (it->second.outputs >> i & 1) != 0;
  }

 private:
  struct Use {
    uint32_t count = 0;
    uint64_t outputs = 0;  // bit i: (nth i t) is used
  };
  void NoteOutput(Term t) {
    auto c = ctx_.Children(t);
    if (c.size() != 3 || c[0] != nth_ || ctx_.kind(c[1]) != Kind::kInteger) return;
    const int64_t i = ctx_.IntegerValue(c[1]);
    if (i >= 0 && i < 64) map_[c[2]].outputs |= uint64_t{1} << i;
  }
  Context& ctx_;
  Term nth_;
  absl::flat_hash_map<Term, Use> map_;
};

// A term being normalised. `original` is memoised when it is done, as is every term that it became on the way.
struct Normalizer::Frame {
  Term original;
  Term current;
  uint32_t next = 0;       // child to look at
  bool changed = false;    // some child became another
  bool rules_tried = false;
  absl::InlinedVector<Term, 4> became;
  absl::InlinedVector<Term, 4> children;  // normal forms so far
};

Normalizer::Normalizer(Context& ctx, const RuleSet& rules, const FunctionRegistry& functions, NormalizeOptions options)
    : ctx_(ctx), rules_(rules), functions_(functions), options_(std::move(options)), uses_(std::make_unique<Uses>(ctx)) {
  report_.stats.resize(rules.rules().size());
}
Normalizer::~Normalizer() = default;

bool Normalizer::TryRule(uint32_t id, Term t, Term* out) {
  const Rule& rule = rules_.rules()[id];
  if (rule.valid > options_.allow || rule.backward || !rule.pattern.MayMatch(ctx_, t)) return false;
  RuleStats& stats = report_.stats[id];
  ++stats.tried;
  RuleContext rc{ctx_, uses_.get()};
  const auto outcome = internal::ApplyRule(ctx_, rule, functions_, options_.types, rc, t, bindings_, out, nullptr);
  if (outcome == internal::Outcome::kNoMatch) return false;
  ++stats.matched;
  stats.guard_refused += outcome == internal::Outcome::kGuardRefused;
  stats.type_refused += outcome == internal::Outcome::kTypeRefused;
  if (outcome != internal::Outcome::kApplied) return false;
  ++stats.applied;
  ++report_.steps;
  if (recent_.size() < kRecent) {
    recent_.push_back(id);
  } else {
    recent_[(report_.steps - 1) % kRecent] = id;
  }
  if (options_.on_step) options_.on_step({&rule, t, *out});
  return true;
}

bool Normalizer::ApplyAt(Term t, Term* out) {
  for (uint32_t id : rules_.Candidates(ctx_.HeadSymbol(t))) {
    if (TryRule(id, t, out)) return true;
  }
  return false;
}

// The rules applied since step `first`, oldest first.
void Normalizer::FoundCycle(size_t first_step) {
  report_.stop = StopReason::kCycle;
  stopped_ = true;
  const size_t count = std::min<size_t>(report_.steps - first_step, std::min<size_t>(kRecent, report_.steps));
  for (size_t i = report_.steps - count; i < report_.steps; ++i) {
    const std::string& name = rules_.rules()[recent_[i % kRecent]].name;
    if (std::find(report_.cycle.begin(), report_.cycle.end(), name) == report_.cycle.end()) report_.cycle.push_back(name);
  }
}

// The shortest period in which the last applications repeat; without one, all rules among them.
void Normalizer::NamePeriod() {
  const size_t n = recent_.size();
  std::vector<uint32_t> last;
  for (size_t i = 0; i < n; ++i) last.push_back(recent_[(report_.steps - n + i) % kRecent]);
  size_t period = 1;
  for (; period * 2 <= n; ++period) {
    bool repeats = true;
    for (size_t i = n - period; i < n && repeats; ++i) repeats = last[i] == last[i - period];
    if (repeats) break;
  }
  const size_t from = period * 2 <= n ? n - period : 0;
  for (size_t i = from; i < n; ++i) {
    const std::string& name = rules_.rules()[last[i]].name;
    if (std::find(report_.cycle.begin(), report_.cycle.end(), name) == report_.cycle.end()) report_.cycle.push_back(name);
  }
}

Term Normalizer::WithChildren(const Frame& f) {
  if (!f.changed) return f.current;
  absl::InlinedVector<Term, 8> all(f.children.begin(), f.children.end());
  auto rest = ctx_.Children(f.current).subspan(f.children.size());
  all.insert(all.end(), rest.begin(), rest.end());
  return ctx_.Tuple(all);
}

Term Normalizer::NormalForm(Term root) {
  if (auto it = memo_.find(root); it != memo_.end()) return it->second;
  std::vector<Frame> stack;
  auto push = [&](Term t) {
    stack.emplace_back();
    stack.back().original = stack.back().current = t;
    active_.emplace(t, report_.steps);
  };
  Term result;  // of the frame popped last
  bool have_result = false;
  // The frame's term has become `t`: begin with it again. False when it comes back.
  auto become = [&](Frame& f, Term t) {
    uses_->Merge(f.current, t);
    f.became.push_back(f.current);
    f.current = t;
    f.next = 0;
    f.children.clear();
    f.changed = false;
    f.rules_tried = false;
    auto [it, fresh] = active_.try_emplace(t, report_.steps);
    if (!fresh) FoundCycle(it->second);
  };
  const bool outermost = options_.strategy == Strategy::kOutermost;
  push(root);
  while (!stack.empty()) {
    Frame& f = stack.back();
    if (have_result) {
      have_result = false;
      const Term child = ctx_.Children(f.current)[f.next];
      f.changed = f.changed || result != child;
      f.children.push_back(result);
      ++f.next;
      if (outermost && result != child && !stopped_) {
        become(f, WithChildren(f));  // try the root again before the next operand
        continue;
      }
    }
    Term done = f.current;
    bool finished = stopped_;
    if (!finished && !(f.current == f.original && f.became.empty())) {
      if (auto it = memo_.find(f.current); it != memo_.end()) {
        done = it->second;
        finished = true;
      }
    }
    if (finished && stopped_) done = WithChildren(f);
    if (!finished && outermost && !f.rules_tried) {
      f.rules_tried = true;
      Term out;
      if (report_.steps >= options_.fuel) {
        stopped_ = true;
        report_.stop = StopReason::kFuel;
        continue;
      }
      if (ApplyAt(f.current, &out)) {
        become(f, out);
        continue;
      }
    }
    if (!finished) {
      auto children = ctx_.Children(f.current);
      bool descend = false;
      while (f.next < children.size()) {
        const Term c = children[f.next];
        if (!ctx_.IsTuple(c) && !rules_.rewrites_atoms()) {
          f.children.push_back(c);
          ++f.next;
          continue;
        }
        auto it = memo_.find(c);
        if (it == memo_.end()) {
          if (auto a = active_.find(c); a != active_.end()) {
            // Its own normal form is asked for while it is being reduced.
            FoundCycle(a->second);
            break;
          }
          push(c);
          descend = true;
          break;
        }
        f.changed = f.changed || it->second != c;
        f.children.push_back(it->second);
        ++f.next;
      }
      if (descend || stopped_) continue;
      const Term rebuilt = WithChildren(f);
      if (rebuilt != f.current) {
        // Its children are normal now, so the next round goes straight to the rules.
        become(f, rebuilt);
        continue;
      }
      done = rebuilt;
      if (!outermost) {
        Term out;
        if (report_.steps >= options_.fuel) {
          stopped_ = true;
          report_.stop = StopReason::kFuel;
          continue;
        }
        if (ApplyAt(done, &out)) {
          become(f, out);
          continue;
        }
      }
      finished = true;
    }
    active_.erase(f.original);
    memo_[f.original] = done;
    uses_->Merge(f.current, done);
    for (Term t : f.became) {
      active_.erase(t);
      memo_[t] = done;
    }
    active_.erase(f.current);
    if (!stopped_) memo_[f.current] = memo_[done] = done;
    result = done;
    have_result = true;
    stack.pop_back();
  }
  return result;
}

std::vector<Term> Normalizer::Run(std::span<const Term> roots) {
  std::vector<Term> current(roots.begin(), roots.end());
  for (report_.passes = 1;; ++report_.passes) {
    memo_.clear();
    active_.clear();
    uses_->Recount(current);
    const std::vector<Term> before = current;
    for (Term& t : current) t = NormalForm(t);
    if (stopped_) {
      if (report_.stop == StopReason::kFuel) NamePeriod();
      return current;
    }
    if (current == before) break;
    if (report_.passes == options_.max_passes) {
      report_.stop = StopReason::kPassLimit;
      NamePeriod();
      break;
    }
  }
  return current;
}

}  // namespace retuple
