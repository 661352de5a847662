// Runs a suite in the layout of ONNX's backend tests and compares what the kernels compute with what is stored.
//
//   <folder>/<category>/<test>/model.onnx
//   <folder>/<category>/<test>/test_data_set_<n>/input_<k>.pb, output_<k>.pb
//
// The folder may also be one category or one test. Inputs are bound by position among the graph's inputs; initialisers
// that are inputs too keep their defaults. Two values agree when kind, element type and shape are equal, strings and
// integers are equal, and floats satisfy |got - want| <= atol + rtol |want|, NaN equal to NaN; for bf16 rtol is at least one unit
// in the last place, because the package truncates where Retuple rounds. Tests that draw random numbers are compared by
// type and shape only and are listed by name.
#ifndef RETUPLE_TOOLS_CONFORMANCE_H_
#define RETUPLE_TOOLS_CONFORMANCE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir_bridge/graph.h"

namespace retuple {

struct ConformanceOptions {
  std::string folder = "/usr/share/libonnx-testdata/data";
  std::string filter;  // ECMAScript regex searched in "category/test"; empty: all
  double rtol = 1e-3;
  double atol = 1e-7;
  int threads = 1;
  // Applied to the imported graph, e.g. to check rewriting; identity when empty.
  std::function<absl::StatusOr<std::unique_ptr<Graph>>(std::unique_ptr<Graph>)> transform;
};

enum class ConformanceOutcome { kPassed, kFailed, kUnsupported };

struct ConformanceCase {
  std::string category;
  std::string name;
  std::string op;      // head symbol of a single-node model, else "(graph)"
  std::string reason;  // why it did not pass
  ConformanceOutcome outcome = ConformanceOutcome::kPassed;
  bool shape_only = false;  // random by definition
};

struct ConformanceReport {
  std::vector<ConformanceCase> cases;  // ordered by category and name
  int passed = 0, failed = 0, unsupported = 0;
};

// InvalidArgument for a bad filter, NotFound when the folder holds no test. A test that cannot be run is a result,
// not an error: unsupported if an operator or element type has no kernel (Unimplemented), else failed.
absl::StatusOr<ConformanceReport> RunConformance(const ConformanceOptions& options);

// What did not pass, a table by operator, the tests compared by shape, and last "P passed, F failed, U unsupported".
std::string ConformanceText(const ConformanceReport& report);
// One object: {"passed": …, "failed": …, "unsupported": …, "cases": [{"category", "name", "op", "outcome",
// "reason", "shape_only"}, …]}.
std::string ConformanceJson(const ConformanceReport& report);

}  // namespace retuple

#endif  // RETUPLE_TOOLS_CONFORMANCE_H_
