// A tensor value: element type, static shape, and shared storage in row-major order. No arithmetic here.
//
// Copying a Tensor copies a handle. Storage is owned memory (64-byte aligned), a window into a file that is
// memory-mapped, or a window into a buffer that somebody keeps alive (an executor's arena). Constants of a
// model, Object atoms in terms and the kernels' operands are all this one class, so importing a model never
// copies a weight. Whoever writes through mutable_data() must be the only holder; kernels write outputs before
// anyone else sees them.
#ifndef RETUPLE_IR_BRIDGE_TENSOR_H_
#define RETUPLE_IR_BRIDGE_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ir_bridge/dtype.h"
#include "ir_bridge/type.h"

namespace retuple {

using Dims = absl::InlinedVector<int64_t, 6>;  // a static shape

// Product of the dimensions (1 for a scalar).
int64_t NumElements(std::span<const int64_t> dims);
// As above, but nullopt on a negative dimension or when the product leaves int64.
std::optional<int64_t> CheckedNumElements(std::span<const int64_t> dims);

class Tensor {
 public:
  Tensor() = default;  // undefined: dtype kUndefined
  // Owned, uninitialised storage (strings: empty). Pre: dims are non-negative and the byte size fits.
  Tensor(DType dtype, Dims dims);
  // A window into memory that `keep` keeps alive. Pre: `data` holds NumElements(dims) elements; not for strings.
  static Tensor View(DType dtype, Dims dims, const void* data, std::shared_ptr<const void> keep);
  // The same storage with another shape of equal element count.
  Tensor Reshaped(Dims dims) const;
  // A scalar or vector from values; T must be the C++ type of the dtype (uint16_t for f16 and bf16).
  template <typename T>
  static Tensor Scalar(DType dtype, T value) {
    Tensor t(dtype, Dims{});
    *t.mutable_data<T>() = value;
    return t;
  }
  static Tensor ScalarI64(int64_t v) { return Scalar<int64_t>(DType::kI64, v); }
  static Tensor ScalarF32(float v) { return Scalar<float>(DType::kF32, v); }
  static Tensor VectorI64(std::span<const int64_t> v);
  // A scalar of `dtype` nearest to `v` (integers truncate; bool is v != 0). Pre: numeric or bool dtype.
  static Tensor ScalarLike(DType dtype, double v);

  bool defined() const { return dtype_ != DType::kUndefined; }
  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int i) const { return dims_[i]; }
  int64_t size() const { return size_; }  // elements
  size_t bytes() const { return static_cast<size_t>(size_) * DTypeSize(dtype_); }
  Type type() const;

  template <typename T = void>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  template <typename T = void>
  T* mutable_data() {
    return static_cast<T*>(const_cast<void*>(data_));
  }
  // Pre: dtype is kString.
  std::span<const std::string> strings() const {
    return {static_cast<const std::string*>(data_), static_cast<size_t>(size_)};
  }
  // Element i as a double or an int64; converts from any numeric or bool dtype. Pre: i < size(), not a string.
  double At(int64_t i) const;
  int64_t IntAt(int64_t i) const;
  // All elements as int64. Pre: integer or bool dtype.
  std::vector<int64_t> ToInts() const;

  // Equal dtype, shape and bytes (NaN equals itself bitwise).
  friend bool operator==(const Tensor& a, const Tensor& b);
  // Hash of dtype, shape and content; O(bytes). Cache it.
  uint64_t ContentHash() const;
  // The common value of all elements, if they are numeric and all equal (−0 is 0); nullopt if empty or mixed.
  std::optional<double> UniformValue() const;
  // "f32[2,3]{1, 2, 3, …}", at most `limit` elements.
  std::string ToString(int limit = 8) const;
  // True if nobody else holds this storage and it is owned memory.
  bool sole_owner() const { return writable_ && keep_.use_count() == 1; }
  // True if both share storage start.
  bool SameStorage(const Tensor& o) const { return data_ == o.data_; }

 private:
  DType dtype_ = DType::kUndefined;
  bool writable_ = false;
  Dims dims_;
  int64_t size_ = 0;
  const void* data_ = nullptr;
  std::shared_ptr<const void> keep_;
};

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_TENSOR_H_
