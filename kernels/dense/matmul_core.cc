#include "kernels/dense/matmul_core.h"

namespace retuple::internal {
namespace {

// y[i] = a row i · x; rows are contiguous.
template <typename T>
void RowsTimesVector(int64_t m, int64_t k, const T* a, int64_t lda, const T* x, T bias, T* y,
                     int64_t ldy) {
  constexpr int kL = kLanes<T>;
  for (int64_t i = 0; i < m; ++i) {
    const T* row = a + i * lda;
    Vec<T> s0{}, s1{}, s2{}, s3{};
    int64_t p = 0;
    for (; p + 4 * kL <= k; p += 4 * kL) {
      s0 += Load(row + p) * Load(x + p);
      s1 += Load(row + p + kL) * Load(x + p + kL);
      s2 += Load(row + p + 2 * kL) * Load(x + p + 2 * kL);
      s3 += Load(row + p + 3 * kL) * Load(x + p + 3 * kL);
    }
    for (; p < k; p += kL) {
      const int n = static_cast<int>(std::min<int64_t>(kL, k - p));
      s0 += LoadN(row + p, n) * LoadN(x + p, n);
    }
    y[i * ldy] = Sum<T>((s0 + s1) + (s2 + s3)) + bias;
  }
}

}  // namespace

template <typename T>
absl::Status Multiply(KernelContext& ctx, int64_t m, int64_t n, int64_t k, Strided<T> a,
                      Strided<T> b, const T* bias, T* c, int64_t ldc) {
  if (m <= 0 || n <= 0) return absl::OkStatus();
  if (n == 1 && (a.col == 1 || k <= 1)) {
    if (b.row != 1 && k > 1) {
      RT_ASSIGN_OR_RETURN(T * x, ScratchOf<T>(ctx, k));
      for (int64_t p = 0; p < k; ++p) x[p] = b.data[p * b.row];
      b.data = x;
    }
    RowsTimesVector<T>(m, k, a.data, a.row, b.data, bias != nullptr ? *bias : T{0}, c, ldc);
    return absl::OkStatus();
  }
  int64_t size = 0;
  if (b.col == 1 && m <= 4 * kTileRows && bias == nullptr) {
    if (MulOverflows(RoundUp(m, kTileRows), k, &size)) return Bad(ctx, "sizes overflow");
    RT_ASSIGN_OR_RETURN(T * packed, ScratchOf<T>(ctx, size));
    PackA<T>(m, k, a.data, a.row, a.col, packed);
    GemmDirect<T>(m, n, k, packed, b.data, b.row, nullptr, c, ldc);
    return absl::OkStatus();
  }
  if (MulOverflows(RoundUp(n, kPanelCols<T>), k, &size)) return Bad(ctx, "sizes overflow");
  RT_ASSIGN_OR_RETURN(T * packed, ScratchOf<T>(ctx, size));
  PackB<T>(k, n, b.data, b.row, b.col, packed);
  GemmPackedB<T>(m, n, k, a.data, a.row, a.col, packed, bias, c, ldc, &ctx.threads());
  return absl::OkStatus();
}

#define RETUPLE_MULTIPLY(T)                                                                \
  template absl::Status Multiply<T>(KernelContext&, int64_t, int64_t, int64_t, Strided<T>, \
                                    Strided<T>, const T*, T*, int64_t);
RETUPLE_MULTIPLY(float)
RETUPLE_MULTIPLY(double)
RETUPLE_MULTIPLY(uint32_t)
RETUPLE_MULTIPLY(uint64_t)
#undef RETUPLE_MULTIPLY

}  // namespace retuple::internal
