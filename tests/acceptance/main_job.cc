// Acceptance of "The main job, end to end": runs each line of the issue on a built tree and prints it with its figure and ok or short.
//
//   build/release/tests/acceptance/main_job [MODELS_DIR]      (default build/models, filled by scripts/models)
//
// What needs a peer or a package that is not here is skipped by name.
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "etuple/reader.h"
#include "ir_bridge/graph_adapter.h"
#include "ir_bridge/graph_term.h"
#include "ir_bridge/onnx/model_io.h"
#include "ir_bridge/tensor_object.h"
#include "tests/acceptance/report.h"
#include "tools/compare.h"
#include "tools/conformance.h"
#include "tools/optimize.h"

namespace retuple {
namespace {

namespace fs = std::filesystem;

double PeakMegabytes() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_maxrss) / 1024;
}
struct Model {
  const char* name;
  const char* file;
  int ort_basic;  // nodes after ONNX Runtime's level basic
  std::map<std::string, std::vector<int64_t>> shapes = {};
  std::map<std::string, int64_t> scalars = {};
};

std::vector<Model> Models() {
  return {{"fr_feature", "faceplugin/package/model/fr_feature.onnx", 96},
          {"fr_expression", "faceplugin/package/model/fr_expression.onnx", 372},
          {"fr_detect", "faceplugin/package/model/fr_detect.onnx", 125},
          {"fr_pose", "faceplugin/package/model/fr_pose.onnx", 175},
          {"fr_landmark", "faceplugin/package/model/fr_landmark.onnx", 79},
          {"fr_liveness", "faceplugin/package/model/fr_liveness.onnx", 115},
          {"fr_age", "faceplugin/package/model/fr_age.onnx", 94},
          {"fr_gender", "faceplugin/package/model/fr_gender.onnx", 86},
          {"fr_eye", "faceplugin/package/model/fr_eye.onnx", 39},
          {"ppocr_det", "ocr/package/assets/ch_PP-OCRv4_det_infer.onnx", 328, {{"x", {1, 3, 320, 320}}}},
          {"ppocr_rec", "ocr/package/assets/ch_PP-OCRv4_rec_infer.onnx", 407, {{"x", {1, 3, 48, 320}}}},
          {"ppocr_cls", "ocr/package/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx", 179, {{"x", {1, 3, 48, 192}}}},
          {"silero_v5", "vad/package/dist/silero_vad_v5.onnx", 224, {{"input", {1, 512}}, {"state", {2, 1, 128}}}, {{"sr", 16000}}},
          {"silero_v6", "vad/package/dist/silero_vad_v6.onnx", 224, {{"input", {1, 512}}, {"state", {2, 1, 128}}}, {{"sr", 16000}}},
          {"silero_legacy", "vad/package/dist/silero_vad_legacy.onnx", 238, {{"input", {1, 1536}}}, {{"sr", 16000}}},
          {"oww_melspec", "openwakeword/package/models/melspectrogram.onnx", 18, {{"input", {1, 1280}}}},
          {"oww_embedding", "openwakeword/package/models/embedding_model.onnx", 65},
          {"oww_hey_jarvis", "openwakeword/package/models/hey_jarvis_v0.1.onnx", 53},
          {"oww_hey_mycroft", "openwakeword/package/models/hey_mycroft_v0.1.onnx", 25},
          {"oww_hey_rhasspy", "openwakeword/package/models/hey_rhasspy_v0.1.onnx", 25},
          {"oww_alexa", "openwakeword/package/models/alexa_v0.1.onnx", 7},
          {"oww_timer", "openwakeword/package/models/timer_v0.1.onnx", 8},
          {"oww_weather", "openwakeword/package/models/weather_v0.1.onnx", 7},
          {"minilm_l6_random", "minilm_l6_random.onnx", 323, {{"input_ids", {1, 128}}, {"attention_mask", {1, 128}}, {"token_type_ids", {1, 128}}}}};
}

void RealModels(const std::string& folder) {
  int present = 0;
  const std::string out = (fs::temp_directory_path() / "retuple_acceptance.onnx").string();
  for (const Model& m : Models()) {
    const std::string path = folder + "/" + m.file;
    if (!fs::exists(path)) {
      Skip("2", std::string(m.name) + ": not in " + folder + " (scripts/models)");
      continue;
    }
    ++present;
    auto original = ImportOnnxFile(path);
    auto graph = ImportOnnxFile(path);
    if (!graph.ok()) {
      Line("2", std::string(m.name) + ": " + std::string(graph.status().message()), false);
      continue;
    }
    auto report = Optimize(**graph);
    InputOptions inputs{.seed = 7, .dims = {}, .shapes = m.shapes, .values = {}};
    for (const auto& [name, v] : m.scalars) inputs.values[name] = Tensor::ScalarI64(v);
    auto written = report.ok() ? ExportOnnxFile(**graph, out) : report.status();
    auto again = written.ok() ? ImportOnnxFile(out) : absl::StatusOr<std::unique_ptr<Graph>>(written);
    auto c = again.ok() ? CompareGraphs(**original, **again, inputs) : absl::StatusOr<Comparison>(again.status());
    if (!c.ok()) {
      Line("2", std::string(m.name) + ": " + std::string(c.status().message()), false);
      continue;
    }
    double worst = 0;
    for (const auto& o : c->outputs) worst = std::max(worst, o.relative());
    Line("2", absl::StrFormat("%s: %d → %d nodes (ORT basic %d), largest relative difference %.1e", m.name, (*original)->info.source_nodes,
                              report->nodes_after, m.ort_basic, worst),
         c->Passes() && report->nodes_after <= static_cast<size_t>(m.ort_basic));
  }
  if (present > 0) Line("2", absl::StrFormat("%d model files verified (at least 16)", present), present >= 16);
}

