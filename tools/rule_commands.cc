// normalize, check, explain.
#include <iostream>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "ir_bridge/graph_adapter.h"
#include "ir_bridge/onnx/model_io.h"
#include "ir_bridge/tensor_object.h"
#include "rewrite/analysis.h"
#include "rewrite/completion.h"
#include "rewrite/strategy.h"
#include "tools/commands.h"
#include "tools/optimize.h"
#include "tools/rule_check.h"

namespace retuple {
namespace {

Validity AllowOf(const Args& args) {
  return args.Has("--strict") ? Validity::kExact : args.Has("--fast-math") ? Validity::kReal : Validity::kRounding;
}

std::vector<OptionSpec> ValidityOptions() {
  return {{"--strict", "", "only rules that hold bit for bit"}, {"--fast-math", "", "also rules that need a domain condition"}};
}

// ---- normalize

absl::StatusOr<int> RunNormalize(const Args& args) {
  const std::string strategy = args.Value("--strategy", "innermost");
  auto fuel = args.Int("--fuel", 1'000'000, 0, int64_t{1} << 50);
  if (!fuel.ok()) return fuel.status();
  auto opset = args.Int("--opset", 17, 1, 100);
  if (!opset.ok()) return opset.status();

  // With --free any symbol is an operator and nothing is typed; else the terms are those of the IR.
  const bool free = args.Has("--free");
  RuleSession session(*opset);
  FreeOperatorTable free_operators(session.ctx);
  RuleLoader free_loader(session.ctx, session.functions, free_operators);
  RuleLoader& loader = free ? free_loader : session.loader;
  if (args.Has("--shipped")) {
    if (auto s = session.LoadShipped(); !s.ok()) return Fail(s);
  }
  for (const auto& f : args.Values("--rules")) {
    if (auto s = loader.LoadFile(f, ReadTensorObject); !s.ok()) return Fail(s);
  }
  for (const auto& w : loader.warnings()) std::cerr << "warning: " << w.ToString() << "\n";
  auto term = ReadTerm(session.ctx, args.words()[0], {.object_reader = ReadTensorObject});
  if (!term.ok()) return Fail(term.status());
  const auto trace = args.Has("--trace") ? std::function<void(const Step&)>([&](const Step& s) {
    std::cerr << s.rule->Where() << "\n  " << Brief(session.ctx, s.before) << "\n  → " << Brief(session.ctx, s.after) << "\n";
  })
                                         : nullptr;
  const auto print_stats = [&](std::span<const RuleStats> stats) {
    for (size_t i = 0; i < stats.size() && args.Has("--stats"); ++i) {
      const RuleStats& s = stats[i];
      if (s.tried > 0) {
        std::cerr << absl::StrFormat("  %-34s tried %d, matched %d, refused by guard %d, by type %d, applied %d\n", loader.rules().rules()[i].name,
                                     s.tried, s.matched, s.guard_refused, s.type_refused, s.applied);
      }
    }
  };
  if (strategy != "innermost" && strategy != "outermost") {
    auto text = ReadTerm(session.ctx, strategy);
    if (!text.ok()) return Fail(absl::Status(text.status().code(), "--strategy: " + std::string(text.status().message())));
    auto program = StrategyProgram::Compile(session.ctx, loader.rules(), *text, loader.strategies());
    if (!program.ok()) return Fail(program.status());
    const StrategyResult r = program->Run(session.ctx, session.functions, *term,
                                          {.fuel = static_cast<uint64_t>(*fuel), .allow = AllowOf(args), .types = free ? nullptr : &session.types, .on_step = trace});
    print_stats(r.stats);
    if (r.term.has_value()) std::cout << PrintTerm(session.ctx, *r.term) << "\n";
    if (r.stop == StopReason::kNormalForm) return r.term.has_value() ? 0 : Fail(absl::NotFoundError("the strategy fails on the term"));
    return Fail(absl::ResourceExhaustedError(
        absl::StrFormat("the strategy was stopped by %s after %d rewrites", std::string(StopReasonName(r.stop)), r.applications)));
  }
  Normalizer normalizer(session.ctx, loader.rules(), session.functions,
                        {.strategy = strategy == "innermost" ? Strategy::kInnermost : Strategy::kOutermost,
                         .fuel = static_cast<uint64_t>(*fuel),
                         .allow = AllowOf(args),
                         .types = free ? nullptr : &session.types,
                         .on_step = trace});
  const std::vector<Term> out = normalizer.Run(std::span<const Term>(&*term, 1));
  std::cout << PrintTerm(session.ctx, out[0]) << "\n";
  const NormalizeReport& r = normalizer.report();
  print_stats(r.stats);
  if (r.stop == StopReason::kNormalForm) return 0;
  std::string names;
  for (const auto& n : r.cycle) names += " " + n;
  return Fail(absl::ResourceExhaustedError(absl::StrFormat("no normal form: stopped by %s after %d rewrites; the rules that go round:%s",
                                                           std::string(StopReasonName(r.stop)), r.steps, names)));
}

// ---- check

// Proofs of termination and confluence; with --free of rules over operators of one's own.
int Analyse(RuleSession& session, const RuleSet& rules, const OperatorTable& operators) {
  const RuleAnalysis a = AnalyseRules(session.ctx, rules, session.functions, operators.commutative());
  std::cout << a.ToString(session.ctx);
  for (const auto& l : a.left_out) std::cout << "  left out: " << l.rule->Where() << ": " << l.reason << "\n";
  return a.confluent() ? 0 : 1;
}

absl::StatusOr<int> RunCheck(const Args& args) {
  auto seed = args.Int("--seed", 1, 0, int64_t{1} << 40);
  if (!seed.ok()) return seed.status();
  int status = 0;
  for (const std::string& file : args.words()) {
    RuleSession session(100);
    const bool free = args.Has("--free");
    FreeOperatorTable free_operators(session.ctx);
    RuleLoader free_loader(session.ctx, session.functions, free_operators);
    RuleLoader& loader = free ? free_loader : session.loader;
    if (auto s = free ? loader.LoadFile(file, ReadTensorObject) : session.LoadFile(file); !s.ok()) {
      Fail(s);
      status = 1;
      continue;
    }
    for (const auto& w : loader.warnings()) {
      std::cout << "warning: " << w.ToString() << "\n";
      if (args.Has("--werror")) status = 1;
    }
    if (args.Has("--confluence") || free) status = std::max(status, Analyse(session, loader.rules(), free ? static_cast<const OperatorTable&>(free_operators) : session.operators));
    if (free) continue;
    const RuleCheckReport report = CheckRules(session, {.seed = static_cast<uint64_t>(*seed)});
    std::cout << RuleCheckText(report, args.Has("--verbose"));
    if (!report.ok()) status = 1;
  }
  return status;
}

// ---- complete

absl::StatusOr<int> RunComplete(const Args& args) {
  auto limit = args.Int("--limit", 100'000, 1, 1'000'000'000);
  if (!limit.ok()) return limit.status();
  Context ctx;
  const std::string& file = args.words()[0];
  auto text = ReadFile(file);
  if (!text.ok()) return Fail(text.status());
  auto forms = ReadForms(ctx, *text, {.object_reader = nullptr, .locate_depth = 0, .file = file});
  if (!forms.ok()) return Fail(forms.status());
  std::vector<Equation> equations;
  CompletionOptions options{.precedence = std::nullopt, .most_pairs = static_cast<uint64_t>(*limit)};
  for (const Form& f : *forms) {
    auto c = ctx.Children(f.term);
    const std::string_view name = !c.empty() && ctx.IsSymbol(c[0]) ? ctx.Text(c[0]) : "";
    if (name == "equation" && c.size() == 3) {
      equations.emplace_back(c[1], c[2]);
    } else if (name == "precedence" && c.size() > 1) {
      options.precedence = Precedence(c.subspan(1));
    } else {
      return Fail(absl::InvalidArgumentError(
          absl::StrFormat("%s:%s: a file of equations has (equation T U) and perhaps (precedence OP …), highest first", file, f.position.ToString())));
    }
  }
  auto done = Complete(ctx, equations, options);
  if (!done.ok()) return Fail(absl::Status(done.status().code(), file + ": " + std::string(done.status().message())));
  std::cout << absl::StrFormat("; %d rules by %s; %d critical pairs, %d equations\n", done->rules.size(), done->precedence.ToString(ctx),
                               done->critical_pairs, done->equations);
  for (size_t i = 0; i < done->rules.size(); ++i) {
    std::cout << absl::StrFormat("(rewrite r%d %s %s)\n", i + 1, PrintTerm(ctx, done->rules[i].first, {.let = false}),
                                 PrintTerm(ctx, done->rules[i].second, {.let = false}));
  }
  if (done->complete) return 0;
  return Fail(absl::FailedPreconditionError(file + ": not complete: " + done->reason));
}

// ---- explain

absl::StatusOr<int> RunExplain(const Args& args) {
  if (!args.Has("--rule")) return absl::InvalidArgumentError("explain needs --rule NAME");
  auto limit = args.Int("--limit", 10, 1, 1'000'000);
  if (!limit.ok()) return limit.status();
  auto graph = ImportOnnxFile(args.words()[0]);
  if (!graph.ok()) return Fail(graph.status());
  RuleSession session(std::max<int64_t>((*graph)->info.OpsetOf(""), 1));
  if (auto s = session.LoadShipped(); !s.ok()) return Fail(s);
  for (const auto& f : args.Values("--rules")) {
    if (auto s = session.LoadFile(f); !s.ok()) return Fail(s);
  }
  const Rule* rule = session.loader.rules().Find(args.Value("--rule"));
  if (rule == nullptr) return Fail(absl::NotFoundError("there is no rule " + args.Value("--rule")));
  if (auto s = InferTypes(**graph); !s.ok()) std::cerr << "warning: " << s.message() << "\n";
  GraphAdapter adapter(**graph, session.codec);
  GraphBridge bridge(session.ctx, adapter);
  std::vector<VarId> roots;
  for (const auto& o : (*graph)->outputs()) roots.push_back(o.var);
  auto terms = bridge.Etuplize(roots);
  if (!terms.ok()) return Fail(terms.status());

  int64_t shown = 0, others = 0;
  const std::string wanted = args.Value("--node");
  bool found = wanted.empty();
  for (ApplyId a : (*graph)->LiveApplies()) {
    const Op& op = (*graph)->op_of((*graph)->apply(a));
    for (int i = 0; i < op.num_outputs; ++i) {
      const VarId v = (*graph)->output(a, i);
      auto term = bridge.TermOf(v);
      if (!term) continue;
      const std::string name = !(*graph)->apply_name(a).empty() ? (*graph)->apply_name(a) : (*graph)->var_name(v);
      const bool named = !wanted.empty() && (wanted == (*graph)->apply_name(a) || wanted == (*graph)->var_name(v));
      if (!wanted.empty() && !named) continue;
      found = true;
      if (wanted.empty() && !rule->pattern.head().is_nil() && session.ctx.HeadSymbol(*term) != rule->pattern.head()) {
        ++others;
        continue;
      }
      if (shown++ >= *limit) continue;
      std::cout << absl::StrFormat("%s (%s): %s\n", name, op.form(), ExplainRule(session.ctx, *rule, session.functions, &session.types, nullptr, *term));
    }
  }
  if (!found) return Fail(absl::NotFoundError("the model has no node or value \"" + wanted + "\""));
  if (wanted.empty()) {
    std::cout << absl::StrFormat("%s: %d nodes with its operator%s, %d of other operators\n", rule->Where(), shown,
                                 shown > *limit ? absl::StrFormat(" (%d shown)", *limit) : "", others);
  }
  return 0;
}

}  // namespace

std::span<const Command> RuleCommands() {
  static const std::vector<Command> commands = {
      {{"normalize", "--rules F 'TERM'", "Rewrites a term to its normal form and prints it.",
        {{"--rules", "FILE", "rules to use", true}, {"--shipped", "", "the shipped rules first"}, {"--free", "", "terms without types: any symbol is an operator"},
         {"--strategy", "S", "innermost (default), outermost, or a strategy: docs/strategies.md"}, {"--fuel", "N", "stop after N rewrites"}, {"--opset", "N", "what (opset>= …) compares with"},
         {"--trace", "", "print each rewrite"}, {"--stats", "", "statistics by rule"}, ValidityOptions()[0], ValidityOptions()[1]}, 1, 1},
       RunNormalize},
      {{"check", "F.rules …", "Loads rule files, reports what is wrong with them, and evaluates both sides of each rule on random tensors.",
        {{"--seed", "N", "seed of the random tensors"}, {"--verbose", "", "a line a rule"}, {"--werror", "", "lints are failures"},
         {"--confluence", "", "also: does rewriting end, and with one result"},
         {"--free", "", "rules over operators of your own: termination and confluence alone"}}, 1, 100000},
       RunCheck},
      {{"complete", "FILE", "Makes a terminating and confluent set of rules from equations (Knuth-Bendix completion).",
        {{"--limit", "N", "equations to look at (100000)"}}, 1, 1},
       RunComplete},
      {{"explain", "--rule NAME M.onnx", "Says where a rule fires in a model as it is read, and why it does not fire elsewhere.",
        {{"--rule", "NAME", "the rule"}, {"--node", "NAME", "one node, by its name or that of an output"}, {"--rules", "FILE", "rules of your own", true},
         {"--limit", "N", "nodes to show (10)"}}, 1, 1},
       RunExplain},
  };
  return commands;
}

}  // namespace retuple
