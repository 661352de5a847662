// A rewrite rule, and sets of them.
//
// A rule is data: a left-hand pattern, conditions and local definitions that are evaluated in order when the pattern has matched, and a
// right-hand template. It is compiled once (unify/pattern.h) and shared by all engines.
#ifndef RETUPLE_REWRITE_RULE_H_
#define RETUPLE_REWRITE_RULE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "etuple/reader.h"
#include "etuple/term.h"
#include "unify/pattern.h"

namespace retuple {

// When the equation of a rule holds; each class includes the ones before it.
enum class Validity : uint8_t {
  kExact,     // for every input, bit for bit up to the rounding freedom of a kernel; infinities and NaN included
  kRounding,  // an equation of reals whose sides differ by rounding on finite inputs
  kNoNan,     // needs operands that are not NaN
  kFinite,    // needs finite operands
  kReal,      // needs a domain condition that is not proven (log∘exp, x/x)
};
inline constexpr int kNumValidities = 5;
std::string_view ValidityName(Validity v);  // "exact", "rounding", "no-nan", "finite", "real"

// A guard, or a local definition `:let (?y expression)`.
struct Condition {
  Term expression;     // as written
  Template compiled;
  int slot = -1;       // what a definition binds; -1 for a guard
  Position position;
};

struct Rule {
  std::string name;
  std::string ruleset;
  std::string file;
  Position position;
  Term lhs, rhs;
  Validity valid = Validity::kExact;
  bool types_given = false;  // `:types given`: the author vouches for equal types where inference cannot tell
  bool backward = false;     // the reverse direction of a birewrite
  std::vector<Condition> conditions;
  // Instances to evaluate both sides on: lists of (variable value), read by whoever checks rules.
  std::vector<std::pair<Term, Position>> tests;

  std::vector<Term> slots;  // variables, by slot
  Pattern pattern;
  Template replacement;

  std::string Where() const;  // "file:3:5: rule NAME"
};

class RuleSet {
 public:
  void Add(Rule rule);
  const std::vector<Rule>& rules() const { return rules_; }
  // Null if there is none of that name.
  const Rule* Find(std::string_view name) const;
  // Rules whose pattern can match a term with this operator, in order of definition: those with that operator at the root and those with
  // none.
  std::span<const uint32_t> Candidates(Term head) const;
  // True if some rule has an atom as its left side; else engines need not look at atoms.
  bool rewrites_atoms() const { return rewrites_atoms_; }
  // Keeps the rules for which `keep` holds.
  template <typename Keep>
  RuleSet Filter(Keep keep) const {
    RuleSet out;
    for (const Rule& r : rules_) {
      if (keep(r)) out.Add(r);
    }
    return out;
  }

 private:
  std::vector<Rule> rules_;
  absl::flat_hash_map<std::string, uint32_t> by_name_;
  std::vector<uint32_t> general_;
  bool rewrites_atoms_ = false;
  absl::flat_hash_map<Term, std::vector<uint32_t>> by_head_;
};

}  // namespace retuple

#endif  // RETUPLE_REWRITE_RULE_H_
