// Runs two graphs on the same random inputs and compares what comes out.
#ifndef RETUPLE_TOOLS_COMPARE_H_
#define RETUPLE_TOOLS_COMPARE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir_bridge/graph.h"
#include "kernels/kernel.h"

namespace retuple {

struct InputOptions {
  uint64_t seed = 1;
  std::map<std::string, int64_t> dims;                     // value of a named dimension; 1 when not given
  std::map<std::string, std::vector<int64_t>> shapes;      // whole shape of an input
  std::map<std::string, Tensor> values;                    // a given input
};

// Inputs by position of graph.inputs(): floats uniform in [-1, 1], integers 0 or 1, bools, short strings; from one linear congruential
// generator, so the same on every machine. Inputs with a default are left to it. InvalidArgument for types that cannot be made up.
absl::StatusOr<std::vector<Value>> RandomInputs(const Graph& graph, const InputOptions& options);

struct OutputDifference {
  std::string name;
  double largest_abs = 0;    // largest |a - b|
  double magnitude = 0;      // largest |a|
  bool exact = true;         // equal bit for bit (−0 and 0 alike)
  std::string mismatch;      // dtype, shape, string or NaN pattern differ; empty when comparable
  double relative() const { return magnitude > 0 ? largest_abs / magnitude : largest_abs; }
};

struct Comparison {
  std::vector<OutputDifference> outputs;
  // All outputs have equal types, integers are equal, and floats differ by at most `tolerance` of the output's largest magnitude.
  bool Passes(double tolerance = 1e-4) const;
};

OutputDifference CompareValues(const std::string& name, const Value& a, const Value& b);

// InvalidArgument when the interfaces differ; an error of either run names which.
absl::StatusOr<Comparison> CompareGraphs(const Graph& a, const Graph& b, const InputOptions& options, int threads = 1);

}  // namespace retuple

#endif  // RETUPLE_TOOLS_COMPARE_H_
