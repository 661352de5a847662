#include "ir_bridge/body_functions.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/tensor_object.h"

namespace retuple {
namespace {

// Replaces terms in `roots` by `map`; inner lambdas, whose parameters are their own, are left alone.
std::vector<Term> Substitute(TermCodec& codec, std::span<const Term> roots, absl::flat_hash_map<Term, Term> map) {
  Context& ctx = codec.ctx();
  std::vector<std::pair<Term, uint32_t>> stack;
  std::vector<Term> out;
  auto closed = [&](Term t) { return !ctx.IsTuple(t) || t.is_nil() || ctx.Rator(t) == codec.lambda; };
  for (Term root : roots) {
    if (!map.contains(root) && !closed(root)) stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [t, next] = stack.back();
      auto children = ctx.Children(t);
      bool descend = false;
      while (next < children.size()) {
        const Term c = children[next++];
        if (!closed(c) && !map.contains(c)) {
          stack.emplace_back(c, 0);
          descend = true;
          break;
        }
      }
      if (descend) continue;
      std::vector<Term> rebuilt;
      bool changed = false;
      for (Term c : children) {
        auto it = map.find(c);
        rebuilt.push_back(it == map.end() ? c : it->second);
        changed = changed || rebuilt.back() != c;
      }
      const Term done = t;
      stack.pop_back();
      map[done] = changed ? ctx.Tuple(rebuilt) : done;
    }
    auto it = map.find(root);
    out.push_back(it == map.end() ? root : it->second);
  }
  return out;
}

bool IsLambda(const TermCodec& codec, Term t) {
  auto c = codec.ctx().Children(t);
  return c.size() == 3 && c[0] == codec.lambda && codec.ctx().IsTuple(c[1]) && codec.ctx().IsTuple(c[2]);
}

struct Captures {
  size_t count = 0;               // of the application
  std::vector<size_t> lambdas;    // positions of bodies among the head's children
  std::vector<bool> drop;         // by capture
};

// What SinkCaptures would do; count 0 when the term is no application with captures.
Captures Examine(const TermCodec& codec, Term app) {
  Context& ctx = codec.ctx();
  Captures out;
  if (!codec.IsApp(app) || !ctx.IsTuple(ctx.Rator(app))) return out;
  const Term head = ctx.Rator(app);
  auto count = ctx.KeywordValue(head, ctx.Keyword("num-captures"));
  auto rands = ctx.Rands(app);
  if (!count || ctx.kind(*count) != Kind::kInteger || ctx.IntegerValue(*count) < 1 ||
      static_cast<size_t>(ctx.IntegerValue(*count)) > rands.size()) {
    return out;
  }
  const size_t n = static_cast<size_t>(ctx.IntegerValue(*count));
  auto words = ctx.Children(head);
  std::vector<bool> is_used(n, false);
  for (size_t i = 0; i < words.size(); ++i) {
    if (!IsLambda(codec, words[i])) continue;
    auto params = ctx.Children(ctx.Children(words[i])[1]);
    if (params.size() < n) return out;
    out.lambdas.push_back(i);
    absl::flat_hash_set<Term> seen;
    auto roots = ctx.Children(ctx.Children(words[i])[2]);
    std::vector<Term> stack(roots.begin(), roots.end());
    while (!stack.empty()) {
      const Term t = stack.back();
      stack.pop_back();
      if (!ctx.IsTuple(t) || t.is_nil() || !seen.insert(t).second || ctx.Rator(t) == codec.lambda) continue;
      for (Term c : ctx.Children(t)) stack.push_back(c);
    }
    for (size_t k = 0; k < n; ++k) is_used[k] = is_used[k] || seen.contains(params[params.size() - n + k]);
  }
  out.count = n;
  for (size_t k = 0; k < n; ++k) {
    out.drop.push_back(!is_used[k] || TensorOf(ctx, rands[rands.size() - n + k]) != nullptr);
  }
  return out;
}

}  // namespace

