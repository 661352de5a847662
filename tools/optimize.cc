#include "tools/optimize.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/body_functions.h"
#include "ir_bridge/graph_adapter.h"
#include "ir_bridge/tensor_object.h"
#include "kernels/folder.h"

namespace retuple {
namespace {

constexpr std::string_view kLower = "lower-below-";

// N of a rule set `lower-below-N`, else 0.
int64_t LowerBelow(const std::string& ruleset) {
  int64_t n = 0;
  if (ruleset.rfind(kLower, 0) != 0 || !absl::SimpleAtoi(ruleset.substr(kLower.size()), &n)) return 0;
  return n;
}

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
  GraphBridge bridge(session.ctx, adapter);
  std::vector<VarId> roots;
  for (const auto& o : graph.outputs()) roots.push_back(o.var);
  auto terms = bridge.Etuplize(roots);
  if (!terms.ok()) return terms.status();

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

  auto values = bridge.Reify(current);
  if (!values.ok()) return values.status();
  for (size_t i = 0; i < values->size(); ++i) graph.mutable_outputs()[i].var = (*values)[i];
  std::stable_sort(report.rules.begin(), report.rules.end(),
                   [](const RuleUse& a, const RuleUse& b) { return a.stats.applied > b.stats.applied; });
  report.nodes_after = graph.CountNodes();
  report.parameters_after = graph.CountParameters();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace retuple
