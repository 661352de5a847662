// Minimal solutions of linear diophantine equations and systems, and their sub-sets, against brute force.
#include "unify/diophantine.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace retuple {
namespace {

using Vector = std::vector<uint32_t>;
using Rows = std::vector<std::vector<int64_t>>;

std::vector<Vector> Vectors(const DiophantineBasis& b) {
  std::vector<Vector> r;
  for (size_t i = 0; i < b.size(); ++i) r.push_back(b.Dense(i));
  return r;
}

bool Below(const Vector& a, const Vector& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](uint32_t x, uint32_t y) { return x <= y; });
}

// The minimal ones of all solutions whose components are at most `bound`.
std::set<Vector> BruteForce(const Rows& rows, uint32_t bound) {
  const size_t n = rows[0].size();
  std::vector<Vector> solutions;
  Vector v(n, 0);
  for (;;) {
    size_t i = 0;
    while (i < n && ++v[i] > bound) v[i++] = 0;
    if (i == n) break;
    const bool solved = std::all_of(rows.begin(), rows.end(), [&](const auto& row) {
      int64_t defect = 0;
      for (size_t k = 0; k < n; ++k) defect += row[k] * v[k];
      return defect == 0;
    });
    if (solved) solutions.push_back(v);
  }
  std::set<Vector> minimal;
  for (const Vector& s : solutions) {
    if (std::none_of(solutions.begin(), solutions.end(),
                     [&](const Vector& o) { return o != s && Below(o, s); })) {
      minimal.insert(s);
    }
  }
  return minimal;
}

Rows OneRow(const Vector& left, const Vector& right) {
  Rows rows(1);
  for (uint32_t a : left) rows[0].push_back(a);
  for (uint32_t b : right) rows[0].push_back(-int64_t{b});
  return rows;
}

TEST(DiophantineTest, AgreesWithBruteForce) {
  const std::vector<std::pair<Vector, Vector>> equations = {
      {{1}, {1}},       {{2}, {1, 1}},       {{3}, {1, 1}},         {{1, 1}, {1, 1}}, {{2, 1}, {2, 1}},
      {{2}, {2, 1}},    {{3, 2}, {5}},       {{3, 2}, {4, 1}},      {{6}, {4, 3}},    {{5, 3}, {4, 2}},
      {{2, 3}, {3, 2}}, {{1, 2, 3}, {2, 2}}, {{1, 1, 1}, {2}},      {{4}, {6}},       {{2, 2}, {2, 2}},
      {{7}, {5, 2}},    {{1, 3, 5}, {2, 4}}, {{1, 1, 1}, {1, 1, 1}}};
  for (const auto& [left, right] : equations) {
    const DiophantineBasis b = MinimalSolutions(left, right);
    EXPECT_TRUE(b.complete);
    const std::vector<Vector> vectors = Vectors(b);
    const std::set<Vector> found(vectors.begin(), vectors.end());
    EXPECT_EQ(found.size(), vectors.size()) << "a solution twice";
    // No component passes the largest coefficient (Lambert, Comptes Rendus 305, 1987).
    const uint32_t bound =
        std::max(*std::max_element(left.begin(), left.end()), *std::max_element(right.begin(), right.end()));
    const Rows rows = OneRow(left, right);
    EXPECT_EQ(found, BruteForce(rows, bound))
        << testing::PrintToString(left) << " = " << testing::PrintToString(right);
    EXPECT_EQ(Vectors(MinimalSolutions(rows)), vectors);
  }
}

