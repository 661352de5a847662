#include "rewrite/strategy.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "rewrite/apply.h"

namespace retuple {

class StrategyCompiler {
 public:
  StrategyCompiler(Context& ctx, const RuleSet& rules, const std::map<std::string, Term>& named) : ctx_(ctx), named_(named) {
    out_.rules_ = &rules;
  }

  absl::StatusOr<StrategyProgram> Compile(Term strategy) {
    auto start = CompileNode(strategy);
    if (!start.ok()) return start.status();
    out_.start_ = *start;
    // Named strategies that were met, each once.
    while (!pending_.empty()) {
      const auto [node, text] = pending_.back();
      pending_.pop_back();
      variables_.clear();
      auto body = CompileNode(text);
      if (!body.ok()) return body.status();
      out_.nodes_[node].parts = {*body};
    }
    return std::move(out_);
  }

 private:
  using Code = StrategyProgram::Code;
  using Node = StrategyProgram::Node;

  absl::Status Bad(Term t, const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrFormat("strategy %s: %s", Brief(ctx_, t, 100), what));
  }
  uint32_t Add(Node n) {
    out_.nodes_.push_back(std::move(n));
    return static_cast<uint32_t>(out_.nodes_.size() - 1);
  }
  uint32_t Make(Code code, std::vector<uint32_t> parts) { return Add({code, std::move(parts)}); }

  // The depth of the text is bounded, so recursion is.
  absl::StatusOr<uint32_t> CompileNode(Term t) {
    constexpr uint32_t kDeepest = 500;
    if (ctx_.Depth(t) > kDeepest) return absl::InvalidArgumentError("a strategy nests more than 500 deep");
    if (ctx_.IsSymbol(t)) return Symbol(t);
    if (!ctx_.IsTuple(t) || t.is_nil() || !ctx_.IsSymbol(ctx_.Rator(t))) return Bad(t, "a strategy begins with its name");
    const std::string_view name = ctx_.Text(ctx_.Rator(t));
    auto args = ctx_.Rands(t);
    if (name == "rule" || name == "rules" || name == "rules-except") return Rules(t, name, args);
    if (name == "rec") {
      if (args.size() != 2 || !ctx_.IsSymbol(args[0])) return Bad(t, "rec takes a name and a strategy");
      const uint32_t self = Make(Code::kJump, {});
      variables_.emplace_back(args[0], self);
      auto body = CompileNode(args[1]);
      variables_.pop_back();
      if (!body.ok()) return body;
      out_.nodes_[self].parts = {*body};
      return self;
    }
    if (name == "at") return At(t, args);
    Node n;
    if (name == "repeat" && args.size() == 2) {
      if (ctx_.kind(args[0]) != Kind::kInteger || ctx_.IntegerValue(args[0]) < 1) return Bad(t, "repeat counts from 1");
      n.count = static_cast<uint64_t>(ctx_.IntegerValue(args[0]));
      args = args.subspan(1);
    }
    if (name == "equilibrium") {
      const Kind k = args.size() == 2 ? ctx_.kind(args[0]) : Kind::kTuple;
      n.ratio = k == Kind::kInteger ? static_cast<double>(ctx_.IntegerValue(args[0])) : k == Kind::kReal ? ctx_.RealValue(args[0]) : -1;
      if (!(n.ratio > 0)) return Bad(t, "equilibrium takes a positive ratio and a strategy");
      args = args.subspan(1);
    }
    std::vector<uint32_t> parts;
    for (Term a : args) {
      auto part = CompileNode(a);
      if (!part.ok()) return part;
      parts.push_back(*part);
    }
    static constexpr struct {
      std::string_view name;
      Code code;
      size_t arity;  // 0: at least one
    } kPlain[] = {{"seq", Code::kSeq, 0}, {"choice", Code::kChoice, 0}, {"not", Code::kNot, 1}, {"where", Code::kWhere, 1}, {"if", Code::kIf, 3},
                  {"repeat", Code::kRepeat, 1}, {"all", Code::kAll, 1}, {"some", Code::kSome, 1}, {"one", Code::kOne, 1},
                  {"equilibrium", Code::kEquilibrium, 1}};
    for (const auto& p : kPlain) {
      if (name != p.name) continue;
      if (p.arity == 0 ? parts.empty() : parts.size() != p.arity) {
        return Bad(t, p.arity == 0 ? std::string(name) + " takes strategies" : absl::StrFormat("%s takes %d strategies", std::string(name), p.arity));
      }
      n.code = p.code;
      n.parts = std::move(parts);
      return Add(std::move(n));
    }
    if (parts.size() != 1) return Bad(t, Known(name) ? std::string(name) + " takes one strategy" : "there is no such strategy");
    return Traversal(t, name, parts[0]);
  }

