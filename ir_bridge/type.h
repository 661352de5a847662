// The type of a value: a tensor of an element type and a shape, a sequence or an optional of a type, or unknown.
#ifndef RETUPLE_IR_BRIDGE_TYPE_H_
#define RETUPLE_IR_BRIDGE_TYPE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir_bridge/dim.h"
#include "ir_bridge/dtype.h"

namespace retuple {

// Dimensions, outermost first; a rank-0 shape is a scalar.
using Shape = std::vector<Dim>;

class Type {
 public:
  enum class Kind : uint8_t { kUnknown, kTensor, kSequence, kOptional };

  Type() = default;
  static Type Unknown() { return Type(); }
  // A tensor of unknown rank, or of the given shape.
  static Type Tensor(DType dtype) { return Type(Kind::kTensor, dtype, std::nullopt, nullptr); }
  static Type Tensor(DType dtype, Shape shape) {
    return Type(Kind::kTensor, dtype, std::move(shape), nullptr);
  }
  static Type Sequence(Type element);
  static Type Optional(Type element);

  Kind kind() const { return kind_; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }
  bool is_unknown() const { return kind_ == Kind::kUnknown; }
  // kUndefined unless a tensor of known element type.
  DType dtype() const { return dtype_; }
  bool has_shape() const { return shape_.has_value(); }
  // Pre: has_shape().
  const Shape& shape() const { return *shape_; }
  int rank() const { return shape_ ? static_cast<int>(shape_->size()) : -1; }
  // Every dimension is a number.
  bool is_static() const;
  // Pre: sequence or optional.
  const Type& element() const { return *element_; }

  // "f32[N,3,224,224]", "f32" (unknown rank), "seq(f32[?])", "optional(…)", "?".
  std::string ToString() const;
  friend bool operator==(const Type& a, const Type& b);

 private:
  Type(Kind k, DType d, std::optional<Shape> s, std::shared_ptr<const Type> e)
      : kind_(k), dtype_(d), shape_(std::move(s)), element_(std::move(e)) {}
  Kind kind_ = Kind::kUnknown;
  DType dtype_ = DType::kUndefined;
  std::optional<Shape> shape_;
  std::shared_ptr<const Type> element_;
};

std::string ShapeToString(const Shape& s);  // "[N,3,224,224]"

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_TYPE_H_