void Suite() {
  auto report = RunConformance({});
  if (!report.ok()) return Skip("3", std::string(report.status().message()));
  // The expected data of this case were computed with epsilon 1e-2, its model leaves epsilon at the schema's 1e-6: the generator
  // (onnx/backend/test/case/node/adam.py) does not pass the attribute on.
  int unexplained = 0;
  std::string named;
  for (const auto& c : report->cases) {
    if (c.outcome == ConformanceOutcome::kPassed) continue;
    named += " " + c.name;
    unexplained += c.outcome == ConformanceOutcome::kFailed && c.name != "test_adam_multiple";
  }
  Line("3", absl::StrFormat("conformance: %d passed, %d failed, %d unsupported of %d:%s", report->passed, report->failed, report->unsupported,
                            report->cases.size(), named),
       report->passed >= 800 && unexplained == 0);
  // The same through the term: import → etuplize → print → read → reify → export (checked) → import → run.
  ConformanceOptions options;
  options.transform = [](std::unique_ptr<Graph> g) -> absl::StatusOr<std::unique_ptr<Graph>> {
    Context ctx, ctx2;
    TermCodec codec(ctx), codec2(ctx2);
    auto term = GraphToTerm(*g, codec);
    if (!term.ok()) return term.status();
    auto read = ReadTerm(ctx2, PrintTerm(ctx, *term), {.object_reader = ReadTensorObject});
    if (!read.ok()) return read.status();
    auto back = TermToGraph(codec2, *read);
    if (!back.ok()) return back.status();
    if (!StructurallyEqual(*g, **back)) return absl::InternalError("the graph that came back differs");
    auto bytes = ExportOnnx(**back);
    if (!bytes.ok()) return bytes.status();
    return ImportOnnx(*bytes, "");
  };
  auto through = RunConformance(options);
  if (!through.ok()) return Line("4", std::string(through.status().message()), false);
  int differ = 0;
  for (size_t i = 0; i < report->cases.size() && i < through->cases.size(); ++i) differ += report->cases[i].outcome != through->cases[i].outcome;
  Line("4", absl::StrFormat("%d models through etuplize, text, reify, export and checker: %d passed, %d outcomes differ from the import's",
                            through->cases.size(), through->passed, differ),
       through->cases.size() == report->cases.size() && differ == 0);
}

Graph Generated(int64_t nodes) {
  Graph g;
  g.Reserve(static_cast<size_t>(nodes), static_cast<size_t>(nodes) + 4);
  std::vector<VarId> last(50, g.AddInput("x", Type::Tensor(DType::kF32, {8, 8})));
  const OpId relu = g.InternOp(*MakeOp(*Registry::Get().FindForm("Relu"), {}));
  const OpId add = g.InternOp(*MakeOp(*Registry::Get().FindForm("Add"), {}));
  uint64_t random = 1;
  VarId v = last[0];
  for (int64_t i = 0; i < nodes; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const VarId two[] = {v, last[(random >> 33) % 50]};
    const bool unary = (random >> 20) % 3 == 0;
    v = g.output(g.AddApply(unary ? relu : add, std::span<const VarId>(two, unary ? 1 : 2)), 0);
    last[static_cast<size_t>(i) % 50] = v;
  }
  g.AddOutput("y", v);
  return g;
}

// Seconds of etuplize + reify into a new graph.
double EtuplizeReify(int64_t nodes) {
  Graph g = Generated(nodes);
  const VarId root = g.outputs()[0].var;
  const double start = Seconds();
  Context ctx;
  TermCodec codec(ctx);
  GraphAdapter source(g, codec);
  GraphBridge out(ctx, source);
  auto terms = out.Etuplize(std::span<const VarId>(&root, 1));
  Graph copy;
  GraphAdapter target(copy, codec);
  GraphBridge in(ctx, target);
  auto values = in.Reify(*terms);
  const double t = Seconds() - start;
  return values.ok() && copy.num_applies() == static_cast<size_t>(nodes) ? t : 1e9;
}