  static bool Known(std::string_view name) {
    static constexpr std::string_view kNames[] = {"try", "topdown", "bottomup", "oncetd", "oncebu", "innermost", "outermost"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  }

  // try, and what is defined by `rec`.
  absl::StatusOr<uint32_t> Traversal(Term t, std::string_view name, uint32_t s) {
    const auto attempt = [&](uint32_t x) { return Make(Code::kChoice, {x, Make(Code::kId, {})}); };
    if (name == "try") return attempt(s);
    if (!Known(name)) return Bad(t, "there is no such strategy");
    if (name == "outermost") {
      auto once = Traversal(t, "oncetd", s);
      return Make(Code::kRepeat, {*once});
    }
    const uint32_t self = Make(Code::kJump, {});
    const uint32_t all = Make(Code::kAll, {self}), one = Make(Code::kOne, {self});
    uint32_t body = 0;
    if (name == "topdown") body = Make(Code::kSeq, {s, all});
    if (name == "bottomup") body = Make(Code::kSeq, {all, s});
    if (name == "oncetd") body = Make(Code::kChoice, {s, one});
    if (name == "oncebu") body = Make(Code::kChoice, {one, s});
    if (name == "innermost") body = Make(Code::kSeq, {all, attempt(Make(Code::kSeq, {s, self}))});
    out_.nodes_[self].parts = {body};
    return self;
  }

  absl::StatusOr<uint32_t> Symbol(Term t) {
    const std::string name(ctx_.Text(t));
    if (name == "id") return Make(Code::kId, {});
    if (name == "fail") return Make(Code::kFail, {});
    if (name == "any") return Rules(t, "rules-except", {});
    for (size_t i = variables_.size(); i-- > 0;) {
      if (variables_[i].first == t) return variables_[i].second;
    }
    if (const auto it = calls_.find(name); it != calls_.end()) return it->second;
    const auto it = named_.find(name);
    if (it == named_.end()) return absl::NotFoundError("there is no strategy " + name);
    const uint32_t self = Make(Code::kJump, {});
    calls_[name] = self;
    pending_.emplace_back(self, it->second);
    return self;
  }

  absl::StatusOr<uint32_t> Rules(Term t, std::string_view form, std::span<const Term> names) {
    Node n;
    n.code = Code::kRules;
    const auto& rules = out_.rules_->rules();
    std::set<std::string> sets;
    for (Term name : names) {
      if (!ctx_.IsSymbol(name)) return Bad(t, std::string(form) + " takes names");
      if (form != "rule") {
        sets.insert(std::string(ctx_.Text(name)));
        continue;
      }
      const Rule* r = out_.rules_->Find(ctx_.Text(name));
      if (r == nullptr) return absl::NotFoundError("there is no rule " + std::string(ctx_.Text(name)));
      n.parts.push_back(static_cast<uint32_t>(r - rules.data()));
    }
    if (form == "rule") {
      if (n.parts.empty()) return Bad(t, "rule takes names of rules");
      return Add(std::move(n));
    }
    if (form == "rules" && sets.empty()) return Bad(t, "rules takes names of rule sets");
    for (const std::string& set : sets) {
      if (std::none_of(rules.begin(), rules.end(), [&](const Rule& r) { return r.ruleset == set; })) {
        return absl::NotFoundError("there is no rule set " + set);
      }
    }
    for (uint32_t i = 0; i < rules.size(); ++i) {
      if (!rules[i].backward && sets.contains(rules[i].ruleset) == (form == "rules")) n.parts.push_back(i);
    }
    return Add(std::move(n));
  }

  absl::StatusOr<uint32_t> At(Term t, std::span<const Term> args) {
    if (args.size() != 2 || !ctx_.IsTuple(args[0])) return Bad(t, "at takes a list of operand numbers and a strategy");
    Node n;
    n.code = Code::kAt;
    for (Term i : ctx_.Children(args[0])) {
      if (ctx_.kind(i) != Kind::kInteger || ctx_.IntegerValue(i) < 1 || ctx_.IntegerValue(i) > INT32_MAX) return Bad(t, "operands count from 1");
      n.parts.push_back(static_cast<uint32_t>(ctx_.IntegerValue(i)));
    }
    auto s = CompileNode(args[1]);
    if (!s.ok()) return s;
    n.parts.push_back(*s);
    return Add(std::move(n));
  }

  Context& ctx_;
  const std::map<std::string, Term>& named_;
  StrategyProgram out_;
  std::vector<std::pair<Term, uint32_t>> variables_;  // of rec, innermost last
  std::map<std::string, uint32_t> calls_;
  std::vector<std::pair<uint32_t, Term>> pending_;
};

class StrategyMachine {
 public:
  StrategyMachine(Context& ctx, const FunctionRegistry& functions, const StrategyProgram& program, const StrategyOptions& options)
      : ctx_(ctx), functions_(functions), program_(program), options_(options), nth_(ctx.Sym("nth")) {
    out_.stats.resize(program.rules_->rules().size());
  }

