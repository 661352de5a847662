// Conversions between ONNX's protobuf messages and Retuple's tensors, types and attributes. Private to onnx/.
#ifndef RETUPLE_IR_BRIDGE_ONNX_PROTO_IO_H_
#define RETUPLE_IR_BRIDGE_ONNX_PROTO_IO_H_

#include <onnx/onnx_pb.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir_bridge/tensor.h"
#include "ir_bridge/type.h"

namespace retuple::internal {

// Where tensors of a model may point to: the message that owns their bytes, and the folder that external data are
// confined to ("" forbids external data). Mapped files are shared between tensors.
class TensorSource {
 public:
  TensorSource(std::shared_ptr<const void> owner, std::string folder);
  ~TensorSource();
  // A tensor that views `proto`'s bytes where the layout allows it and copies otherwise. InvalidArgument when dtype,
  // dims and data do not fit together; the message names the tensor.
  absl::StatusOr<Tensor> Read(const onnx::TensorProto& proto);
  // A sparse tensor as a dense one.
  absl::StatusOr<Tensor> ReadSparse(const onnx::SparseTensorProto& proto);

 private:
  absl::StatusOr<Tensor> ReadExternal(const onnx::TensorProto& proto, DType dtype, Dims dims, size_t bytes);
  struct Files;
  std::shared_ptr<const void> owner_;
  std::string folder_;
  std::unique_ptr<Files> files_;
};

Type ReadType(const onnx::TypeProto& proto);
void WriteType(const Type& type, onnx::TypeProto* proto);
void WriteTensor(const Tensor& t, const std::string& name, onnx::TensorProto* proto);

// Parses a message from bytes, with protobuf's own depth limit and no size limit below 2 GB.
absl::Status ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message,
                          std::string_view what);

}  // namespace retuple::internal

#endif  // RETUPLE_IR_BRIDGE_ONNX_PROTO_IO_H_