void Speed() {
  std::string growth;
  double per_node[4];
  int k = 0;
  double last = 0;
  for (int64_t n : {1000, 10000, 100000, 1000000}) {
    double best = 1e9;
    for (int r = 0; r < (n < 100000 ? 20 : 2); ++r) best = std::min(best, EtuplizeReify(n));
    per_node[k++] = best / static_cast<double>(n) * 1e9;
    growth += absl::StrFormat(" %.0f", per_node[k - 1]);
    last = best;
  }
  Line("5", absl::StrFormat("etuplize + reify of 1,000,000 nodes: %.2f s, process peak %.0f MB (≤ 1 s, ≤ 400 MB)", last, PeakMegabytes()),
       last <= 1 && PeakMegabytes() <= 400);
  Line("5", "ns a node at 10^3 … 10^6:" + growth + " (linear)", per_node[3] <= 4 * per_node[0]);

  // Text whose every node is new (an intern a few bytes), and text that repeats itself as rules and models do.
  std::string fresh = "(top", repeated;
  for (int i = 0; i < 200000; ++i) fresh += absl::StrFormat(" (Add (Mul ?x%d %d) (Neg leaf%d))", i % 97, i, i);
  fresh += ")";
  std::string rules;
  for (const ShippedFile& f : ShippedRules()) rules += f.text;
  while (repeated.size() < (4u << 20)) repeated += rules;
  repeated = "(top " + repeated + ")";
  for (const auto& [what, text] : {std::pair<const char*, const std::string&>{"rules", repeated}, {"all-new terms", fresh}}) {
    double read = 0, print = 0;  // the best of eight: the machine is shared
    for (int round = 0; round < 8; ++round) {
      Context ctx;
      double start = Seconds();
      auto t = ReadTerm(ctx, text, {.object_reader = ReadTensorObject});
      read = std::max(read, static_cast<double>(text.size()) / 1e6 / (Seconds() - start));
      start = Seconds();
      const std::string printed = PrintTerm(ctx, *t, {.let = false});
      print = std::max(print, static_cast<double>(printed.size()) / 1e6 / (Seconds() - start));
    }
    Line("5", absl::StrFormat("%s: reading %.0f MB/s, printing %.0f MB/s (≥ 50)", what, read, print), read >= 50 && print >= 50);
  }
}

}  // namespace
}  // namespace retuple

int main(int argc, char** argv) {
  using namespace retuple;
  const std::string source = RETUPLE_SOURCE_DIR;
  const std::string build = fs::path(argv[0]).parent_path().parent_path().parent_path().string();
  Speed();  // first: the peak of the process is still its own
  Line("1", "cmake --install and a consumer with find_package(Retuple)", Shell(source + "/tests/consumer/run.sh " + build + " " + source));
  RealModels(argc > 1 ? argv[1] : source + "/build/models");
  Suite();
  Line("4", "property test over the registry, four outputs, SVD, random operators", Tests(build + "/bin/ir_bridge_test", "BridgeTest.*", 5));
  Line("5", "a chain 1,000,000 deep and a doubling DAG through every walk",
       Tests(build + "/bin/etuple_test", "*Deep*") && Tests(build + "/bin/rewrite_test", "*Deep*") && Tests(build + "/bin/ir_bridge_test", "*Deep*"));
  if (fs::exists(source + "/build/peers/node_modules/onnxruntime-node")) {
    // The table of scripts/bench: name, nodes, ours, theirs, ratio, two differences.
    int status;
    std::istringstream table(Output("cd " + source + " && scripts/bench --peers --only models --rounds 1 2>&1", &status));
    int models = 0;
    double worst = 0;
    bool equal = false;
    for (std::string line; std::getline(table, line);) {
      std::istringstream words(line);
      std::string name, nodes;
      double ours, theirs, ratio;
      if (words >> name >> nodes >> ours >> theirs >> ratio && nodes.find("→") != std::string::npos) {
        ++models;
        worst = std::max(worst, ratio);
      }
      equal = equal || line.find("; 0 with different outputs") != std::string::npos;
    }
    Line("6", absl::StrFormat("beside ONNX Runtime, one thread: %d models, outputs equal, the slowest %.2f of its time (≤ 6)", models, worst),
         status == 0 && equal && models >= 17 && worst > 0 && worst <= 6);
  } else {
    Skip("6", "ONNX Runtime is not here: scripts/bench --peers takes it from npm");
  }
  Line("7", "5,000 mutants of five models, hostile shapes and paths, cycles, bad rules",
       Tests(build + "/bin/onnx_test", "ImportTest.*:ExportTest.*", 9) && Tests(build + "/bin/tools_test", "OptimizeTest.*", 3) &&
           Tests(build + "/bin/etuple_test", "ReaderTest.Errors*:ReaderTest.Deep*", 2) && Shell(source + "/tests/tools/cli_test.sh " + build + "/bin/retuple"));
  Line("8", "a user's rules for operators of their own domain", Shell(source + "/examples/user_rules.sh " + build + "/bin/retuple"));
  return Finish();
}
