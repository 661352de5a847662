#include "ir_bridge/onnx/value_io.h"

#include <onnx/onnx-data_pb.h>

#include "ir_bridge/onnx/model_io.h"
#include "ir_bridge/onnx/proto_io.h"

namespace retuple {
namespace {

absl::StatusOr<OnnxValue> FromTensor(const onnx::TensorProto& p) {
  internal::TensorSource source(nullptr, "");
  auto t = source.Read(p);
  if (!t.ok()) return t.status();
  OnnxValue v;
  v.tensor = *std::move(t);
  return v;
}

// Nesting is bounded by protobuf's depth limit.
absl::StatusOr<OnnxValue> FromSequence(const onnx::SequenceProto& p) {
  OnnxValue v;
  v.is_sequence = true;
  auto add = [&v](absl::StatusOr<OnnxValue> item) {
    if (item.ok()) v.items.push_back(*std::move(item));
    return item.status();
  };
  for (const auto& t : p.tensor_values()) {
    if (auto s = add(FromTensor(t)); !s.ok()) return s;
  }
  for (const auto& q : p.sequence_values()) {
    if (auto s = add(FromSequence(q)); !s.ok()) return s;
  }
  return v;
}

}  // namespace

absl::StatusOr<OnnxValue> ReadValueProto(std::string_view bytes, const Type& type) {
  if (type.kind() == Type::Kind::kSequence) {
    onnx::SequenceProto p;
    if (auto s = internal::ParseMessage(bytes, &p, "SequenceProto"); !s.ok()) return s;
    return FromSequence(p);
  }
  if (type.kind() == Type::Kind::kOptional) {
    onnx::OptionalProto p;
    if (auto s = internal::ParseMessage(bytes, &p, "OptionalProto"); !s.ok()) return s;
    if (p.has_tensor_value()) return FromTensor(p.tensor_value());
    if (p.has_sequence_value()) return FromSequence(p.sequence_value());
    OnnxValue v;
    v.none = true;
    return v;
  }
  onnx::TensorProto p;
  if (auto s = internal::ParseMessage(bytes, &p, "TensorProto"); !s.ok()) return s;
  return FromTensor(p);
}

absl::StatusOr<Tensor> ReadTensorProto(std::string_view bytes) {
  auto v = ReadValueProto(bytes, Type::Tensor(DType::kUndefined));
  if (!v.ok()) return v.status();
  return v->tensor;
}

absl::StatusOr<std::string> WriteTensorProto(const Tensor& t, std::string_view name) {
  onnx::TensorProto p;
  internal::WriteTensor(t, std::string(name), &p);
  std::string out;
  if (!p.SerializeToString(&out)) return absl::InvalidArgumentError("tensor larger than 2 GB");
  return out;
}

}  // namespace retuple
