#include "rewrite/analysis.h"

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "rewrite/completion.h"
#include "rewrite/internal/first_order.h"
#include "rewrite/term_order.h"
#include "rewrite/termination.h"

namespace retuple {
namespace {

// Why a rule is not analysed; empty if it is.
std::string Unfit(Context& ctx, const Rule& rule, const FunctionRegistry& functions, const absl::flat_hash_set<Term>& commutative) {
  if (rule.backward) return "the other direction of a birewrite";
  if (!rule.conditions.empty()) return "it has conditions";
  const Term sides[] = {rule.lhs, rule.rhs};
  if (!OperatorsOf(ctx, sides).has_value()) return "it is not first-order";
  if (ctx.IsVariable(rule.lhs)) return "its left side is a variable";
  for (Term t : PostOrder(ctx, rule.rhs)) {
    if (ctx.IsTuple(t) && !t.is_nil() && functions.Has(ctx.Rator(t))) return "it computes with " + std::string(ctx.Text(ctx.Rator(t)));
  }
  for (Term t : PostOrder(ctx, rule.lhs)) {
    auto c = ctx.Children(t);
    if (c.size() == 3 && commutative.contains(c[0])) return std::string(ctx.Text(c[0])) + " is commutative";
    if (c.size() == 3 && c[0] == ctx.Sym("as")) return "it names a part";
  }
  return "";
}

}  // namespace

RuleAnalysis AnalyseRules(Context& ctx, const RuleSet& rules, const FunctionRegistry& functions,
                          const absl::flat_hash_set<Term>& commutative, size_t max_divergent) {
  RuleAnalysis out;
  std::vector<const Rule*> analysed;
  std::vector<Equation> equations;
  for (const Rule& r : rules.rules()) {
    std::string reason = Unfit(ctx, r, functions, commutative);
    if (!reason.empty()) {
      out.left_out.push_back({&r, std::move(reason)});
      continue;
    }
    analysed.push_back(&r);
    equations.emplace_back(r.lhs, r.rhs);
  }
  out.rules = equations.size();
  out.termination = FindTermination(ctx, equations);
  if (!out.terminates()) {
    for (size_t k = 0; k < equations.size(); ++k) {
      if (!FindTermination(ctx, std::span<const Equation>(&equations[k], 1)).has_value()) out.rising.push_back(analysed[k]);
    }
  }
  internal::FirstOrderRewriter rewriter(ctx);
  if (out.terminates()) {
    for (const Equation& e : equations) rewriter.Add(e);
  }
  for (size_t a = 0; a < equations.size(); ++a) {
    for (size_t b = 0; b <= a; ++b) {
      const auto pairs = CriticalPairs(ctx, equations, a, b);
      if (!pairs.ok()) {
        ++out.not_compared;
        continue;
      }
      for (const CriticalPair& p : *pairs) {
        ++out.overlaps;
        const Term left = out.terminates() ? rewriter.Normalize(p.left) : p.left;
        const Term right = out.terminates() ? rewriter.Normalize(p.right) : p.right;
        if (left == right || out.divergent.size() >= max_divergent) continue;
        out.divergent.push_back({analysed[p.outer], analysed[p.inner], p.peak, left, right});
      }
    }
  }
  return out;
}

std::string RuleAnalysis::ToString(const Context& ctx) const {
  std::string s = absl::StrFormat("%d rules analysed, %d left out\n", rules, left_out.size());
  if (terminates()) {
    s += "termination: shown by " + *termination + "\n";
  } else {
    s += "termination: not shown\n";
    for (const Rule* r : rising) s += "  " + r->Where() + ": nothing shows that it ends even alone\n";
  }
  s += absl::StrFormat("overlaps: %d, %s\n", overlaps,
                       divergent.empty()  ? "each with one result"
                       : terminates()     ? absl::StrFormat("%d with two results", divergent.size())
                                          : absl::StrFormat("%d with two results at first, not reduced further", divergent.size()));
  for (const RuleOverlap& o : divergent) {
    s += absl::StrFormat("  %s\n  %s\n    %s becomes %s\n    or %s\n", o.outer->Where(), o.inner->Where(), Brief(ctx, o.peak), Brief(ctx, o.left),
                         Brief(ctx, o.right));
  }
  if (not_compared > 0) s += absl::StrFormat("%d pairs of rules are too large to look for overlaps\n", not_compared);
  s += confluent() ? "confluence: shown\n" : "confluence: not shown\n";
  return s;
}

}  // namespace retuple
