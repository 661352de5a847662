#include "unify/assoc_comm.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

using Alternatives = absl::StatusOr<std::vector<Term>>;

bool IsOpen(const Context& ctx, Term t) {
  auto c = ctx.Children(t);
  return !c.empty() && ctx.IsRest(c.back());
}
// A tuple of known length.
bool IsProper(const Context& ctx, Term t) { return ctx.IsTuple(t) && !IsOpen(ctx, t); }

// One form of all terms that are equal by the laws of the facts.
class Canonical {
 public:
  Canonical(Context& ctx, const Program& program) : ctx_(ctx) {
    for (Term row : program.Rows("commutative")) commutative_.insert(ctx.Car(row));
    for (Term row : program.Rows("associative")) associative_.insert(ctx.Car(row));
  }

  bool IsAssociative(Term op) const { return associative_.contains(op); }
  bool IsCommutative(Term op) const { return commutative_.contains(op); }

  Term Of(Term root, bool commute, bool associate) {
    absl::flat_hash_map<Term, Term> done;
    for (Term t : PostOrder(ctx_, root)) {
      auto c = ctx_.Children(t);
      if (c.empty()) {
        done[t] = t;
        continue;
      }
      std::vector<Term> children;
      for (Term child : c) children.push_back(done.at(child));
      const Term op = children[0];
      if (associate && IsAssociative(op)) {
        children = FlattenAssocArgs(ctx_, op, std::span<const Term>(children).subspan(1));
        children.insert(children.begin(), op);
      }
      if (commute && IsCommutative(op)) std::sort(children.begin() + 1, children.end());
      done[t] = ctx_.Tuple(children);
    }
    return done.at(root);
  }

 private:
  Context& ctx_;
  absl::flat_hash_set<Term> commutative_, associative_;
};

// (compare COMM ASSOC T U R): R is `equal` or `different` where that can be said at once, `free` if both are variables, else `open`.
Alternatives CompareGoal(Context& ctx, const Program& program, std::span<const Term> args) {
  const Term yes = ctx.Sym("#t"), t = args[2], u = args[3];
  const bool commute = args[0] == yes, associate = args[1] == yes;
  auto verdict = [&](const char* r) -> Alternatives {
    std::vector<Term> out(args.begin(), args.end());
    out[4] = ctx.Sym(r);
    return std::vector<Term>{ctx.Tuple(out)};
  };
  if (ctx.IsVariable(t) && ctx.IsVariable(u)) return verdict("free");
  if (ctx.IsVariable(t) || ctx.IsVariable(u)) return verdict("open");
  Canonical canonical(ctx, program);
  if (ctx.IsGround(t) && ctx.IsGround(u)) {
    return verdict(canonical.Of(t, commute, associate) == canonical.Of(u, commute, associate) ? "equal" : "different");
  }
  if (!ctx.IsTuple(t) || !ctx.IsTuple(u) || t.is_nil() || u.is_nil()) return verdict("different");
  // No law changes the operator, and only associativity the number of operands.
  const Term f = ctx.Car(t), g = ctx.Car(u);
  if (ctx.IsSymbol(f) && ctx.IsSymbol(g)) {
    if (f != g) return verdict("different");
    const bool proper = IsProper(ctx, t) && IsProper(ctx, u);
    if (proper && !(associate && canonical.IsAssociative(f)) && ctx.Children(t).size() != ctx.Children(u).size()) return verdict("different");
  }
  return verdict("open");
}

// (assoc-args OP N NO-IDENT US VS L R): operands US of OP regrouped into VS, where L is R. N operands are in a group, () for any number.
Alternatives AssocArgsGoal(Context& ctx, std::span<const Term> args) {
  const Term op = args[0];
  const bool no_ident = args[2] == ctx.Sym("#t");
  Term us = args[3], vs = args[4];
  if (!IsProper(ctx, us)) std::swap(us, vs);
  if (!IsProper(ctx, us)) return absl::InvalidArgumentError("the number of operands must be known on one side");
  std::optional<size_t> n;
  if (!args[1].is_nil()) {
    if (ctx.kind(args[1]) != Kind::kInteger || ctx.IntegerValue(args[1]) < 1) return std::vector<Term>();
    n = static_cast<size_t>(ctx.IntegerValue(args[1]));
  }
  std::vector<Term> out;
  auto equal = [&](Term l, Term r) {
    std::vector<Term> row(args.begin(), args.end());
    row[5] = l;
    row[6] = r;
    out.push_back(ctx.Tuple(row));
  };
  std::vector<Term> u = FlattenAssocArgs(ctx, op, ctx.Children(us));
  if (IsProper(ctx, vs)) {
    Substitution s;
    if (no_ident && Unify(ctx, us, vs, s)) return out;
    std::vector<Term> v = FlattenAssocArgs(ctx, op, ctx.Children(vs));
    if (u.size() < v.size()) std::swap(u, v);
    if (u.size() == v.size()) equal(ctx.Tuple(u), ctx.Tuple(v));
    if (u.size() <= v.size()) return out;
    for (const auto& grouped : AssocArgs(ctx, op, u, u.size() - v.size() + 1)) equal(ctx.Tuple(v), ctx.Tuple(grouped));
    return out;
  }
  if (ctx.Children(us).size() == 1) {
    if (!no_ident && n.value_or(1) == 1) equal(us, vs);
    return out;
  }
  const size_t from = n.value_or(2), to = n.value_or(no_ident ? u.size() - 1 : u.size());
  for (size_t size = from; size <= to && size <= u.size(); ++size) {
    for (const auto& grouped : AssocArgs(ctx, op, u, size)) {
      const Term g = ctx.Tuple(grouped);
      if (!no_ident || g != us) equal(vs, g);
    }
  }
  return out;
}

