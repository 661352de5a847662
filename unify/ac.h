// Unification and matching modulo associativity, commutativity and units.
//
// A Theory says of operator symbols which laws hold: C, AC, A, and a unit with any of them; all other
// operators are free. A problem can mix them. Where `(+ a b c)`, `(+ a (+ b c))` and `(+ (+ c b) a)` are one
// term, a unification problem has a finite set of most general answers rather than one:
//
//   Theory th;
//   th.Ac(ctx.Sym("+"));
//   auto u = AcUnify(ctx, th, *ReadTerm(ctx, "(+ ?x ?y)"), *ReadTerm(ctx, "(+ ?u ?v)"));
//   u->unifiers.size() == 7 && u->complete;
//
// Method. AC: Stickel, "A unification algorithm for associative-commutative functions" (J. ACM 28, 1981),
// which ends by Fages, "Associative-commutative unification" (J. Symb. Comp. 3, 1987). Equal arguments of the
// two sides cancel; the others are abstracted to the unknowns of a linear diophantine equation
// (diophantine.h). A sub-set of its minimal solutions makes a unifier if each variable gets something and
// each other term is exactly one of the chosen solutions; terms that share a solution are unified in turn.
// ACU: a variable may get nothing, so all the solutions without a constant are chosen at once. Where an
// operator with a unit meets another associative operator, a subterm can collapse into any other; there the
// variables under such operators are set to the units in every way first, and what remains is solved without
// units (complete, as the unit rules have the finite variant property: Comon-Lundh & Delaune, RTA 2005). A:
// Plotkin, "Building-in equational theories" (Machine Intelligence 7, 1972), which may have infinitely many
// answers and is cut at a number of splits.
//
// Irredundance. An answer that is an instance of another is dropped; the test is a match. It is needless for
// one equation whose arguments are variables and ground terms: there any two sub-sets give incomparable
// answers, as a minimal solution is no sum of others.
//
// Terms may be binary-nested or n-ary on input; what comes out is flattened, the arguments of a commutative
// operator in order of their handles. An associative operator with one argument is that argument. An
// application with keyword arguments is free, as is a C operator without exactly two arguments. No walk
// recurses; terms may be deep and shared. All work is metered, so that a hostile problem ends at a limit.
#ifndef RETUPLE_UNIFY_AC_H_
#define RETUPLE_UNIFY_AC_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "etuple/term.h"

namespace retuple {

// The laws of one operator.
struct OperatorLaws {
  bool comm = false;
  bool assoc = false;
  std::optional<Term> unit;  // (op unit t) = t = (op t unit). An atom, no variable
};

// The laws of all operators; those without an entry are free.
struct Theory {
  std::vector<std::pair<Term, OperatorLaws>> operators;  // ascending

  Theory& C(Term op) { return Set(op, {true, false, std::nullopt}); }
  Theory& A(Term op) { return Set(op, {false, true, std::nullopt}); }
  Theory& Ac(Term op) { return Set(op, {true, true, std::nullopt}); }
  Theory& Acu(Term op, Term unit) { return Set(op, {true, true, unit}); }
  // Replaces the entry of `op`. O(operators).
  Theory& Set(Term op, OperatorLaws laws);
  // nullptr for a free operator. O(log operators).
  const OperatorLaws* Find(Term op) const;
};

struct AcOptions {
  // Drop what is an instance of another unifier.
  bool irredundant = true;
  // Unifiers (before redundant ones are dropped) or matches.
  size_t max_unifiers = 1'000'000;
  // Units of work: nodes and arguments that are read or made, choices, goals; about 50 ns and 10 bytes each.
  // The test for redundancy has the same number to itself.
  uint64_t max_steps = 50'000'000;
  // Splits of a variable under an operator that is A but not C, along one branch, beyond the length of the
  // problem.
  uint32_t max_assoc_splits = 8;
  // Test for redundancy even where it is known to be needless (for tests).
  bool always_test = false;
};

// Values of the variables of a problem, in order of first occurrence in the left term, then the right. A
// variable that stays free has itself as value. Values are idempotent: none holds a variable that another
// value replaces. Other variables are named ?_1~k, ?_2~k, … in order of occurrence (Context::FreshVariable);
// the unifiers of one problem share them.
using AcUnifier = std::vector<std::pair<Term, Term>>;

struct AcUnifiers {
  std::vector<AcUnifier> unifiers;
  bool complete = true;     // false: a limit was reached; there may be unifiers that are no instance of these
  bool irredundant = true;  // false: not filtered (no wish, or a limit)
  uint64_t steps = 0;
};

// A minimal complete set of unifiers of `a` and `b` modulo the theory, in a fixed order; none if they do not
// unify. InvalidArgument for a rest variable, a variable as operator, a unit that is no ground atom, or an
// associative operator without arguments and unit. ResourceExhausted if a flattened term would have more than
// 2^20 arguments, or all of them more than 2^26. The number of unifiers is doubly exponential in the problem
// at worst.
absl::StatusOr<AcUnifiers> AcUnify(Context& ctx, const Theory& theory, Term a, Term b,
                                   const AcOptions& options = {});

// A match, and the arguments of the subject that it leaves over (see AcMatch): for AC all in `after`.
struct AcMatchResult {
  AcUnifier bindings;  // of the pattern's variables in order of first occurrence
  std::vector<Term> before, after;
  friend bool operator==(const AcMatchResult&, const AcMatchResult&) = default;
};

struct AcMatches {
  std::vector<AcMatchResult> matches;
  bool complete = true;
  uint64_t steps = 0;
};

// All matches of `pattern` against `subject` modulo the theory, each once, in a fixed order. Variables of the
// subject are constants, even if the pattern has them too. With `extension` a pattern whose operator is
// associative also matches a part of the subject's arguments (any of them if commutative, else neighbours),
// as Maude's `xmatch`. Errors as of AcUnify. Exponential at worst: matching modulo AC is NP-complete.
absl::StatusOr<AcMatches> AcMatch(Context& ctx, const Theory& theory, Term pattern, Term subject,
                                  bool extension = false, const AcOptions& options = {});

// The normal form: two terms are equal modulo the theory exactly if their normal forms are the same handle.
// O(arguments of the result's DAG) but for sorting. Errors as of AcUnify.
absl::StatusOr<Term> AcNormalize(Context& ctx, const Theory& theory, Term t);

// The normal form of `t` with its variables replaced, all at once (values are not replaced in turn). Errors
// as of AcUnify.
absl::StatusOr<Term> AcApply(Context& ctx, const Theory& theory, Term t, const AcUnifier& values);

}  // namespace retuple

#endif  // RETUPLE_UNIFY_AC_H_
