#include "rewrite/completion.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "rewrite/internal/first_order.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

using internal::FirstOrderRewriter;
using internal::Instance;
using internal::Match;

// Gives variables of the terms names in order of occurrence: ?x ?y ?z ?u ?v ?w ?x1 … A different `mark` makes them disjoint.
void Name(Context& ctx, std::initializer_list<Term*> terms, const std::string& mark = "") {
  static constexpr const char* kNames[] = {"x", "y", "z", "u", "v", "w"};
  Match names;
  for (const Term* t : terms) {
    for (Term v : Variables(ctx, *t)) {
      if (std::any_of(names.begin(), names.end(), [&](const auto& n) { return n.first == v; })) continue;
      const size_t k = names.size();
      names.emplace_back(v, ctx.Variable(kNames[k % 6] + (k < 6 ? std::string() : std::to_string(k / 6)) + mark));
    }
  }
  for (Term* t : terms) *t = Instance(ctx, *t, names);
}
Equation Named(Context& ctx, Equation e, const std::string& mark = "") {
  Name(ctx, {&e.first, &e.second}, mark);
  return e;
}

// `t` with `part` at the place of a path of child numbers.
Term Replaced(Context& ctx, Term t, std::span<const uint32_t> path, Term part) {
  std::vector<Term> way = {t};
  for (uint32_t i : path) way.push_back(ctx.Children(way.back())[i]);
  for (size_t k = path.size(); k-- > 0;) {
    std::vector<Term> children(ctx.Children(way[k]).begin(), ctx.Children(way[k]).end());
    children[path[k]] = part;
    part = ctx.Tuple(children);
  }
  return part;
}

// Overlaps of `inner` at the places of `outer`'s left side; not at its root if `proper`.
void Overlaps(Context& ctx, const Equation& outer, const Equation& inner, bool proper, std::vector<CriticalPair>& out) {
  const Equation self = Named(ctx, outer), other = Named(ctx, inner, "~");
  std::vector<std::vector<uint32_t>> places = {{}};
  std::vector<Term> terms = {self.first};
  while (!places.empty()) {
    const std::vector<uint32_t> place = std::move(places.back());
    const Term t = terms.back();
    places.pop_back();
    terms.pop_back();
    if (ctx.IsVariable(t)) continue;
    auto c = ctx.Children(t);
    for (size_t i = c.size(); i-- > 1;) {
      places.push_back(place);
      places.back().push_back(static_cast<uint32_t>(i));
      terms.push_back(c[i]);
    }
    if (proper && place.empty()) continue;
    Substitution s;
    if (!Unify(ctx, t, other.first, s)) continue;
    CriticalPair p{};
    p.peak = Reify(ctx, self.first, s);
    p.left = Reify(ctx, self.second, s);
    p.right = Reify(ctx, Replaced(ctx, self.first, place, other.second), s);
    Name(ctx, {&p.peak, &p.left, &p.right});
    out.push_back(p);
  }
}

class Completer {
 public:
  Completer(Context& ctx, const CompletionOptions& options, Precedence precedence)
      : ctx_(ctx), options_(options), precedence_(std::move(precedence)), rewriter_(ctx) {}

  Completion Run(std::span<const Equation> equations) {
    for (const Equation& e : equations) Push(e);
    std::vector<Equation> waiting;
    while (!queue_.empty()) {
      const auto [size, age, l, r] = queue_.top();
      queue_.pop();
      ++out_.equations;
      if (out_.equations > options_.most_pairs) return Stop("more equations than the limit allows");
      const Term s = rewriter_.Normalize(l), t = rewriter_.Normalize(r);
      if (s == t) continue;
      const Equation e = Named(ctx_, {s, t});
      const Order order = LpoCompare(ctx_, precedence_, e.first, e.second);
      if (order != Order::kGreater && order != Order::kLess) {
        if (std::find(waiting.begin(), waiting.end(), e) == waiting.end()) waiting.push_back(e);
        continue;
      }
      if (auto status = AddRule(order == Order::kGreater ? e : Equation{e.second, e.first}); !status.ok()) {
        return Stop(std::string(status.message()));
      }
      if (rules_.size() > options_.most_rules) return Stop("more rules than the limit allows");
      // What waits may be smaller now.
      for (const Equation& w : waiting) Push(w);
      waiting.clear();
    }
    out_.stuck = waiting;
    if (!waiting.empty()) {
      return Stop(absl::StrFormat("%s = %s cannot be oriented", PrintTerm(ctx_, waiting[0].first), PrintTerm(ctx_, waiting[0].second)));
    }
    out_.complete = true;
    return Stop("");
  }

 private:
  void Push(const Equation& e) { queue_.emplace(ctx_.TreeSize(e.first) + ctx_.TreeSize(e.second), age_++, e.first, e.second); }