// (cancel L M L1 M1): lists without what they have in common, where their lengths are known; no answer if these differ.
Alternatives CancelGoal(Context& ctx, std::span<const Term> args) {
  std::vector<Term> row(args.begin(), args.end());
  row[2] = args[0];
  row[3] = args[1];
  if (IsProper(ctx, args[0]) && IsProper(ctx, args[1])) {
    auto l = ctx.Children(args[0]), m = ctx.Children(args[1]);
    if (l.size() != m.size()) return std::vector<Term>();
    absl::flat_hash_map<Term, int> surplus;
    for (Term t : l) ++surplus[t];
    std::vector<Term> left, right;
    for (Term t : m) {
      if (--surplus[t] < 0) right.push_back(t);
    }
    for (Term t : l) {
      if (surplus[t] > 0) {
        --surplus[t];
        left.push_back(t);
      }
    }
    row[2] = ctx.Tuple(left);
    row[3] = ctx.Tuple(right);
    // What is left differs term by term, so that without variables nothing can be equal.
    if (!left.empty() && ctx.IsGround(row[2]) && ctx.IsGround(row[3])) return std::vector<Term>();
  }
  return std::vector<Term>{ctx.Tuple(row)};
}

// (ground_order L M): M is L with ground terms first, then lists with variables in them, lists with an open end, and variables.
Alternatives GroundOrder(Context& ctx, std::span<const Term> args) {
  if (!IsProper(ctx, args[0])) return absl::InvalidArgumentError("ground_order takes a list");
  std::vector<Term> sorted(ctx.Children(args[0]).begin(), ctx.Children(args[0]).end());
  std::stable_sort(sorted.begin(), sorted.end(), [&](Term a, Term b) {
    const auto rank = [&](Term t) { return ctx.IsVariable(t) ? 3 : ctx.IsGround(t) ? 0 : IsOpen(ctx, t) ? 2 : 1; };
    return rank(a) < rank(b);
  });
  return std::vector<Term>{ctx.Tuple({args[0], ctx.Tuple(sorted)})};
}

// (variable T): T has no value. Not relational.
Alternatives IsVariableGoal(Context& ctx, std::span<const Term> args) {
  if (!ctx.IsVariable(args[0])) return std::vector<Term>();
  return std::vector<Term>{ctx.Tuple(args)};
}

}  // namespace

std::vector<Term> FlattenAssocArgs(Context& ctx, Term op, std::span<const Term> args) {
  std::vector<Term> out, todo(args.rbegin(), args.rend());
  while (!todo.empty()) {
    const Term t = todo.back();
    todo.pop_back();
    auto rands = ctx.Rands(t);
    if (rands.empty() || ctx.Rator(t) != op || IsOpen(ctx, t)) {
      out.push_back(t);
    } else {
      todo.insert(todo.end(), rands.rbegin(), rands.rend());
    }
  }
  return out;
}

std::vector<std::vector<Term>> AssocArgs(Context& ctx, Term op, std::span<const Term> args, size_t n) {
  std::vector<std::vector<Term>> out;
  if (args.size() == n) out.emplace_back(args.begin(), args.end());
  if (args.size() <= n) return out;
  for (size_t i = 0; i + n <= args.size(); ++i) {
    std::vector<Term> group = {op}, row(args.begin(), args.begin() + static_cast<ptrdiff_t>(i));
    group.insert(group.end(), args.begin() + static_cast<ptrdiff_t>(i), args.begin() + static_cast<ptrdiff_t>(i + n));
    row.push_back(ctx.Tuple(group));
    row.insert(row.end(), args.begin() + static_cast<ptrdiff_t>(i + n), args.end());
    out.push_back(std::move(row));
  }
  return out;
}

absl::Status AddAssocComm(Context&, Program& program, const std::string& prefix) {
  const Program* p = &program;
  const std::pair<const char*, std::pair<int, NativeGoal>> goals[] = {
      {"compare", {5, [p](Context& ctx, std::span<const Term> args) { return CompareGoal(ctx, *p, args); }}},
      {"assoc-args", {7, AssocArgsGoal}},
      {"assoc_flatten",
       {2,
        [p](Context& ctx, std::span<const Term> args) -> Alternatives {
          const Term t = args[0];
          if (ctx.Children(t).empty() || !Canonical(ctx, *p).IsAssociative(ctx.Car(t))) return std::vector<Term>{ctx.Tuple({t, t})};
          std::vector<Term> flat = FlattenAssocArgs(ctx, ctx.Car(t), ctx.Rands(t));
          flat.insert(flat.begin(), ctx.Car(t));
          return std::vector<Term>{ctx.Tuple({t, ctx.Tuple(flat)})};
        }}},
      {"cancel", {4, CancelGoal}},
      {"ground_order", {2, GroundOrder}},
      {"variable", {1, IsVariableGoal}},
  };
  for (const auto& [name, goal] : goals) {
    if (auto s = program.AddGoal(prefix + name, goal.first, goal.second); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace retuple
