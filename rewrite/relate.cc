#include "rewrite/relate.h"

#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "etuple/reader.h"

namespace retuple {
namespace {

// The pattern without `(as ?v P)`: P, and `(== ?v P)` beside it.
Term WithoutAs(Context& ctx, Term root, std::vector<Term>& equations) {
  absl::flat_hash_map<Term, Term> done;
  const Term as = ctx.Sym("as"), equal = ctx.Sym("==");
  for (Term t : PostOrder(ctx, root)) {
    std::vector<Term> children;
    for (Term c : ctx.Children(t)) children.push_back(done.at(c));
    if (!ctx.IsTuple(t) || t.is_nil()) {
      done[t] = t;
    } else if (children.size() == 3 && children[0] == as && ctx.IsVariable(children[1])) {
      equations.push_back(ctx.Tuple({equal, children[1], children[2]}));
      done[t] = children[2];
    } else {
      done[t] = ctx.Tuple(children);
    }
  }
  return done.at(root);
}

// Why a side cannot be a term of the relational language; empty if it can.
std::string Unfit(const Context& ctx, Term root, const FunctionRegistry& functions) {
  for (Term t : PostOrder(ctx, root)) {
    auto c = ctx.Children(t);
    for (size_t i = 0; i + 1 < c.size(); ++i) {
      if (ctx.IsRest(c[i])) return "a rest variable is not the last of its tuple";
    }
    if (!c.empty() && functions.Has(c[0])) return "it computes with " + std::string(ctx.Text(c[0]));
  }
  return "";
}

std::vector<Term> PlainVariables(Context& ctx, Term t) {
  std::vector<Term> out;
  for (Term v : Variables(ctx, t)) {
    const Term plain = ctx.IsRest(v) ? ctx.Variable(ctx.Text(v)) : v;
    if (std::find(out.begin(), out.end(), plain) == out.end()) out.push_back(plain);
  }
  return out;
}

constexpr char kWalk[] = R"(
  (defrel (NAME ?t ?u)
    (conde ((NAME/root ?t ?u))
           ((fresh (?f ?as ?bs) (== ?t (?f ..?as)) (== ?u (?f ..?bs)) (NAME/args ?as ?bs)))))
  (defrel (NAME/args ?as ?bs)
    (fresh (?a ?as1 ?b ?bs1)
      (== ?as (?a ..?as1)) (== ?bs (?b ..?bs1))
      (conde ((== ?as1 ?bs1) (NAME ?a ?b))
             ((== ?a ?b) (NAME/args ?as1 ?bs1)))))
  (defrel (NAME* ?t ?u)
    (conde ((== ?t ?u))
           ((fresh (?m) (NAME ?t ?m) (NAME* ?m ?u)))))
)";

}  // namespace

