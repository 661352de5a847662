// The functions of ac.h, on the algebra, the solver, the matcher and the filter of unify/internal/ac_*.h.
#include "unify/ac.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "unify/internal/ac_algebra.h"
#include "unify/internal/ac_filter.h"
#include "unify/internal/ac_matcher.h"
#include "unify/internal/ac_solver.h"

namespace retuple {

using internal::Algebra;
using internal::DropInstances;
using internal::FreshPool;
using internal::kMaxPrepare;
using internal::kNone;
using internal::Matcher;
using internal::Meter;
using internal::Solve;
using internal::SolveResult;
using internal::TermPair;

Theory& Theory::Set(Term op, OperatorLaws laws) {
  auto it = std::lower_bound(operators.begin(), operators.end(), op,
                             [](const auto& e, Term t) { return e.first < t; });
  if (it != operators.end() && it->first == op) {
    it->second = laws;
  } else {
    operators.insert(it, {op, laws});
  }
  return *this;
}

const OperatorLaws* Theory::Find(Term op) const {
  auto it = std::lower_bound(operators.begin(), operators.end(), op,
                             [](const auto& e, Term t) { return e.first < t; });
  return it != operators.end() && it->first == op ? &it->second : nullptr;
}

absl::StatusOr<AcUnifiers> AcUnify(Context& ctx, const Theory& theory, Term a, Term b,
                                   const AcOptions& options) {
  std::vector<Term> variables = Variables(ctx, a);
  absl::flat_hash_set<Term> known(variables.begin(), variables.end());
  for (Term v : Variables(ctx, b)) {
    if (known.insert(v).second) variables.push_back(v);
  }
  Algebra alg(ctx, theory);
  Term roots[] = {a, b};
  if (absl::Status s = alg.Prepare(roots); !s.ok()) return s;
  uint64_t splits = options.max_assoc_splits;
  for (Term t : PostOrder(ctx, roots)) {
    const OperatorLaws* laws = alg.Laws(t);
    if (laws && laws->assoc && !laws->comm) splits += ctx.Rands(t).size();
  }
  const auto max_splits = static_cast<uint32_t>(std::min<uint64_t>(splits, ~uint32_t{0}));
  AcUnifiers out;
  Meter meter{0, options.max_steps};
  FreshPool fresh(ctx);
  absl::flat_hash_set<std::vector<Term>> seen;
  bool incomparable = false;
  const Algebra::UnitPlan plan = alg.PlanUnits(roots);
  Algebra::ForEachUnitChoice(plan, [&](const std::vector<TermPair>& chosen) {
    std::vector<TermPair> equations = chosen;
    equations.emplace_back(roots[0], roots[1]);
    const SolveResult r = Solve(alg, plan.inside, options, variables, fresh, meter, seen, equations, max_splits, out);
    out.complete &= r.finished && !r.cut;
    incomparable = plan.inside && r.incomparable;
    return r.finished;
  });
  out.steps = meter.steps;
  alg.overflow_ = false;
  if (options.irredundant && (!incomparable || options.always_test)) {
    out.irredundant = DropInstances(alg, !plan.units.empty(), fresh, out.unifiers, options.max_steps);
  } else {
    out.irredundant = incomparable || out.unifiers.size() < 2;
  }
  return out;
}

absl::StatusOr<AcMatches> AcMatch(Context& ctx, const Theory& theory, Term pattern, Term subject,
                                  bool extension, const AcOptions& options) {
  const std::vector<Term> variables = Variables(ctx, pattern);
  Algebra alg(ctx, theory);
  Term roots[] = {pattern, subject};
  if (absl::Status s = alg.Prepare(roots); !s.ok()) return s;
  AcMatches out;
  absl::flat_hash_set<std::vector<Term>> seen;
  Meter meter{0, options.max_steps};
  Matcher m(alg, {roots[0]}, variables, meter);
  auto accept = [&] {
    AcMatchResult r{{}, m.before(), m.after()};
    std::vector<Term> key = m.values();
    for (const auto* part : {&r.before, &r.after}) {
      key.push_back(kNone);
      key.insert(key.end(), part->begin(), part->end());
    }
    meter.Spend(key.size() * 2);
    if (!seen.insert(std::move(key)).second) return false;
    if (out.matches.size() >= options.max_unifiers) {
      out.complete = false;
      return true;
    }
    for (size_t i = 0; i < variables.size(); ++i) r.bindings.emplace_back(variables[i], m.values()[i]);
    out.matches.push_back(std::move(r));
    return false;
  };
  out.complete &= m.Match({&roots[1], 1}, extension, accept);
  out.steps = meter.steps;
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
  Meter meter{0, kMaxPrepare};
  const Term r = alg.Apply(roots[0], memo, meter, false, [](Term v) { return v; });
  if (alg.overflow_) return Algebra::TooLarge();
  return r;
}

}  // namespace retuple
