// Matrix product, C = A · B, for float, double, uint32_t and uint64_t (the last two wrap; signed
// integers go through them).
//
// The method is Goto's (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
// 2008): a register tile of kTileRows × kPanelCols is updated by rank-1 products over a slice of K,
// B is packed in panels of kPanelCols columns so that the inner loop reads it in order. Here A is
// read through strides (an activation) or packed in tiles of rows (a constant weight); which of the
// two operands is the constant decides who is packed once.
#ifndef RETUPLE_KERNELS_DENSE_GEMM_H_
#define RETUPLE_KERNELS_DENSE_GEMM_H_

#include <cstdint>
#include <limits>

#include "kernels/dense/simd.h"
#include "kernels/thread_pool.h"

namespace retuple::internal {

#if defined(__AVX512F__)
inline constexpr int kTileRows = 8;  // 24 accumulators of 32 registers
#else
inline constexpr int kTileRows = 4;
#endif
inline constexpr int kPanelVecs = 3;
template <typename T>
inline constexpr int64_t kPanelCols = kPanelVecs* kLanes<T>;
// Depth of a slice of K: a slice of a panel stays in the first-level cache.
template <typename T>
inline constexpr int64_t kDepth = 1024 / static_cast<int64_t>(sizeof(T));

// Bounds applied to finished elements; NaN passes. Integers are never bounded.
template <typename T>
struct Clamp {
  T lo = -std::numeric_limits<T>::infinity();
  T hi = std::numeric_limits<T>::infinity();
};

inline int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// ---- B packed: [panel][k][kPanelCols], the last panel padded with zeros.

template <typename T>
int64_t PackedBSize(int64_t k, int64_t n) {
  return RoundUp(n, kPanelCols<T>) * k;
}
// b: element (p, j) at b[p * row_stride + j * col_stride].
template <typename T>
void PackB(int64_t k, int64_t n, const T* b, int64_t row_stride, int64_t col_stride, T* packed);

// c: [m, n] with row stride ldc = a: [m, k] (element (i, p) at a[i * row_stride + p * col_stride])
// · b packed + bias: [n] (may be null). Overwrites c. Splits over columns when `threads` is given.
template <typename T>
void GemmPackedB(int64_t m, int64_t n, int64_t k, const T* a, int64_t row_stride,
                 int64_t col_stride, const T* packed_b, const T* bias, T* c, int64_t ldc,
                 ThreadPool* threads = nullptr, Clamp<T> clamp = {});

// ---- A packed: [tile][k][kTileRows], the last tile padded with zeros.

template <typename T>
int64_t PackedASize(int64_t m, int64_t k) {
  return RoundUp(m, kTileRows) * k;
}
template <typename T>
void PackA(int64_t m, int64_t k, const T* a, int64_t row_stride, int64_t col_stride, T* packed);

// c[m, cols] (row stride ldc) += or = packed_a[:, k0 : k0 + depth] · panels, for one block of
// columns whose slice of B has been packed as [panel][depth][kPanelCols]. `bias`: [m], the start
// value when not accumulating (may be null). k is the full depth of packed_a.
template <typename T>
void GemmBlock(int64_t m, int64_t cols, int64_t k, int64_t k0, int64_t depth, const T* packed_a,
               const T* panels, const T* bias, bool accumulate, T* c, int64_t ldc,
               Clamp<T> clamp = {});

// As GemmBlock over the whole depth, with B read in place: row p at b + p * ldb, columns
// contiguous.
template <typename T>
void GemmDirect(int64_t m, int64_t cols, int64_t k, const T* packed_a, const T* b, int64_t ldb,
                const T* bias, T* c, int64_t ldc);

// As GemmDirect, with row p at b + offsets[p]. With `slack` a row may be read past its last column
// by less than a vector.
template <typename T>
void GemmOffsets(int64_t m, int64_t cols, int64_t k, const T* packed_a, const T* b,
                 const int64_t* offsets, bool slack, const T* bias, T* c, int64_t ldc,
                 Clamp<T> clamp = {});

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_GEMM_H_
