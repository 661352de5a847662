// Minimal solutions of homogeneous linear diophantine equations, and the sub-sets of them that unification
// takes.
//
//   a_1 x_1 + … + a_m x_m  =  b_1 y_1 + … + b_n y_n        (x, y non-negative integers), or A x = 0
//
// The solutions are a monoid; its finitely many minimal non-zero elements (its Hilbert basis) generate it.
// They are found by the breadth-first completion of Contejean & Devie, "An efficient incremental algorithm
// for solving systems of linear diophantine equations" (Information and Computation 113, 1994): a proposal v
// grows by the unit vector e_i only where that turns its defect back, <A v, A e_i> < 0; a proposal that lies
// above a solution is dropped; components are frozen among siblings, so that a proposal is reached once. For
// one equation the criterion says: a side that is too small grows. Unification modulo AC is the use:
// unify/ac.h.
//
//   DiophantineBasis b = MinimalSolutions({2}, {1, 1});       // 2x = y + z
//   b.size() == 3; b.Dense(0) == {1, 2, 0}; b.Dense(1) == {1, 1, 1}; b.Dense(2) == {1, 0, 2}
#ifndef RETUPLE_UNIFY_DIOPHANTINE_H_
#define RETUPLE_UNIFY_DIOPHANTINE_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace retuple {

// What is known of the components, left ones first; an empty vector says nothing.
struct DiophantineOptions {
  // Solutions with a component above its bound are left out (0: no bound).
  std::vector<uint32_t> upper;
  // Solutions with two non-zero components whose labels differ and are not 0 are left out.
  std::vector<uint32_t> label;
  // Units of work: components of proposals that are made, and comparisons with solutions. Memory is
  // O(max_steps).
  uint64_t max_steps = 20'000'000;
};

// Vectors of non-negative integers, each as its non-zero components in order of columns.
class DiophantineBasis {
 public:
  struct Component {
    uint32_t column, value;
    friend bool operator==(Component, Component) = default;
  };
  explicit DiophantineBasis(size_t columns = 0) : columns_(columns) {}
  size_t columns() const { return columns_; }
  size_t size() const { return ends_.size(); }
  std::span<const Component> operator[](size_t i) const {
    const size_t from = i == 0 ? 0 : ends_[i - 1];
    return {components_.data() + from, ends_[i] - from};
  }
  // Vector i with its zeros.
  std::vector<uint32_t> Dense(size_t i) const;
  // Pre: columns ascend and are below columns(); values are not 0.
  void Append(std::span<const Component> v) {
    components_.insert(components_.end(), v.begin(), v.end());
    ends_.push_back(components_.size());
  }

  bool complete = true;  // false: the limit was reached, solutions may be missing
  uint64_t steps = 0;

 private:
  size_t columns_;
  std::vector<Component> components_;
  std::vector<size_t> ends_;
};

// The minimal non-zero solutions that the options admit, in order of their sum, then lexicographically
// descending. Pre: coefficients are positive and below 2^31. With an empty side there is no solution but
// zero. Deterministic.
DiophantineBasis MinimalSolutions(std::span<const uint32_t> left, std::span<const uint32_t> right,
                                  const DiophantineOptions& options = {});
inline DiophantineBasis MinimalSolutions(std::initializer_list<uint32_t> left,
                                         std::initializer_list<uint32_t> right,
                                         const DiophantineOptions& options = {}) {
  return MinimalSolutions(std::span<const uint32_t>(left.begin(), left.size()),
                          std::span<const uint32_t>(right.begin(), right.size()), options);
}

// The same for the system A x = 0: one row an equation, all rows of one length. Coefficients are of any sign,
// and above -2^31 and below 2^31. A column of zeros is a solution by itself.
DiophantineBasis MinimalSolutions(std::span<const std::vector<int64_t>> rows,
                                  const DiophantineOptions& options = {});

// What a column asks of the vectors that are taken.
enum class Demand : uint8_t {
  kAny,      // nothing (a variable that may be the unit)
  kCovered,  // at least one is non-zero there (a variable)
  kOnce,     // exactly one is non-zero there (a constant or another term)
};

// Enumerates the sub-sets of a basis that meet the demands of its columns. A walk over "take vector i" /
// "leave it" with the vectors of kOnce columns first; vectors and columns are bit sets. A taken vector rules
// out those that share a kOnce column with it, and the walk turns back as soon as an unmet column has no
// vector left.
//
//   BasisSubsets s(basis, demands, {});
//   while (s.Next()) for (uint32_t i : s.taken()) …
class BasisSubsets {
 public:
  // `forced` vectors (empty: none) are always taken; they are zero at kOnce columns.
  BasisSubsets(const DiophantineBasis& basis, std::vector<Demand> demands, const std::vector<bool>& forced);
  // Moves to the next sub-set; false when there is none, or `max_steps` were made in all (then exhausted()).
  bool Next(uint64_t max_steps = ~uint64_t{0});
  // Indices of the vectors of the present sub-set, in a fixed order.
  std::vector<uint32_t> taken() const;
  bool exhausted() const { return exhausted_; }
  uint64_t steps() const { return steps_; }

 private:
  using Bits = std::vector<uint64_t>;
  struct Decision {
    uint32_t vector;  // a position of order_
    bool taken;
    bool saved;  // a copy of blocked_ is on saved_
  };
  bool Take(uint32_t i);   // false: dead, and nothing changed
  bool Leave(uint32_t i);  // the same
  void UndoTake(const Decision& d);
  bool Reachable(uint32_t column, uint32_t from);

  std::vector<uint32_t> order_;                 // indices into the basis
  std::vector<std::vector<uint32_t>> support_;  // columns of each vector with a demand
  std::vector<bool> forced_;
  std::vector<Demand> demands_;
  std::vector<Bits> members_;     // vectors of each column with a demand
  std::vector<uint32_t> cover_;   // taken vectors of each column
  std::vector<uint32_t> shrunk_;  // columns that lost a vector
  Bits blocked_;
  std::vector<Bits> saved_;
  std::vector<Decision> decisions_;
  bool started_ = false;
  bool possible_ = true;
  bool exhausted_ = false;
  uint64_t steps_ = 0;
};

}  // namespace retuple

#endif  // RETUPLE_UNIFY_DIOPHANTINE_H_
