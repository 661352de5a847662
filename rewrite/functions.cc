#include "rewrite/functions.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"

namespace retuple {
namespace {

absl::StatusOr<int64_t> Int(const Context& ctx, Term t) {
  if (ctx.kind(t) != Kind::kInteger) {
    return absl::InvalidArgumentError(absl::StrFormat("%s is not an integer", Brief(ctx, t, 60)));
  }
  return ctx.IntegerValue(t);
}

absl::StatusOr<std::vector<int64_t>> IntList(const Context& ctx, Term t) {
  if (!ctx.IsTuple(t)) return absl::InvalidArgumentError(absl::StrFormat("%s is not a list", Brief(ctx, t, 60)));
  std::vector<int64_t> out;
  for (Term c : ctx.Children(t)) {
    auto i = Int(ctx, c);
    if (!i.ok()) return i.status();
    out.push_back(*i);
  }
  return out;
}

Term ListOf(Context& ctx, const std::vector<int64_t>& v) {
  std::vector<Term> out;
  out.reserve(v.size());
  for (int64_t i : v) out.push_back(ctx.Integer(i));
  return ctx.Tuple(out);
}

// Integer arithmetic of any number of arguments, refused on overflow.
using BinaryInt = bool (*)(int64_t, int64_t, int64_t*);
bool AddInt(int64_t a, int64_t b, int64_t* r) { return !__builtin_add_overflow(a, b, r); }
bool SubInt(int64_t a, int64_t b, int64_t* r) { return !__builtin_sub_overflow(a, b, r); }
bool MulInt(int64_t a, int64_t b, int64_t* r) { return !__builtin_mul_overflow(a, b, r); }
bool MinInt(int64_t a, int64_t b, int64_t* r) { return *r = std::min(a, b), true; }
bool MaxInt(int64_t a, int64_t b, int64_t* r) { return *r = std::max(a, b), true; }

FunctionRegistry::Function FoldInts(BinaryInt op) {
  return [op](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<Term> {
    auto acc = Int(rc.ctx, a[0]);
    if (!acc.ok()) return acc.status();
    for (Term t : a.subspan(1)) {
      auto b = Int(rc.ctx, t);
      if (!b.ok()) return b.status();
      if (!op(*acc, *b, &*acc)) return absl::OutOfRangeError("integer overflow");
    }
    return rc.ctx.Integer(*acc);
  };
}

FunctionRegistry::Guard CompareInts(bool (*op)(int64_t, int64_t)) {
  return [op](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<bool> {
    auto x = Int(rc.ctx, a[0]), y = Int(rc.ctx, a[1]);
    if (!x.ok()) return x.status();
    if (!y.ok()) return y.status();
    return op(*x, *y);
  };
}

void AddLists(FunctionRegistry& f) {
  f.Add("list", 0, kAnyArgs,
        [](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<Term> { return rc.ctx.Tuple(a); });
  f.Add("length", 1, 1, [](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<Term> {
    return rc.ctx.Integer(static_cast<int64_t>(rc.ctx.Children(a[0]).size()));
  });
  f.Add("append", 0, kAnyArgs, [](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<Term> {
    std::vector<Term> out;
    for (Term t : a) {
      auto c = rc.ctx.Children(t);
      out.insert(out.end(), c.begin(), c.end());
    }
    return rc.ctx.Tuple(out);
  });
  // (compose p q): i ↦ p[q[i]], the permutation of Transpose(Transpose(x, p), q).
  f.Add("compose", 2, 2, [](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<Term> {
    auto p = IntList(rc.ctx, a[0]), q = IntList(rc.ctx, a[1]);
    if (!p.ok()) return p.status();
    if (!q.ok()) return q.status();
    if (p->size() != q->size()) return absl::InvalidArgumentError("permutations of different lengths");
    std::vector<int64_t> out;
    for (int64_t i : *q) {
      if (i < 0 || static_cast<size_t>(i) >= p->size()) return absl::InvalidArgumentError("not a permutation");
      out.push_back((*p)[static_cast<size_t>(i)]);
    }
    return ListOf(rc.ctx, out);
  });
  f.AddGuard("iota", 1, 1, [](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<bool> {
    auto p = IntList(rc.ctx, a[0]);
    if (!p.ok()) return p.status();
    for (size_t i = 0; i < p->size(); ++i) {
      if ((*p)[i] != static_cast<int64_t>(i)) return false;
    }
    return true;
  });
  // Element-wise sum of two lists of integers.
  f.Add("list+", 2, 2, [](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<Term> {
    auto p = IntList(rc.ctx, a[0]), q = IntList(rc.ctx, a[1]);
    if (!p.ok()) return p.status();
    if (!q.ok()) return q.status();
    if (p->size() != q->size()) return absl::InvalidArgumentError("lists of different lengths");
    for (size_t i = 0; i < p->size(); ++i) {
      if (!AddInt((*p)[i], (*q)[i], &(*p)[i])) return absl::OutOfRangeError("integer overflow");
    }
    return ListOf(rc.ctx, *p);
  });
}

}  // namespace

FunctionRegistry::FunctionRegistry(Context& ctx) : ctx_(ctx), true_(ctx.Sym("true")), false_(ctx.Sym("false")) {
  AddGuard("not", 1, 1, [this](RuleContext&, std::span<const Term> a) -> absl::StatusOr<bool> { return a[0] != true_; });
  AddGuard("and", 0, kAnyArgs, [this](RuleContext&, std::span<const Term> a) -> absl::StatusOr<bool> {
    return std::all_of(a.begin(), a.end(), [this](Term t) { return t == true_; });
  });
  AddGuard("or", 0, kAnyArgs, [this](RuleContext&, std::span<const Term> a) -> absl::StatusOr<bool> {
    return std::any_of(a.begin(), a.end(), [this](Term t) { return t == true_; });
  });
  AddGuard("=", 2, 2, [](RuleContext&, std::span<const Term> a) -> absl::StatusOr<bool> { return a[0] == a[1]; });
  AddGuard("int<", 2, 2, CompareInts([](int64_t a, int64_t b) { return a < b; }));
  AddGuard("int<=", 2, 2, CompareInts([](int64_t a, int64_t b) { return a <= b; }));
  Add("int+", 1, kAnyArgs, FoldInts(AddInt));
  Add("int-", 1, kAnyArgs, FoldInts(SubInt));
  Add("int*", 1, kAnyArgs, FoldInts(MulInt));
  Add("int-min", 1, kAnyArgs, FoldInts(MinInt));
  Add("int-max", 1, kAnyArgs, FoldInts(MaxInt));
  AddGuard("single-use", 1, kAnyArgs, [](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<bool> {
    return rc.uses == nullptr ||
           std::all_of(a.begin(), a.end(), [&](Term t) { return rc.uses->Count(t) <= 1; });
  });
  AddGuard("output-unused", 2, 2, [](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<bool> {
    auto i = Int(rc.ctx, a[1]);
    if (!i.ok()) return i.status();
    return rc.uses != nullptr && !rc.uses->OutputUsed(a[0], *i);
  });
  AddLists(*this);
}

void FunctionRegistry::Add(std::string_view name, int min_args, int max_args, Function f) {
  Term t = ctx_.Sym(name);
  names_.insert(t);
  entries_[t] = {min_args, max_args, false, std::move(f)};
}

void FunctionRegistry::AddGuard(std::string_view name, int min_args, int max_args, Guard g) {
  Term t = ctx_.Sym(name);
  names_.insert(t);
  entries_[t] = {min_args, max_args, true,
                 [g = std::move(g), this](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<Term> {
                   auto r = g(rc, a);
                   if (!r.ok()) return r.status();
                   return *r ? true_ : false_;
                 }};
}

bool FunctionRegistry::IsGuard(Term name) const {
  auto it = entries_.find(name);
  return it != entries_.end() && it->second.guard;
}

absl::Status FunctionRegistry::CheckArity(Term name, size_t args) const {
  const Entry& e = entries_.at(name);
  if (static_cast<int>(args) >= e.min_args && static_cast<int>(args) <= e.max_args) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat("%s takes %s arguments, not %d", std::string(ctx_.Text(name)),
                                                    e.min_args == e.max_args ? absl::StrFormat("%d", e.min_args)
                                                    : e.max_args == kAnyArgs ? absl::StrFormat("%d or more", e.min_args)
                                                                             : absl::StrFormat("%d to %d", e.min_args, e.max_args),
                                                    args));
}

absl::StatusOr<Term> FunctionRegistry::Call(RuleContext& rc, Term name, std::span<const Term> args) const {
  auto it = entries_.find(name);
  if (it == entries_.end()) {
    return absl::NotFoundError(absl::StrFormat("no function %s", std::string(ctx_.Text(name))));
  }
  if (auto s = CheckArity(name, args.size()); !s.ok()) return s;
  return it->second.function(rc, args);
}

}  // namespace retuple
