#include "tools/conformance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/onnx/model_io.h"
#include "ir_bridge/onnx/value_io.h"
#include "kernels/executor.h"

namespace retuple {
namespace {

namespace fs = std::filesystem;

// ---- files

// Folders with a model.onnx at depth 0 to 2 below `root`, sorted.
std::vector<fs::path> FindTests(const fs::path& root) {
  std::vector<fs::path> found, level = {root};
  for (int depth = 0; depth <= 2; ++depth) {
    std::vector<fs::path> next;
    for (const fs::path& p : level) {
      std::error_code ec;
      if (fs::is_regular_file(p / "model.onnx", ec)) {
        found.push_back(p);
        continue;
      }
      for (fs::directory_iterator it(p, ec), end; !ec && it != end; it.increment(ec)) {
        std::error_code is_folder;
        if (it->is_directory(is_folder)) next.push_back(it->path());
      }
    }
    level = std::move(next);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::string> ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

// ---- values

// The package stores bf16 values as u16 tensors of the same bits.
Value ToValue(const OnnxValue& v, const Type& declared) {
  if (v.none) return Value::None();
  if (!v.is_sequence) {
    if (declared.dtype() == DType::kBF16 && v.tensor.dtype() == DType::kU16) {
      return Value(Tensor::View(DType::kBF16, v.tensor.dims(), v.tensor.data(),
                                std::make_shared<const Tensor>(v.tensor)));
    }
    return Value(v.tensor);
  }
  std::vector<Value> items;
  for (const OnnxValue& item : v.items) items.push_back(ToValue(item, Type()));
  return Value::Sequence(std::move(items));
}

std::string KindName(const Value& v) {
  switch (v.kind) {
    case Value::Kind::kTensor:
      return v.tensor.type().ToString();
    case Value::Kind::kSequence:
      return absl::StrFormat("a sequence of %d", v.sequence ? v.sequence->size() : 0);
    case Value::Kind::kNone:
      return "an empty optional";
    default:
      return "nothing";
  }
}

// One unit in the last place of bf16: the package's values are truncated, Retuple rounds to the nearest even.
constexpr double kBF16Unit = 0x1.0p-7;

struct Tolerance {
  double rtol, atol;
  bool shape_only;
};

// "" when they agree, else where they differ.
std::string CompareTensors(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) {
    return absl::StrFormat("got %s, want %s", got.type().ToString(), want.type().ToString());
  }
  if (tolerance.shape_only) return "";
  int64_t wrong = 0;
  std::string first;
  auto note = [&](int64_t i, const std::string& g, const std::string& w) {
    if (wrong++ == 0) first = absl::StrFormat("element %d is %s, want %s", i, g, w);
  };
  for (int64_t i = 0; i < want.size(); ++i) {
    if (want.dtype() == DType::kString) {
      if (got.strings()[i] != want.strings()[i]) note(i, got.strings()[i], want.strings()[i]);
    } else if (IsComplex(want.dtype())) {
      if (!(got == want)) note(0, "complex", "other");
      break;
    } else if (IsFloat(want.dtype())) {
      const double g = got.At(i), w = want.At(i);
      const double rtol = want.dtype() == DType::kBF16 ? std::max(tolerance.rtol, kBF16Unit) : tolerance.rtol;
      const bool ok = (g == w) || (std::isnan(g) && std::isnan(w)) ||
                      (std::isfinite(g) && std::isfinite(w) &&
                       std::fabs(g - w) <= tolerance.atol + rtol * std::fabs(w));
      if (!ok) note(i, absl::StrFormat("%.9g", g), absl::StrFormat("%.9g", w));
    } else if (got.IntAt(i) != want.IntAt(i)) {
      note(i, absl::StrCat(got.IntAt(i)), absl::StrCat(want.IntAt(i)));
    }
  }
  if (wrong == 0) return "";
  return absl::StrFormat("%s; %d of %d differ", first, wrong, want.size());
}

std::string CompareValues(const Value& got, const Value& want, const Tolerance& tolerance) {
  if (got.kind != want.kind) return absl::StrFormat("got %s, want %s", KindName(got), KindName(want));
  if (got.kind == Value::Kind::kTensor) return CompareTensors(got.tensor, want.tensor, tolerance);
  if (got.kind != Value::Kind::kSequence) return "";
  if (got.sequence->size() != want.sequence->size()) {
    return absl::StrFormat("got %s, want %s", KindName(got), KindName(want));
  }
  for (size_t i = 0; i < want.sequence->size(); ++i) {
    const Value& g = (*got.sequence)[i];
    const Value& w = (*want.sequence)[i];
    // A sequence in a sequence does not occur in ONNX.
    std::string why = g.is_tensor() && w.is_tensor()
                          ? CompareTensors(g.tensor, w.tensor, tolerance)
                          : (g.kind == w.kind ? "" : absl::StrFormat("got %s, want %s", KindName(g), KindName(w)));
    if (!why.empty()) return absl::StrFormat("item %d: %s", i, why);
  }
  return "";
}

// ---- one test

// Tests whose expected values come from NumPy's generator.
bool IsRandom(const std::string& name) {
  if (name.find("bernoulli") != std::string::npos) return true;
  return name.find("training_dropout") != std::string::npos && name.find("zero_ratio") == std::string::npos;
}

// Values `prefix`_0.pb, … of a data set, typed by `type_of(k)`.
template <typename TypeOf>
absl::StatusOr<std::vector<Value>> ReadValues(const fs::path& set, const char* prefix, size_t limit,
                                              TypeOf type_of) {
  std::vector<Value> values;
  for (size_t k = 0;; ++k) {
    auto bytes = ReadFile(set / absl::StrFormat("%s_%d.pb", prefix, k));
    if (!bytes) return values;
    if (k >= limit) {
      return absl::InvalidArgumentError(absl::StrFormat("more than %d files %s_*.pb", limit, prefix));
    }
    auto v = ReadValueProto(*bytes, type_of(k));
    if (!v.ok()) {
      return absl::Status(v.status().code(),
                          absl::StrFormat("%s_%d.pb: %s", prefix, k, std::string(v.status().message())));
    }
    values.push_back(ToValue(*v, type_of(k)));
  }
}

// Four tests feed CastLike's second operand, of which only the type counts, in another shape than they declare: the
// declared shape gives way, so that the plan accepts it. What comes out is compared all the same.
void RelaxShape(Graph& graph, size_t k, const Value& v) {
  if (k >= graph.inputs().size() || !v.is_tensor()) return;
  const VarId var = graph.inputs()[k];
  const Type& declared = graph.type(var);
  if (declared.is_static() && declared.dtype() == v.tensor.dtype() && !(declared == v.tensor.type())) {
    graph.set_type(var, Type::Tensor(declared.dtype()));
  }
}

absl::Status RunTest(const fs::path& folder, const ConformanceOptions& options, ConformanceCase& c) {
  auto graph = ImportOnnxFile((folder / "model.onnx").string());
  if (!graph.ok()) return graph.status();
  // Declared types, before a transform may change what stands behind the outputs.
  std::vector<Type> input_types, output_types;
  for (VarId v : (*graph)->inputs()) input_types.push_back((*graph)->type(v));
  for (const GraphOutput& o : (*graph)->outputs()) {
    output_types.push_back(o.type.is_unknown() ? (*graph)->type(o.var) : o.type);
  }
  const std::vector<ApplyId> live = (*graph)->LiveApplies();
  c.op = live.size() == 1 ? (*graph)->op_of((*graph)->apply(live[0])).form() : "(graph)";
  if (options.transform) {
    graph = options.transform(*std::move(graph));
    if (!graph.ok()) return graph.status();
  }
  std::vector<fs::path> sets;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->path().filename().string().rfind("test_data_set_", 0) == 0) sets.push_back(it->path());
  }
  std::sort(sets.begin(), sets.end());
  if (sets.empty()) return absl::NotFoundError("no test_data_set_*");
  struct DataSet {
    std::vector<Value> inputs, outputs;
  };
  std::vector<DataSet> data;
  for (const fs::path& set : sets) {
    auto inputs = ReadValues(set, "input", input_types.size(), [&](size_t k) { return input_types[k]; });
    if (!inputs.ok()) return inputs.status();
    auto want = ReadValues(set, "output", output_types.size(), [&](size_t k) { return output_types[k]; });
    if (!want.ok()) return want.status();
    for (size_t k = 0; k < inputs->size(); ++k) RelaxShape(**graph, k, (*inputs)[k]);
    data.push_back({*std::move(inputs), *std::move(want)});
  }
  auto plan = Plan::Compile(**graph, {.threads = options.threads});
  if (!plan.ok()) return plan.status();
  const Tolerance tolerance{options.rtol, options.atol, c.shape_only};
  for (const DataSet& set : data) {
    auto got = (*plan)->Run(set.inputs);
    if (!got.ok()) return got.status();
    if (got->size() != set.outputs.size()) {
      return absl::DataLossError(absl::StrFormat("%d outputs, want %d", got->size(), set.outputs.size()));
    }
    for (size_t k = 0; k < set.outputs.size(); ++k) {
      const std::string why = CompareValues((*got)[k], set.outputs[k], tolerance);
      if (!why.empty()) return absl::DataLossError(absl::StrFormat("output %d: %s", k, why));
    }
  }
  return absl::OkStatus();
}

std::string_view OutcomeName(ConformanceOutcome o) {
  switch (o) {
    case ConformanceOutcome::kPassed:
      return "passed";
    case ConformanceOutcome::kFailed:
      return "failed";
    default:
      return "unsupported";
  }
}

std::string JsonString(const std::string& s) {
  std::string out = "\"";
  for (char ch : s) {
    const auto u = static_cast<unsigned char>(ch);
    if (ch == '"' || ch == '\\') {
      out += '\\';
      out += ch;
    } else if (u < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", u);
    } else {
      out += ch;
    }
  }
  return out + "\"";
}

}  // namespace

