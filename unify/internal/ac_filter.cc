#include "unify/internal/ac_filter.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "unify/internal/ac_matcher.h"

namespace retuple::internal {
namespace {

// What a match cannot change for the worse, of the values of a unifier. Without units an instance keeps the
// operator or atom at the root of each value and is never smaller; constants do not become fewer. Each
// variable z of the general one becomes a term with some leaf w: w stands in each value at least as often as
// z did. And each variable of the instance comes from one of the general one.
class Profile {
 public:
  // What unifiers can share; the others of the same shape are tested together.
  struct Shape {
    std::vector<Term> heads;      // operator or atom of each value; kNone: any
    std::vector<uint64_t> sizes;  // of each value
    std::vector<std::pair<Term, std::vector<uint64_t>>> constants;  // with their number in each value
    size_t variables = 0;
    friend bool operator==(const Shape&, const Shape&) = default;
    friend bool operator<(const Shape& a, const Shape& b) {
      return std::tie(a.heads, a.sizes, a.constants, a.variables) <
             std::tie(b.heads, b.sizes, b.constants, b.variables);
    }

    // False: no unifier of shape `o` is an instance of one of this shape.
    bool MayHaveInstance(const Shape& o) const {
      for (size_t k = 0; k < sizes.size(); ++k) {
        if (sizes[k] > o.sizes[k]) return false;
        if (heads[k] != kNone && o.heads[k] != kNone && heads[k] != o.heads[k]) return false;
      }
      return std::all_of(constants.begin(), constants.end(), [&](const auto& c) {
        auto it = std::lower_bound(o.constants.begin(), o.constants.end(), c.first,
                                   [](const auto& e, Term t) { return e.first < t; });
        return it != o.constants.end() && it->first == c.first && Below(c.second, it->second);
      });
    }
  };

  Profile(const Algebra& alg, const AcUnifier& u, Meter& meter) {
    const Context& ctx = alg.ctx_;
    absl::flat_hash_map<Term, size_t> index;
    absl::flat_hash_map<Term, uint64_t> weight;
    for (size_t k = 0; k < u.size(); ++k) {
      const Term t = u[k].second;
      const Term head = ctx.IsVariable(t) ? kNone : ctx.IsTuple(t) && !t.is_nil() ? ctx.Rator(t) : t;
      shape_.heads.push_back(head != kNone && ctx.IsGround(head) ? head : kNone);
      shape_.sizes.push_back(ctx.TreeSize(t));
      // Occurrences in the tree of t, by weights from the root down.
      const std::vector<Term> order = PostOrder(ctx, t);
      meter.Spend(order.size());
      weight.clear();
      weight[t] = 1;
      for (size_t i = order.size(); i-- > 0;) {
        const Term n = order[i];
        const uint64_t w = weight[n];
        auto children = ctx.Children(n);
        const OperatorLaws* laws = alg.Laws(n);
        rigid_ &= !laws || !laws->comm || ctx.IsGround(n);
        for (size_t c = laws ? 1 : 0; c < children.size(); ++c) {
          uint64_t& sum = weight[children[c]];
          sum = sum + w < w ? ~uint64_t{0} : sum + w;
        }
        if (!children.empty() || w == 0) continue;
        const size_t at = index.try_emplace(n, index.size()).first->second;
        if (at == leaves_.size()) {
          leaves_.push_back({n, std::vector<uint64_t>(u.size(), 0)});
          meter.Spend(u.size());
        }
        leaves_[at].second[k] += w;
      }
    }
    auto constants = std::stable_partition(leaves_.begin(), leaves_.end(),
                                           [&](const auto& e) { return ctx.IsVariable(e.first); });
    shape_.constants.assign(constants, leaves_.end());
    std::sort(shape_.constants.begin(), shape_.constants.end());
    leaves_.erase(constants, leaves_.end());
    shape_.variables = leaves_.size();
    for (uint64_t n : shape_.sizes) rigid_ &= n != ~uint64_t{0};
  }
  const Shape& shape() const { return shape_; }
  // Sizes are exact, and spelling is unique: no argument of a commutative operator has a variable.
  bool rigid() const { return rigid_; }
  // False: `o` is no instance of this one. Pre: their shapes do not say so.
  bool MayHaveInstance(const Profile& o) const {
    for (const auto& [z, n] : leaves_) {
      auto below = [&, &count = n](const auto& w) { return Below(count, w.second); };
      if (std::none_of(o.leaves_.begin(), o.leaves_.end(), below) &&
          std::none_of(o.shape_.constants.begin(), o.shape_.constants.end(), below)) {
        return false;
      }
    }
    for (const auto& [w, n] : o.leaves_) {
      auto above = [&, &count = n](const auto& z) { return Below(z.second, count); };
      if (std::none_of(leaves_.begin(), leaves_.end(), above)) return false;
    }
    return true;
  }

 private:
  static bool Below(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), [](uint64_t x, uint64_t y) { return x <= y; });
  }
  Shape shape_;
  std::vector<std::pair<Term, std::vector<uint64_t>>> leaves_;  // variables, with their number in each value
  bool rigid_ = true;
};

}  // namespace

bool DropInstances(Algebra& alg, bool units, FreshPool& fresh, std::vector<AcUnifier>& unifiers,
                   uint64_t max_steps) {
  const Context& ctx = alg.ctx_;
  Meter meter{0, max_steps};
  std::vector<bool> dead(unifiers.size(), false);
  std::vector<std::vector<Term>> values(unifiers.size()), variables(unifiers.size());
  std::vector<Profile> profiles;
  std::map<Profile::Shape, std::vector<size_t>> groups;
  absl::flat_hash_set<std::vector<Term>> known;
  for (size_t i = 0; i < unifiers.size() && meter.within(); ++i) {
    absl::flat_hash_map<Term, Term> names;
    for (const auto& [v, t] : unifiers[i]) {
      values[i].push_back(t);
      for (Term w : Variables(ctx, t)) {
        if (names.try_emplace(w, fresh[variables[i].size()]).second) variables[i].push_back(w);
      }
    }
    std::vector<Term> named;
    for (Term t : values[i]) named.push_back(alg.Apply(t, names, meter, false, [](Term v) { return v; }));
    dead[i] = !known.insert(std::move(named)).second;
    if (!units) profiles.emplace_back(alg, unifiers[i], meter);
    if (!dead[i]) groups[units ? Profile::Shape() : profiles[i].shape()].push_back(i);
  }
  for (size_t i = 0; i < unifiers.size() && meter.within(); ++i) {
    if (dead[i]) continue;
    std::unique_ptr<Matcher> matcher;
    for (const auto& [shape, members] : groups) {
      if (!meter.Spend(1)) break;
      const bool same = !units && shape == profiles[i].shape();
      if (!units && !profiles[i].shape().MayHaveInstance(shape)) continue;
      if (same && profiles[i].rigid()) continue;
      for (size_t j : members) {
        if (!meter.Spend(1)) break;
        if (j == i || dead[j] || (!units && !profiles[i].MayHaveInstance(profiles[j]))) continue;
        if (!matcher) matcher = std::make_unique<Matcher>(alg, values[i], variables[i], meter);
        bool instance = false;
        matcher->Match(values[j], false, [&] { return instance = true; });
        if (instance) dead[j] = true;
      }
    }
  }
  size_t n = 0;
  for (size_t i = 0; i < unifiers.size(); ++i) {
    if (dead[i]) continue;
    if (n != i) unifiers[n] = std::move(unifiers[i]);
    ++n;
  }
  unifiers.resize(n);
  return meter.within() && !alg.overflow_;
}

}  // namespace retuple::internal
