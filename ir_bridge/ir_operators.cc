#include "ir_bridge/ir_operators.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "etuple/printer.h"

namespace retuple {

IrOperators::IrOperators(TermCodec& codec, const FunctionRegistry& functions)
    : codec_(codec), ctx_(codec.ctx()), functions_(functions), as_(ctx_.Sym("as")) {
  for (const OpSchema* s : Registry::Get().All()) {
    if (s->commutative) commutative_.insert(ctx_.Sym(s->form));
  }
}

absl::Status IrOperators::Declare(Term name, std::span<const Term> flags) {
  declared_.insert(name);
  for (Term f : flags) {
    if (!ctx_.IsKeyword(f)) return absl::InvalidArgumentError(absl::StrFormat("a flag is a keyword, not %s", Brief(ctx_, f, 40)));
    if (ctx_.Text(f) == ":comm") {
      commutative_.insert(name);
    } else {
      return absl::InvalidArgumentError(absl::StrFormat("unknown flag %s; known is :comm", Brief(ctx_, f, 40)));
    }
  }
  return absl::OkStatus();
}

// `rands` are normalized. Fills in attributes and wraps.
absl::StatusOr<Term> IrOperators::Application(Term t, std::span<const Term> rands, Role role, bool right_side) {
  Term rator = ctx_.Rator(t);
  const Term head = ctx_.HeadSymbol(t);
  const std::string form(ctx_.Text(head));
  const OpSchema* schema = Registry::Get().FindForm(form);
  if (schema == nullptr && !declared_.contains(head) && form.find("::") == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrFormat("unknown operator %s (declare an operator of your own with (operator %s) or give it a domain: my::%s)", form, form, form));
  }
  bool several = false;
  if (schema != nullptr) {
    std::vector<Term> words{head};
    bool rest = false;
    absl::flat_hash_set<std::string> given;
    if (ctx_.IsTuple(rator)) {
      auto a = ctx_.Rands(rator);
      for (size_t i = 0; i < a.size(); ++i) {
        words.push_back(a[i]);
        if (ctx_.IsRest(a[i])) {
          rest = true;
          continue;
        }
        if (!ctx_.IsKeyword(a[i]) || i + 1 == a.size()) {
          return absl::InvalidArgumentError(absl::StrFormat("%s: attributes are keywords with values, found %s", form, Brief(ctx_, a[i], 40)));
        }
        const std::string name(ctx_.Text(a[i]).substr(1));
        const bool pseudo = name == "num-outputs" || name == "num-captures" || name == "random-id";
        if (!pseudo && schema->attr(name) == nullptr) {
          return absl::InvalidArgumentError(absl::StrFormat("operator %s has no attribute %s", form, name));
        }
        given.insert(name);
        words.push_back(a[++i]);
      }
    }
    if (!rest) {
      for (const AttrSpec& spec : schema->attrs) {
        if (given.contains(spec.name)) continue;
        if (spec.default_value.has_value()) {
          words.push_back(ctx_.Keyword(spec.name));
          words.push_back(codec_.Attr(*spec.default_value, true));
        } else if (spec.required) {
          return absl::InvalidArgumentError(absl::StrFormat("operator %s needs attribute %s, or ..?rest for all that are not named", form, spec.name));
        }
      }
    }
    rator = words.size() == 1 ? head : ctx_.Tuple(words);
    bool rest_operand = false;
    for (Term r : rands) rest_operand = rest_operand || ctx_.IsRest(r);
    const int count = static_cast<int>(rands.size()) - (rest_operand ? 1 : 0);
    if (count > schema->max_inputs || (!rest_operand && count < schema->min_inputs)) {
      return absl::InvalidArgumentError(absl::StrFormat("operator %s does not take %d operands", form, count));
    }
    several = schema->multi_output();
  }
  if (right_side) {
    for (Term r : rands) {
      if (ctx_.kind(r) == Kind::kInteger || ctx_.kind(r) == Kind::kReal) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "operator %s: a bare number has no element type; write (scalar-like ?x %s) or (ints %s)", form, Brief(ctx_, r, 20), Brief(ctx_, r, 20)));
      }
    }
  }
  std::vector<Term> children{rator};
  children.insert(children.end(), rands.begin(), rands.end());
  Term out = ctx_.Tuple(children);
  if (several && role == Role::kValue) out = codec_.Nth(schema->default_output, out);
  return out;
}

absl::StatusOr<Term> IrOperators::Normalize(Term pattern, bool right_side) {
  // Post-order over (term, role). Attribute lists, data and leaves are left as they are.
  using Key = std::pair<Term, Role>;
  absl::flat_hash_map<Key, Term> done;
  struct Frame {
    Key key;
    size_t next;
  };
  auto is_data = [&](Term t) {
    return !ctx_.IsTuple(t) || t.is_nil() || codec_.IsInput(t) || codec_.IsBound(t) || ctx_.HeadSymbol(t).is_nil() ||
           ctx_.IsKeyword(ctx_.HeadSymbol(t));
  };
  std::vector<Frame> stack{{{pattern, Role::kValue}, 1}};
  while (!stack.empty()) {
    Frame& f = stack.back();
    const Term t = f.key.first;
    const Role role = f.key.second;
    if (is_data(t)) {
      done[f.key] = t;
      stack.pop_back();
      continue;
    }
    auto children = ctx_.Children(t);
    const bool selection = children.size() == 3 && children[0] == codec_.nth;
    // The role of an operand: `as` hands its own on, nth asks for the tuple.
    auto role_of = [&](size_t i) {
      return selection && i == 2 ? Role::kTuple : ctx_.Rator(t) == as_ ? role : Role::kValue;
    };
    bool descend = false;
    for (; f.next < children.size(); ++f.next) {
      if (ctx_.IsKeyword(children[f.next])) {
        ++f.next;  // the value of a keyword is data
        continue;
      }
      const Key child{children[f.next], role_of(f.next)};
      if (done.contains(child)) continue;
      ++f.next;
      stack.push_back({child, 1});
      descend = true;
      break;
    }
    if (descend) continue;
    std::vector<Term> rands;
    for (size_t i = 1; i < children.size(); ++i) {
      if (ctx_.IsKeyword(children[i])) {
        rands.push_back(children[i]);
        if (++i < children.size()) rands.push_back(children[i]);
        continue;
      }
      auto it = done.find(Key{children[i], role_of(i)});
      rands.push_back(it == done.end() ? children[i] : it->second);
    }
    const Term head = ctx_.HeadSymbol(t);
    Term out;
    if (selection || head == as_ || head == codec_.tuple || head == codec_.nth || (ctx_.IsSymbol(ctx_.Rator(t)) && functions_.Has(head))) {
      std::vector<Term> all{children[0]};
      all.insert(all.end(), rands.begin(), rands.end());
      out = ctx_.Tuple(all);
    } else {
      auto app = Application(t, rands, role, right_side);
      if (!app.ok()) return app.status();
      out = *app;
    }
    done[f.key] = out;
    stack.pop_back();
  }
  return done[Key{pattern, Role::kValue}];
}

}  // namespace retuple
