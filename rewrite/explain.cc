// Why a rule does not fire at a term.
#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "rewrite/apply.h"
#include "rewrite/normalizer.h"

namespace retuple {
namespace {

// The first place, in reading order, where a pattern and a term part: path, what was wanted, what was found. Follows the written order of
// operands; a variable matches anything.
std::string FirstDifference(const Context& ctx, Term pattern, Term term) {
  struct Item {
    Term pattern, term;
    std::string path;
  };
  std::vector<Item> stack{{pattern, term, "the root"}};
  while (!stack.empty()) {
    Item i = stack.back();
    stack.pop_back();
    if (i.pattern == i.term || ctx.IsVariable(i.pattern)) continue;
    Term p = i.pattern;
    if (ctx.IsTuple(p) && !p.is_nil() && ctx.IsSymbol(ctx.Rator(p)) && ctx.Text(ctx.Rator(p)) == "as" && ctx.Rands(p).size() == 2) {
      stack.push_back({ctx.Rands(p)[1], i.term, i.path});
      continue;
    }
    auto differ = [&] {
      return absl::StrFormat("at %s the pattern wants %s, the term has %s", i.path, Brief(ctx, p, 100), Brief(ctx, i.term, 100));
    };
    if (!ctx.IsTuple(p)) {
      const bool number = ctx.kind(p) == Kind::kInteger || ctx.kind(p) == Kind::kReal;
      if (number && ctx.kind(i.term) == Kind::kObject) {
        auto v = ctx.ObjectValue(i.term)->UniformValue();
        const double want = ctx.kind(p) == Kind::kInteger ? static_cast<double>(ctx.IntegerValue(p)) : ctx.RealValue(p);
        if (v.has_value() && *v == want) continue;
      }
      return differ();
    }
    if (!ctx.IsTuple(i.term)) return differ();
    if (!p.is_nil() && !i.term.is_nil() && !ctx.HeadSymbol(p).is_nil() && ctx.HeadSymbol(p) != ctx.HeadSymbol(i.term)) {
      return absl::StrFormat("at %s the pattern wants operator %s, the term has %s", i.path,
                             std::string(ctx.Text(ctx.HeadSymbol(p))),
                             ctx.HeadSymbol(i.term).is_nil() ? Brief(ctx, i.term, 60) : std::string(ctx.Text(ctx.HeadSymbol(i.term))));
    }
    auto pc = ctx.Positional(p), tc = ctx.Positional(i.term);
    bool rest = !pc.empty() && ctx.IsRest(pc.back());
    const size_t fixed = pc.size() - (rest ? 1 : 0);
    if (rest ? tc.size() < fixed : tc.size() != fixed) {
      return absl::StrFormat("at %s the pattern has %d operands%s, the term %d", i.path, fixed - (fixed > 0), rest ? " or more" : "",
                             tc.size() - (tc.empty() ? 0 : 1));
    }
    for (size_t k = pc.size(); k + 1 < ctx.Children(p).size(); k += 2) {
      const Term key = ctx.Children(p)[k];
      if (!ctx.IsKeyword(key)) break;
      auto value = ctx.KeywordValue(i.term, key);
      if (!value) {
        return absl::StrFormat("at %s the term has no attribute %s", i.path, std::string(ctx.Text(key)));
      }
      stack.push_back({ctx.Children(p)[k + 1], *value, absl::StrFormat("%s, attribute %s", i.path, std::string(ctx.Text(key)))});
    }
    for (size_t k = fixed; k-- > 0;) {
      stack.push_back({pc[k], tc[k], k == 0 ? i.path + ", operator" : absl::StrFormat("%s, operand %d", i.path, k - 1)});
    }
  }
  return "the variables that occur twice match unlike terms";
}

}  // namespace

std::string ExplainRule(Context& ctx, const Rule& rule, const FunctionRegistry& functions, TypeOracle* types,
                        const UseCounts* uses, Term t) {
  RuleContext rc{ctx, uses};
  Bindings bindings;
  Term out;
  std::string reason;
  switch (internal::ApplyRule(ctx, rule, functions, types, rc, t, bindings, &out, &reason)) {
    case internal::Outcome::kApplied:
      return "it applies and gives " + Brief(ctx, out, 200);
    case internal::Outcome::kNoMatch:
      return "no match: " + FirstDifference(ctx, rule.lhs, t);
    default:
      return reason;
  }
}

}  // namespace retuple