TEST(DiophantineTest, SystemsAgreeWithBruteForce) {
  const std::vector<Rows> systems = {
      {{1, -1, 0}, {0, 1, -1}},
      {{1, 1, -1, -1}, {1, -1, 0, 0}},
      {{2, -1, -1, 0}, {0, 1, -1, 1}},
      {{1, 2, -3, 0}, {3, -1, 0, -2}},
      {{-1, 1, 2, -3}, {-1, 3, -2, -1}},  // the example of Contejean & Devie: (0,1,1,1), (4,2,1,0)
      {{1, 1, 1, -1, -1, -1}, {1, 0, 0, -1, 0, 0}},
      {{1, 1, -2, 0, 0}, {0, 1, 1, -1, -1}, {1, 0, -1, 1, -1}},
      {{1, 1, 1}, {1, -1, 0}},  // zero alone
      {{0, 1, -1}, {0, 2, -2}},
  };
  for (const Rows& rows : systems) {
    const DiophantineBasis b = MinimalSolutions(rows);
    EXPECT_TRUE(b.complete);
    const std::vector<Vector> vectors = Vectors(b);
    const std::set<Vector> found(vectors.begin(), vectors.end());
    EXPECT_EQ(found.size(), vectors.size()) << "a solution twice";
    EXPECT_EQ(found, BruteForce(rows, 9)) << testing::PrintToString(rows);
  }
  EXPECT_EQ(Vectors(MinimalSolutions(Rows{{-1, 1, 2, -3}, {-1, 3, -2, -1}})),
            (std::vector<Vector>{{0, 1, 1, 1}, {4, 2, 1, 0}}));
}

TEST(DiophantineTest, RandomSystems) {
  uint64_t seed = 1;
  auto next = [&](uint32_t n) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(seed >> 33) % n;
  };
  for (int round = 0; round < 60; ++round) {
    Rows rows(1 + next(2), std::vector<int64_t>(4));
    for (auto& row : rows) {
      for (int64_t& a : row) a = static_cast<int64_t>(next(7)) - 3;
    }
    const std::vector<Vector> vectors = Vectors(MinimalSolutions(rows));
    std::set<Vector> small;
    for (const Vector& v : vectors) {
      if (*std::max_element(v.begin(), v.end()) <= 10) small.insert(v);
    }
    EXPECT_EQ(small, BruteForce(rows, 10)) << testing::PrintToString(rows);
  }
}

