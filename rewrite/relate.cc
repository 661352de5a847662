#include "rewrite/relate.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "etuple/reader.h"
#include "unify/library.h"

namespace retuple {
namespace {

// What must be equal to what: a variable, and a pattern.
using Equation = std::pair<Term, Term>;

// The pattern with ?v in the place of `(as ?v P)`, and ?v = P among the equations, inner ones first.
Term WithoutAs(Context& ctx, Term root, std::vector<Equation>& equations) {
  absl::flat_hash_map<Term, Term> done;
  const Term as = ctx.Sym("as");
  for (Term t : PostOrder(ctx, root)) {
    std::vector<Term> children;
    for (Term c : ctx.Children(t)) children.push_back(done.at(c));
    if (!ctx.IsTuple(t) || t.is_nil()) {
      done[t] = t;
    } else if (children.size() == 3 && children[0] == as && ctx.IsVariable(children[1])) {
      equations.emplace_back(children[1], children[2]);
      done[t] = children[1];
    } else {
      done[t] = ctx.Tuple(children);
    }
  }
  return done.at(root);
}

// A pattern in terms of the relational language, and the goals that say what the pattern language says besides.
class Side {
 public:
  Side(Context& ctx, bool numbers_match_constants) : ctx_(ctx), numbers_(numbers_match_constants) {}
  const std::vector<Term>& goals() const { return goals_; }

  Term Convert(Term root) {
    absl::flat_hash_map<Term, Term> done;
    for (Term t : PostOrder(ctx_, root)) done[t] = ConvertTuple(t, done);
    return IsNumber(root) ? Literal(root) : done.at(root);
  }

 private:
  bool IsNumber(Term t) const { return ctx_.kind(t) == Kind::kInteger || ctx_.kind(t) == Kind::kReal; }
  Term Literal(Term number) {
    if (!numbers_) return number;
    const Term v = ctx_.FreshVariable("literal");
    goals_.push_back(ctx_.Tuple({ctx_.Sym(kLibraryPrefix + std::string("literalo")), v, number}));
    return v;
  }
  Term ConvertTuple(Term t, const absl::flat_hash_map<Term, Term>& done) {
    auto c = ctx_.Children(t);
    if (c.empty()) return t;
    const size_t named = ctx_.Positional(t).size();
    const bool selection = c.size() == 3 && c[0] == ctx_.Sym("nth");
    std::vector<Term> out;
    for (size_t i = 0; i < named; ++i) out.push_back(i > 0 && IsNumber(c[i]) && !(selection && i == 1) ? Literal(c[i]) : done.at(c[i]));
    if (named == c.size()) return ctx_.Tuple(out);
    if (!ctx_.IsRest(c.back())) {
      for (size_t i = named; i < c.size(); ++i) out.push_back(done.at(c[i]));
      return ctx_.Tuple(out);
    }
    // `:k V … ..?r`: each pair is found among the arguments, and the others are the rest.
    Term all = ctx_.FreshVariable("keywords");
    out.push_back(ctx_.RestVariable(ctx_.Text(all)));
    for (size_t i = named; i + 1 < c.size(); i += 2) {
      const bool last = i + 3 == c.size();
      const Term others = last ? ctx_.Variable(ctx_.Text(c.back())) : ctx_.FreshVariable("keywords");
      goals_.push_back(ctx_.Tuple({ctx_.Sym(kLibraryPrefix + std::string("keywordo")), c[i], done.at(c[i + 1]), all, others}));
      all = others;
    }
    return ctx_.Tuple(out);
  }

  Context& ctx_;
  bool numbers_;
  std::vector<Term> goals_;
};

// The pattern with the operands of commutative operators in every order; nothing if these are more than 64.
std::vector<Term> Orders(Context& ctx, Term root, const absl::flat_hash_set<Term>& commutative) {
  constexpr size_t kMost = 64;
  absl::flat_hash_map<Term, std::vector<Term>> done;
  for (Term t : PostOrder(ctx, root)) {
    auto c = ctx.Children(t);
    std::vector<std::vector<Term>> rows = {{}};
    for (Term child : c) {
      std::vector<std::vector<Term>> next;
      for (const auto& row : rows) {
        for (Term variant : done.at(child)) {
          next.push_back(row);
          next.back().push_back(variant);
        }
      }
      rows = std::move(next);
      if (rows.size() > kMost) return {};
    }
    std::vector<Term>& out = done[t];
    for (auto& row : rows) {
      const Term u = c.empty() ? t : ctx.Tuple(row);
      out.push_back(u);
      if (row.size() != 3 || !commutative.contains(ctx.HeadSymbol(u)) || ctx.IsRest(row[1]) || ctx.IsRest(row[2])) continue;
      std::swap(row[1], row[2]);
      out.push_back(ctx.Tuple(row));
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    if (out.size() > kMost) return {};
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
                                                     const FunctionRegistry& functions, const std::string& name,
                                                     const absl::flat_hash_set<Term>& commutative) {
  std::vector<SkippedRule> skipped;
  const Term from = ctx.Variable("from~"), to = ctx.Variable("to~"), equal = ctx.Sym("==");
  std::vector<Term> clauses = {ctx.Sym("conde")};
  for (const Rule& rule : rules.rules()) {
    std::vector<Equation> left;
    const Term whole = WithoutAs(ctx, rule.lhs, left);
    left.emplace_back(from, whole);
    std::reverse(left.begin(), left.end());
    std::string reason = Unfit(ctx, rule.rhs, functions);
    std::vector<std::vector<Term>> orders;  // of each left equation
    for (const Equation& e : left) {
      if (reason.empty()) reason = Unfit(ctx, e.second, functions);
      orders.push_back(Orders(ctx, e.second, commutative));
      if (reason.empty() && orders.back().empty()) reason = "its commutative operators have more than 64 orders";
    }
    for (const Condition& c : rule.conditions) {
      if (reason.empty() && c.slot >= 0) reason = "it has a :let";
    }
    if (!reason.empty()) {
      skipped.push_back({rule.Where(), reason});
      continue;
    }
    std::vector<Term> goals;
    for (size_t k = 0; k < left.size(); ++k) {
      std::vector<Term> tries = {ctx.Sym("conde")};
      for (Term order : orders[k]) {
        Side side(ctx, true);
        std::vector<Term> clause = {ctx.Tuple({equal, left[k].first, side.Convert(order)})};
        clause.insert(clause.end(), side.goals().begin(), side.goals().end());
        tries.push_back(ctx.Tuple(clause));
      }
      if (tries.size() == 2) {
        goals.insert(goals.end(), ctx.Children(tries[1]).begin(), ctx.Children(tries[1]).end());
      } else {
        goals.push_back(ctx.Tuple(tries));
      }
    }
    Side right(ctx, false);
    goals.push_back(ctx.Tuple({equal, to, right.Convert(rule.rhs)}));
    goals.insert(goals.end(), right.goals().begin(), right.goals().end());
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
    }
    std::vector<Term> variables = PlainVariables(ctx, ctx.Tuple(goals));
    std::erase_if(variables, [&](Term v) { return v == from || v == to; });
    goals.insert(goals.begin(), {ctx.Sym("fresh"), ctx.Tuple(variables)});
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
