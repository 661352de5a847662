#include "rewrite/rule_language.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "etuple/printer.h"

namespace retuple {
namespace {

constexpr int kLocateDepth = 4;  // ruleset, rule, option, local definition

std::optional<Validity> ParseValidity(std::string_view name) {
  for (int i = 0; i < kNumValidities; ++i) {
    if (ValidityName(static_cast<Validity>(i)) == name) return static_cast<Validity>(i);
  }
  return std::nullopt;
}

}  // namespace

absl::Status FreeOperatorTable::Declare(Term name, std::span<const Term> flags) {
  for (Term f : flags) {
    if (ctx_.IsKeyword(f) && ctx_.Text(f) == ":comm") commutative_.insert(name);
  }
  return absl::OkStatus();
}

std::string Diagnostic::ToString() const {
  return absl::StrFormat("%s:%s: %s%s", file.empty() ? "rules" : file, position.ToString(),
                         rule.empty() ? "" : "rule " + rule + ": ", message);
}

void RuleLoader::Error(Position p, const std::string& rule, std::string message) {
  errors_.push_back({file_, p, rule, std::move(message)});
}

absl::Status RuleLoader::LoadFile(const std::string& path, ObjectReader object_reader) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrFormat("cannot open %s", path));
  std::stringstream text;
  text << in.rdbuf();
  if (!in && !in.eof()) return absl::NotFoundError(absl::StrFormat("cannot read %s", path));
  return Load(text.str(), {.file = path, .object_reader = std::move(object_reader)});
}

absl::Status RuleLoader::Load(std::string_view text, const LoadOptions& options) {
  file_ = options.file;
  errors_.clear();
  auto forms = ReadForms(ctx_, text, {.object_reader = options.object_reader, .locate_depth = kLocateDepth, .file = options.file});
  if (!forms.ok()) return forms.status();
  for (const Form& form : *forms) LoadForm(form, "");
  if (errors_.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(
      errors_, "\n", [](std::string* out, const Diagnostic& d) { out->append(d.ToString()); }));
}

void RuleLoader::LoadForm(const Form& form, const std::string& ruleset) {
  // Rule sets do not nest, so this descends one level at most.
  if (form.items.empty() || !ctx_.IsSymbol(form.items[0].term)) {
    return Error(form.position, "", "a form begins with its name: (rewrite …), (ruleset …), (operator …)");
  }
  const std::string name(ctx_.Text(form.items[0].term));
  if (name == "ruleset") {
    if (!ruleset.empty()) return Error(form.position, "", "a ruleset may not stand inside a ruleset");
    if (form.items.size() < 2 || !ctx_.IsSymbol(form.items[1].term)) {
      return Error(form.position, "", "(ruleset NAME form …) needs a name");
    }
    const std::string set(ctx_.Text(form.items[1].term));
    for (size_t i = 2; i < form.items.size(); ++i) LoadForm(form.items[i], set);
    return;
  }
  if (name == "rewrite" || name == "birewrite") return LoadRule(form, ruleset);
  if (name == "operator") {
    if (form.items.size() < 2 || !ctx_.IsSymbol(form.items[1].term)) {
      return Error(form.position, "", "(operator NAME flag …) needs a name");
    }
    std::vector<Term> flags;
    for (size_t i = 2; i < form.items.size(); ++i) flags.push_back(form.items[i].term);
    if (auto s = operators_.Declare(form.items[1].term, flags); !s.ok()) {
      Error(form.position, "", std::string(s.message()));
    }
    return;
  }
  if (name == "strategy") {
    auto c = ctx_.Children(form.term);
    if (c.size() != 3 || !ctx_.IsSymbol(c[1])) return Error(form.position, "", "(strategy NAME S) takes a name and a strategy");
    const std::string named(ctx_.Text(c[1]));
    if (!strategies_.emplace(named, c[2]).second) Error(form.position, "", absl::StrFormat("there is a strategy %s already", named));
    return;
  }
  auto it = commands_.find(name);
  if (it == commands_.end()) {
    std::string known = "rewrite, birewrite, ruleset, operator, strategy";
    for (const auto& [n, c] : commands_) known += ", " + n;
    return Error(form.position, "", absl::StrFormat("unknown form %s; known are %s", name, known));
  }
  if (auto s = it->second(form); !s.ok()) Error(form.position, "", std::string(s.message()));
}

