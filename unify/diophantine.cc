// Minimal solutions of linear diophantine systems (Contejean & Devie 1994), and sub-sets of them.
//
// Level k holds the proposals of sum k, each with its defect A v. If m is a solution above v then <A v, A (m
// - v)> =
// -|A v|², so that some component in which m exceeds v has <A v, A e_i> < 0: growing only there reaches each
// minimal solution, and their proof shows that it ends. A proposal is a slice of one array of non-zero
// components, with its defect and a bit set of frozen components beside it. See diophantine.h for a use.
#include "unify/diophantine.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace retuple {
namespace {

using Component = DiophantineBasis::Component;
__extension__ typedef __int128 Wide;

uint64_t Signature(std::span<const Component> v) {
  uint64_t s = 0;
  for (Component c : v) s |= uint64_t{1} << (c.column % 64);
  return s;
}

// v >= low in every component.
bool Above(std::span<const Component> v, std::span<const Component> low) {
  size_t k = 0;
  for (Component c : low) {
    while (k < v.size() && v[k].column < c.column) ++k;
    if (k == v.size() || v[k].column != c.column || v[k].value < c.value) return false;
  }
  return true;
}

// Lexicographically greater, with the zeros.
bool Greater(std::span<const Component> a, std::span<const Component> b) {
  for (size_t k = 0; k < a.size() && k < b.size(); ++k) {
    if (a[k].column != b[k].column) return a[k].column < b[k].column;
    if (a[k].value != b[k].value) return a[k].value > b[k].value;
  }
  return a.size() > b.size();
}

// The proposals of one sum.
struct Level {
  std::vector<Component> components;
  std::vector<size_t> ends;
  std::vector<int64_t> defects;  // `rows` each
  std::vector<uint64_t> frozen;  // `words` each
  std::vector<uint32_t> labels;  // of the non-zero components, 0: none
  size_t size() const { return ends.size(); }
  std::span<const Component> operator[](size_t i) const {
    const size_t from = i == 0 ? 0 : ends[i - 1];
    return {components.data() + from, ends[i] - from};
  }
  void clear() {
    components.clear();
    ends.clear();
    defects.clear();
    frozen.clear();
    labels.clear();
  }
};

class Completion {
 public:
  Completion(size_t rows, size_t columns, const std::vector<int64_t>& coefficients,
             const DiophantineOptions& options)
      : rows_(rows),
        columns_(columns),
        words_((columns + 63) / 64),
        coefficients_(coefficients),
        options_(options),
        found_(columns),
        at_(columns) {}

  DiophantineBasis Run() {
    std::vector<uint64_t> frozen(words_, 0);
    for (uint32_t i = 0; i < columns_ && Spend(1 + words_); ++i) {
      const Component c{i, 1};
      Add(level_, {&c, 1}, std::vector<int64_t>(rows_, 0).data(), i, frozen, Label(i));
      frozen[i / 64] |= uint64_t{1} << (i % 64);
    }
    while (found_.complete && level_.size() > 0) {
      Harvest();
      next_.clear();
      for (size_t k = 0; k < level_.size() && found_.complete; ++k) Grow(k);
      std::swap(level_, next_);
    }
    return Sorted();
  }

