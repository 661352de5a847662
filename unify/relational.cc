#include "unify/relational.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "unify/internal/answer.h"
#include "unify/internal/machine.h"

namespace retuple {

using internal::Code;
using internal::Machine;

std::string Answer::ToString(const Context& ctx) const {
  std::string out = PrintPlain(ctx, value);
  if (!constraints.empty()) out += " :where";
  for (Term c : constraints) out += " " + PrintPlain(ctx, c);
  return out;
}

struct Program::Impl {
  explicit Impl(Context& c) : ctx(c), compiler(c, code) {}
  Context& ctx;
  Code code;
  internal::Compiler compiler;
  std::vector<internal::Facts> facts;
  std::vector<internal::NativeFn> natives;
  std::vector<std::pair<std::string, GoalPredicate>> predicates;
  std::vector<std::pair<const void*, std::shared_ptr<void>>> attachments;
};

namespace {

class SearchQuery : public Query {
 public:
  SearchQuery(Context& ctx, Code code, std::vector<internal::Facts>& facts, const std::vector<internal::NativeFn>& natives,
              const std::vector<std::pair<std::string, GoalPredicate>>& predicates, uint32_t main, bool list,
              const QueryLimits& limits)
      : code_(std::move(code)), machine_(ctx, code_, facts, natives), list_(list), fuel_(limits.steps), interrupt_(limits.interrupt) {
    for (const auto& [name, fn] : predicates) machine_.store().AddPredicate(name, fn);
    machine_.store().heap().set_limit(limits.bytes);
    machine_.store().heap().set_collect_every(limits.collect_bytes);
    machine_.Start(main);
  }

  std::optional<Answer> Next() override {
    if (end_ != QueryEnd::kRunning) return std::nullopt;
    switch (NextStep()) {
      case internal::Step::kAnswer: {
        internal::Heap& heap = machine_.store().heap();
        internal::Value v = machine_.query()[0];
        if (list_) {
          v = internal::Value::Nil();
          for (size_t i = machine_.query().size(); i-- > 0;) v = heap.Pair(machine_.query()[i], v);
        }
        Answer a = internal::MakeAnswer(machine_.store(), v);
        if (machine_.store().too_large()) {
          end_ = QueryEnd::kError;
          error_ = absl::ResourceExhaustedError("an answer is too large for a term");
          return std::nullopt;
        }
        return a;
      }
      case internal::Step::kDone:
        end_ = machine_.error().ok() ? QueryEnd::kExhausted : QueryEnd::kError;
        break;
      case internal::Step::kLimit:
        end_ = fuel_ == 0 ? QueryEnd::kStepLimit : QueryEnd::kInterrupted;
        break;
    }
    return std::nullopt;
  }
  QueryEnd end() const override { return end_; }
  const absl::Status& status() const override { return error_.ok() ? machine_.error() : error_; }
  uint64_t steps() const override { return machine_.instructions(); }
  size_t peak_bytes() const override { return machine_.peak_bytes(); }

 private:
  // In slices, so that an interrupt is seen.
  internal::Step NextStep() {
    constexpr uint64_t kSlice = 1'000'000;
    if (interrupt_ == nullptr) return machine_.Next(fuel_);
    for (;;) {
      uint64_t slice = std::min(fuel_, kSlice);
      fuel_ -= slice;
      const internal::Step s = machine_.Next(slice);
      fuel_ += slice;
      if (s != internal::Step::kLimit || fuel_ == 0 || *interrupt_ != 0) return s;
    }
  }