absl::StatusOr<ConformanceReport> RunConformance(const ConformanceOptions& options) {
  std::regex filter;
  // std::regex reports a bad pattern only by throwing.
  try {
    filter.assign(options.filter, std::regex::ECMAScript);
  } catch (const std::regex_error& e) {
    return absl::InvalidArgumentError(absl::StrFormat("filter \"%s\": %s", options.filter, e.what()));
  }
  std::error_code ec;
  fs::path root = fs::absolute(options.folder, ec).lexically_normal();
  if (root.filename().empty()) root = root.parent_path();
  const std::vector<fs::path> tests = FindTests(root);
  if (tests.empty()) return absl::NotFoundError(absl::StrFormat("no test in %s", options.folder));
  ConformanceReport report;
  for (const fs::path& folder : tests) {
    ConformanceCase c;
    c.category = folder.parent_path().filename().string();
    c.name = folder.filename().string();
    if (!options.filter.empty() && !std::regex_search(c.category + "/" + c.name, filter)) continue;
    c.shape_only = IsRandom(c.name);
    const absl::Status s = RunTest(folder, options, c);
    if (s.ok()) {
      ++report.passed;
    } else {
      const bool unsupported = absl::IsUnimplemented(s);
      c.outcome = unsupported ? ConformanceOutcome::kUnsupported : ConformanceOutcome::kFailed;
      ++(unsupported ? report.unsupported : report.failed);
      c.reason = std::string(s.message());
    }
    report.cases.push_back(std::move(c));
  }
  return report;
}

