#include "unify/relational.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "unify/internal/answer.h"
#include "unify/internal/machine.h"
#include "unify/library.h"

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
  std::vector<internal::Constraint> constraints;
  std::vector<TypeTest> types;
  bool library = false;  // it is defined, under its own names
  std::vector<std::pair<const void*, std::shared_ptr<void>>> attachments;

  std::optional<bool> IsOfType(Term value, Term type, bool exact) const {
    if (ctx.IsSymbol(type)) {
      const uint32_t kinds = internal::KindsOf(ctx.Text(type), exact);
      if (kinds != 0) return (internal::KindOf(ctx, value) & kinds) != 0;
    }
    for (const TypeTest& test : types) {
      if (auto is = test(value, type, exact)) return is;
    }
    return std::nullopt;
  }
};

namespace {

class SearchQuery : public Query {
 public:
  SearchQuery(Context& ctx, Code code, std::vector<internal::Facts>& facts, const std::vector<internal::NativeFn>& natives,
              const std::vector<internal::Constraint>& constraints, uint32_t main, bool list, const QueryLimits& limits)
      : code_(std::move(code)),
        machine_(ctx, code_, facts, natives, constraints),
        list_(list),
        fuel_(limits.steps),
        interrupt_(limits.interrupt) {
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

Program::Program(Context& ctx) : impl_(std::make_unique<Impl>(ctx)) {
  Impl& p = *impl_;
  for (const bool exact : {true, false}) {
    const char* name = exact ? "typeo" : "isinstanceo";
    p.compiler.constraints[name] = static_cast<uint32_t>(p.constraints.size());
    p.compiler.constraint_arity.push_back(2);
    p.constraints.push_back({name, true, [&p, exact](std::span<const std::optional<Term>> args) -> absl::StatusOr<Verdict> {
                               return Verdict{p.IsOfType(*args[0], *args[1], exact).value_or(false) ? Verdict::kHolds : Verdict::kFails, 0, Term()};
                             }});
  }
  p.compiler.is_type = [&p](Term type, bool exact) { return p.IsOfType(Term(), type, exact).has_value(); };
}
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
  if ((relation.defined && !relation.library) || relation.facts >= 0) {
    return absl::InvalidArgumentError(name + (relation.defined ? " is defined already" : " has facts already"));
  }
  auto s = impl_->compiler.Define(*r, ctx.Rands(c[1]), c.subspan(2));
  if (!s.ok()) return absl::InvalidArgumentError(absl::StrFormat("in %s: %s", name, std::string(s.message())));
  return s;
}

absl::Status Program::DeclareFacts(std::string_view name, size_t arity) {
  auto r = impl_->compiler.Relation(std::string(name), static_cast<uint32_t>(arity));
  if (!r.ok()) return r.status();
  internal::RelationCode& relation = impl_->code.relations[*r];
  if (relation.defined) return absl::InvalidArgumentError(relation.name + " has a definition already");
  if (arity == 0) return absl::InvalidArgumentError(relation.name + ": a fact has arguments");
  if (relation.facts >= 0) return absl::OkStatus();
  relation.facts = static_cast<int32_t>(impl_->facts.size());
  impl_->facts.emplace_back().arity = static_cast<uint32_t>(arity);
  return absl::OkStatus();
}

bool Program::HasRelation(std::string_view name, size_t arity) const {
  const auto& all = impl_->code.relations;
  return std::any_of(all.begin(), all.end(), [&](const internal::RelationCode& r) {
    return r.name == name && r.arity == arity && (r.defined || r.facts >= 0 || r.native >= 0);
  });
}

std::vector<std::string> Program::Names() const {
  std::vector<std::string> out;
  const auto add = [&](const std::string& name) {
    if (name.rfind(kLibraryPrefix, 0) != 0 && name[0] != '(') out.push_back(name);
  };
  for (const auto& r : impl_->code.relations) {
    if (r.native < 0) add(r.name);
  }
  for (const auto& [name, index] : impl_->compiler.natives) add(name);
  for (const auto& [name, index] : impl_->compiler.constraints) add(name);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Term> Program::Rows(std::string_view name) const {
  std::vector<Term> out;
  for (const auto& r : impl_->code.relations) {
    if (r.name != name || r.facts < 0) continue;
    const internal::Facts& table = impl_->facts[static_cast<size_t>(r.facts)];
    for (size_t row = 0; row < table.rows(); ++row) {
      out.push_back(impl_->ctx.Tuple(std::span<const Term>(&table.terms[row * table.arity], table.arity)));
    }
  }
  return out;
}

absl::Status Program::AddFact(std::string_view name, std::span<const Term> row) {
  for (Term t : row) {
    if (!impl_->ctx.IsGround(t)) return absl::InvalidArgumentError(std::string(name) + ": a fact is ground");
  }
  if (auto s = DeclareFacts(name, row.size()); !s.ok()) return s;
  auto r = impl_->compiler.Relation(std::string(name), static_cast<uint32_t>(row.size()));
  internal::Facts& table = impl_->facts[static_cast<size_t>(impl_->code.relations[*r].facts)];
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
  auto s = AddConstraint(name, -1, [predicate](std::span<const std::optional<Term>> args) -> absl::StatusOr<Verdict> {
    std::vector<Term> values;
    for (const auto& a : args) values.push_back(*a);
    return Verdict{predicate(values) ? Verdict::kHolds : Verdict::kFails, 0, Term()};
  });
  if (s.ok()) impl_->constraints.back().ground_only = true;
  return s;
}

absl::Status Program::AddConstraint(std::string name, int arity, ConstraintFn decide, std::string shown) {
  if (impl_->compiler.IsReserved(name)) return absl::InvalidArgumentError(name + " is a goal already");
  for (const auto& r : impl_->code.relations) {
    if (r.name == name) return absl::InvalidArgumentError(name + " is a relation already");
  }
  impl_->compiler.constraint_arity.push_back(arity);
  impl_->compiler.constraints[name] = static_cast<uint32_t>(impl_->constraints.size());
  impl_->constraints.push_back({shown.empty() ? std::move(name) : std::move(shown), false, std::move(decide)});
  return absl::OkStatus();
}

void Program::AddTypes(TypeTest test) { impl_->types.push_back(std::move(test)); }

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
  std::vector<Term> body = {ctx.Sym("fresh"), ctx.Nil()};
  body.insert(body.end(), goals.begin(), goals.end());
  const Term whole = ctx.Tuple(body);
  for (;;) {
    const size_t before = code.relations.size();
    const bool applied = code.applies;
    auto main = impl_->compiler.Relation("(query)", static_cast<uint32_t>(variables.size()));
    if (!main.ok()) return main.status();
    auto s = impl_->compiler.Define(*main, variables, std::span<const Term>(&whole, 1));
    std::vector<std::pair<std::string, uint32_t>> missing;
    for (const auto& r : code.relations) {
      if (!r.defined && r.facts < 0 && r.native < 0) missing.emplace_back(r.name, r.arity);
    }
    const bool applies = code.applies;
    std::unique_ptr<Query> query;
    if (s.ok() && missing.empty() && (!applies || impl_->library)) {
      if (applies) {
        impl_->compiler.FillCallables();
        AddLibraryNames();
      }
      query = std::make_unique<SearchQuery>(ctx, code, impl_->facts, impl_->natives, impl_->constraints, *main, list, limits);
    }
    if (s.ok()) impl_->compiler.Undo(*main);
    code.applies = applied;
    code.relations.resize(before);
    if (!s.ok()) return s;
    if (query != nullptr) return query;
    auto took = TakeFromLibrary(missing);
    if (!took.ok()) return took;
  }
}

// Defines the library under its own names, and what is missing by them.
absl::Status Program::TakeFromLibrary(std::span<const std::pair<std::string, uint32_t>> missing) {
  Context& ctx = impl_->ctx;
  std::string unknown;
  const auto own = [](const std::string& name) { return name.rfind(kLibraryPrefix, 0) == 0; };
  for (const auto& [name, arity] : missing) {
    const LibraryRelation* r = FindLibrary(own(name) && !impl_->library ? name.substr(sizeof(kLibraryPrefix) - 1) : name);
    if (r == nullptr) {
      unknown += (unknown.empty() ? "" : ", ") + name;
    } else if (r->arity != arity) {
      return absl::InvalidArgumentError(absl::StrFormat("%s takes %d arguments, not %d", name, r->arity, arity));
    }
  }
  if (!unknown.empty()) return absl::NotFoundError("no definition or facts of " + unknown);
  if (!impl_->library) {
    impl_->library = true;
    if (auto s = DefineLibrary(ctx, *this); !s.ok()) return s;
  }
  for (const auto& [name, arity] : missing) {
    if (own(name)) continue;
    if (FindLibrary(name)->facts) {
      if (auto s = DeclareFacts(name, arity); !s.ok()) return s;
      continue;
    }
    std::vector<Term> head = {ctx.Sym(name)}, body = {ctx.Sym(kLibraryPrefix + name)};
    for (uint32_t k = 0; k < arity; ++k) {
      head.push_back(ctx.Variable("a" + std::to_string(k)));
      body.push_back(head.back());
    }
    if (auto s = Define(ctx.Tuple({ctx.Sym("defrel"), ctx.Tuple(head), ctx.Tuple(body)})); !s.ok()) return s;
    impl_->code.relations[*impl_->compiler.Relation(name, arity)].library = true;
  }
  return absl::OkStatus();
}

// A name that the program does not define is the library's, where relations are called by name.
void Program::AddLibraryNames() {
  Context& ctx = impl_->ctx;
  auto& names = impl_->code.callables;
  for (const LibraryRelation& r : LibraryRelations()) {
    const auto it = names.find(ctx.Sym(kLibraryPrefix + r.name));
    if (it == names.end()) continue;
    const internal::Callable target = it->second;
    names.try_emplace(ctx.Sym(r.name), target);
  }
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
