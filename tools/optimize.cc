#include "tools/optimize.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/body_functions.h"
#include "ir_bridge/graph_adapter.h"
#include "ir_bridge/tensor_object.h"
#include "kernels/folder.h"

namespace retuple {
namespace {

constexpr std::string_view kLower = "lower-below-";
constexpr int64_t kLastOpset = 21;  // the last that the optimiser raises a model to

// N of a rule set `lower-below-N`, else 0.
int64_t LowerBelow(const std::string& ruleset) {
  int64_t n = 0;
  if (ruleset.rfind(kLower, 0) != 0 || !absl::SimpleAtoi(ruleset.substr(kLower.size()), &n)) return 0;
  return n;
}

// The first operator of the live graph, bodies included, that opset `version` of the default domain would read differently; "" if none.
std::string NotExpressible(const Graph& graph, int64_t version) {
  std::vector<GraphPtr> bodies;
  std::vector<const Graph*> stack{&graph};
  while (!stack.empty()) {
    const Graph& g = *stack.back();
    stack.pop_back();
    for (ApplyId a : g.LiveApplies()) {
      const Op& op = g.op_of(g.apply(a));
      if (op.schema != nullptr && op.domain.empty() && Registry::Get().Resolve("", op.name, static_cast<int>(version)) != op.schema) {
        return op.form();
      }
      for (const auto& [name, value] : op.attrs) {
        if (const auto* body = std::get_if<GraphPtr>(&value)) {
          bodies.push_back(*body);
          stack.push_back(body->get());
        }
      }
    }
  }
  return "";
}

// Makes values that have one term one value: operands and outputs refer to the first of them. False if there were no such values.
bool MergeEqual(Graph& graph, const GraphBridge& bridge) {
  absl::flat_hash_map<Term, VarId> firsts;
  std::vector<VarId> first(graph.num_vars());
  bool merged = false;
  for (VarId v = 0; v < first.size(); ++v) {
    const std::optional<Term> t = bridge.TermOf(v);
    first[v] = t.has_value() ? firsts.try_emplace(*t, v).first->second : v;
    merged = merged || first[v] != v;
  }
  if (merged) graph.Redirect(first);
  return merged;
}

// The IR version that first allowed an opset, for the opsets that the tool may raise a model to.
int64_t IrVersionFor(int64_t opset) { return opset >= 19 ? 9 : opset >= 15 ? 8 : opset >= 13 ? 7 : opset >= 12 ? 7 : opset >= 11 ? 6 : 5; }

}  // namespace

RuleSession::RuleSession(int64_t opset) {
  env.opset = opset;
  AddIrFunctions(functions, codec, types, env);
  AddBodyFunctions(functions, codec);
  AddFoldFunction(functions, codec);
}

absl::Status RuleSession::LoadShipped() {
  for (const ShippedFile& f : ShippedRules()) {
    auto s = loader.Load(f.text, {.file = std::string("rules/") + f.name, .object_reader = ReadTensorObject});
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status RuleSession::LoadFile(const std::string& path) { return loader.LoadFile(path, ReadTensorObject); }

absl::StatusOr<OptimizeReport> Optimize(Graph& graph, const OptimizeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  OptimizeReport report;
  report.nodes_before = graph.CountNodes();
  report.parameters_before = graph.CountParameters();
  report.opset_before = report.opset_after = std::max<int64_t>(graph.info.OpsetOf(""), 1);

  RuleSession session(report.opset_before);
  if (options.shipped_rules) {
    if (auto s = session.LoadShipped(); !s.ok()) return s;
  }
  for (const auto& path : options.rule_files) {
    if (auto s = session.LoadFile(path); !s.ok()) return s;
  }
  for (const Diagnostic& d : session.loader.warnings()) report.warnings.push_back(d.ToString());
  if (auto s = InferTypes(graph); !s.ok()) {
    report.warnings.push_back("type inference: " + std::string(s.message()));
  }

  GraphAdapter adapter(graph, session.codec);
  std::optional<GraphBridge> bridge(std::in_place, session.ctx, adapter);
  std::vector<VarId> roots;
  for (const auto& o : graph.outputs()) roots.push_back(o.var);
  auto terms = bridge->Etuplize(roots);
  if (!terms.ok()) return terms.status();
  if (MergeEqual(graph, *bridge)) {
    bridge.emplace(session.ctx, adapter);
    for (size_t i = 0; i < roots.size(); ++i) roots[i] = graph.outputs()[i].var;
    terms = bridge->Etuplize(roots);
    if (!terms.ok()) return terms.status();
  }

  std::vector<Term> current = *terms;
  const auto& all = session.loader.rules();
  auto run = [&](const RuleSet& rules) {
    if (rules.rules().empty()) return true;
    Normalizer normalizer(session.ctx, rules, session.functions,
                          {.strategy = options.strategy,
                           .fuel = options.fuel - std::min(options.fuel, report.steps),
                           .allow = options.allow,
                           .types = &session.types,
                           .on_step = options.on_step ? std::function<void(const Step&)>([&](const Step& s) { options.on_step(session, s); })
                                                      : nullptr});
    current = normalizer.Run(current);
    const NormalizeReport& r = normalizer.report();
    report.steps += r.steps;
    for (size_t i = 0; i < rules.rules().size(); ++i) {
      report.rules.push_back({rules.rules()[i].name, rules.rules()[i].Where(), r.stats[i]});
    }
    if (r.stop == StopReason::kNormalForm) return true;
    report.stop = r.stop;
    report.cycle = r.cycle;
    return false;
  };
  run(all.Filter([](const Rule& r) { return r.ruleset == "lift"; }));
  run(all.Filter([](const Rule& r) { return r.ruleset != "lift" && LowerBelow(r.ruleset) == 0; }));
  const int64_t opset = report.opset_before;
  // Highest first: a form may have to be lowered more than once.
  std::vector<int64_t> levels;
  for (const Rule& r : all.rules()) {
    const int64_t n = LowerBelow(r.ruleset);
    if (n > opset && std::find(levels.begin(), levels.end(), n) == levels.end()) levels.push_back(n);
  }
  std::sort(levels.rbegin(), levels.rend());
  for (int64_t n : levels) run(all.Filter([n](const Rule& r) { return LowerBelow(r.ruleset) == n; }));

  auto values = bridge->Reify(current);
  if (!values.ok()) return values.status();
  for (size_t i = 0; i < values->size(); ++i) graph.mutable_outputs()[i].var = (*values)[i];
  // What could not be lowered asks for a later opset; where none expresses the whole graph, it stays as it was.
  std::string odd = NotExpressible(graph, opset);
  if (!odd.empty()) {
    int64_t raised = opset + 1;
    while (raised <= kLastOpset && !NotExpressible(graph, raised).empty()) ++raised;
    if (raised <= kLastOpset) {
      report.warnings.push_back(absl::StrFormat("%s cannot be written in opset %d: the model is raised to opset %d", odd, opset, raised));
      for (auto& o : graph.info.opsets) {
        if (o.domain.empty()) o.version = raised;
      }
      graph.info.ir_version = std::max(graph.info.ir_version, IrVersionFor(raised));
      report.opset_after = raised;
    } else {
      report.warnings.push_back(absl::StrFormat("%s cannot be written in opset %d: the graph is left as it was", odd, opset));
      for (size_t i = 0; i < roots.size(); ++i) graph.mutable_outputs()[i].var = roots[i];
    }
  }
  std::stable_sort(report.rules.begin(), report.rules.end(),
                   [](const RuleUse& a, const RuleUse& b) { return a.stats.applied > b.stats.applied; });
  report.nodes_after = graph.CountNodes();
  report.parameters_after = graph.CountParameters();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace retuple