TEST(DiophantineTest, KnownBases) {
  EXPECT_EQ(Vectors(MinimalSolutions({2}, {1, 1})), (std::vector<Vector>{{1, 2, 0}, {1, 1, 1}, {1, 0, 2}}));
  EXPECT_EQ(MinimalSolutions(Vector(20, 1), Vector(30, 1)).size(), 600u);
  EXPECT_EQ(MinimalSolutions(Vector(300, 1), Vector(300, 1)).size(), 90'000u);
  EXPECT_EQ(MinimalSolutions(Vector{}, Vector{1, 2}).size(), 0u);
  EXPECT_EQ(MinimalSolutions(Vector{}, Vector{}).size(), 0u);
  EXPECT_EQ(MinimalSolutions(Rows{}).size(), 0u);
  EXPECT_EQ(Vectors(MinimalSolutions({1001}, {997})), (std::vector<Vector>{{997, 1001}}));
  EXPECT_EQ(Vectors(MinimalSolutions({2'000'000'000}, {2'000'000'000})), (std::vector<Vector>{{1, 1}}));
}

TEST(DiophantineTest, OptionsSelectSolutions) {
  const Vector left{2, 1, 1}, right{1, 1, 2};
  DiophantineOptions o;
  o.upper = {0, 1, 0, 1, 0, 1};
  o.label = {0, 1, 0, 2, 0, 1};
  const std::vector<Vector> all = Vectors(MinimalSolutions(left, right));
  std::vector<Vector> expected;
  for (const Vector& v : all) {
    bool good = true;
    for (size_t i = 0; i < v.size(); ++i) {
      good &= !o.upper[i] || v[i] <= o.upper[i];
      for (size_t j = 0; j < i; ++j) {
        good &= !(v[i] && v[j] && o.label[i] && o.label[j] && o.label[i] != o.label[j]);
      }
    }
    if (good) expected.push_back(v);
  }
  EXPECT_LT(expected.size(), all.size());
  EXPECT_EQ(Vectors(MinimalSolutions(left, right, o)), expected);
}

TEST(DiophantineTest, Limit) {
  DiophantineOptions o;
  o.max_steps = 10;
  EXPECT_FALSE(MinimalSolutions(Vector(10, 1), Vector(10, 1), o).complete);
  // 10^12 solutions.
  EXPECT_FALSE(MinimalSolutions(Vector(1'000'000, 1), Vector(1'000'000, 1)).complete);
  EXPECT_FALSE(MinimalSolutions({2'000'000'000}, {1'999'999'999}).complete);
}

TEST(DiophantineTest, SubsetsAgreeWithBruteForce) {
  const std::vector<std::pair<Vector, Vector>> equations = {
      {{1, 1}, {1, 1}}, {{2}, {1, 1}}, {{2, 1}, {1, 1}}, {{1, 1, 1}, {1, 1}}, {{1, 1, 1}, {1, 1, 1}}};
  for (const auto& [left, right] : equations) {
    const DiophantineBasis basis = MinimalSolutions(left, right);
    const std::vector<Vector> vectors = Vectors(basis);
    const size_t n = left.size() + right.size();
    for (uint32_t kinds = 0; kinds < 27; ++kinds) {
      std::vector<Demand> demands(n, Demand::kCovered);
      for (size_t c = 0, k = kinds; c < 3; ++c, k /= 3) demands[c] = static_cast<Demand>(k % 3);
      // The last vector, if a unifier could force it.
      std::vector<bool> forced(basis.size(), false);
      forced.back() = kinds % 2;
      for (size_t c = 0; c < n; ++c) {
        if (vectors.back()[c] && demands[c] == Demand::kOnce) forced.back() = false;
      }
      std::set<uint32_t> expected, found;
      for (uint32_t mask = 0; mask < 1u << basis.size(); ++mask) {
        bool good = !forced.back() || (mask >> (basis.size() - 1) & 1);
        for (size_t c = 0; c < n; ++c) {
          uint32_t cover = 0;
          for (size_t k = 0; k < basis.size(); ++k) cover += (mask >> k & 1) && vectors[k][c];
          good &= demands[c] == Demand::kAny || (demands[c] == Demand::kOnce ? cover == 1 : cover > 0);
        }
        if (good) expected.insert(mask);
      }
      BasisSubsets s(basis, demands, forced);
      while (s.Next()) {
        uint32_t mask = 0;
        for (uint32_t k : s.taken()) mask |= 1u << k;
        EXPECT_TRUE(found.insert(mask).second);
      }
      EXPECT_EQ(found, expected);
      EXPECT_FALSE(s.Next());
    }
  }
}

// More vectors than a word has bits: the ways to pair n constants with n others are n!.
TEST(DiophantineTest, SubsetsOfManyVectors) {
  const DiophantineBasis basis = MinimalSolutions(Vector(9, 1), Vector(9, 1));
  std::vector<Demand> demands(18, Demand::kOnce);
  BasisSubsets s(basis, demands, {});
  size_t n = 0;
  while (s.Next()) ++n;
  EXPECT_EQ(n, 362'880u);
  EXPECT_LT(s.steps(), 100 * n);
}

TEST(DiophantineTest, SubsetsOfNothing) {
  BasisSubsets any(DiophantineBasis(1), {Demand::kAny}, {});
  EXPECT_TRUE(any.Next());
  EXPECT_TRUE(any.taken().empty());
  EXPECT_FALSE(any.Next());
  BasisSubsets none(DiophantineBasis(1), {Demand::kCovered}, {});
  EXPECT_FALSE(none.Next());
  DiophantineBasis ten(1);
  for (uint32_t k = 1; k <= 10; ++k) {
    const DiophantineBasis::Component c{0, k};
    ten.Append({&c, 1});
  }
  BasisSubsets cut(ten, {Demand::kCovered}, {});
  EXPECT_FALSE(cut.Next(3));
  EXPECT_TRUE(cut.exhausted());
}

}  // namespace
}  // namespace retuple