absl::StatusOr<Term> InlineBody(TermCodec& codec, Term lambda, int64_t index, std::span<const Term> args) {
  Context& ctx = codec.ctx();
  if (!IsLambda(codec, lambda)) return absl::InvalidArgumentError("inline takes a lambda");
  auto params = ctx.Children(ctx.Children(lambda)[1]);
  auto outputs = ctx.Children(ctx.Children(lambda)[2]);
  if (params.size() != args.size()) {
    return absl::InvalidArgumentError(absl::StrFormat("a body of %d parameters gets %d arguments", params.size(), args.size()));
  }
  if (index < 0 || static_cast<size_t>(index) >= outputs.size()) return absl::InvalidArgumentError("the body has no such output");
  absl::flat_hash_map<Term, Term> map;
  for (size_t i = 0; i < params.size(); ++i) map[params[i]] = args[i];
  const Term root = outputs[static_cast<size_t>(index)];
  return Substitute(codec, std::span<const Term>(&root, 1), std::move(map))[0];
}

absl::StatusOr<Term> SinkCaptures(TermCodec& codec, Term app) {
  Context& ctx = codec.ctx();
  const Captures captures = Examine(codec, app);
  const size_t n = captures.count;
  if (n == 0) return app;
  auto rands = ctx.Rands(app);
  const Term head = ctx.Rator(app);
  std::vector<Term> words(ctx.Children(head).begin(), ctx.Children(head).end());
  size_t kept = 0;
  for (bool d : captures.drop) kept += d ? 0 : 1;
  for (size_t i : captures.lambdas) {
    auto params = ctx.Children(ctx.Children(words[i])[1]);
    const size_t formals = params.size() - n;
    absl::flat_hash_map<Term, Term> map;
    std::vector<Term> new_params(params.begin(), params.begin() + static_cast<ptrdiff_t>(formals));
    for (size_t k = 0; k < n; ++k) {
      const Term param = params[formals + k];
      const Term actual = rands[rands.size() - n + k];
      if (captures.drop[k]) {
        if (TensorOf(ctx, actual) != nullptr) map[param] = actual;
        continue;
      }
      std::vector<Term> renumbered(ctx.Children(param).begin(), ctx.Children(param).end());
      renumbered[1] = ctx.Integer(static_cast<int64_t>(new_params.size()));
      const Term moved = ctx.Tuple(renumbered);
      map[param] = moved;
      new_params.push_back(moved);
    }
    const std::vector<Term> roots(ctx.Children(ctx.Children(words[i])[2]).begin(), ctx.Children(ctx.Children(words[i])[2]).end());
    words[i] = ctx.Tuple({codec.lambda, ctx.Tuple(new_params), ctx.Tuple(Substitute(codec, roots, std::move(map)))});
  }
  std::vector<Term> new_words;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == ctx.Keyword("num-captures") && i > 0) {
      ++i;
      if (kept > 0) {
        new_words.push_back(ctx.Keyword("num-captures"));
        new_words.push_back(ctx.Integer(static_cast<int64_t>(kept)));
      }
    } else {
      new_words.push_back(words[i]);
    }
  }
  std::vector<Term> children{ctx.Tuple(new_words)};
  for (size_t i = 0; i < rands.size(); ++i) {
    const size_t first = rands.size() - n;
    if (i < first || !captures.drop[i - first]) children.push_back(rands[i]);
  }
  return ctx.Tuple(children);
}

void AddBodyFunctions(FunctionRegistry& functions, TermCodec& codec) {
  functions.Add("inline", 2, kAnyArgs, [&codec](RuleContext& rc, std::span<const Term> a) -> absl::StatusOr<Term> {
    if (rc.ctx.kind(a[1]) != Kind::kInteger) return absl::InvalidArgumentError("inline takes the number of an output");
    return InlineBody(codec, a[0], rc.ctx.IntegerValue(a[1]), a.subspan(2));
  });
  functions.Add("sink-captures", 1, 1, [&codec](RuleContext&, std::span<const Term> a) { return SinkCaptures(codec, a[0]); });
  functions.AddGuard("sinkable-captures", 1, 1, [&codec](RuleContext&, std::span<const Term> a) -> absl::StatusOr<bool> {
    const Captures c = Examine(codec, a[0]);
    for (bool d : c.drop) {
      if (d) return true;
    }
    return false;
  });
}

}  // namespace retuple
