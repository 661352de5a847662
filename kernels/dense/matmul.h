// Shapes of a batched product as NumPy's matmul has them, and the loop over its batches.
#ifndef RETUPLE_KERNELS_DENSE_MATMUL_H_
#define RETUPLE_KERNELS_DENSE_MATMUL_H_

#include <span>
#include <vector>

#include "kernels/dense/util.h"

namespace retuple::internal {

// a: [batch…, m, k], b: [batch…, k, n]; batches broadcast; a vector is a row on the left, a column
// on the right, and its axis disappears from the result.
struct MatMulShape {
  int64_t m = 1, n = 1, k = 1;
  Dims out;                   // shape of the result
  Dims batch;                 // broadcast batch dims
  Dims a_strides, b_strides;  // of the batch dims, in matrices; 0 where broadcast
  int64_t batches = 1;
  bool b_is_one_matrix =
      false;  // b has one matrix for all of a's batches, which lie one after another

  static absl::StatusOr<MatMulShape> Make(const KernelContext& ctx, std::span<const int64_t> a,
                                          std::span<const int64_t> b);
};

// Calls f(batch index, matrix of a, matrix of b) for each batch, in order; stops at the first
// error.
template <typename F>
absl::Status ForEachBatch(const MatMulShape& s, F&& f) {
  Dims index(s.batch.size(), 0);
  int64_t ia = 0, ib = 0;
  for (int64_t i = 0; i < s.batches; ++i) {
    RT_RETURN_IF_ERROR(f(i, ia, ib));
    for (size_t d = s.batch.size(); d-- > 0;) {
      ia += s.a_strides[d];
      ib += s.b_strides[d];
      if (++index[d] < s.batch[d]) break;
      ia -= s.a_strides[d] * s.batch[d];
      ib -= s.b_strides[d] * s.batch[d];
      index[d] = 0;
    }
  }
  return absl::OkStatus();
}

// MatMul plus one number a column of the result (f32); used by the plan's fusion.
absl::StatusOr<std::unique_ptr<Kernel>> MakeBiasedMatMul(const KernelInit& init,
                                                         std::vector<float> bias);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_MATMUL_H_
