// Minimal solutions of linear diophantine equations, against brute force.
#include "unify/diophantine.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace retuple {
namespace {

using Vector = std::vector<uint32_t>;

bool Below(const Vector& a, const Vector& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
  }
  return true;
}

// All minimal solutions, by trying every vector within Lambert's bounds: sum x <= max b, sum y <= max a
// (Comptes Rendus 305, 1987).
std::set<Vector> BruteForce(const Vector& left, const Vector& right) {
  const size_t m = left.size(), n = m + right.size();
  uint32_t bound =
      std::max(*std::max_element(left.begin(), left.end()), *std::max_element(right.begin(), right.end()));
  std::vector<Vector> solutions;
  Vector v(n, 0);
  for (;;) {
    size_t i = 0;
    while (i < n && ++v[i] > bound) v[i++] = 0;
    if (i == n) break;
    int64_t defect = 0;
    for (size_t k = 0; k < n; ++k) defect += k < m ? int64_t{left[k]} * v[k] : -int64_t{right[k - m]} * v[k];
    if (defect == 0) solutions.push_back(v);
  }
  std::set<Vector> minimal;
  for (const Vector& s : solutions) {
    bool is_minimal = std::none_of(solutions.begin(), solutions.end(),
                                   [&](const Vector& o) { return o != s && Below(o, s); });
    if (is_minimal) minimal.insert(s);
  }
  return minimal;
}

TEST(DiophantineTest, AgreesWithBruteForce) {
  const std::vector<std::pair<Vector, Vector>> equations = {
      {{1}, {1}},       {{2}, {1, 1}},       {{3}, {1, 1}},         {{1, 1}, {1, 1}}, {{2, 1}, {2, 1}},
      {{2}, {2, 1}},    {{3, 2}, {5}},       {{3, 2}, {4, 1}},      {{6}, {4, 3}},    {{5, 3}, {4, 2}},
      {{2, 3}, {3, 2}}, {{1, 2, 3}, {2, 2}}, {{1, 1, 1}, {2}},      {{4}, {6}},       {{2, 2}, {2, 2}},
      {{7}, {5, 2}},    {{1, 3, 5}, {2, 4}}, {{1, 1, 1}, {1, 1, 1}}};
  for (const auto& [left, right] : equations) {
    DiophantineBasis b = MinimalSolutions(left, right);
    EXPECT_TRUE(b.complete);
    std::set<Vector> found(b.vectors.begin(), b.vectors.end());
    EXPECT_EQ(found.size(), b.vectors.size()) << "a solution twice";
    EXPECT_EQ(found, BruteForce(left, right))
        << testing::PrintToString(left) << " = " << testing::PrintToString(right);
  }
}

TEST(DiophantineTest, KnownBases) {
  EXPECT_EQ(MinimalSolutions(Vector{2}, Vector{1, 1}).vectors,
            (std::vector<Vector>{{1, 2, 0}, {1, 1, 1}, {1, 0, 2}}));
  EXPECT_EQ(MinimalSolutions(Vector(20, 1), Vector(30, 1)).vectors.size(), 600u);
  EXPECT_TRUE(MinimalSolutions(Vector{}, Vector{1, 2}).vectors.empty());
  EXPECT_TRUE(MinimalSolutions(Vector{}, Vector{}).vectors.empty());
  // Sparse minimal solutions of large coefficients.
  DiophantineBasis b = MinimalSolutions(Vector{1001}, Vector{997});
  EXPECT_EQ(b.vectors, (std::vector<Vector>{{997, 1001}}));
}

TEST(DiophantineTest, OptionsSelectSolutions) {
  const Vector left{2, 1, 1}, right{1, 1, 2};
  std::vector<Vector> all = MinimalSolutions(left, right).vectors;
  DiophantineOptions o;
  o.upper = {0, 1, 0, 1, 0, 1};
  o.label = {0, 1, 0, 2, 0, 1};
  std::vector<Vector> expected;
  for (const Vector& v : all) {
    bool good = true;
    for (size_t i = 0; i < v.size(); ++i) {
      good &= !o.upper[i] || v[i] <= o.upper[i];
      for (size_t j = 0; j < i; ++j)
        good &= !(v[i] && v[j] && o.label[i] && o.label[j] && o.label[i] != o.label[j]);
    }
    if (good) expected.push_back(v);
  }
  EXPECT_LT(expected.size(), all.size());
  EXPECT_EQ(MinimalSolutions(left, right, o).vectors, expected);
}

TEST(DiophantineTest, Limit) {
  DiophantineOptions o;
  o.max_steps = 10;
  EXPECT_FALSE(MinimalSolutions(Vector(10, 1), Vector(10, 1), o).complete);
}

TEST(DiophantineTest, SubsetsAgreeWithBruteForce) {
  const std::vector<std::pair<Vector, Vector>> equations = {
      {{1, 1}, {1, 1}}, {{2}, {1, 1}}, {{2, 1}, {1, 1}}, {{1, 1, 1}, {1, 1}}};
  for (const auto& [left, right] : equations) {
    std::vector<Vector> basis = MinimalSolutions(left, right).vectors;
    const size_t n = left.size() + right.size();
    for (uint32_t kinds = 0; kinds < 27; ++kinds) {
      std::vector<Demand> demands(n, Demand::kCovered);
      for (size_t c = 0, k = kinds; c < 3; ++c, k /= 3) demands[c] = static_cast<Demand>(k % 3);
      std::vector<bool> forced(basis.size(), false);
      forced[0] = kinds % 2;
      std::set<uint32_t> expected, found;
      for (uint32_t mask = 0; mask < 1u << basis.size(); ++mask) {
        bool good = !forced[0] || (mask & 1);
        for (size_t c = 0; c < n; ++c) {
          uint32_t cover = 0;
          for (size_t k = 0; k < basis.size(); ++k) cover += (mask >> k & 1) && basis[k][c];
          good &= demands[c] == Demand::kAny || (demands[c] == Demand::kOnce ? cover == 1 : cover > 0);
        }
        if (good) expected.insert(mask);
      }
      BasisSubsets s(basis, demands, forced);
      while (s.Next()) {
        uint32_t mask = 0;
        for (size_t k = 0; k < basis.size(); ++k) mask |= uint32_t{s.taken(k)} << k;
        EXPECT_TRUE(found.insert(mask).second);
      }
      EXPECT_EQ(found, expected);
      EXPECT_FALSE(s.Next());
    }
  }
}

TEST(DiophantineTest, SubsetsOfNothing) {
  BasisSubsets any({}, {Demand::kAny}, {});
  EXPECT_TRUE(any.Next());
  EXPECT_FALSE(any.Next());
  BasisSubsets none({}, {Demand::kCovered}, {});
  EXPECT_FALSE(none.Next());
  BasisSubsets cut(std::vector<Vector>(10, Vector{1}), {Demand::kCovered}, {});
  EXPECT_FALSE(cut.Next(3));
  EXPECT_TRUE(cut.exhausted());
}

}  // namespace
}  // namespace retuple