  Code code_;
  Machine machine_;
  bool list_;
  uint64_t fuel_;
  absl::Status error_;
  const volatile std::sig_atomic_t* interrupt_;
  QueryEnd end_ = QueryEnd::kRunning;
};

}  // namespace

Program::Program(Context& ctx) : impl_(std::make_unique<Impl>(ctx)) {}
Program::~Program() = default;

absl::Status Program::Define(Term form) {
  Context& ctx = impl_->ctx;
  auto c = ctx.Children(form);
  if (c.size() < 3 || !ctx.IsTuple(c[1]) || c[1].is_nil() || !ctx.IsSymbol(ctx.Rator(c[1]))) {
    return absl::InvalidArgumentError("defrel takes (name ?argument …) and goals");
  }
  const std::string name(ctx.Text(ctx.Rator(c[1])));
  if (impl_->compiler.IsReserved(name)) return absl::InvalidArgumentError(name + " is a goal of the language");
  auto r = impl_->compiler.Relation(name, static_cast<uint32_t>(ctx.Rands(c[1]).size()));
  if (!r.ok()) return r.status();
  const internal::RelationCode& relation = impl_->code.relations[*r];
  if (relation.defined || relation.facts >= 0) {
    return absl::InvalidArgumentError(name + (relation.defined ? " is defined already" : " has facts already"));
  }
  auto s = impl_->compiler.Define(*r, ctx.Rands(c[1]), c.subspan(2));
  if (!s.ok()) return absl::InvalidArgumentError(absl::StrFormat("in %s: %s", name, std::string(s.message())));
  return s;
}

absl::Status Program::AddFact(std::string_view name, std::span<const Term> row) {
  auto r = impl_->compiler.Relation(std::string(name), static_cast<uint32_t>(row.size()));
  if (!r.ok()) return r.status();
  internal::RelationCode& relation = impl_->code.relations[*r];
  if (relation.defined) return absl::InvalidArgumentError(relation.name + " has a definition already");
  if (row.empty()) return absl::InvalidArgumentError(relation.name + ": a fact has arguments");
  for (Term t : row) {
    if (!impl_->ctx.IsGround(t)) return absl::InvalidArgumentError(relation.name + ": a fact is ground");
  }
  if (relation.facts < 0) {
    relation.facts = static_cast<int32_t>(impl_->facts.size());
    impl_->facts.emplace_back().arity = static_cast<uint32_t>(row.size());
  }
  internal::Facts& table = impl_->facts[static_cast<size_t>(relation.facts)];
  if (!table.whole.try_emplace(impl_->ctx.Tuple(row), static_cast<uint32_t>(table.rows())).second) return absl::OkStatus();
  table.terms.insert(table.terms.end(), row.begin(), row.end());
  return absl::OkStatus();
}

std::shared_ptr<void>& Program::AttachmentSlot(const void* key) {
  for (auto& [k, slot] : impl_->attachments) {
    if (k == key) return slot;
  }
  impl_->attachments.emplace_back(key, nullptr);
  return impl_->attachments.back().second;
}

absl::Status Program::AddGoal(std::string name, int arity, NativeGoal goal) {
  if (impl_->compiler.IsReserved(name)) return absl::InvalidArgumentError(name + " is a goal already");
  for (auto& r : impl_->code.relations) {
    if (r.name != name) continue;
    if (r.defined || r.facts >= 0) return absl::InvalidArgumentError(name + " is a relation already");
    if (arity >= 0 && r.arity != static_cast<uint32_t>(arity)) {
      return absl::InvalidArgumentError(absl::StrFormat("%s was used with %d arguments, not %d", name, r.arity, arity));
    }
    r.native = static_cast<int32_t>(impl_->natives.size());
  }
  impl_->compiler.native_arity.push_back(arity);
  impl_->compiler.natives[name] = static_cast<uint32_t>(impl_->natives.size());
  impl_->natives.push_back(std::move(goal));
  return absl::OkStatus();
}

absl::Status Program::AddPredicate(std::string name, GoalPredicate predicate) {
  if (impl_->compiler.IsReserved(name)) return absl::InvalidArgumentError(name + " is a goal already");
  impl_->compiler.predicates[name] = static_cast<uint32_t>(impl_->predicates.size());
  impl_->predicates.emplace_back(std::move(name), std::move(predicate));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Query>> Program::Solve(Term wanted, std::span<const Term> goals, const QueryLimits& limits) {
  Context& ctx = impl_->ctx;
  const bool list = ctx.IsTuple(wanted);
  std::vector<Term> variables = {wanted};
  if (list) variables.assign(ctx.Children(wanted).begin(), ctx.Children(wanted).end());
  for (Term v : variables) {
    if (!ctx.IsVariable(v) || ctx.IsRest(v)) return absl::InvalidArgumentError("a query is for variables");
  }
  if (variables.empty()) return absl::InvalidArgumentError("a query is for at least one variable");
  // The query is a relation of its own, compiled into a copy of the program.
  Code& code = impl_->code;
  const size_t before = code.relations.size();
  auto main = impl_->compiler.Relation("(query)", static_cast<uint32_t>(variables.size()));
  if (!main.ok()) return main.status();
  std::vector<Term> body = {ctx.Sym("fresh"), ctx.Nil()};
  body.insert(body.end(), goals.begin(), goals.end());
  const Term whole = ctx.Tuple(body);
  auto s = impl_->compiler.Define(*main, variables, std::span<const Term>(&whole, 1));
  absl::StatusOr<std::unique_ptr<Query>> result = absl::InternalError("");
  if (!s.ok()) {
    result = s;
  } else {
    std::string missing;
    for (const auto& r : code.relations) {
      if (!r.defined && r.facts < 0 && r.native < 0) missing += (missing.empty() ? "" : ", ") + r.name;
    }
    if (!missing.empty()) {
      result = absl::NotFoundError("no definition or facts of " + missing);
    } else {
      result = std::make_unique<SearchQuery>(ctx, code, impl_->facts, impl_->natives, impl_->predicates, *main, list, limits);
    }
    impl_->compiler.Undo(*main);
  }
  code.relations.resize(before);
  return result;
}

absl::StatusOr<std::vector<Answer>> Run(Program& program, std::optional<size_t> n, Term wanted, std::span<const Term> goals,
                                        const QueryLimits& limits) {
  auto q = program.Solve(wanted, goals, limits);
  if (!q.ok()) return q.status();
  std::vector<Answer> out;
  while (!n.has_value() || out.size() < *n) {
    auto a = (*q)->Next();
    if (!a.has_value()) break;
    out.push_back(*std::move(a));
  }
  if (!(*q)->status().ok()) return (*q)->status();
  return out;
}

}  // namespace retuple
