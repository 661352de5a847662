// optimize, run, compare, etuplize, reify, conformance.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "ir_bridge/graph_term.h"
#include "ir_bridge/onnx/model_io.h"
#include "ir_bridge/tensor_object.h"
#include "kernels/executor.h"
#include "tools/commands.h"
#include "tools/conformance.h"
#include "tools/npy.h"
#include "tools/optimize.h"

namespace retuple {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kVerifyTolerance = 1e-4;

std::vector<OptionSpec> With(std::vector<OptionSpec> a, const std::vector<OptionSpec>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

absl::StatusOr<std::unique_ptr<Graph>> Import(const std::string& path, const Args& args) {
  return ImportOnnxFile(path, {.initializers_are_constants = args.Has("--constant-initializers"), .effectful_ops = {}});
}

OptionSpec ConstantInitializers() {
  return {"--constant-initializers", "", "treat initialisers that a caller may override as constants"};
}

Json StatsJson(const OptimizeReport& r) {
  Json rules = Json::array();
  for (const RuleUse& u : r.rules) {
    if (u.stats.tried == 0) continue;
    rules.push_back({{"name", u.name}, {"where", u.where}, {"tried", u.stats.tried}, {"matched", u.stats.matched},
                     {"refused_by_guard", u.stats.guard_refused}, {"refused_by_type", u.stats.type_refused}, {"applied", u.stats.applied}});
  }
  return rules;
}

Json ComparisonJson(const Comparison& c, double tolerance) {
  Json outputs = Json::array();
  for (const auto& o : c.outputs) {
    outputs.push_back({{"name", o.name}, {"exact", o.exact}, {"largest_abs", o.largest_abs}, {"relative", o.relative()}, {"mismatch", o.mismatch}});
  }
  return {{"passed", c.Passes(tolerance)}, {"outputs", outputs}};
}

void PrintComparison(const Comparison& c) {
  for (const auto& o : c.outputs) {
    if (!o.mismatch.empty()) {
      std::cout << absl::StrFormat("  %-32s %s\n", o.name, o.mismatch);
    } else {
      std::cout << absl::StrFormat("  %-32s %s (largest difference %.3g of magnitude %.3g, relative %.2g)\n", o.name,
                                   o.exact ? "equal" : "close", o.largest_abs, o.magnitude, o.relative());
    }
  }
}

// ---- optimize

absl::StatusOr<int> RunOptimize(const Args& args) {
  if (args.Has("--strict") && args.Has("--fast-math")) return absl::InvalidArgumentError("--strict and --fast-math exclude each other");
  if (!args.Has("-o") && !args.Has("--dry-run")) return absl::InvalidArgumentError("optimize needs -o OUT.onnx, or --dry-run");
  absl::Status file_error;
  auto inputs = ParseInputOptions(args, &file_error);
  if (!inputs.ok()) return inputs.status();
  auto threads = args.Int("--threads", 1, 1, 256);
  if (!threads.ok()) return threads.status();
  auto fuel = args.Int("--fuel", 10'000'000, 0, int64_t{1} << 50);
  if (!fuel.ok()) return fuel.status();
  if (!file_error.ok()) return Fail(file_error);

  Progress("reading " + args.words()[0]);
  auto graph = Import(args.words()[0], args);
  if (!graph.ok()) return Fail(graph.status());
  OptimizeOptions options;
  options.rule_files = args.Values("--rules");
  options.shipped_rules = !args.Has("--no-shipped-rules");
  options.allow = args.Has("--strict") ? Validity::kExact : args.Has("--fast-math") ? Validity::kReal : Validity::kRounding;
  options.fuel = static_cast<uint64_t>(*fuel);
  std::ofstream trace;
  if (args.Has("--trace")) {
    trace.open(args.Value("--trace"));
    if (!trace) return Fail(absl::PermissionDeniedError("cannot write " + args.Value("--trace")));
    options.on_step = [&trace](RuleSession& session, const Step& step) {
      trace << step.rule->Where() << "\n  " << Brief(session.ctx, step.before, 400) << "\n  → " << Brief(session.ctx, step.after, 400) << "\n";
    };
  }
  Progress("rewriting");
  auto report = Optimize(**graph, options);
  if (!report.ok()) return Fail(report.status());
  Progress("");

  Json json{{"input", args.words()[0]}, {"nodes_in_file", (*graph)->info.source_nodes}, {"nodes_before", report->nodes_before},
            {"nodes_after", report->nodes_after}, {"parameters_before", report->parameters_before}, {"parameters_after", report->parameters_after},
            {"steps", report->steps}, {"stop", std::string(StopReasonName(report->stop))}, {"seconds", report->seconds}};
  for (VarId v : (*graph)->inputs()) {
    const Type& type = (*graph)->type(v);
    Json dims = Json::array();
    if (type.is_tensor() && type.has_shape()) {
      for (const Dim& d : type.shape()) dims.push_back(d.known() ? Json(d.value()) : Json(d.ToString()));
    }
    json["inputs"].push_back({{"name", (*graph)->var_name(v)}, {"type", std::string(DTypeName(type.dtype()))}, {"dims", dims},
                              {"has_default", (*graph)->defaults().contains(v)}});
  }
  int status = 0;
  std::optional<Comparison> comparison;
  if (args.Has("--verify")) {
    Progress("verifying");
    auto original = Import(args.words()[0], args);
    if (!original.ok()) return Fail(original.status());
    auto c = CompareGraphs(**original, **graph, *inputs, static_cast<int>(*threads));
    if (!c.ok()) return Fail(absl::Status(c.status().code(), "verification: " + std::string(c.status().message())));
    Progress("");
    comparison = *c;
    if (!comparison->Passes(kVerifyTolerance)) status = 1;
  }
  if (status == 0 && args.Has("-o")) {
    if (auto s = ExportOnnxFile(**graph, args.Value("-o")); !s.ok()) return Fail(s);
  }
  if (args.Has("--json")) {
    if (!report->cycle.empty()) json["cycle"] = report->cycle;
    if (!report->warnings.empty()) json["warnings"] = report->warnings;
    if (comparison) json["verification"] = ComparisonJson(*comparison, kVerifyTolerance);
    if (args.Has("--stats")) json["rules"] = StatsJson(*report);
    std::cout << json.dump(2) << "\n";
    return status;
  }
  for (const auto& w : report->warnings) std::cerr << "warning: " << w << "\n";
  std::cout << absl::StrFormat("%s: %d nodes in the file (Constant nodes included), %d → %d nodes, %.3f → %.3f M parameters, %d rewrites in %.3f s\n",
                               args.words()[0], (*graph)->info.source_nodes, report->nodes_before, report->nodes_after,
                               static_cast<double>(report->parameters_before) / 1e6, static_cast<double>(report->parameters_after) / 1e6,
                               report->steps, report->seconds);
  if (report->stop != StopReason::kNormalForm) {
    std::cout << "stopped by " << StopReasonName(report->stop) << "; the rules that went round:";
    for (const auto& r : report->cycle) std::cout << " " << r;
    std::cout << "\n";
  }
  if (args.Has("--stats")) {
    std::cout << absl::StrFormat("  %-34s %9s %9s %9s %9s %9s\n", "rule", "tried", "matched", "by guard", "by type", "applied");
    for (const RuleUse& u : report->rules) {
      if (u.stats.tried == 0) continue;
      std::cout << absl::StrFormat("  %-34s %9d %9d %9d %9d %9d\n", u.name, u.stats.tried, u.stats.matched, u.stats.guard_refused, u.stats.type_refused, u.stats.applied);
    }
  }
  if (comparison) {
    std::cout << "verification " << (status == 0 ? "passed" : "FAILED") << "\n";
    PrintComparison(*comparison);
  }
  if (status != 0) {
    std::cerr << "error: the outputs differ; nothing was written\n";
  } else if (args.Has("-o")) {
    std::cout << "written to " << args.Value("-o") << "\n";
  }
  return status;
}

// ---- run

absl::Status WriteValue(const Value& v, const std::string& path) {
  if (!v.is_tensor()) return absl::UnimplementedError("only tensors are written");
  auto bytes = WriteNpy(v.tensor);
  if (bytes.ok()) return WriteFile(path + ".npy", *bytes);
  auto proto = WriteTensorProto(v.tensor);
  if (!proto.ok()) return proto.status();
  return WriteFile(path + ".pb", *proto);
}

absl::StatusOr<int> RunRun(const Args& args) {
  absl::Status file_error;
  auto inputs = ParseInputOptions(args, &file_error);
  if (!inputs.ok()) return inputs.status();
  auto repeat = args.Int("--repeat", 1, 1, 1'000'000'000);
  if (!repeat.ok()) return repeat.status();
  auto threads = args.Int("--threads", 1, 1, 256);
  if (!threads.ok()) return threads.status();
  if (!file_error.ok()) return Fail(file_error);
  auto graph = Import(args.words()[0], args);
  if (!graph.ok()) return Fail(graph.status());
  for (const auto& given : inputs->values) {
    const std::string& name = given.first;
    const auto in = (*graph)->inputs();
    if (std::none_of(in.begin(), in.end(), [&](VarId v) { return (*graph)->var_name(v) == name; })) {
      return Fail(absl::InvalidArgumentError(absl::StrFormat("the model has no input \"%s\"", name)));
    }
  }
  auto values = RandomInputs(**graph, *inputs);
  if (!values.ok()) return Fail(values.status());
  auto plan = Plan::Compile(**graph, {.threads = static_cast<int>(*threads), .profile = args.Has("--profile")});
  if (!plan.ok()) return Fail(plan.status());
  std::vector<Value> out;
  std::vector<double> times;
  for (int64_t i = 0; i < *repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    auto r = (*plan)->Run(*values);
    if (!r.ok()) return Fail(r.status());
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    out = *std::move(r);
  }
  std::sort(times.begin(), times.end());
  Json json{{"model", args.words()[0]}, {"runs", *repeat}, {"min_ms", times.front()}, {"median_ms", times[times.size() / 2]}, {"outputs", Json::array()}};
  for (size_t i = 0; i < out.size(); ++i) {
    const auto& o = (*graph)->outputs()[i];
    json["outputs"].push_back({{"name", o.name}, {"value", out[i].is_tensor() ? out[i].tensor.ToString() : "(no tensor)"}});
    if (args.Has("--output")) {
      std::error_code ec;
      std::filesystem::create_directories(args.Value("--output"), ec);
      if (auto s = WriteValue(out[i], (std::filesystem::path(args.Value("--output")) / absl::StrFormat("output_%d", i)).string()); !s.ok()) return Fail(s);
    }
  }
  if (args.Has("--json")) {
    std::cout << json.dump(2) << "\n";
    return 0;
  }
  for (const auto& o : json["outputs"]) std::cout << o["name"].get<std::string>() << " = " << o["value"].get<std::string>() << "\n";
  std::cout << absl::StrFormat("%d runs: minimum %.3f ms, median %.3f ms\n", *repeat, times.front(), times[times.size() / 2]);
  if (args.Has("--profile")) {
    std::map<std::string, std::pair<double, int64_t>> by_op;
    double total = 0;
    for (const NodeProfile& p : (*plan)->profile()) {
      auto& e = by_op[(*graph)->op_of((*graph)->apply(p.apply)).form()];
      e.first += p.seconds;
      e.second += 1;
      total += p.seconds;
    }
    std::vector<std::pair<std::string, std::pair<double, int64_t>>> rows(by_op.begin(), by_op.end());
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
    for (const auto& [op, e] : rows) {
      std::cout << absl::StrFormat("  %-24s %5d nodes %10.3f ms a run %5.1f %%\n", op, e.second, 1e3 * e.first / static_cast<double>(*repeat), 100 * e.first / total);
    }
  }
  return 0;
}

// ---- compare

absl::StatusOr<int> RunCompare(const Args& args) {
  absl::Status file_error;
  auto inputs = ParseInputOptions(args, &file_error);
  if (!inputs.ok()) return inputs.status();
  if (!file_error.ok()) return Fail(file_error);
  auto a = Import(args.words()[0], args);
  if (!a.ok()) return Fail(a.status());
  auto b = Import(args.words()[1], args);
  if (!b.ok()) return Fail(b.status());
  auto c = CompareGraphs(**a, **b, *inputs);
  if (!c.ok()) return Fail(c.status());
  const bool passed = c->Passes(kVerifyTolerance);
  if (args.Has("--json")) {
    std::cout << ComparisonJson(*c, kVerifyTolerance).dump(2) << "\n";
  } else {
    PrintComparison(*c);
    std::cout << (passed ? "equal within the tolerance\n" : "DIFFERENT\n");
  }
  return passed ? 0 : 1;
}

// ---- etuplize and reify

absl::StatusOr<int> RunEtuplize(const Args& args) {
  auto graph = Import(args.words()[0], args);
  if (!graph.ok()) return Fail(graph.status());
  if (auto s = InferTypes(**graph); !s.ok()) std::cerr << "warning: " << s.message() << "\n";
  Context ctx;
  TermCodec codec(ctx);
  auto term = GraphToTerm(**graph, codec);
  if (!term.ok()) return Fail(term.status());
  const std::string text = PrintTerm(ctx, *term, {.brief = args.Has("--brief")}) + "\n";
  if (!args.Has("-o")) {
    std::cout << text;
  } else if (auto s = WriteFile(args.Value("-o"), text); !s.ok()) {
    return Fail(s);
  }
  return 0;
}

absl::StatusOr<int> RunReify(const Args& args) {
  if (!args.Has("-o")) return absl::InvalidArgumentError("reify needs -o OUT.onnx");
  auto text = ReadFile(args.words()[0]);
  if (!text.ok()) return Fail(text.status());
  Context ctx;
  TermCodec codec(ctx);
  auto term = ReadTerm(ctx, *text, {.object_reader = ReadTensorObject, .file = args.words()[0]});
  if (!term.ok()) return Fail(term.status());
  auto graph = TermToGraph(codec, *term);
  if (!graph.ok()) return Fail(graph.status());
  if (auto s = InferTypes(**graph); !s.ok()) return Fail(s);
  if (auto s = ExportOnnxFile(**graph, args.Value("-o")); !s.ok()) return Fail(s);
  return 0;
}

// ---- conformance

absl::StatusOr<int> RunConformanceCommand(const Args& args) {
  ConformanceOptions options;
  options.folder = args.words()[0];
  options.filter = args.Value("--filter");
  auto report = RunConformance(options);
  if (!report.ok()) return Fail(report.status());
  std::cout << (args.Has("--json") ? ConformanceJson(*report) : ConformanceText(*report));
  return report->failed == 0 ? 0 : 1;
}

}  // namespace

std::span<const Command> ModelCommands() {
  static const std::vector<Command> commands = {
      {{"optimize", "IN.onnx -o OUT.onnx",
        "Rewrites a model by the shipped rules and those of --rules, and writes the result.\nThe file is written only when the verification that was asked for passes.",
        With({{"-o", "OUT.onnx", "where the result goes"},
              {"--dry-run", "", "write nothing"},
              {"--rules", "FILE", "rules of your own, after the shipped ones", true},
              {"--no-shipped-rules", "", "only the rules of --rules"},
              {"--strict", "", "only rules that hold bit for bit (:valid exact)"},
              {"--fast-math", "", "also rules that need a domain condition (:valid no-nan, finite, real)"},
              {"--verify", "", "run both models on the same random inputs and compare"},
              {"--stats", "", "statistics by rule: tried, matched, refused, applied"},
              {"--trace", "FILE", "each rewrite with rule and terms"},
              {"--fuel", "N", "stop after N rewrites"},
              {"--json", "", "print the report as JSON"},
              ConstantInitializers()},
             InputOptionSpecs()),
        1, 1},
       RunOptimize},
      {{"run", "M.onnx", "Runs a model; inputs that are not given are random, of the declared type.",
        With({{"--output", "DIR", "write the outputs as DIR/output_K.npy"},
              {"--repeat", "N", "run N times and report the time"},
              {"--profile", "", "time by operator"},
              {"--json", "", "print the result as JSON"},
              ConstantInitializers()},
             InputOptionSpecs()),
        1, 1},
       RunRun},
      {{"compare", "A.onnx B.onnx", "Runs two models on the same random inputs and compares the outputs.",
        With({{"--json", "", "print the result as JSON"}, ConstantInitializers()}, InputOptionSpecs()), 2, 2},
       RunCompare},
      {{"etuplize", "M.onnx", "Prints a model as an expression tuple.",
        {{"-o", "F.etuple", "write to a file"}, {"--brief", "", "leave out the content of large constants (not readable back)"}, ConstantInitializers()}, 1, 1},
       RunEtuplize},
      {{"reify", "F.etuple -o OUT.onnx", "Makes a model from an expression tuple.", {{"-o", "OUT.onnx", "where the model goes"}}, 1, 1}, RunReify},
      {{"conformance", "DIR", "Runs a suite in the layout of ONNX's backend tests.",
        {{"--filter", "REGEX", "only tests whose category/name holds a match"}, {"--json", "", "print the result as JSON"}}, 1, 1},
       RunConformanceCommand},
  };
  return commands;
}

}  // namespace retuple
