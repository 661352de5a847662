// The rule language: reads rules from text and says what is wrong with them.
//
//   (ruleset identities
//     ; x + 0 = x
//     (rewrite add-zero (Add ?x 0) ?x :valid rounding)
//     (birewrite mul-comm (Mul ?x ?y) (Mul ?y ?x))
//     (rewrite transpose-twice ((Transpose :perm ?q) ((Transpose :perm ?p) ?x)) ((Transpose :perm ?r) ?x)
//       :let (?r (compose ?p ?q))
//       :when (not (iota ?r))))
//   (operator my::Gate :comm)
//
// Options of a rule, in any order: `:valid CLASS`, `:when (guard …)` (repeatable; all must hold, evaluated in order), `:let (?v expression)`
// (repeatable), `:types given`, `:test ((?v value) …)` (repeatable; instances for `retuple check`). On the right side a tuple whose rator is a registered function is a call, evaluated when the rule fires.
#ifndef RETUPLE_REWRITE_RULE_LANGUAGE_H_
#define RETUPLE_REWRITE_RULE_LANGUAGE_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "etuple/reader.h"
#include "rewrite/functions.h"
#include "rewrite/rule.h"

namespace retuple {

// What the rule language asks of whoever knows the operators (ir_bridge): the pattern normalizer and the unknown-operator lint.
class OperatorTable {
 public:
  virtual ~OperatorTable() = default;
  // `pattern` with sugar resolved: a bare operator name gets its default attributes, a multi-output application in value position its
  // default output. InvalidArgument for an unknown operator, attribute or operand count.
  virtual absl::StatusOr<Term> Normalize(Term pattern, bool right_side) = 0;
  virtual const absl::flat_hash_set<Term>& commutative() const = 0;
  // A declaration `(operator NAME :comm …)`; `flags` are the words after the name.
  virtual absl::Status Declare(Term name, std::span<const Term> flags) = 0;
};

// The table of a rewriting without an IR: any symbol is an operator, only declared ones commute.
class FreeOperatorTable : public OperatorTable {
 public:
  explicit FreeOperatorTable(Context& ctx) : ctx_(ctx) {}
  absl::StatusOr<Term> Normalize(Term pattern, bool) override { return pattern; }
  const absl::flat_hash_set<Term>& commutative() const override { return commutative_; }
  absl::Status Declare(Term name, std::span<const Term> flags) override;

 private:
  Context& ctx_;
  absl::flat_hash_set<Term> commutative_;
};

struct Diagnostic {
  std::string file;
  Position position;
  std::string rule;
  std::string message;
  std::string ToString() const;  // "file:3:5: rule NAME: message"
};

struct LoadOptions {
  std::string file;
  ObjectReader object_reader;
};

// Reads rule files into one set. Errors make the load fail and all of them are in the status; lints (sides equal, never firing, shadowed, a
// cycle with another rule) are warnings.
class RuleLoader {
 public:
  // Handles a top-level form that is not a declaration, e.g. `(normalize TERM)`; registered by name.
  using Command = std::function<absl::Status(const Form& form)>;

  RuleLoader(Context& ctx, const FunctionRegistry& functions, OperatorTable& operators)
      : ctx_(ctx), functions_(functions), operators_(operators) {}
  void AddCommand(std::string name, Command c) { commands_[std::move(name)] = std::move(c); }

  // InvalidArgument, a line an error, each with file:line:column and rule.
  absl::Status Load(std::string_view text, const LoadOptions& options);
  absl::Status LoadFile(const std::string& path, ObjectReader object_reader = nullptr);

  const RuleSet& rules() const { return rules_; }
  // `(strategy NAME S)`: strategies by name (rewrite/strategy.h).
  const std::map<std::string, Term>& strategies() const { return strategies_; }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }

 private:
  void LoadForm(const Form& form, const std::string& ruleset);
  void LoadRule(const Form& form, const std::string& ruleset);
  absl::Status BuildRule(Rule rule, const std::vector<std::pair<Term, Form>>& options);
  absl::Status CheckExpression(Term t, const std::vector<Term>& bound, bool calls_only) const;
  void Lint(const Rule& rule);
  void Error(Position p, const std::string& rule, std::string message);

  Context& ctx_;
  const FunctionRegistry& functions_;
  OperatorTable& operators_;
  std::map<std::string, Command> commands_;
  RuleSet rules_;
  std::map<std::string, Term> strategies_;
  std::vector<Diagnostic> warnings_, errors_;
  std::string file_;
};

}  // namespace retuple

#endif  // RETUPLE_REWRITE_RULE_LANGUAGE_H_
