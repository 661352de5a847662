// The main road: a graph in, a rewritten graph out, with an account of what was done.
#ifndef RETUPLE_TOOLS_OPTIMIZE_H_
#define RETUPLE_TOOLS_OPTIMIZE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir_bridge/graph.h"
#include "ir_bridge/ir_operators.h"
#include "ir_bridge/rule_functions.h"
#include "ir_bridge/term_codec.h"
#include "ir_bridge/term_types.h"
#include "rewrite/normalizer.h"
#include "rewrite/rule_language.h"

namespace retuple {

// A context with everything that rules over the IR need, in the order in which it depends on each other.
struct RuleSession {
  explicit RuleSession(int64_t opset = 17);

  Context ctx;
  TermCodec codec{ctx};
  TermTypes types{codec};
  RuleEnvironment env;
  FunctionRegistry functions{ctx};
  IrOperators operators{codec, functions};
  RuleLoader loader{ctx, functions, operators};

  // Loads the shipped rules (compiled into the library), or those of one shipped file by name.
  absl::Status LoadShipped();
  absl::Status LoadFile(const std::string& path);
};

// Name and text of each shipped rule file, in load order.
struct ShippedFile {
  const char* name;
  const char* text;
};
std::vector<ShippedFile> ShippedRules();

struct OptimizeOptions {
  std::vector<std::string> rule_files;  // after the shipped ones
  bool shipped_rules = true;
  Validity allow = Validity::kRounding;
  Strategy strategy = Strategy::kInnermost;
  uint64_t fuel = 10'000'000;
  std::function<void(RuleSession&, const Step&)> on_step;
};

struct RuleUse {
  std::string name;
  std::string where;
  RuleStats stats;
};

struct OptimizeReport {
  size_t nodes_before = 0, nodes_after = 0;  // of the graph; constants are no nodes
  size_t parameters_before = 0, parameters_after = 0;
  int64_t opset_before = 0, opset_after = 0;
  StopReason stop = StopReason::kNormalForm;
  std::vector<std::string> cycle;
  uint64_t steps = 0;
  double seconds = 0;
  std::vector<RuleUse> rules;  // most applied first
  std::vector<std::string> warnings;
};

// Rewrites `graph` in place. Rule sets run in phases: `lift` (older forms to current ones), everything else, then `lower-below-N` for each N
// above the model's opset. InvalidArgument for rule files that do not load; a graph that contradicts itself is left as it is with a warning.
absl::StatusOr<OptimizeReport> Optimize(Graph& graph, const OptimizeOptions& options = {});

}  // namespace retuple

#endif  // RETUPLE_TOOLS_OPTIMIZE_H_
