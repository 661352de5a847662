// A tensor constant as an Object atom. Equal content is one atom; storage is shared with the model.
//
// In text: #<f32[2,2] 1 2 3 4> up to 16 numbers, #<f32[1000] base64:…> beyond, #<string[2] base64:…> with length-prefixed strings.
#ifndef RETUPLE_IR_BRIDGE_TENSOR_OBJECT_H_
#define RETUPLE_IR_BRIDGE_TENSOR_OBJECT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "etuple/term.h"
#include "ir_bridge/tensor.h"

namespace retuple {

class TensorObject : public Object {
 public:
  explicit TensorObject(Tensor t);
  uint64_t Hash() const override { return hash_; }
  bool Equals(const Object& o) const override;
  std::string ToString(bool brief) const override;
  std::optional<double> UniformValue() const override { return uniform_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
  uint64_t hash_;
  std::optional<double> uniform_;
};

Term TensorTerm(Context& ctx, Tensor t);
// The tensor that `t` holds, or null.
const Tensor* TensorOf(const Context& ctx, Term t);
// ObjectReader for tensors: the text between #< and >.
absl::StatusOr<ObjectPtr> ReadTensorObject(std::string_view text);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_TENSOR_OBJECT_H_
