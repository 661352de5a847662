// Reads and writes the values of the ONNX test layout: TensorProto, SequenceProto, OptionalProto.
#ifndef RETUPLE_IR_BRIDGE_ONNX_VALUE_IO_H_
#define RETUPLE_IR_BRIDGE_ONNX_VALUE_IO_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir_bridge/tensor.h"
#include "ir_bridge/type.h"

namespace retuple {

// A tensor, a sequence, or an optional that is empty (`none`). A full optional is its content.
struct OnnxValue {
  bool is_sequence = false;
  bool none = false;
  Tensor tensor;
  std::vector<OnnxValue> items;
};

// Which message the bytes hold is said by the declared `type` alone: tensor, sequence or optional.
// InvalidArgument when they do not parse.
absl::StatusOr<OnnxValue> ReadValueProto(std::string_view bytes, const Type& type);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_ONNX_VALUE_IO_H_
