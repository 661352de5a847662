#include "rewrite/term_order.h"

#include <algorithm>

#include "etuple/printer.h"

namespace retuple {
namespace {

struct Operator {
  Term symbol;
  std::span<const Term> arguments;
};
Operator Split(const Context& ctx, const Term& t) {
  if (!ctx.IsTuple(t) || t.is_nil()) return {t, {}};
  return {ctx.Rator(t), ctx.Rands(t)};
}

// s > t for all subterms s and t of two terms, smaller ones first.
class Lpo {
 public:
  Lpo(const Context& ctx, const Precedence& precedence, std::span<const Term> left, std::span<const Term> right)
      : ctx_(ctx), precedence_(precedence), left_(left), right_(right), greater_(left.size() * right.size()) {
    for (size_t i = 0; i < left.size(); ++i) left_index_[left[i]] = i;
    for (size_t j = 0; j < right.size(); ++j) right_index_[right[j]] = j;
    for (size_t i = 0; i < left.size(); ++i) {
      for (size_t j = 0; j < right.size(); ++j) greater_[i * right.size() + j] = Decide(left[i], right[j]);
    }
  }
  bool Last() const { return greater_.back(); }

 private:
  bool Greater(Term s, Term t) const { return greater_[left_index_.at(s) * right_.size() + right_index_.at(t)]; }
  bool Decide(Term s, Term t) const {
    if (s == t || ctx_.IsVariable(s)) return false;
    const Operator f = Split(ctx_, s);
    for (Term a : f.arguments) {
      if (a == t || Greater(a, t)) return true;
    }
    if (ctx_.IsVariable(t)) return false;
    const Operator g = Split(ctx_, t);
    if (f.symbol != g.symbol) {
      if (!precedence_.Greater(f.symbol, g.symbol)) return false;
      return std::all_of(g.arguments.begin(), g.arguments.end(), [&](Term b) { return Greater(s, b); });
    }
    if (!std::all_of(g.arguments.begin(), g.arguments.end(), [&](Term b) { return Greater(s, b); })) return false;
    for (size_t k = 0; k < f.arguments.size() && k < g.arguments.size(); ++k) {
      if (f.arguments[k] != g.arguments[k]) return Greater(f.arguments[k], g.arguments[k]);
    }
    return f.arguments.size() > g.arguments.size();
  }

  const Context& ctx_;
  const Precedence& precedence_;
  std::span<const Term> left_, right_;
  absl::flat_hash_map<Term, size_t> left_index_, right_index_;
  std::vector<bool> greater_;
};

// Operands only: an operator's symbol is no subterm.
std::vector<Term> Subterms(const Context& ctx, Term root) {
  std::vector<Term> out;
  absl::flat_hash_map<Term, bool> seen;  // value: it is in `out`
  std::vector<Term> stack = {root};
  while (!stack.empty()) {
    const Term t = stack.back();
    auto [it, first] = seen.try_emplace(t, false);
    if (first) {
      const Operator f = Split(ctx, t);
      stack.insert(stack.end(), f.arguments.begin(), f.arguments.end());
      continue;
    }
    stack.pop_back();
    if (!it->second) out.push_back(t);
    it->second = true;
  }
  return out;
}

}  // namespace

Precedence::Precedence(std::span<const Term> operators) : operators_(operators.begin(), operators.end()) {
  for (size_t i = 0; i < operators_.size(); ++i) rank_.try_emplace(operators_[i], operators_.size() - i);
}

bool Precedence::Greater(Term f, Term g) const {
  const auto a = rank_.find(f), b = rank_.find(g);
  return a != rank_.end() && b != rank_.end() && a->second > b->second;
}

std::string Precedence::ToString(const Context& ctx) const {
  std::string out;
  for (Term t : operators_) out += (out.empty() ? "" : " > ") + PrintTerm(ctx, t);
  return out;
}

Order LpoCompare(const Context& ctx, const Precedence& precedence, Term s, Term t) {
  if (s == t) return Order::kEqual;
  constexpr size_t kMost = 10'000'000;
  const std::vector<Term> left = Subterms(ctx, s), right = Subterms(ctx, t);
  if (left.size() * right.size() > kMost) return Order::kIncomparable;
  if (Lpo(ctx, precedence, left, right).Last()) return Order::kGreater;
  if (Lpo(ctx, precedence, right, left).Last()) return Order::kLess;
  return Order::kIncomparable;
}

std::optional<std::vector<Term>> OperatorsOf(const Context& ctx, std::span<const Term> terms) {
  std::vector<std::pair<size_t, Term>> found;  // arguments, operator
  absl::flat_hash_map<Term, size_t> place;
  for (Term root : terms) {
    for (Term t : Subterms(ctx, root)) {
      if (ctx.IsRest(t) || ctx.IsKeyword(t)) return std::nullopt;
      if (ctx.IsVariable(t)) continue;
      const Operator f = Split(ctx, t);
      if (!f.arguments.empty() && (!ctx.IsSymbol(f.symbol) || ctx.IsKeyword(f.symbol))) return std::nullopt;
      auto [it, first] = place.try_emplace(f.symbol, found.size());
      if (first) found.emplace_back(0, f.symbol);
      found[it->second].first = std::max(found[it->second].first, f.arguments.size());
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Term> out;
  for (const auto& [arguments, f] : found) out.push_back(f);
  return out;
}

std::optional<Precedence> FindPrecedence(const Context& ctx, std::span<const std::pair<Term, Term>> pairs) {
  std::vector<Term> sides;
  for (const auto& [l, r] : pairs) sides.insert(sides.end(), {l, r});
  auto operators = OperatorsOf(ctx, sides);
  if (!operators.has_value()) return std::nullopt;
  // How many pairs go down.
  auto score = [&](std::span<const Term> order) {
    const Precedence p(order);
    size_t n = 0;
    for (const auto& [l, r] : pairs) n += LpoCompare(ctx, p, l, r) == Order::kGreater;
    return n;
  };
  std::vector<Term>& order = *operators;
  if (order.size() <= 7) {
    std::vector<size_t> at(order.size());
    for (size_t i = 0; i < at.size(); ++i) at[i] = i;
    do {
      std::vector<Term> candidate;
      for (size_t i : at) candidate.push_back(order[i]);
      if (score(candidate) == pairs.size()) return Precedence(candidate);
    } while (std::next_permutation(at.begin(), at.end()));
    return std::nullopt;
  }
  // An operator is moved to another place as long as that makes more pairs go down.
  size_t best = score(order);
  for (bool better = true; better && best < pairs.size();) {
    better = false;
    for (size_t from = 0; from < order.size() && best < pairs.size(); ++from) {
      for (size_t to = 0; to < order.size(); ++to) {
        std::vector<Term> candidate = order;
        const Term f = candidate[from];
        candidate.erase(candidate.begin() + static_cast<ptrdiff_t>(from));
        candidate.insert(candidate.begin() + static_cast<ptrdiff_t>(to), f);
        const size_t n = score(candidate);
        if (n <= best) continue;
        best = n;
        order = std::move(candidate);
        better = true;
        break;
      }
    }
  }
  if (best < pairs.size()) return std::nullopt;
  return Precedence(order);
}

}  // namespace retuple