absl::StatusOr<std::vector<SkippedRule>> RelateRules(Context& ctx, Program& program, const RuleSet& rules,
                                                     const FunctionRegistry& functions, const std::string& name) {
  std::vector<SkippedRule> skipped;
  const Term from = ctx.Variable("from~"), to = ctx.Variable("to~"), equal = ctx.Sym("==");
  std::vector<Term> clauses = {ctx.Sym("conde")};
  for (const Rule& rule : rules.rules()) {
    std::vector<Term> equations;
    const Term lhs = WithoutAs(ctx, rule.lhs, equations);
    std::string reason = Unfit(ctx, lhs, functions);
    if (reason.empty()) reason = Unfit(ctx, rule.rhs, functions);
    for (const Condition& c : rule.conditions) {
      if (reason.empty() && c.slot >= 0) reason = "it has a :let";
    }
    if (!reason.empty()) {
      skipped.push_back({rule.Where(), reason});
      continue;
    }
    std::vector<Term> goals = {ctx.Sym("fresh"), Term(), ctx.Tuple({equal, from, lhs}), ctx.Tuple({equal, to, rule.rhs})};
    goals.insert(goals.end(), equations.begin(), equations.end());
    std::vector<Term> all = {lhs, rule.rhs};
    all.insert(all.end(), equations.begin(), equations.end());
    int number = 0;
    for (const Condition& c : rule.conditions) {
      const std::vector<Term> variables = PlainVariables(ctx, c.expression);
      const std::string guard = name + "/" + rule.name + "/when" + std::to_string(number++) + (rule.backward ? "-back" : "");
      // The predicate gets the values of the guard's variables and evaluates its template.
      const Template compiled = Template::Compile(ctx, c.expression, variables);
      auto s = program.AddPredicate(guard, [&ctx, &functions, compiled](std::span<const Term> values) {
        RuleContext rc{ctx, nullptr};
        auto v = compiled.Instantiate(ctx, Bindings(values.begin(), values.end()), functions.names(),
                                      [&](Term f, std::span<const Term> args) { return functions.Call(rc, f, args); });
        return v.ok() && *v == functions.True();
      });
      if (!s.ok()) return s;
      std::vector<Term> goal = {ctx.Sym(guard)};
      goal.insert(goal.end(), variables.begin(), variables.end());
      goals.push_back(ctx.Tuple(goal));
      all.push_back(c.expression);
    }
    goals[1] = ctx.Tuple(PlainVariables(ctx, ctx.Tuple(all)));
    const Term body = ctx.Tuple(goals);
    clauses.push_back(ctx.Tuple(std::span<const Term>(&body, 1)));
  }
  const Term root = ctx.Tuple({ctx.Sym("defrel"), ctx.Tuple({ctx.Sym(name + "/root"), from, to}), ctx.Tuple(clauses)});
  if (auto s = program.Define(root); !s.ok()) return s;
  std::string text = kWalk;
  for (size_t i; (i = text.find("NAME")) != std::string::npos;) text.replace(i, 4, name);
  auto forms = ReadForms(ctx, text);
  if (!forms.ok()) return forms.status();
  for (const Form& f : *forms) {
    if (auto s = program.Define(f.term); !s.ok()) return s;
  }
  return skipped;
}

absl::StatusOr<Term> RewriteByRelation(Context& ctx, Program& program, const std::string& relation, Term root,
                                       const RelationRewriteOptions& options, RelationRewriteReport* report) {
  RelationRewriteReport own;
  RelationRewriteReport& r = report != nullptr ? *report : own;
  r = {};
  const uint64_t limit =
      static_cast<uint64_t>(options.max_use_ratio * static_cast<double>(ctx.DagSize(std::span<const Term>(&root, 1)))) + 1;
  const Term query = ctx.Variable("q"), name = ctx.Sym(relation);
  absl::flat_hash_map<Term, Term> normal;  // of tuples at which nothing applies any more: themselves
  for (bool changed = true; changed;) {
    changed = false;
    absl::flat_hash_map<Term, Term> now;
    for (Term t : PostOrder(ctx, root)) {
      if (!ctx.IsTuple(t) || t.is_nil()) {
        now[t] = t;
        continue;
      }
      std::vector<Term> children;
      for (Term c : ctx.Children(t)) children.push_back(now.at(c));
      const Term u = ctx.Tuple(children);
      now[t] = u;
      if (u != t) changed = true;
      if (normal.contains(u) || (options.node_filter && !options.node_filter(u))) continue;
      if (r.applied >= limit) {
        r.complete = false;
        continue;
      }
      ++r.tried;
      const std::vector<Term> goals = {ctx.Tuple({name, u, query})};
      auto answers = Run(program, options.answers, query, goals, options.limits);
      if (!answers.ok()) return answers.status();
      int chosen = -1;
      if (options.choose) {
        chosen = options.choose(u, *answers);
      } else {
        for (size_t i = 0; i < answers->size() && chosen < 0; ++i) {
          if ((*answers)[i].constraints.empty() && (*answers)[i].value != u && ctx.IsGround((*answers)[i].value)) {
            chosen = static_cast<int>(i);
          }
        }
      }
      if (chosen < 0 || static_cast<size_t>(chosen) >= answers->size() || (*answers)[static_cast<size_t>(chosen)].value == u) {
        normal[u] = u;
        continue;
      }
      now[t] = (*answers)[static_cast<size_t>(chosen)].value;
      ++r.applied;
      changed = true;
    }
    root = now.at(root);
    if (!r.complete) break;
  }
  return root;
}

}  // namespace retuple
