// Minimal solutions of a homogeneous linear diophantine equation (Contejean & Devie 1994), and sub-sets of
// them.
//
// A proposal is a vector with its defect, left side minus right side. Level k holds the proposals of sum k.
// From a proposal of negative defect only left components grow, from one of positive defect only right ones:
// every minimal solution is reached, and defects stay between -max(b) and max(a), so that the search ends.
// See diophantine.h for a use.
#include "unify/diophantine.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace retuple {
namespace {

struct Proposal {
  std::vector<uint32_t> v;
  std::vector<bool> frozen;
  int64_t defect;
  uint32_t label;
};

bool Above(const std::vector<uint32_t>& v, const std::vector<uint32_t>& low) {
  for (size_t i = 0; i < v.size(); ++i) {
    if (v[i] < low[i]) return false;
  }
  return true;
}

}  // namespace

DiophantineBasis MinimalSolutions(std::span<const uint32_t> left, std::span<const uint32_t> right,
                                  const DiophantineOptions& options) {
  DiophantineBasis out;
  const size_t m = left.size(), n = m + right.size();
  if (left.empty() || right.empty()) return out;
  auto coefficient = [&](size_t i) { return i < m ? int64_t{left[i]} : -int64_t{right[i - m]}; };
  auto label_of = [&](size_t i) { return options.label.empty() ? 0u : options.label[i]; };
  auto upper_of = [&](size_t i) { return options.upper.empty() ? 0u : options.upper[i]; };
  // Solutions by component: one lies below v + e_i, but not below v, only if it is non-zero at i.
  std::vector<std::vector<uint32_t>> at(n);

  std::vector<Proposal> level, next;
  std::vector<bool> frozen(n, false);
  for (size_t i = 0; i < n; ++i) {
    Proposal p{std::vector<uint32_t>(n, 0), frozen, coefficient(i), label_of(i)};
    p.v[i] = 1;
    level.push_back(std::move(p));
    frozen[i] = true;
  }
  while (!level.empty()) {
    // Solutions of this level first: they bound the others of it no more than the next level.
    for (Proposal& p : level) {
      if (p.defect != 0) continue;
      for (size_t i = 0; i < n; ++i) {
        if (p.v[i]) at[i].push_back(static_cast<uint32_t>(out.vectors.size()));
      }
      out.vectors.push_back(std::move(p.v));
    }
    next.clear();
    for (Proposal& p : level) {
      if (p.defect == 0) continue;
      size_t from = p.defect < 0 ? 0 : m, to = p.defect < 0 ? m : n;
      for (size_t i = from; i < to; ++i) {
        if (p.frozen[i]) continue;
        if (++out.steps > options.max_steps) {
          out.complete = false;
          return out;
        }
        uint32_t label = label_of(i);
        if (upper_of(i) && p.v[i] >= upper_of(i)) continue;
        if (label && p.label && label != p.label) continue;
        ++p.v[i];
        bool minimal = true;
        for (uint32_t k : at[i]) {
          if (Above(p.v, out.vectors[k])) {
            minimal = false;
            break;
          }
        }
        if (minimal) next.push_back({p.v, p.frozen, p.defect + coefficient(i), label ? label : p.label});
        --p.v[i];
        p.frozen[i] = true;
      }
    }
    level.swap(next);
  }
  std::vector<std::pair<uint64_t, size_t>> order(out.vectors.size());
  for (size_t k = 0; k < order.size(); ++k) {
    order[k] = {std::accumulate(out.vectors[k].begin(), out.vectors[k].end(), uint64_t{0}), k};
  }
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : out.vectors[a.second] > out.vectors[b.second];
  });
  std::vector<std::vector<uint32_t>> sorted;
  sorted.reserve(order.size());
  for (const auto& [sum, k] : order) sorted.push_back(std::move(out.vectors[k]));
  out.vectors = std::move(sorted);
  return out;
}

BasisSubsets::BasisSubsets(const std::vector<std::vector<uint32_t>>& vectors, std::vector<Demand> demands,
                           std::vector<bool> forced)
    : support_(vectors.size()),
      demands_(std::move(demands)),
      forced_(std::move(forced)),
      choice_(vectors.size(), 0),
      cover_(demands_.size(), 0),
      remaining_(demands_.size(), 0) {
  forced_.resize(vectors.size(), false);
  for (size_t i = 0; i < vectors.size(); ++i) {
    for (size_t c = 0; c < demands_.size(); ++c) {
      if (vectors[i][c] == 0) continue;
      support_[i].push_back(static_cast<uint32_t>(c));
      ++remaining_[c];
    }
  }
  for (size_t c = 0; c < demands_.size(); ++c) {
    if (demands_[c] != Demand::kAny && remaining_[c] == 0) possible_ = false;
  }
}

bool BasisSubsets::Enter(size_t i, int choice) {
  if (choice == 0 && forced_[i]) return false;
  for (uint32_t c : support_[i]) {
    if (choice == 1 && demands_[c] == Demand::kOnce && cover_[c] == 1) return false;
    if (choice == 0 && demands_[c] != Demand::kAny && cover_[c] == 0 && remaining_[c] == 1) return false;
  }
  for (uint32_t c : support_[i]) {
    cover_[c] += static_cast<uint32_t>(choice);
    --remaining_[c];
  }
  choice_[i] = static_cast<int8_t>(choice);
  return true;
}

void BasisSubsets::Leave(size_t i) {
  for (uint32_t c : support_[i]) {
    cover_[c] -= static_cast<uint32_t>(choice_[i]);
    ++remaining_[c];
  }
}

bool BasisSubsets::Next(uint64_t max_steps) {
  if (!possible_ || exhausted_) return false;
  int choice = 1;  // to try at depth_; -1: both were tried
  if (started_) {
    // Back to the last vector that was taken: leave it instead.
    choice = -1;
  }
  started_ = true;
  for (;;) {
    if (choice < 0) {
      for (;;) {
        if (depth_ == 0) {
          possible_ = false;
          return false;
        }
        Leave(--depth_);
        if (choice_[depth_] == 1) break;
      }
      choice = 0;
    }
    if (depth_ == support_.size()) return true;
    if (++steps_ > max_steps) {
      exhausted_ = true;
      return false;
    }
    if (Enter(depth_, choice)) {
      ++depth_;
      choice = 1;
    } else {
      --choice;
    }
  }
}

}  // namespace retuple
