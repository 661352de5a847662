// Reduction orders: when one side of a rule is larger than the other, so that rewriting with it ends.
//
// The lexicographic path order (Kamin & Lévy 1980; Baader & Nipkow, "Term Rewriting and All That", 5.4.2): s > t by a precedence of
// operators, arguments compared from the left. It is stable under substitution and monotonic, so rules that go down by it terminate.
//
//   Precedence p({i, times, e});                        // i > * > e
//   LpoCompare(ctx, p, *ReadTerm(ctx, "(* (* ?x ?y) ?z)"), *ReadTerm(ctx, "(* ?x (* ?y ?z))")) == Order::kGreater
//
// A term is a variable, an atom (an operator without arguments) or a tuple whose first child is a symbol. Two operators that the
// precedence does not name are equal only if they are one; else they are not comparable.
#ifndef RETUPLE_REWRITE_TERM_ORDER_H_
#define RETUPLE_REWRITE_TERM_ORDER_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "etuple/term.h"

namespace retuple {

class Precedence {
 public:
  Precedence() = default;
  // Highest first.
  explicit Precedence(std::span<const Term> operators);
  explicit Precedence(std::initializer_list<Term> operators) : Precedence(std::span<const Term>(operators.begin(), operators.size())) {}
  bool Greater(Term f, Term g) const;
  const std::vector<Term>& operators() const { return operators_; }
  std::string ToString(const Context& ctx) const;  // "i > * > e"

 private:
  std::vector<Term> operators_;
  absl::flat_hash_map<Term, size_t> rank_;
};

enum class Order { kLess, kEqual, kGreater, kIncomparable };

// O(nodes of s · nodes of t · arguments). kIncomparable as well for terms with more than 10^7 pairs of nodes.
Order LpoCompare(const Context& ctx, const Precedence& precedence, Term s, Term t);

// The operators of the terms, those with most arguments first, else in order of occurrence. Empty optional if a tuple does not begin with a
// symbol, or holds a rest variable or a keyword.
std::optional<std::vector<Term>> OperatorsOf(const Context& ctx, std::span<const Term> terms);

// A precedence by which every pair goes down from its first to its second, if there is one among those tried: all orders of up to 7
// operators, else the order of OperatorsOf improved step by step.
std::optional<Precedence> FindPrecedence(const Context& ctx, std::span<const std::pair<Term, Term>> pairs);

}  // namespace retuple

#endif  // RETUPLE_REWRITE_TERM_ORDER_H_
