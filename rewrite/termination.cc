#include "rewrite/termination.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "rewrite/term_order.h"

namespace retuple {
namespace {

using Pairs = std::span<const std::pair<Term, Term>>;

Term OperatorOf(const Context& ctx, Term t) { return ctx.IsTuple(t) && !t.is_nil() ? ctx.Rator(t) : t; }

// The sum c + Σ n·x of a term's numbers, by variable. Exact up to 2^53; what is larger is no proof.
struct Linear {
  double constant = 0;
  std::map<Term, double> of;
  bool exact() const {
    constexpr double kExact = 9007199254740992.0;
    return constant < kExact && std::all_of(of.begin(), of.end(), [](const auto& v) { return v.second < kExact; });
  }
  // Every variable at least as often.
  bool Covers(const Linear& other) const {
    return std::all_of(other.of.begin(), other.of.end(), [&](const auto& v) {
      const auto it = of.find(v.first);
      return it != of.end() && it->second >= v.second;
    });
  }
};

// Coefficients of the operators: constant, then one for each argument.
using Coefficients = absl::flat_hash_map<Term, std::vector<int>>;

// A variable counts `variable` besides itself: the weight of a variable in the Knuth-Bendix order.
Linear Evaluate(const Context& ctx, const Coefficients& k, double variable, Term root) {
  absl::flat_hash_map<Term, Linear> done;
  for (Term t : PostOrder(ctx, root)) {
    Linear l;
    if (ctx.IsVariable(t)) {
      l.constant = variable;
      l.of[t] = 1;
    } else if (const auto it = k.find(OperatorOf(ctx, t)); it != k.end()) {
      l.constant = it->second[0];
      auto args = ctx.Rands(t);
      for (size_t i = 0; i < args.size(); ++i) {
        const double a = it->second[i + 1];
        const Linear& arg = done.at(args[i]);
        l.constant += a * arg.constant;
        for (const auto& [v, n] : arg.of) l.of[v] += a * n;
      }
    }
    done[t] = std::move(l);
  }
  return done.at(root);
}

bool KboGreater(const Context& ctx, const Precedence& p, const Coefficients& weights, Term s, Term t) {
  // Goes down the first arguments that differ.
  for (;;) {
    if (s == t) return false;
    const Linear a = Evaluate(ctx, weights, 1, s), b = Evaluate(ctx, weights, 1, t);
    if (!a.exact() || !b.exact() || !a.Covers(b)) return false;
    if (a.constant != b.constant) return a.constant > b.constant;
    if (ctx.IsVariable(s) || ctx.IsVariable(t)) return false;  // weights are positive, so f(x) is heavier than x
    const Term f = OperatorOf(ctx, s), g = OperatorOf(ctx, t);
    if (f != g) return p.Greater(f, g);
    auto as = ctx.Rands(s), bs = ctx.Rands(t);
    size_t i = 0;
    while (i < as.size() && i < bs.size() && as[i] == bs[i]) ++i;
    if (i == as.size() || i == bs.size()) return as.size() > bs.size();
    const Term next = as[i];
    t = bs[i];
    s = next;
  }
}

bool PolynomialGreater(const Context& ctx, const Coefficients& k, Term s, Term t) {
  const Linear a = Evaluate(ctx, k, 0, s), b = Evaluate(ctx, k, 0, t);
  return a.exact() && b.exact() && a.Covers(b) && a.constant > b.constant;
}

// Improves the coefficients one at a time, each to the value in [least, most] by which most pairs go down, until all do or none helps.
template <typename Score>
bool Climb(std::vector<std::pair<Term, size_t>>& places, Coefficients& k, int least_constant, int least_factor, int most, size_t wanted, Score score) {
  size_t best = score();
  for (bool better = true; better && best < wanted;) {
    better = false;
    for (const auto& [f, i] : places) {
      const int old = k[f][i];
      int keep = old;
      for (int v = i == 0 ? least_constant : least_factor; v <= most; ++v) {
        if (v == old) continue;
        k[f][i] = v;
        const size_t n = score();
        if (n <= best) continue;
        best = n;
        keep = v;
        better = true;
      }
      k[f][i] = keep;
      if (best == wanted) break;
    }
  }
  return best == wanted;
}

}  // namespace

std::optional<std::string> FindTermination(const Context& ctx, Pairs pairs) {
  if (const auto p = FindPrecedence(ctx, pairs)) {
    return "lexicographic path order" + (p->operators().size() > 1 ? ", " + p->ToString(ctx) : std::string());
  }
  std::vector<Term> sides;
  for (const auto& [l, r] : pairs) sides.insert(sides.end(), {l, r});
  const auto operators = OperatorsOf(ctx, sides);
  if (!operators.has_value()) return std::nullopt;
  // Large sets and terms would take long, and seldom have such a proof.
  uint64_t nodes = 0;
  for (Term t : sides) nodes += std::min<uint64_t>(ctx.TreeSize(t), 1'000'000);
  if (nodes * operators->size() > 100'000) return std::nullopt;

  std::map<Term, size_t> arity;
  for (Term root : sides) {
    for (Term t : PostOrder(ctx, root)) {
      if (!ctx.IsVariable(t)) arity[OperatorOf(ctx, t)] = std::max(arity[OperatorOf(ctx, t)], ctx.Rands(t).size());
    }
  }
  const auto start = [&](int constant) {
    Coefficients k;
    for (Term f : *operators) {
      k[f].assign(arity[f] + 1, 1);
      k[f][0] = constant;
    }
    return k;
  };
  std::vector<std::pair<Term, size_t>> constants, all;
  for (Term f : *operators) {
    constants.emplace_back(f, 0);
    for (size_t i = 0; i <= arity[f]; ++i) all.emplace_back(f, i);
  }
  {
    const Precedence p(*operators);
    Coefficients k = start(1);
    const auto score = [&] {
      return static_cast<size_t>(std::count_if(pairs.begin(), pairs.end(), [&](const auto& e) { return KboGreater(ctx, p, k, e.first, e.second); }));
    };
    if (Climb(constants, k, 1, 1, 4, pairs.size(), score)) {
      std::string s = "Knuth-Bendix order, weights";
      for (Term f : *operators) s += absl::StrFormat(" %s:%d", PrintTerm(ctx, f), k[f][0]);
      return s + ", " + p.ToString(ctx);
    }
  }
  Coefficients k = start(0);
  const auto score = [&] {
    return static_cast<size_t>(std::count_if(pairs.begin(), pairs.end(), [&](const auto& e) { return PolynomialGreater(ctx, k, e.first, e.second); }));
  };
  // From small constants and from larger ones: a climb ends at the nearest top.
  for (int constant : {1, 0, 2}) {
    k = start(constant);
    if (!Climb(all, k, 0, 1, 4, pairs.size(), score)) continue;
    std::string s = "linear polynomials:";
    for (Term f : *operators) {
      std::string sum;
      for (size_t i = 1; i < k[f].size(); ++i) {
        sum += (sum.empty() ? "" : " + ") + (k[f][i] == 1 ? std::string() : absl::StrFormat("%d ", k[f][i])) + absl::StrFormat("x%d", i);
      }
      if (k[f][0] != 0 || sum.empty()) sum += (sum.empty() ? "" : " + ") + std::to_string(k[f][0]);
      s += absl::StrFormat(" %s = %s;", PrintTerm(ctx, f), sum);
    }
    s.pop_back();
    return s;
  }
  return std::nullopt;
}

}  // namespace retuple
