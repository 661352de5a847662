#include "rewrite/rule.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace retuple {

std::string_view ValidityName(Validity v) {
  static constexpr std::string_view kNames[kNumValidities] = {"exact", "rounding", "no-nan", "finite", "real"};
  return kNames[static_cast<int>(v)];
}

std::string Rule::Where() const {
  return absl::StrFormat("%s:%s: rule %s", file.empty() ? "rules" : file, position.ToString(), name);
}

void RuleSet::Add(Rule rule) {
  const uint32_t id = static_cast<uint32_t>(rules_.size());
  by_name_.emplace(rule.name, id);
  const Term head = rule.pattern.head();
  if (head.is_nil()) {
    general_.push_back(id);
    rewrites_atoms_ = rewrites_atoms_ || rule.pattern.is_atom();
    for (auto& [h, list] : by_head_) list.push_back(id);
  } else {
    auto [it, fresh] = by_head_.try_emplace(head);
    if (fresh) it->second = general_;
    it->second.push_back(id);
  }
  rules_.push_back(std::move(rule));
}

const Rule* RuleSet::Find(std::string_view name) const {
  auto it = by_name_.find(std::string(name));
  return it == by_name_.end() ? nullptr : &rules_[it->second];
}

std::span<const uint32_t> RuleSet::Candidates(Term head) const {
  auto it = by_head_.find(head);
  return it == by_head_.end() ? std::span<const uint32_t>(general_) : std::span<const uint32_t>(it->second);
}

}  // namespace retuple
