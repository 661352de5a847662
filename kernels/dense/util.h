// What the dense kernels share beyond core/util.h: typed scratch memory and 16-bit floats widened
// to f32.
#ifndef RETUPLE_KERNELS_DENSE_UTIL_H_
#define RETUPLE_KERNELS_DENSE_UTIL_H_

#include <cstdint>

#include "kernels/core/util.h"
#include "kernels/memory.h"
#include "kernels/thread_pool.h"

namespace retuple::internal {

// Scratch for n elements, 64-byte aligned, with a slack of one vector behind it. ResourceExhausted
// when n is negative or memory is short.
template <typename T>
absl::StatusOr<T*> ScratchOf(KernelContext& ctx, int64_t n) {
  if (n < 0 || static_cast<uint64_t>(n) > kMaxBufferBytes / sizeof(T)) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%s: scratch is too large", ctx.op().form()));
  }
  void* p = ctx.Scratch(static_cast<size_t>(n) * sizeof(T) + 64);
  if (p == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%s: no memory for scratch", ctx.op().form()));
  }
  return static_cast<T*>(p);
}

inline bool Is16Bit(DType t) { return t == DType::kF16 || t == DType::kBF16; }

// n elements of f16 or bf16 to f32 and back (round to nearest even).
void WidenFloats(DType from, const void* src, int64_t n, float* dst);
void NarrowFloats(DType to, const float* src, int64_t n, void* dst);

// The elements of `t` as f32: its own memory when f32, else widened into scratch. Pre: f32, f16 or
// bf16.
absl::StatusOr<const float*> AsFloats(KernelContext& ctx, const Tensor& t);

// An output that the kernel fills as f32 whatever its type is: scratch for the 16-bit floats,
// narrowed by Finish().
class FloatOutput {
 public:
  // Pre: dtype is f32, f16 or bf16.
  static absl::StatusOr<FloatOutput> Make(KernelContext& ctx, int i, DType dtype, Dims dims);
  float* data() { return data_; }
  int64_t size() const { return tensor_->size(); }
  void Finish() {
    if (data_ != tensor_->data())
      NarrowFloats(tensor_->dtype(), data_, tensor_->size(), tensor_->mutable_data());
  }

 private:
  Tensor* tensor_ = nullptr;
  float* data_ = nullptr;
};

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_UTIL_H_
