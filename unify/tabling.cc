#include "unify/tabling.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

struct Table {
  Term relation;  // the body's
  Term call;      // tuple of arguments, variables named by order
  std::vector<Term> answers;
  absl::flat_hash_set<Term> known;
  std::set<size_t> dependents;  // tables to run again when this grows; ordered, so that runs are alike
  bool queued = false;
};

// All tables of a program.
class Tables {
 public:
  Tables(Context& ctx, Program& program, const QueryLimits& limits) : ctx_(ctx), program_(program), limits_(limits) {}

  absl::StatusOr<std::vector<Term>> Answer(Term relation, std::span<const Term> args) {
    const size_t t = Find(relation, ReifyCall(args));
    if (running_) {
      tables_[t]->dependents.insert(*running_);
      Enqueue(t);
    } else {
      Enqueue(t);
      auto s = Fill();
      if (!s.ok()) {
        // What is half filled is wrong.
        index_.clear();
        tables_.clear();
        queue_.clear();
        fresh_.clear();
        return s;
      }
    }
    return tables_[t]->answers;
  }

 private:
  Term ReifyCall(std::span<const Term> args) { return Renamed(ctx_.Tuple(args)); }
  Term Renamed(Term t) {
    Substitution names;
    int next = 0;
    absl::flat_hash_map<std::string, int> number;
    for (Term v : Variables(ctx_, t)) {
      auto [it, added] = number.try_emplace(std::string(ctx_.Text(v)), next);
      if (added) ++next;
      const std::string name = "t" + std::to_string(it->second);
      names.Bind(v, ctx_.IsRest(v) ? ctx_.RestVariable(name) : ctx_.Variable(name));
    }
    return Reify(ctx_, t, names);
  }

  size_t Find(Term relation, Term call) {
    auto [it, added] = index_.try_emplace({relation, call}, tables_.size());
    if (added) {
      tables_.push_back(std::make_unique<Table>());
      tables_.back()->relation = relation;
      tables_.back()->call = call;
      fresh_.insert(it->second);
    }
    return it->second;
  }
  // New tables, and those whose sources grew, are to be run.
  void Enqueue(size_t t) {
    if (fresh_.erase(t) == 0 || tables_[t]->queued) return;
    tables_[t]->queued = true;
    queue_.push_back(t);
  }

  absl::Status Fill() {
    used_ = 0;
    while (!queue_.empty()) {
      const size_t t = queue_.front();
      queue_.pop_front();
      tables_[t]->queued = false;
      running_ = t;
      auto s = Run(t);
      running_.reset();
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }

  absl::Status Run(size_t t) {
    const Term call = tables_[t]->call;
    std::vector<Term> wanted;
    for (Term v : Variables(ctx_, call)) {
      const Term plain = ctx_.IsRest(v) ? ctx_.Variable(ctx_.Text(v)) : v;
      if (std::find(wanted.begin(), wanted.end(), plain) == wanted.end()) wanted.push_back(plain);
    }
    const Term ground = ctx_.Variable("ground");
    if (wanted.empty()) wanted.push_back(ground);
    std::vector<Term> goal = {tables_[t]->relation};
    goal.insert(goal.end(), ctx_.Children(call).begin(), ctx_.Children(call).end());
    const std::vector<Term> goals = {ctx_.Tuple(goal)};
    QueryLimits limits = limits_;
    limits.steps -= std::min(limits.steps, used_);
    auto q = program_.Solve(ctx_.Tuple(wanted), goals, limits);
    if (!q.ok()) return q.status();
    bool grew = false;
    while (auto a = (*q)->Next()) {
      if (!a->constraints.empty()) return absl::UnimplementedError("an answer of a tabled relation has constraints");
      Substitution s;
      auto values = ctx_.Children(a->value);
      for (size_t i = 0; i < wanted.size(); ++i) {
        s.Bind(wanted[i], values[i]);
        s.Bind(ctx_.RestVariable(ctx_.Text(wanted[i])), values[i]);
      }
      const Term row = Renamed(Reify(ctx_, call, s));
      if (!tables_[t]->known.insert(row).second) continue;
      tables_[t]->answers.push_back(row);
      grew = true;
    }
    // Answers that are made count too.
    used_ += (*q)->steps() + tables_[t]->answers.size() + 1;
    if (!(*q)->status().ok()) return (*q)->status();
    if ((*q)->end() != QueryEnd::kExhausted) return absl::ResourceExhaustedError("a tabled call passed its limits");
    if (!grew) return absl::OkStatus();
    for (size_t d : tables_[t]->dependents) {
      if (tables_[d]->queued) continue;
      tables_[d]->queued = true;
      queue_.push_back(d);
    }
    return absl::OkStatus();
  }

  Context& ctx_;
  Program& program_;
  QueryLimits limits_;
  std::vector<std::unique_ptr<Table>> tables_;
  absl::flat_hash_map<std::pair<Term, Term>, size_t> index_;
  std::set<size_t> fresh_;  // made, not run yet
  std::deque<size_t> queue_;
  std::optional<size_t> running_;
  uint64_t used_ = 0;  // steps of the call that is being answered
};

}  // namespace

absl::Status DefineTabled(Context& ctx, Program& program, Term form, const QueryLimits& limits) {
  auto c = ctx.Children(form);
  if (c.size() < 3 || !ctx.IsTuple(c[1]) || c[1].is_nil() || !ctx.IsSymbol(ctx.Rator(c[1]))) {
    return absl::InvalidArgumentError("deftabled takes (name ?argument …) and goals");
  }
  const std::string name(ctx.Text(ctx.Rator(c[1])));
  // The relation is a goal that looks up the tables; its body is a relation of another name, whose calls of `name` are such goals.
  const Term body = ctx.Sym(name + "/body");
  auto& tables = program.Attachment<Tables>([&] { return std::make_shared<Tables>(ctx, program, limits); });
  auto s = program.AddGoal(name, static_cast<int>(ctx.Rands(c[1]).size()),
                           [&tables, body](Context&, std::span<const Term> args) { return tables.Answer(body, args); });
  if (!s.ok()) return s;
  std::vector<Term> head(ctx.Children(c[1]).begin(), ctx.Children(c[1]).end());
  head[0] = body;
  std::vector<Term> define(c.begin(), c.end());
  define[0] = ctx.Sym("defrel");
  define[1] = ctx.Tuple(head);
  return program.Define(ctx.Tuple(define));
}

}  // namespace retuple
