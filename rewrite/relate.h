// Rules as relations: the third engine. A rule of the rule language becomes a clause of a miniKanren relation and so runs in both directions:
// from a term to what it rewrites to, and from a result to what it may have come from.
//
//   auto skipped = RelateRules(ctx, program, loader.rules(), functions, "algebra");
//   program.Solve(?t, {(algebra ?t (Mul 2 x))})      ; what rewrites to (Mul 2 x) in one step, anywhere in it
//
// Three relations are defined: `NAME/root` (a rule at the root), `NAME` (one rule, once, at any place of the term) and `NAME*` (any number of
// steps, none first). Guards become goals that wait until their arguments are ground and stand with the answer if they never are. What a
// pattern means to the normalizer it means here: keywords are found by name, a number is also a constant that equals it, and the operands
// of a commutative operator stand in either order. Rules that compute (`:let`, function calls on the right, rest variables that are not
// last) have no relation; they are listed.
#ifndef RETUPLE_REWRITE_RELATE_H_
#define RETUPLE_REWRITE_RELATE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "rewrite/functions.h"
#include "rewrite/rule.h"
#include "unify/relational.h"

namespace retuple {

struct SkippedRule {
  std::string rule;    // its Where()
  std::string reason;
};

// InvalidArgument if a name is taken. `functions` must outlive the program; `commutative` are the operators of the rules' table.
absl::StatusOr<std::vector<SkippedRule>> RelateRules(Context& ctx, Program& program, const RuleSet& rules,
                                                     const FunctionRegistry& functions, const std::string& name,
                                                     const absl::flat_hash_set<Term>& commutative = {});

struct RelationRewriteOptions {
  // Chooses among the first `answers` results at a node: its index, or -1 for none. Default: the first without constraints.
  std::function<int(Term node, const std::vector<Answer>& answers)> choose;
  size_t answers = 8;
  // Nodes at which the relation is tried; default: all tuples.
  std::function<bool(Term node)> node_filter;
  // Rewrites stop after this many times the nodes of the term; the result is then partial.
  double max_use_ratio = 1000;
  QueryLimits limits = {.steps = 10'000'000};
};

struct RelationRewriteReport {
  uint64_t tried = 0, applied = 0;
  bool complete = true;  // a fixed point was reached
};

// Applies a binary relation at the nodes of a term, operands first, until none applies (what Aesara's KanrenRelationSub does under an
// equilibrium). Selections `(nth i app)` are nodes, so a rule may speak of one output of several. Shared nodes are rewritten once.
absl::StatusOr<Term> RewriteByRelation(Context& ctx, Program& program, const std::string& relation, Term root,
                                       const RelationRewriteOptions& options = {}, RelationRewriteReport* report = nullptr);

}  // namespace retuple

#endif  // RETUPLE_REWRITE_RELATE_H_
