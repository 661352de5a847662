// Reads and writes ONNX files.
#ifndef RETUPLE_IR_BRIDGE_ONNX_MODEL_IO_H_
#define RETUPLE_IR_BRIDGE_ONNX_MODEL_IO_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir_bridge/graph.h"
#include "ir_bridge/tensor.h"

namespace retuple {

struct ImportOptions {
  // From IR 4 on an initialiser that is also a graph input may be overridden by the caller, so it is an input with
  // a default. True treats it as a constant all the same.
  bool initializers_are_constants = false;
  // Custom operators are pure unless listed here as "domain::Name".
  std::vector<std::string> effectful_ops;
};

// Reads a model. Every name, index and size is checked; errors are InvalidArgument (malformed), NotFound (file),
// and name node and operator. External data are memory-mapped and confined to the model's folder (no absolute path,
// no "..", no symlink that leads out). Nodes may stand in any order; a cycle is an error that names it.
absl::StatusOr<std::unique_ptr<Graph>> ImportOnnxFile(const std::string& path, const ImportOptions& options = {});
// As above, from memory; `folder` is where external data are looked for ("" forbids them).
absl::StatusOr<std::unique_ptr<Graph>> ImportOnnx(std::string_view bytes, const std::string& folder,
                                                  const ImportOptions& options = {});

struct ExportOptions {
  bool check = true;                         // run the ONNX checker (up to its opset and IR version)
  size_t external_threshold = size_t{2} << 30;  // larger models write their weights to FILE.data
};

// Writes a model atomically (temporary file, fsync, rename): nothing is left half-written. FailedPrecondition when a
// node's form is not expressible in the graph's opset.
absl::Status ExportOnnxFile(const Graph& g, const std::string& path, const ExportOptions& options = {});
absl::StatusOr<std::string> ExportOnnx(const Graph& g, const ExportOptions& options = {});

// A serialised TensorProto (a .pb of the conformance suite), and .npy files.
absl::StatusOr<Tensor> ReadTensorProto(std::string_view bytes);
absl::StatusOr<std::string> WriteTensorProto(const Tensor& t, std::string_view name = "");

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_ONNX_MODEL_IO_H_