 private:
  uint32_t Label(size_t i) const { return options_.label.empty() ? 0 : options_.label[i]; }
  uint32_t Upper(size_t i) const { return options_.upper.empty() ? 0 : options_.upper[i]; }
  bool Spend(uint64_t n) {
    found_.steps += n;
    if (found_.steps > options_.max_steps) found_.complete = false;
    return found_.complete;
  }
  bool Solved(const Level& level, size_t k) const {
    const int64_t* d = level.defects.data() + k * rows_;
    return std::all_of(d, d + rows_, [](int64_t x) { return x == 0; });
  }
  // Adds `v`, whose defect is `defect` and that of the unit vector i.
  void Add(Level& level, std::span<const Component> v, const int64_t* defect, size_t i,
           std::span<const uint64_t> frozen, uint32_t label) {
    level.components.insert(level.components.end(), v.begin(), v.end());
    level.ends.push_back(level.components.size());
    for (size_t r = 0; r < rows_; ++r) level.defects.push_back(defect[r] + coefficients_[i * rows_ + r]);
    level.frozen.insert(level.frozen.end(), frozen.begin(), frozen.end());
    level.labels.push_back(label);
  }
  // Solutions of this level.
  void Harvest() {
    for (size_t k = 0; k < level_.size(); ++k) {
      if (!Solved(level_, k)) continue;
      const auto id = static_cast<uint32_t>(found_.size());
      found_.Append(level_[k]);
      signatures_.push_back(Signature(level_[k]));
      for (Component c : level_[k]) at_[c.column].push_back(id);
    }
  }
  bool Turns(const int64_t* defect, size_t i) const {
    Wide product = 0;
    for (size_t r = 0; r < rows_; ++r) product += Wide{defect[r]} * coefficients_[i * rows_ + r];
    return product < 0;
  }
  void Grow(size_t k) {
    const std::span<const Component> v = level_[k];
    const int64_t* defect = level_.defects.data() + k * rows_;
    std::span<uint64_t> frozen(level_.frozen.data() + k * words_, words_);
    if (Solved(level_, k) || !Spend(1 + columns_ / 16)) return;
    for (uint32_t i = 0; i < columns_; ++i) {
      if ((frozen[i / 64] >> (i % 64) & 1) || !Turns(defect, i)) continue;
      const uint32_t label = Label(i), have = level_.labels[k];
      if (label && have && label != have) continue;
      grown_.assign(v.begin(), v.end());
      auto place = std::lower_bound(grown_.begin(), grown_.end(), i,
                                    [](Component c, uint32_t j) { return c.column < j; });
      if (place != grown_.end() && place->column == i) {
        if (place->value == Upper(i)) continue;
        ++place->value;
      } else {
        grown_.insert(place, {i, 1});
      }
      if (!Spend(1 + grown_.size() + words_)) return;
      if (Minimal(i)) Add(next_, grown_, defect, i, frozen, label ? label : have);
      frozen[i / 64] |= uint64_t{1} << (i % 64);
    }
  }
  // No solution lies below grown_. One that does is non-zero at i, or it would lie below what grew.
  bool Minimal(uint32_t i) {
    const uint64_t signature = Signature(grown_);
    Spend(at_[i].size() / 8);
    return std::none_of(at_[i].begin(), at_[i].end(), [&](uint32_t s) {
      return (signatures_[s] & ~signature) == 0 && Above(grown_, found_[s]);
    });
  }
  DiophantineBasis Sorted() const {
    std::vector<std::pair<uint64_t, size_t>> order(found_.size());
    for (size_t k = 0; k < order.size(); ++k) {
      uint64_t sum = 0;
      for (Component c : found_[k]) sum += c.value;
      order[k] = {sum, k};
    }
    std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : Greater(found_[a.second], found_[b.second]);
    });
    DiophantineBasis out(columns_);
    out.complete = found_.complete;
    out.steps = found_.steps;
    for (const auto& [sum, k] : order) out.Append(found_[k]);
    return out;
  }

  const size_t rows_, columns_, words_;
  const std::vector<int64_t>& coefficients_;  // by column
  const DiophantineOptions& options_;
  DiophantineBasis found_;
  std::vector<uint64_t> signatures_;
  std::vector<std::vector<uint32_t>> at_;  // solutions that are non-zero at a column
  Level level_, next_;
  std::vector<Component> grown_;
};

}  // namespace

std::vector<uint32_t> DiophantineBasis::Dense(size_t i) const {
  std::vector<uint32_t> v(columns_, 0);
  for (Component c : (*this)[i]) v[c.column] = c.value;
  return v;
}

DiophantineBasis MinimalSolutions(std::span<const uint32_t> left, std::span<const uint32_t> right,
                                  const DiophantineOptions& options) {
  if (left.empty() || right.empty()) return DiophantineBasis(left.size() + right.size());
  std::vector<int64_t> coefficients(left.begin(), left.end());
  for (uint32_t b : right) coefficients.push_back(-int64_t{b});
  return Completion(1, coefficients.size(), coefficients, options).Run();
}

DiophantineBasis MinimalSolutions(std::span<const std::vector<int64_t>> rows,
                                  const DiophantineOptions& options) {
  const size_t columns = rows.empty() ? 0 : rows[0].size();
  std::vector<int64_t> coefficients(columns * rows.size());
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < columns; ++i) coefficients[i * rows.size() + r] = rows[r][i];
  }
  return Completion(rows.size(), columns, coefficients, options).Run();
}

BasisSubsets::BasisSubsets(const DiophantineBasis& basis, std::vector<Demand> demands,
                           const std::vector<bool>& forced)
    : order_(basis.size()),
      support_(basis.size()),
      forced_(basis.size(), false),
      demands_(std::move(demands)),
      members_(demands_.size()),
      cover_(demands_.size(), 0),
      blocked_((basis.size() + 63) / 64, 0) {
  std::vector<uint32_t> once(basis.size(), ~uint32_t{0});  // the first kOnce column
  for (size_t i = 0; i < basis.size(); ++i) {
    for (Component c : basis[i]) {
      if (demands_[c.column] == Demand::kOnce) once[i] = std::min(once[i], c.column);
    }
  }
  std::iota(order_.begin(), order_.end(), 0u);
  std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) { return once[a] < once[b]; });
  for (size_t c = 0; c < demands_.size(); ++c) {
    if (demands_[c] != Demand::kAny) members_[c].resize(std::max<size_t>(1, blocked_.size()), 0);
  }
  for (size_t i = 0; i < order_.size(); ++i) {
    if (!forced.empty()) forced_[i] = forced[order_[i]];
    for (Component c : basis[order_[i]]) {
      if (demands_[c.column] == Demand::kAny) continue;
      support_[i].push_back(c.column);
      members_[c.column][i / 64] |= uint64_t{1} << (i % 64);
    }
  }
  for (const Bits& m : members_) {
    possible_ &= m.empty() || std::any_of(m.begin(), m.end(), [](uint64_t w) { return w != 0; });
  }
}

