// Minimal solutions of one homogeneous linear diophantine equation
//
//   a_1 x_1 + … + a_m x_m  =  b_1 y_1 + … + b_n y_n        (a_i, b_j > 0; x, y non-negative integers)
//
// The solutions are a monoid; its finitely many minimal non-zero elements (its Hilbert basis) generate it.
// They are found by the breadth-first completion of Contejean & Devie, "An efficient incremental algorithm
// for solving systems of linear diophantine equations" (Information and Computation 113, 1994): a proposal
// whose left side is too small grows on the left only, one whose right side is too small on the right only,
// and a proposal that lies above a solution is dropped. Components are frozen among siblings, so that a
// proposal is reached once. Unification modulo AC is the use: unify/ac.h.
//
//   DiophantineBasis b = MinimalSolutions({2}, {1, 1});       // 2x = y + z
//   b.vectors == {{1, 2, 0}, {1, 1, 1}, {1, 0, 2}}
#ifndef RETUPLE_UNIFY_DIOPHANTINE_H_
#define RETUPLE_UNIFY_DIOPHANTINE_H_

#include <cstdint>
#include <span>
#include <vector>

namespace retuple {

// What is known of the components, left ones first; an empty vector says nothing.
struct DiophantineOptions {
  // Solutions with a component above its bound are left out (0: no bound).
  std::vector<uint32_t> upper;
  // Solutions with two non-zero components whose labels differ and are not 0 are left out.
  std::vector<uint32_t> label;
  // Proposals looked at.
  uint64_t max_steps = 10'000'000;
};

struct DiophantineBasis {
  // Each has left.size() + right.size() components. In order of their sum, then lexicographically descending.
  std::vector<std::vector<uint32_t>> vectors;
  bool complete = true;  // false: the limit was reached
  uint64_t steps = 0;
};

// The minimal non-zero solutions that the options admit. Pre: coefficients are positive and below 2^31; they
// are put in one order on each side. With an empty side there is no solution but zero. Deterministic.
DiophantineBasis MinimalSolutions(std::span<const uint32_t> left, std::span<const uint32_t> right,
                                  const DiophantineOptions& options = {});

// Which sub-sets of a basis solve an equation of unification: a walk over the choices "take vector i" /
// "leave it" that is cut as soon as a column cannot be met any more. A column has one of three demands on the
// vectors that are taken:
enum class Demand : uint8_t {
  kAny,      // none (a variable that may be the unit)
  kCovered,  // at least one is non-zero there (a variable)
  kOnce,     // exactly one is non-zero there (a constant or another term)
};

// Enumerates the sub-sets lazily. `forced` vectors (empty: none) are always taken.
//
//   BasisSubsets s(basis.vectors, demands, {});
//   while (s.Next()) for (size_t i = 0; i < basis.vectors.size(); ++i) if (s.taken(i)) …
class BasisSubsets {
 public:
  BasisSubsets(const std::vector<std::vector<uint32_t>>& vectors, std::vector<Demand> demands,
               std::vector<bool> forced);
  // Moves to the next sub-set; false when there is none, or `max_steps` choices were made in all (then
  // exhausted()).
  bool Next(uint64_t max_steps = ~uint64_t{0});
  bool taken(size_t i) const { return choice_[i] == 1; }
  bool exhausted() const { return exhausted_; }
  uint64_t steps() const { return steps_; }

 private:
  bool Enter(size_t i, int choice);  // false: dead, and nothing changed
  void Leave(size_t i);

  std::vector<std::vector<uint32_t>> support_;  // columns of each vector
  std::vector<Demand> demands_;
  std::vector<bool> forced_;
  std::vector<int8_t> choice_;       // of the vectors before depth_: 1 taken, 0 left
  std::vector<uint32_t> cover_;      // taken vectors at each column
  std::vector<uint32_t> remaining_;  // undecided vectors at each column
  size_t depth_ = 0;
  bool started_ = false;
  bool possible_ = true;
  bool exhausted_ = false;
  uint64_t steps_ = 0;
};

}  // namespace retuple

#endif  // RETUPLE_UNIFY_DIOPHANTINE_H_