  Completion Stop(std::string reason) {
    out_.reason = std::move(reason);
    out_.precedence = precedence_;
    for (const Equation& r : rules_) out_.rules.push_back(Named(ctx_, r));
    std::stable_sort(out_.rules.begin(), out_.rules.end(),
                     [&](const Equation& a, const Equation& b) { return ctx_.TreeSize(a.first) < ctx_.TreeSize(b.first); });
    return std::move(out_);
  }

  absl::Status AddRule(Equation rule) {
    rule = Named(ctx_, rule);
    // A rule whose left side the new one reduces is an equation again; right sides become normal forms.
    FirstOrderRewriter alone(ctx_);
    alone.Add(rule);
    std::vector<Equation> kept;
    for (const Equation& r : rules_) {
      if (alone.Reduces(r.first)) {
        rewriter_.Remove(r);
        Push(r);
      } else {
        kept.push_back(r);
      }
    }
    rules_ = std::move(kept);
    rewriter_.Add(rule);
    rules_.push_back(rule);
    for (Equation& r : rules_) {
      const Term right = rewriter_.Normalize(r.second);
      if (right == r.second) continue;
      rewriter_.Remove(r);
      r.second = right;
      rewriter_.Add(r);
    }
    const size_t last = rules_.size() - 1;
    for (size_t k = 0; k < rules_.size(); ++k) {
      const auto pairs = CriticalPairs(ctx_, rules_, last, k);
      if (!pairs.ok()) return pairs.status();
      for (const CriticalPair& p : *pairs) {
        ++out_.critical_pairs;
        if (p.left != p.right) Push({p.left, p.right});
      }
    }
    return absl::OkStatus();
  }

  using Item = std::tuple<uint64_t, uint64_t, Term, Term>;  // size, age, sides
  Context& ctx_;
  const CompletionOptions& options_;
  Precedence precedence_;
  FirstOrderRewriter rewriter_;
  std::vector<Equation> rules_;
  std::priority_queue<Item, std::vector<Item>, std::greater<Item>> queue_;
  uint64_t age_ = 0;
  Completion out_;
};

}  // namespace

absl::StatusOr<std::vector<CriticalPair>> CriticalPairs(Context& ctx, std::span<const Equation> rules, size_t a, size_t b) {
  constexpr double kMostWork = 1e8;  // places times nodes to compare
  const double work = static_cast<double>(ctx.TreeSize(rules[a].first)) * static_cast<double>(ctx.TreeSize(rules[b].first));
  if (work > kMostWork) return absl::ResourceExhaustedError("the left sides are too large to look for all overlaps");
  std::vector<CriticalPair> out;
  Overlaps(ctx, rules[a], rules[b], a == b, out);
  for (CriticalPair& p : out) p.outer = a, p.inner = b;
  if (a == b) return out;
  // The overlap at both roots is there already.
  const size_t first = out.size();
  Overlaps(ctx, rules[b], rules[a], true, out);
  for (size_t k = first; k < out.size(); ++k) out[k].outer = b, out[k].inner = a;
  return out;
}

absl::StatusOr<Completion> Complete(Context& ctx, std::span<const Equation> equations, const CompletionOptions& options) {
  std::vector<Term> sides;
  for (const auto& [l, r] : equations) sides.insert(sides.end(), {l, r});
  const auto operators = OperatorsOf(ctx, sides);
  if (!operators.has_value()) {
    return absl::InvalidArgumentError("completion is for first-order terms: variables, constants, and operators at the head of a tuple");
  }
  if (options.precedence.has_value()) return Completer(ctx, options, *options.precedence).Run(equations);
  // The orders of the operators in turn; those that fail soon cost little. A small budget first, so that one that goes on for ever does not
  // keep the others waiting.
  constexpr size_t kMostPermuted = 6;
  std::optional<Completion> best;
  for (uint64_t budget : {uint64_t{2'000}, options.most_pairs}) {
    CompletionOptions bounded = options;
    bounded.most_pairs = std::min(budget, options.most_pairs);
    std::vector<size_t> at(operators->size());
    for (size_t i = 0; i < at.size(); ++i) at[i] = i;
    do {
      std::vector<Term> order;
      for (size_t i : at) order.push_back((*operators)[i]);
      Completion c = Completer(ctx, bounded, Precedence(order)).Run(equations);
      if (c.complete) return c;
      if (!best.has_value() || c.rules.size() > best->rules.size()) best = std::move(c);
    } while (operators->size() <= kMostPermuted && std::next_permutation(at.begin(), at.end()));
    if (bounded.most_pairs == options.most_pairs) break;
  }
  return *best;
}

}  // namespace retuple