  StrategyResult Run(Term term) {
    Enter(program_.start_, term);
    while (!stack_.empty() && out_.stop != StopReason::kFuel && out_.stop != StopReason::kCycle) Resume();
    if (out_.stop == StopReason::kNormalForm || out_.stop == StopReason::kPassLimit) out_.term = result_;
    return std::move(out_);
  }

 private:
  using Code = StrategyProgram::Code;
  struct Frame {
    uint32_t node;
    Term term, current;
    uint32_t next = 0;    // part or child
    uint64_t count = 0;   // successes, or how many are allowed
    bool any = false;
    absl::InlinedVector<Term, 6> terms;  // children, or the way down
  };

  // Begins on a strategy: leaves its result, or a frame.
  void Enter(uint32_t node, Term t) {
    if (++steps_ > options_.steps) {
      out_.stop = StopReason::kFuel;
      return;
    }
    const auto& n = program_.nodes_[node];
    switch (n.code) {
      case Code::kId:
        result_ = t;
        return;
      case Code::kFail:
        result_.reset();
        return;
      case Code::kRules:
        result_ = Apply(n.parts, t);
        return;
      case Code::kJump: {
        auto [it, first] = memo_.try_emplace({node, t}, Known{});
        if (!first) {
          if (!it->second.done) out_.stop = StopReason::kCycle;
          result_ = it->second.result;
          return;
        }
        break;
      }
      default:
        break;
    }
    Frame f;
    f.node = node;
    f.term = f.current = t;
    stack_.push_back(std::move(f));
    fresh_ = true;
  }

  std::optional<Term> Apply(const std::vector<uint32_t>& rules, Term t) {
    for (uint32_t id : rules) {
      const Rule& rule = program_.rules_->rules()[id];
      if (rule.valid > options_.allow || !rule.pattern.MayMatch(ctx_, t)) continue;
      RuleStats& stats = out_.stats[id];
      ++stats.tried;
      RuleContext rc{ctx_, nullptr};
      Term out;
      const auto outcome = internal::ApplyRule(ctx_, rule, functions_, options_.types, rc, t, bindings_, &out, nullptr);
      if (outcome == internal::Outcome::kNoMatch) continue;
      ++stats.matched;
      stats.guard_refused += outcome == internal::Outcome::kGuardRefused;
      stats.type_refused += outcome == internal::Outcome::kTypeRefused;
      if (outcome != internal::Outcome::kApplied) continue;
      if (out_.applications == options_.fuel) {
        out_.stop = StopReason::kFuel;
        return std::nullopt;
      }
      ++stats.applied;
      ++out_.applications;
      if (options_.on_step) options_.on_step({&rule, t, out});
      return out;
    }
    return std::nullopt;
  }

  // Child `i` of an application is an operand.
  bool IsOperand(std::span<const Term> c, size_t i) const {
    if (c[0] == nth_ && c.size() == 3 && ctx_.kind(c[1]) == Kind::kInteger) return i == 2;
    for (size_t k = 1; k <= i; ++k) {
      if (ctx_.IsKeyword(c[k])) return false;
    }
    return i > 0;
  }
  // The place of operand `k`, from 1; 0 if there is none.
  size_t OperandAt(Term t, uint32_t k) const {
    auto c = ctx_.Children(t);
    for (size_t i = 1; i < c.size(); ++i) {
      if (IsOperand(c, i) && --k == 0) return i;
    }
    return 0;
  }

  void Return(std::optional<Term> r) {
    result_ = r;
    stack_.pop_back();
  }