// Whether a vector of the column that comes from position `from` on is not ruled out.
bool BasisSubsets::Reachable(uint32_t column, uint32_t from) {
  const Bits& m = members_[column];
  uint64_t mask = ~uint64_t{0} << (from % 64);
  for (size_t w = from / 64; w < m.size(); ++w, mask = ~uint64_t{0}) {
    ++steps_;
    if (m[w] & ~blocked_[w] & mask) return true;
  }
  return false;
}

bool BasisSubsets::Take(uint32_t i) {
  bool saved = false;
  for (uint32_t c : support_[i]) {
    ++cover_[c];
    if (demands_[c] != Demand::kOnce) continue;
    // Rules out the later vectors of this column.
    uint64_t mask = i % 64 == 63 ? 0 : ~uint64_t{0} << (i % 64 + 1);
    for (size_t w = i / 64; w < blocked_.size(); ++w, mask = ~uint64_t{0}) {
      ++steps_;
      const uint64_t more = members_[c][w] & ~blocked_[w] & mask;
      if (!more) continue;
      if (!saved) saved_.push_back(blocked_);
      saved = true;
      blocked_[w] |= more;
      for (uint64_t m = more; m; m &= m - 1) {
        const auto& lost = support_[w * 64 + static_cast<size_t>(std::countr_zero(m))];
        shrunk_.insert(shrunk_.end(), lost.begin(), lost.end());
      }
    }
  }
  decisions_.push_back({i, true, saved});
  std::sort(shrunk_.begin(), shrunk_.end());
  shrunk_.erase(std::unique(shrunk_.begin(), shrunk_.end()), shrunk_.end());
  const bool alive = std::all_of(shrunk_.begin(), shrunk_.end(),
                                 [&](uint32_t c) { return cover_[c] > 0 || Reachable(c, i + 1); });
  shrunk_.clear();
  if (!alive) {
    UndoTake(decisions_.back());
    decisions_.pop_back();
  }
  return alive;
}

void BasisSubsets::UndoTake(const Decision& d) {
  for (uint32_t c : support_[d.vector]) --cover_[c];
  if (!d.saved) return;
  blocked_ = std::move(saved_.back());
  saved_.pop_back();
}

bool BasisSubsets::Leave(uint32_t i) {
  if (forced_[i]) return false;
  for (uint32_t c : support_[i]) {
    if (cover_[c] == 0 && !Reachable(c, i + 1)) return false;
  }
  decisions_.push_back({i, false, false});
  return true;
}

bool BasisSubsets::Next(uint64_t max_steps) {
  if (!possible_ || exhausted_) return false;
  bool back = started_;
  started_ = true;
  for (;;) {
    if (++steps_ > max_steps) {
      exhausted_ = true;
      return false;
    }
    if (back) {
      // Leave the last vector that was taken and can be left.
      if (decisions_.empty()) {
        possible_ = false;
        return false;
      }
      const Decision d = decisions_.back();
      decisions_.pop_back();
      if (!d.taken) continue;
      UndoTake(d);
      back = !Leave(d.vector);
      continue;
    }
    // The next vector that is not ruled out.
    size_t i = decisions_.empty() ? 0 : decisions_.back().vector + 1;
    uint64_t mask = ~uint64_t{0} << (i % 64);
    size_t w = i / 64;
    while (w < blocked_.size() && (~blocked_[w] & mask) == 0) {
      ++w;
      mask = ~uint64_t{0};
    }
    if (w < blocked_.size()) i = w * 64 + static_cast<size_t>(std::countr_zero(~blocked_[w] & mask));
    if (w >= blocked_.size() || i >= order_.size()) return true;
    const auto vector = static_cast<uint32_t>(i);
    back = !Take(vector) && !Leave(vector);
  }
}

std::vector<uint32_t> BasisSubsets::taken() const {
  std::vector<uint32_t> list;
  for (const Decision& d : decisions_) {
    if (d.taken) list.push_back(order_[d.vector]);
  }
  return list;
}

}  // namespace retuple