void RuleLoader::LoadRule(const Form& form, const std::string& ruleset) {
  const bool both = ctx_.Text(form.items[0].term) == "birewrite";
  if (form.items.size() < 4 || !ctx_.IsSymbol(form.items[1].term) || ctx_.IsKeyword(form.items[1].term)) {
    return Error(form.position, "", absl::StrFormat("(%s NAME left right option …) needs a name and two sides",
                                                    both ? "birewrite" : "rewrite"));
  }
  Rule rule;
  rule.name = std::string(ctx_.Text(form.items[1].term));
  rule.ruleset = ruleset;
  rule.file = file_;
  rule.position = form.position;
  rule.lhs = form.items[2].term;
  rule.rhs = form.items[3].term;
  std::vector<std::pair<Term, Form>> options;
  for (size_t i = 4; i < form.items.size(); i += 2) {
    if (!ctx_.IsKeyword(form.items[i].term) || i + 1 == form.items.size()) {
      return Error(form.items[i].position, rule.name,
                   absl::StrFormat("an option is a keyword and a value, found %s", Brief(ctx_, form.items[i].term, 40)));
    }
    options.emplace_back(form.items[i].term, form.items[i + 1]);
  }
  auto add = [&](Rule r) {
    const std::string name = r.name;
    if (rules_.Find(name) != nullptr) {
      return Error(form.position, name, absl::StrFormat("the name is taken by the rule at %s",
                                                        rules_.Find(name)->Where()));
    }
    if (auto s = BuildRule(std::move(r), options); !s.ok()) Error(form.position, name, std::string(s.message()));
  };
  if (both) {
    Rule back = rule;
    back.name += "-back";
    std::swap(back.lhs, back.rhs);
    back.backward = true;
    add(std::move(rule));
    add(std::move(back));
  } else {
    add(std::move(rule));
  }
}

// Variables of `t` must be bound; a call must have an arity that its function takes.
absl::Status RuleLoader::CheckExpression(Term t, const std::vector<Term>& bound, bool calls_only) const {
  for (Term v : Variables(ctx_, t)) {
    // The list that ..?xs is bound to can be handed on whole as ?xs, and a list ?xs be spliced as ..?xs.
    auto binds = [&](Term b) { return b == v || ctx_.Text(b) == ctx_.Text(v); };
    if (std::none_of(bound.begin(), bound.end(), binds)) {
      return absl::InvalidArgumentError(absl::StrFormat("variable %s%s is bound by neither the left side nor a :let",
                                                        ctx_.IsRest(v) ? "..?" : "?", std::string(ctx_.Text(v))));
    }
  }
  for (Term u : PostOrder(ctx_, t)) {
    if (!ctx_.IsTuple(u) || u.is_nil() || !ctx_.IsSymbol(ctx_.Rator(u)) || !functions_.Has(ctx_.Rator(u))) continue;
    bool rest = false;
    for (Term c : ctx_.Rands(u)) rest = rest || ctx_.IsRest(c);
    if (rest) continue;
    if (auto s = functions_.CheckArity(ctx_.Rator(u), ctx_.Rands(u).size()); !s.ok()) return s;
  }
  if (calls_only && (!ctx_.IsTuple(t) || t.is_nil() || !functions_.Has(ctx_.Rator(t)))) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s is no registered guard or function",
                        Brief(ctx_, ctx_.IsTuple(t) && !t.is_nil() ? ctx_.Rator(t) : t, 60)));
  }
  return absl::OkStatus();
}