  // Goes on with the top frame: it has just been entered, or the part that it asked for has given `result_`.
  void Resume() {
    Frame& f = stack_.back();
    const bool fresh = std::exchange(fresh_, false);
    const auto& n = program_.nodes_[f.node];
    switch (n.code) {
      case Code::kJump:
        if (fresh) return Enter(n.parts[0], f.term);
        memo_[{f.node, f.term}] = {true, result_};
        stack_.pop_back();
        return;
      case Code::kSeq:
        if (!fresh) {
          if (!result_.has_value()) return Return(std::nullopt);
          f.current = *result_;
          ++f.next;
        }
        if (f.next == n.parts.size()) return Return(f.current);
        return Enter(n.parts[f.next], f.current);
      case Code::kChoice:
        if (!fresh) {
          if (result_.has_value()) return Return(result_);
          ++f.next;
        }
        if (f.next == n.parts.size()) return Return(std::nullopt);
        return Enter(n.parts[f.next], f.term);
      case Code::kNot:
        if (fresh) return Enter(n.parts[0], f.term);
        return Return(result_.has_value() ? std::nullopt : std::optional<Term>(f.term));
      case Code::kWhere:
        if (fresh) return Enter(n.parts[0], f.term);
        return Return(result_.has_value() ? std::optional<Term>(f.term) : std::nullopt);
      case Code::kIf:
        if (fresh) return Enter(n.parts[0], f.term);
        if (f.next++ > 0) return Return(result_);
        return result_.has_value() ? Enter(n.parts[1], *result_) : Enter(n.parts[2], f.term);
      case Code::kRepeat:
      case Code::kEquilibrium:
        if (fresh) {
          f.count = n.code == Code::kEquilibrium
                        ? static_cast<uint64_t>(n.ratio * static_cast<double>(ctx_.DagSize(std::span<const Term>(&f.term, 1)))) + 1
                    : n.count > 0 ? n.count
                                  : ~uint64_t{0};
          return Enter(n.parts[0], f.term);
        }
        if (!result_.has_value() || *result_ == f.current) return Return(f.current);
        f.current = *result_;
        if (--f.count == 0) {
          if (n.code == Code::kEquilibrium) out_.stop = StopReason::kPassLimit;
          return Return(f.current);
        }
        return Enter(n.parts[0], f.current);
      case Code::kAll:
      case Code::kSome:
      case Code::kOne:
        return Children(f, n.code, n.parts[0], fresh);
      case Code::kAt:
        return At(f, n.parts, fresh);
      default:
        return Return(std::nullopt);
    }
  }

  void Children(Frame& f, Code code, uint32_t part, bool fresh) {
    auto c = ctx_.Children(f.term);
    if (fresh) {
      f.next = 1;
    } else {
      if (!result_.has_value() && code == Code::kAll) return Return(std::nullopt);
      if (result_.has_value()) {
        f.any = true;
        if (f.terms.empty()) f.terms.assign(c.begin(), c.end());
        f.terms[f.next] = *result_;
      }
      ++f.next;
      if (f.any && code == Code::kOne) return Return(ctx_.Tuple(f.terms));
    }
    while (f.next < c.size() && !IsOperand(c, f.next)) ++f.next;
    if (f.next < c.size()) return Enter(part, c[f.next]);
    if (f.any) return Return(ctx_.Tuple(f.terms));
    return Return(code == Code::kAll ? std::optional<Term>(f.term) : std::nullopt);
  }

  void At(Frame& f, const std::vector<uint32_t>& parts, bool fresh) {
    if (fresh) {
      f.terms = {f.term};
      for (size_t k = 0; k + 1 < parts.size(); ++k) {
        const size_t i = OperandAt(f.terms.back(), parts[k]);
        if (i == 0) return Return(std::nullopt);
        f.terms.push_back(ctx_.Children(f.terms.back())[i]);
      }
      return Enter(parts.back(), f.terms.back());
    }
    if (!result_.has_value()) return Return(std::nullopt);
    Term made = *result_;
    for (size_t k = parts.size() - 1; k-- > 0;) {
      std::vector<Term> children(ctx_.Children(f.terms[k]).begin(), ctx_.Children(f.terms[k]).end());
      children[OperandAt(f.terms[k], parts[k])] = made;
      made = ctx_.Tuple(children);
    }
    Return(made);
  }

  struct Known {
    bool done = false;
    std::optional<Term> result;
  };
  Context& ctx_;
  const FunctionRegistry& functions_;
  const StrategyProgram& program_;
  const StrategyOptions& options_;
  const Term nth_;
  std::vector<Frame> stack_;
  absl::flat_hash_map<std::pair<uint32_t, Term>, Known> memo_;
  std::optional<Term> result_;
  bool fresh_ = false;
  uint64_t steps_ = 0;
  Bindings bindings_;
  StrategyResult out_;
};

absl::StatusOr<StrategyProgram> StrategyProgram::Compile(Context& ctx, const RuleSet& rules, Term strategy, const std::map<std::string, Term>& named) {
  return StrategyCompiler(ctx, rules, named).Compile(strategy);
}

StrategyResult StrategyProgram::Run(Context& ctx, const FunctionRegistry& functions, Term term, const StrategyOptions& options) const {
  return StrategyMachine(ctx, functions, *this, options).Run(term);
}

}  // namespace retuple
