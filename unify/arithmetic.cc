#include "unify/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>

#include "absl/strings/str_format.h"

namespace retuple {
namespace {

struct Number {
  bool integer = true;
  int64_t i = 0;
  double r = 0;
  double real() const { return integer ? static_cast<double>(i) : r; }
};
using Known = std::optional<Number>;

Number Integer(int64_t v) { return {true, v, 0}; }
Number Real(double v) { return {false, 0, v}; }

std::optional<Number> AsNumber(const Context& ctx, Term t) {
  if (ctx.kind(t) == Kind::kInteger) return Integer(ctx.IntegerValue(t));
  if (ctx.kind(t) == Kind::kReal) return Real(ctx.RealValue(t));
  return std::nullopt;
}
Term AsTerm(Context& ctx, const Number& n) { return n.integer ? ctx.Integer(n.i) : ctx.Real(n.r); }

const Verdict kFails{Verdict::kFails, 0, Term()}, kHolds{Verdict::kHolds, 0, Term()}, kWaits{Verdict::kWaits, 0, Term()};

bool Near(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <= 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(a), std::abs(b));
}

// What an operation says of integers: nothing if there is no result, `overflow` if there is none of 64 bits.
struct Exact {
  std::optional<int64_t> value;
  bool overflow = false;
};
Exact Add(int64_t a, int64_t b) {
  int64_t c;
  return __builtin_add_overflow(a, b, &c) ? Exact{{}, true} : Exact{c};
}
Exact Subtract(int64_t a, int64_t b) {
  int64_t c;
  return __builtin_sub_overflow(a, b, &c) ? Exact{{}, true} : Exact{c};
}
Exact Multiply(int64_t a, int64_t b) {
  int64_t c;
  return __builtin_mul_overflow(a, b, &c) ? Exact{{}, true} : Exact{c};
}
Exact Divide(int64_t a, int64_t b) {
  if (b == 0) return {};
  if (b == -1) return Subtract(0, a);
  return a % b == 0 ? Exact{a / b} : Exact{};
}

// a ∘ b = c: the operation, and its inverses that give a from c and b, and b from c and a.
struct Operation {
  const char* name;
  Exact (*forward)(int64_t a, int64_t b);
  Exact (*left)(int64_t c, int64_t b);
  Exact (*right)(int64_t c, int64_t a);
  double (*forward_real)(double a, double b);
  double (*left_real)(double c, double b);
  double (*right_real)(double c, double a);
};

Exact SubtractFrom(int64_t c, int64_t a) { return Subtract(a, c); }
Exact DivideBy(int64_t c, int64_t a) { return Divide(a, c); }
double AddReal(double a, double b) { return a + b; }
double SubtractReal(double a, double b) { return a - b; }
double SubtractFromReal(double c, double a) { return a - c; }
double MultiplyReal(double a, double b) { return a * b; }
double DivideReal(double a, double b) { return a / b; }
double DivideByReal(double c, double a) { return a / c; }

constexpr Operation kOperations[] = {
    {"addo", Add, Subtract, Subtract, AddReal, SubtractReal, SubtractReal},
    {"subo", Subtract, Add, SubtractFrom, SubtractReal, AddReal, SubtractFromReal},
    {"mulo", Multiply, Divide, Divide, MultiplyReal, DivideReal, DivideReal},
    {"divo", Divide, Multiply, DivideBy, DivideReal, MultiplyReal, DivideByReal},
};

// What an operation gives for an unknown argument.
absl::StatusOr<Verdict> Determine(Context& ctx, const Operation& op, size_t index, const Number& x, const Number& y, bool integers) {
  if (!integers) {
    const auto f = index == 2 ? op.forward_real : index == 0 ? op.left_real : op.right_real;
    return Verdict{Verdict::kDetermines, index, ctx.Real(f(x.real(), y.real()))};
  }
  const Exact e = (index == 2 ? op.forward : index == 0 ? op.left : op.right)(x.i, y.i);
  if (e.overflow) return absl::OutOfRangeError(absl::StrFormat("%s: the result has more than 64 bits", op.name));
  return e.value.has_value() ? Verdict{Verdict::kDetermines, index, ctx.Integer(*e.value)} : kFails;
}

absl::StatusOr<Verdict> Decide(Context& ctx, const Operation& op, std::span<const std::optional<Term>> args) {
  Known n[3];
  int unknown = 0;
  size_t which = 2;
  for (size_t k = 0; k < 3; ++k) {
    if (args[k].has_value()) {
      n[k] = AsNumber(ctx, *args[k]);
      if (!n[k].has_value()) return kFails;
    } else {
      ++unknown;
      which = k;
    }
  }
  const auto &a = n[0], &b = n[1], &c = n[2];
  const auto zero = [](const Known& k) { return k.has_value() && k->real() == 0; };
  const bool divides = op.forward == Divide, multiplies = op.forward == Multiply;
  if (divides && zero(b)) return kFails;
  // An integer result has integer operands.
  if (c.has_value() && c->integer && ((a.has_value() && !a->integer) || (b.has_value() && !b->integer))) return kFails;
  if (unknown > 1) return kWaits;
  if (unknown == 0) {
    auto result = Determine(ctx, op, 2, *a, *b, a->integer && b->integer);
    if (!result.ok() || result->kind == Verdict::kFails) return result;
    const Number is = *AsNumber(ctx, result->value);
    return is.integer == c->integer && (is.integer ? is.i == c->i : Near(is.r, c->r)) ? kHolds : kFails;
  }
  if (which == 2) return Determine(ctx, op, 2, *a, *b, a->integer && b->integer);
  const Number& other = which == 0 ? *b : *a;
  // 0 · x = 0, and 0 / x = 0.
  if (multiplies && zero(other)) return zero(c) ? kWaits : kFails;
  if (divides && which == 1 && (zero(a) || zero(c))) return zero(a) && zero(c) ? kWaits : kFails;
  return Determine(ctx, op, which, *c, other, c->integer);
}

// A mod B = C waits for A and B, and then checks or gives C.
absl::StatusOr<Verdict> Modulo(Context& ctx, std::span<const std::optional<Term>> args) {
  Known n[3];
  for (int k = 0; k < 3; ++k) {
    if (!args[static_cast<size_t>(k)].has_value()) continue;
    n[k] = AsNumber(ctx, *args[static_cast<size_t>(k)]);
    if (!n[k].has_value()) return kFails;
  }
  if (n[1].has_value() && n[1]->real() == 0) return kFails;
  if (!n[0].has_value() || !n[1].has_value()) return kWaits;
  Number c;
  if (n[0]->integer && n[1]->integer) {
    const int64_t b = n[1]->i, r = b == -1 ? 0 : n[0]->i % b;
    c = Integer(r != 0 && (r < 0) != (b < 0) ? r + b : r);
  } else {
    const double b = n[1]->real(), r = std::fmod(n[0]->real(), b);
    c = Real(r != 0 && (r < 0) != (b < 0) ? r + b : r);
  }
  if (!n[2].has_value()) return Verdict{Verdict::kDetermines, 2, AsTerm(ctx, c)};
  const bool same = c.integer == n[2]->integer && (c.integer ? c.i == n[2]->i : Near(c.r, n[2]->r));
  return same ? kHolds : kFails;
}

// Exact, also between an integer and a real.
std::partial_ordering Compare(const Number& a, const Number& b) {
  if (a.integer && b.integer) return a.i <=> b.i;
  if (!a.integer && !b.integer) return a.r <=> b.r;
  if (!a.integer) return 0 <=> Compare(b, a);
  if (std::isnan(b.r)) return std::partial_ordering::unordered;
  if (b.r >= 0x1p63) return std::partial_ordering::less;
  if (b.r < -0x1p63) return std::partial_ordering::greater;
  const auto whole = static_cast<int64_t>(b.r);  // toward zero
  if (a.i != whole) return a.i <=> whole;
  return 0.0 <=> b.r - static_cast<double>(whole);
}

}  // namespace