std::string ConformanceText(const ConformanceReport& report) {
  std::string out;
  std::map<std::string, std::array<int, 3>> by_op;
  std::string random;
  for (const ConformanceCase& c : report.cases) {
    ++by_op[c.op.empty() ? "(not loaded)" : c.op][static_cast<int>(c.outcome)];
    if (c.shape_only) absl::StrAppend(&random, "  ", c.category, "/", c.name, "\n");
    if (c.outcome == ConformanceOutcome::kPassed) continue;
    absl::StrAppendFormat(&out, "%-11s %s/%s [%s]: %s\n", std::string(OutcomeName(c.outcome)), c.category, c.name,
                          c.op, c.reason);
  }
  absl::StrAppendFormat(&out, "%-32s %7s %7s %12s\n", "operator", "passed", "failed", "unsupported");
  for (const auto& [op, n] : by_op) absl::StrAppendFormat(&out, "%-32s %7d %7d %12d\n", op, n[0], n[1], n[2]);
  if (!random.empty()) absl::StrAppend(&out, "compared by type and shape only (random):\n", random);
  absl::StrAppendFormat(&out, "%d passed, %d failed, %d unsupported\n", report.passed, report.failed,
                        report.unsupported);
  return out;
}

std::string ConformanceJson(const ConformanceReport& report) {
  std::string out = absl::StrFormat("{\"passed\": %d, \"failed\": %d, \"unsupported\": %d, \"cases\": [",
                                    report.passed, report.failed, report.unsupported);
  const char* separator = "\n";
  for (const ConformanceCase& c : report.cases) {
    absl::StrAppend(&out, separator, "{\"category\": ", JsonString(c.category), ", \"name\": ", JsonString(c.name),
                    ", \"op\": ", JsonString(c.op), ", \"outcome\": ",
                    JsonString(std::string(OutcomeName(c.outcome))), ", \"reason\": ", JsonString(c.reason),
                    ", \"shape_only\": ", c.shape_only ? "true" : "false", "}");
    separator = ",\n";
  }
  return out + "\n]}\n";
}

}  // namespace retuple
