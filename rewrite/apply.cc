#include "rewrite/apply.h"

#include "absl/strings/str_format.h"
#include "etuple/printer.h"

namespace retuple::internal {

Outcome ApplyRule(Context& ctx, const Rule& rule, const FunctionRegistry& functions, TypeOracle* types, RuleContext& rc,
                  Term t, Bindings& bindings, Term* out, std::string* reason) {
  Outcome outcome = Outcome::kNoMatch;
  auto call = [&](Term f, std::span<const Term> args) { return functions.Call(rc, f, args); };
  bindings.assign(rule.slots.size(), kUnbound);
  Bindings extended;
  rule.pattern.Match(ctx, t, bindings, [&](const Bindings& matched) {
    const Bindings* b = &matched;
    for (const Condition& c : rule.conditions) {
      auto value = c.compiled.Instantiate(ctx, *b, functions.names(), call);
      if (!value.ok() || (c.slot < 0 && *value != functions.True())) {
        outcome = Outcome::kGuardRefused;
        if (reason != nullptr) {
          *reason = absl::StrFormat("%s: %s %s%s", c.position.ToString(), c.slot < 0 ? "condition" : "definition",
                                    Brief(ctx, c.expression, 120),
                                    value.ok() ? " does not hold" : " declines: " + std::string(value.status().message()));
        }
        return false;
      }
      if (c.slot >= 0) {
        if (b == &matched) {
          extended = matched;
          b = &extended;
        }
        extended[static_cast<size_t>(c.slot)] = *value;
      }
    }
    auto made = rule.replacement.Instantiate(ctx, *b, functions.names(), call);
    if (!made.ok()) {
      outcome = Outcome::kGuardRefused;
      if (reason != nullptr) *reason = "the right side declines: " + std::string(made.status().message());
      return false;
    }
    if (*made == t) {
      outcome = Outcome::kUnchanged;
      if (reason != nullptr) *reason = "it would change nothing";
      return false;
    }
    if (types != nullptr) {
      const TypeVerdict v = types->Compare(t, *made);
      if (v == TypeVerdict::kDifferent || (v == TypeVerdict::kUnknown && !rule.types_given)) {
        outcome = Outcome::kTypeRefused;
        if (reason != nullptr) {
          *reason = absl::StrFormat("the types %s: left %s, right %s",
                                    v == TypeVerdict::kDifferent ? "differ" : "cannot be proven equal",
                                    types->Describe(t), types->Describe(*made));
        }
        return false;
      }
    }
    *out = *made;
    outcome = Outcome::kApplied;
    return true;
  });
  return outcome;
}

}  // namespace retuple::internal