absl::Status AddArithmetic(Context& ctx, Program& program, const std::string& prefix) {
  for (const Operation& op : kOperations) {
    auto s = program.AddConstraint(
        prefix + op.name, 3, [&ctx, &op](std::span<const std::optional<Term>> args) { return Decide(ctx, op, args); }, op.name);
    if (!s.ok()) return s;
  }
  auto s = program.AddConstraint(
      prefix + "modo", 3, [&ctx](std::span<const std::optional<Term>> args) { return Modulo(ctx, args); }, "modo");
  if (!s.ok()) return s;
  struct Order {
    const char* name;
    bool (*holds)(std::partial_ordering);
  };
  static constexpr Order kOrders[] = {{"lto", [](std::partial_ordering o) { return o < 0; }},
                                      {"leo", [](std::partial_ordering o) { return o <= 0; }},
                                      {"gto", [](std::partial_ordering o) { return o > 0; }},
                                      {"geo", [](std::partial_ordering o) { return o >= 0; }}};
  for (const Order& o : kOrders) {
    s = program.AddConstraint(
        prefix + o.name, 2,
        [holds = o.holds, &ctx](std::span<const std::optional<Term>> args) -> absl::StatusOr<Verdict> {
          Known n[2];
          for (size_t k = 0; k < 2; ++k) {
            if (!args[k].has_value()) continue;
            n[k] = AsNumber(ctx, *args[k]);
            if (!n[k].has_value()) return kFails;
          }
          if (!n[0].has_value() || !n[1].has_value()) return kWaits;
          return holds(Compare(*n[0], *n[1])) ? kHolds : kFails;
        },
        o.name);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace retuple
