// Guards and functions of rules: a registry that is open to whoever embeds the engine.
//
// A function takes terms and gives a term. A guard is a function that gives the symbol `true` or `false`. Called with arguments it
// cannot serve it returns a Status: the rule then declines, with that message as the reason.
//
//   functions.AddGuard("even", 1, 1, [](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<bool> {
//     if (rc.ctx.kind(a[0]) != Kind::kInteger) return absl::InvalidArgumentError("not an integer");
//     return rc.ctx.IntegerValue(a[0]) % 2 == 0;
//   });
#ifndef RETUPLE_REWRITE_FUNCTIONS_H_
#define RETUPLE_REWRITE_FUNCTIONS_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "etuple/term.h"

namespace retuple {

// How often subterms are used in what is being rewritten. Counts are of the DAG: distinct parents' occurrences.
class UseCounts {
 public:
  virtual ~UseCounts() = default;
  // Uses of `t`; 1 for a term that a rule has just made.
  virtual uint32_t Count(Term t) const = 0;
  // True if some `(nth i t)` is used.
  virtual bool OutputUsed(Term t, int64_t i) const = 0;
};

struct RuleContext {
  Context& ctx;
  const UseCounts* uses = nullptr;  // null outside of a rewriting
};

// Takes exact counts of arguments at load time: kAnyArgs for no upper limit.
inline constexpr int kAnyArgs = 1 << 20;

class FunctionRegistry {
 public:
  // Comes with the built-ins: not, and, or, =, integer and list functions (docs/rules.md lists them).
  explicit FunctionRegistry(Context& ctx);

  using Function = std::function<absl::StatusOr<Term>(RuleContext&, std::span<const Term>)>;
  using Guard = std::function<absl::StatusOr<bool>(RuleContext&, std::span<const Term>)>;
  // A later definition of a name replaces an earlier one.
  void Add(std::string_view name, int min_args, int max_args, Function f);
  void AddGuard(std::string_view name, int min_args, int max_args, Guard g);

  // Keeps alive what the functions refer to.
  void Keep(std::shared_ptr<void> p) { kept_.push_back(std::move(p)); }

  bool Has(Term name) const { return entries_.contains(name); }
  bool IsGuard(Term name) const;
  // InvalidArgument when the number of arguments does not fit.
  absl::Status CheckArity(Term name, size_t args) const;
  absl::StatusOr<Term> Call(RuleContext& rc, Term name, std::span<const Term> args) const;
  const absl::flat_hash_set<Term>& names() const { return names_; }
  Context& ctx() const { return ctx_; }
  Term True() const { return true_; }
  Term False() const { return false_; }

 private:
  struct Entry {
    int min_args, max_args;
    bool guard;
    Function function;
  };
  Context& ctx_;
  Term true_, false_;
  absl::flat_hash_map<Term, Entry> entries_;
  absl::flat_hash_set<Term> names_;
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace retuple

#endif  // RETUPLE_REWRITE_FUNCTIONS_H_
