#include "unify/ac_goal.h"

#include <string>

#include "unify/substitution.h"

namespace retuple {

absl::Status AddAcGoal(Program& program, std::shared_ptr<const Theory> theory, const AcOptions& options) {
  return program.AddGoal(
      "ac==", 2, [theory, options](Context& ctx, std::span<const Term> args) -> absl::StatusOr<std::vector<Term>> {
        auto unifiers = AcUnify(ctx, *theory, args[0], args[1], options);
        if (!unifiers.ok()) return unifiers.status();
        if (!unifiers->complete) return absl::ResourceExhaustedError("ac==: infinitely many unifiers, or past the limits");
        // The arguments as they stand, with the unifier's values for their variables.
        std::vector<Term> out;
        for (const AcUnifier& u : unifiers->unifiers) {
          Substitution s;
          for (const auto& [v, value] : u) {
            if (v != value) s.Bind(v, value);
          }
          out.push_back(Reify(ctx, ctx.Tuple(args), s));
        }
        return out;
      });
}

absl::Status DeclareOperator(Context& ctx, std::span<const Term> words, Theory& theory) {
  if (words.empty() || !ctx.IsSymbol(words[0]) || ctx.IsKeyword(words[0])) {
    return absl::InvalidArgumentError("operator takes a name, and :assoc, :comm, :unit U");
  }
  OperatorLaws laws;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string word = ctx.IsKeyword(words[i]) ? std::string(ctx.Text(words[i])) : "";
    if (word == ":assoc") {
      laws.assoc = true;
    } else if (word == ":comm") {
      laws.comm = true;
    } else if (word == ":unit" && i + 1 < words.size()) {
      laws.unit = words[++i];
    } else {
      return absl::InvalidArgumentError("operator takes a name, and :assoc, :comm, :unit U");
    }
  }
  theory.Set(words[0], laws);
  return absl::OkStatus();
}

}  // namespace retuple
