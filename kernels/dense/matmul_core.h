// One matrix product with the packing that suits its operands; used by MatMul, Gemm, Einsum and the
// recurrent kernels.
#ifndef RETUPLE_KERNELS_DENSE_MATMUL_CORE_H_
#define RETUPLE_KERNELS_DENSE_MATMUL_CORE_H_

#include <vector>

#include "kernels/dense/gemm.h"
#include "kernels/dense/util.h"

namespace retuple::internal {

// A matrix seen through strides: element (i, j) at data[i * row + j * col].
template <typename T>
struct Strided {
  const T* data;
  int64_t row, col;
};

// c: [m, n], rows ldc apart, = a: [m, k] · b: [k, n] + bias: [n] (may be null). Packs b (or a, when
// a is small) in scratch memory.
template <typename T>
absl::Status Multiply(KernelContext& ctx, int64_t m, int64_t n, int64_t k, Strided<T> a,
                      Strided<T> b, const T* bias, T* c, int64_t ldc);

// A constant right operand, packed once.
template <typename T>
class PackedMatrix {
 public:
  PackedMatrix() = default;
  PackedMatrix(int64_t k, int64_t n, Strided<T> b)
      : k_(k), n_(n), data_(static_cast<size_t>(PackedBSize<T>(k, n))) {
    PackB<T>(k, n, b.data, b.row, b.col, data_.data());
  }
  bool empty() const { return n_ < 0; }
  int64_t k() const { return k_; }
  int64_t n() const { return n_; }
  const T* data() const { return data_.data(); }
  void Multiply(ThreadPool* threads, int64_t m, Strided<T> a, const T* bias, T* c,
                int64_t ldc) const {
    GemmPackedB<T>(m, n_, k_, a.data, a.row, a.col, data_.data(), bias, c, ldc, threads);
  }

 private:
  int64_t k_ = 0, n_ = -1;
  AlignedArray<T> data_;
};

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_MATMUL_CORE_H_