absl::Status RuleLoader::BuildRule(Rule rule, const std::vector<std::pair<Term, Form>>& options) {
  if (ctx_.IsVariable(rule.lhs) && options.empty()) {
    return absl::InvalidArgumentError("the left side is a variable: it would match everything");
  }
  auto lhs = operators_.Normalize(rule.lhs, false);
  if (!lhs.ok()) return absl::InvalidArgumentError("left side: " + std::string(lhs.status().message()));
  rule.lhs = *lhs;
  auto pattern = Pattern::Compile(ctx_, rule.lhs, rule.slots, {.commutative = &operators_.commutative()});
  if (!pattern.ok()) return pattern.status();
  rule.pattern = *std::move(pattern);

  for (const auto& [key, value] : options) {
    const std::string_view k = ctx_.Text(key);
    const Term t = value.term;
    if (k == ":valid") {
      auto v = ctx_.IsSymbol(t) ? ParseValidity(ctx_.Text(t)) : std::nullopt;
      if (!v) {
        return absl::InvalidArgumentError(absl::StrFormat(
            ":valid is exact, rounding, no-nan, finite or real, not %s", Brief(ctx_, t, 40)));
      }
      rule.valid = *v;
    } else if (k == ":types") {
      if (!ctx_.IsSymbol(t) || ctx_.Text(t) != "given") return absl::InvalidArgumentError(":types takes the word given");
      rule.types_given = true;
    } else if (k == ":when") {
      if (auto s = CheckExpression(t, rule.slots, true); !s.ok()) return s;
      if (!functions_.IsGuard(ctx_.Rator(t))) {
        return absl::InvalidArgumentError(absl::StrFormat("%s is a function, not a guard", std::string(ctx_.Text(ctx_.Rator(t)))));
      }
      rule.conditions.push_back({t, Template::Compile(ctx_, t, rule.slots), -1, value.position});
    } else if (k == ":let") {
      auto c = ctx_.Children(t);
      if (c.size() != 2 || !ctx_.IsVariable(c[0])) return absl::InvalidArgumentError(":let takes (?name expression)");
      if (std::find(rule.slots.begin(), rule.slots.end(), c[0]) != rule.slots.end()) {
        return absl::InvalidArgumentError(absl::StrFormat(":let binds ?%s again", std::string(ctx_.Text(c[0]))));
      }
      auto normalized = operators_.Normalize(c[1], true);
      if (!normalized.ok()) return normalized.status();
      if (auto s = CheckExpression(*normalized, rule.slots, false); !s.ok()) return s;
      Condition d{*normalized, Template::Compile(ctx_, *normalized, rule.slots), static_cast<int>(rule.slots.size()), value.position};
      rule.slots.push_back(c[0]);
      rule.conditions.push_back(std::move(d));
    } else if (k == ":test") {
      if (!ctx_.IsTuple(t)) return absl::InvalidArgumentError(":test takes a list ((?variable value) …)");
      for (Term b : ctx_.Children(t)) {
        auto c = ctx_.Children(b);
        if (c.size() != 2 || !ctx_.IsVariable(c[0]) || std::find(rule.slots.begin(), rule.slots.end(), c[0]) == rule.slots.end()) {
          return absl::InvalidArgumentError(":test binds variables of the left side: ((?variable value) …)");
        }
      }
      rule.tests.emplace_back(t, value.position);
    } else {
      return absl::InvalidArgumentError(
          absl::StrFormat("unknown option %s; known are :valid, :when, :let, :types, :test", std::string(k)));
    }
  }
  auto rhs = operators_.Normalize(rule.rhs, true);
  if (!rhs.ok()) return absl::InvalidArgumentError("right side: " + std::string(rhs.status().message()));
  rule.rhs = *rhs;
  if (auto s = CheckExpression(rule.rhs, rule.slots, false); !s.ok()) return s;
  rule.replacement = Template::Compile(ctx_, rule.rhs, rule.slots);
  Lint(rule);
  rules_.Add(std::move(rule));
  return absl::OkStatus();
}

void RuleLoader::Lint(const Rule& rule) {
  auto warn = [&](std::string message) { warnings_.push_back({file_, rule.position, rule.name, std::move(message)}); };
  if (rule.lhs == rule.rhs) return warn("both sides are equal: it never changes anything");
  if (rule.backward) return;  // the engines choose a direction
  const absl::flat_hash_set<Term> no_calls;
  auto no_call = [](Term, std::span<const Term>) -> absl::StatusOr<Term> { return absl::InternalError("no calls"); };
  // What `r` makes of the root of `t`, whose variables count as constants; nil if it does not match.
  auto apply = [&](const Rule& r, Term t) -> Term {
    Bindings b(r.slots.size(), kUnbound);
    Term out;
    r.pattern.Match(ctx_, t, b, [&](const Bindings& found) {
      auto made = r.replacement.Instantiate(ctx_, found, no_calls, no_call);
      if (made.ok()) out = *made;
      return true;
    });
    return out;
  };
  if (rule.conditions.empty() && apply(rule, rule.rhs) == rule.lhs) {
    warn("it undoes itself, so normalizing with it does not end");
  }
  for (const Rule& other : rules_.rules()) {
    if (other.backward || other.pattern.head() != rule.pattern.head() || !other.conditions.empty()) continue;
    Bindings b(other.slots.size(), kUnbound);
    // A rest variable stands for any number of children: that `?x` takes it for one says nothing about the others.
    auto takes_all = [&](const Bindings& found) {
      for (size_t i = 0; i < found.size(); ++i) {
        if (ctx_.IsRest(found[i]) && !ctx_.IsRest(other.slots[i])) return false;
      }
      return true;
    };
    if (other.ruleset == rule.ruleset && other.pattern.Match(ctx_, rule.lhs, b, takes_all)) {
      warn(absl::StrFormat("it never fires: %s matches all that it matches, and comes first", other.Where()));
    }
  }
  if (!rule.conditions.empty()) return;
  for (const Rule& other : rules_.rules()) {
    if (other.backward || !other.conditions.empty() || other.ruleset != rule.ruleset) continue;
    Term back = apply(other, rule.rhs);
    if (!back.is_nil() && back == rule.lhs) warn(absl::StrFormat("it is undone by %s, so normalizing with both does not end", other.Where()));
  }
}

}  // namespace retuple
