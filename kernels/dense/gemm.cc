#include "kernels/dense/gemm.h"

#include <algorithm>
#include <type_traits>

namespace retuple::internal {
namespace {

// One register tile: c[kRows, cols] over `depth`. A element (i, p) at a[i * rs + p * cs]. kTail:
// the last vector has `tail` valid columns (B is read in full vectors unless kMaskB).
template <typename T, int kRows, int kVecs, bool kPacked, bool kMaskB, bool kOffsets>
inline __attribute__((always_inline)) void Tile(int64_t depth, const T* a, int64_t rs, int64_t cs,
                                                const T* b, int64_t ldb, const int64_t* offsets,
                                                const T* row_bias, const T* col_bias,
                                                bool accumulate, T* c, int64_t ldc, int tail,
                                                Clamp<T> clamp) {
  constexpr int kL = kLanes<T>;
  Vec<T> acc[kRows][kVecs];
  if (accumulate) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVecs; ++j) {
        acc[i][j] = j + 1 < kVecs ? Load(c + i * ldc + j * kL) : LoadN(c + i * ldc + j * kL, tail);
      }
    }
  } else if (row_bias != nullptr) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVecs; ++j) acc[i][j] = Splat<T>(row_bias[i]);
    }
  } else if (col_bias != nullptr) {
#pragma GCC unroll 4
    for (int j = 0; j < kVecs; ++j) {
      const Vec<T> v = j + 1 < kVecs ? Load(col_bias + j * kL) : LoadN(col_bias + j * kL, tail);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) acc[i][j] = v;
    }
  } else {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVecs; ++j) acc[i][j] = Vec<T>{};
    }
  }
  for (int64_t p = 0; p < depth; ++p) {
    Vec<T> bv[kVecs];
    const T* row = kOffsets ? b + offsets[p] : b;
#pragma GCC unroll 4
    for (int j = 0; j < kVecs; ++j) {
      bv[j] = kMaskB && j + 1 == kVecs ? LoadN(row + j * kL, tail) : Load(row + j * kL);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const Vec<T> av = Splat<T>(kPacked ? a[i] : a[i * rs]);
#pragma GCC unroll 4
      for (int j = 0; j < kVecs; ++j) acc[i][j] += av * bv[j];
    }
    a += kPacked ? kTileRows : cs;
    if constexpr (!kOffsets) b += ldb;
  }
  const Vec<T> lo = Splat<T>(clamp.lo), hi = Splat<T>(clamp.hi);
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVecs; ++j) {
      Vec<T> v = acc[i][j];
      if constexpr (std::is_floating_point_v<T>) v = Min<T>(Max<T>(v, lo), hi);
      if (j + 1 < kVecs || tail == kL) {
        Store(c + i * ldc + j * kL, v);
      } else {
        StoreN(c + i * ldc + j * kL, v, tail);
      }
    }
  }
}

template <typename T>
using TileFn = void (*)(int64_t depth, const T* a, int64_t rs, int64_t cs, const T* b, int64_t ldb,
                        const int64_t* offsets, const T* row_bias, const T* col_bias,
                        bool accumulate, T* c, int64_t ldc, int tail, Clamp<T> clamp);

template <typename T, int kRows, int kVecs, bool kPacked, bool kMaskB, bool kOffsets>
void TileEntry(int64_t depth, const T* a, int64_t rs, int64_t cs, const T* b, int64_t ldb,
               const int64_t* offsets, const T* row_bias, const T* col_bias, bool accumulate, T* c,
               int64_t ldc, int tail, Clamp<T> clamp) {
  Tile<T, kRows, kVecs, kPacked, kMaskB, kOffsets>(depth, a, rs, cs, b, ldb, offsets, row_bias,
                                                   col_bias, accumulate, c, ldc, tail, clamp);
}

// By rows − 1 and vectors − 1.
template <typename T, bool kPacked, bool kMaskB, bool kOffsets>
struct TileTable {
  TileFn<T> fn[kTileRows][kPanelVecs];
  constexpr TileTable() : fn() { FillRows<kTileRows>(); }
  template <int kRows>
  constexpr void FillRows() {
    fn[kRows - 1][0] = &TileEntry<T, kRows, 1, kPacked, kMaskB, kOffsets>;
    fn[kRows - 1][1] = &TileEntry<T, kRows, 2, kPacked, kMaskB, kOffsets>;
    fn[kRows - 1][2] = &TileEntry<T, kRows, 3, kPacked, kMaskB, kOffsets>;
    if constexpr (kRows > 1) FillRows<kRows - 1>();
  }
};
template <typename T, bool kPacked, bool kMaskB, bool kOffsets = false>
constexpr TileTable<T, kPacked, kMaskB, kOffsets> kTiles;

// Asks for bytes [at, at + size) of the second-level cache.
inline void Prefetch(const void* at, int64_t size) {
  const char* p = static_cast<const char*>(at);
  for (int64_t i = 0; i < size; i += 64) __builtin_prefetch(p + i, 0, 2);
}

// One row of A against a panel: four partial sums a vector hide the latency of the fused
// multiply-add.
template <typename T>
void RowTimesPanel(int64_t k, const T* a, int64_t cs, const T* panel, const T* bias, T* c, int cols,
                   Clamp<T> clamp) {
  constexpr int kL = kLanes<T>;
  constexpr int64_t kCols = kPanelCols<T>;
  Vec<T> acc[4][kPanelVecs] = {};
  int64_t p = 0;
  for (; p + 4 <= k; p += 4) {
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u) {
      const Vec<T> av = Splat<T>(a[(p + u) * cs]);
#pragma GCC unroll 4
      for (int j = 0; j < kPanelVecs; ++j) acc[u][j] += av * Load(panel + (p + u) * kCols + j * kL);
    }
  }
  for (; p < k; ++p) {
    const Vec<T> av = Splat<T>(a[p * cs]);
#pragma GCC unroll 4
    for (int j = 0; j < kPanelVecs; ++j) acc[0][j] += av * Load(panel + p * kCols + j * kL);
  }
#pragma GCC unroll 4
  for (int j = 0; j < kPanelVecs; ++j) {
    const int n = std::clamp(cols - j * kL, 0, kL);
    if (n == 0) break;
    Vec<T> v = (acc[0][j] + acc[1][j]) + (acc[2][j] + acc[3][j]);
    if (bias != nullptr) v += LoadN(bias + j * kL, n);
    if constexpr (std::is_floating_point_v<T>)
      v = Min<T>(Max<T>(v, Splat<T>(clamp.lo)), Splat<T>(clamp.hi));
    StoreN(c + j * kL, v, n);
  }
}

}  // namespace

template <typename T>
void PackB(int64_t k, int64_t n, const T* b, int64_t row_stride, int64_t col_stride, T* packed) {
  constexpr int64_t kCols = kPanelCols<T>;
  for (int64_t j = 0; j < n; j += kCols) {
    const int64_t cols = std::min(kCols, n - j);
    const T* src = b + j * col_stride;
    if (col_stride == 1) {
      for (int64_t p = 0; p < k; ++p) {
        T* out = packed + p * kCols;
        if (cols == kCols) {
          std::memcpy(out, src + p * row_stride, sizeof(T) * kCols);
        } else {
          std::memcpy(out, src + p * row_stride, sizeof(T) * static_cast<size_t>(cols));
          std::fill(out + cols, out + kCols, T{0});
        }
      }
    } else {
      // Blocks of eight rows, so that a column's cache line is used while it is there.
      for (int64_t p0 = 0; p0 < k; p0 += 8) {
        const int64_t p1 = std::min(k, p0 + 8);
        for (int64_t q = 0; q < cols; ++q) {
          for (int64_t p = p0; p < p1; ++p)
            packed[p * kCols + q] = src[p * row_stride + q * col_stride];
        }
        for (int64_t p = p0; p < p1; ++p)
          std::fill(packed + p * kCols + cols, packed + (p + 1) * kCols, T{0});
      }
    }
    packed += k * kCols;
  }
}

template <typename T>
void PackA(int64_t m, int64_t k, const T* a, int64_t row_stride, int64_t col_stride, T* packed) {
  for (int64_t i = 0; i < m; i += kTileRows) {
    const int64_t rows = std::min<int64_t>(kTileRows, m - i);
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t r = 0; r < kTileRows; ++r) {
        packed[p * kTileRows + r] = r < rows ? a[(i + r) * row_stride + p * col_stride] : T{0};
      }
    }
    packed += k * kTileRows;
  }
}

template <typename T>
void GemmPackedB(int64_t m, int64_t n, int64_t k, const T* a, int64_t row_stride,
                 int64_t col_stride, const T* packed_b, const T* bias, T* c, int64_t ldc,
                 ThreadPool* threads, Clamp<T> clamp) {
  constexpr int64_t kCols = kPanelCols<T>;
  constexpr int kL = kLanes<T>;
  if (m <= 0 || n <= 0) return;
  const int64_t panels = (n + kCols - 1) / kCols;
  auto work = [&](int64_t first, int64_t last) {
    if (m == 1) {
      for (int64_t j = first; j < last; ++j) {
        RowTimesPanel(k, a, col_stride, packed_b + j * k * kCols, bias ? bias + j * kCols : nullptr,
                      c + j * kCols, static_cast<int>(std::min(kCols, n - j * kCols)), clamp);
      }
      return;
    }
    for (int64_t k0 = 0; k0 == 0 || k0 < k; k0 += kDepth<T>) {
      const int64_t depth = std::min(kDepth<T>, k - k0);
      const Clamp<T> bounds = k0 + depth >= k ? clamp : Clamp<T>{};
      for (int64_t j = first; j < last; ++j) {
        const auto cols = static_cast<int>(std::min(kCols, n - j * kCols));
        const int vecs = (cols + kL - 1) / kL, tail = cols - (vecs - 1) * kL;
        const T* panel = packed_b + (j * k + k0) * kCols;
        const T* col_bias = bias ? bias + j * kCols : nullptr;
        // While this panel's slice is multiplied, the next one comes from memory, a piece a tile.
        const T* next = nullptr;
        int64_t piece = 0;
        if (m >= 4 * kTileRows) {
          const bool same_slice = j + 1 < last;
          const int64_t next_k = same_slice ? k0 : k0 + depth;
          if (next_k < k) {
            next = packed_b + ((same_slice ? j + 1 : first) * k + next_k) * kCols;
            const int64_t tiles = (m + kTileRows - 1) / kTileRows;
            const int64_t size = std::min(kDepth<T>, k - next_k) * kCols;
            piece = size / tiles;
          }
        }
        for (int64_t i = 0; i < m; i += kTileRows) {
          if (next != nullptr) {
            Prefetch(next, piece * static_cast<int64_t>(sizeof(T)));
            next += piece;
          }
          const int rows = static_cast<int>(std::min<int64_t>(kTileRows, m - i));
          kTiles<T, false, false>.fn[rows - 1][vecs - 1](
              depth, a + i * row_stride + k0 * col_stride, row_stride, col_stride, panel, kCols,
              nullptr, nullptr, col_bias, k0 > 0, c + i * ldc + j * kCols, ldc, tail, bounds);
        }
      }
    }
  };
  if (threads == nullptr) {
    work(0, panels);
  } else {
    const int64_t flops = std::max<int64_t>(1, m * k * kCols);
    threads->ParallelFor(panels, std::max<int64_t>(1, 400000 / flops), work);
  }
}

template <typename T>
void GemmBlock(int64_t m, int64_t cols, int64_t k, int64_t k0, int64_t depth, const T* packed_a,
               const T* panels, const T* bias, bool accumulate, T* c, int64_t ldc, Clamp<T> clamp) {
  constexpr int64_t kCols = kPanelCols<T>;
  constexpr int kL = kLanes<T>;
  for (int64_t j = 0; j < cols; j += kCols) {
    const auto width = static_cast<int>(std::min(kCols, cols - j));
    const int vecs = (width + kL - 1) / kL, tail = width - (vecs - 1) * kL;
    const T* panel = panels + j * depth;
    for (int64_t i = 0; i < m; i += kTileRows) {
      const int rows = static_cast<int>(std::min<int64_t>(kTileRows, m - i));
      if (j == 0 && i + kTileRows < m) {  // the next tile's weights come from memory meanwhile
        Prefetch(packed_a + (i + kTileRows) * k + k0 * kTileRows,
                 depth * kTileRows * static_cast<int64_t>(sizeof(T)));
      }
      kTiles<T, true, false>.fn[rows - 1][vecs - 1](
          depth, packed_a + i * k + k0 * kTileRows, 1, kTileRows, panel, kCols, nullptr,
          bias ? bias + i : nullptr, nullptr, accumulate, c + i * ldc + j, ldc, tail, clamp);
    }
  }
}

template <typename T>
void GemmDirect(int64_t m, int64_t cols, int64_t k, const T* packed_a, const T* b, int64_t ldb,
                const T* bias, T* c, int64_t ldc) {
  constexpr int64_t kCols = kPanelCols<T>;
  constexpr int kL = kLanes<T>;
  for (int64_t j = 0; j < cols; j += kCols) {
    const auto width = static_cast<int>(std::min(kCols, cols - j));
    const int vecs = (width + kL - 1) / kL, tail = width - (vecs - 1) * kL;
    for (int64_t i = 0; i < m; i += kTileRows) {
      const int rows = static_cast<int>(std::min<int64_t>(kTileRows, m - i));
      const auto& table = tail == kL ? kTiles<T, true, false>.fn : kTiles<T, true, true>.fn;
      table[rows - 1][vecs - 1](k, packed_a + i * k, 1, kTileRows, b + j, ldb, nullptr,
                                bias ? bias + i : nullptr, nullptr, false, c + i * ldc + j, ldc,
                                tail, {});
    }
  }
}

template <typename T>
void GemmOffsets(int64_t m, int64_t cols, int64_t k, const T* packed_a, const T* b,
                 const int64_t* offsets, bool slack, const T* bias, T* c, int64_t ldc,
                 Clamp<T> clamp) {
  constexpr int64_t kCols = kPanelCols<T>;
  constexpr int kL = kLanes<T>;
  for (int64_t j = 0; j < cols; j += kCols) {
    const auto width = static_cast<int>(std::min(kCols, cols - j));
    const int vecs = (width + kL - 1) / kL, tail = width - (vecs - 1) * kL;
    const auto& table =
        slack || tail == kL ? kTiles<T, true, false, true>.fn : kTiles<T, true, true, true>.fn;
    for (int64_t k0 = 0; k0 == 0 || k0 < k; k0 += kDepth<T>) {
      const int64_t depth = std::min(kDepth<T>, k - k0);
      const Clamp<T> bounds = k0 + depth >= k ? clamp : Clamp<T>{};
      for (int64_t i = 0; i < m; i += kTileRows) {
        const int rows = static_cast<int>(std::min<int64_t>(kTileRows, m - i));
        table[rows - 1][vecs - 1](depth, packed_a + i * k + k0 * kTileRows, 1, kTileRows, b + j, 0,
                                  offsets + k0, bias ? bias + i : nullptr, nullptr, k0 > 0,
                                  c + i * ldc + j, ldc, tail, bounds);
      }
    }
  }
}

#define RETUPLE_GEMM(T)                                                                         \
  template void PackB<T>(int64_t, int64_t, const T*, int64_t, int64_t, T*);                     \
  template void PackA<T>(int64_t, int64_t, const T*, int64_t, int64_t, T*);                     \
  template void GemmPackedB<T>(int64_t, int64_t, int64_t, const T*, int64_t, int64_t, const T*, \
                               const T*, T*, int64_t, ThreadPool*, Clamp<T>);                   \
  template void GemmBlock<T>(int64_t, int64_t, int64_t, int64_t, int64_t, const T*, const T*,   \
                             const T*, bool, T*, int64_t, Clamp<T>);                            \
  template void GemmDirect<T>(int64_t, int64_t, int64_t, const T*, const T*, int64_t, const T*, \
                              T*, int64_t);                                                     \
  template void GemmOffsets<T>(int64_t, int64_t, int64_t, const T*, const T*, const int64_t*,   \
                               bool, const T*, T*, int64_t, Clamp<T>);
RETUPLE_GEMM(float)
RETUPLE_GEMM(double)
RETUPLE_GEMM(uint32_t)
RETUPLE_GEMM(uint64_t)
#undef RETUPLE_GEMM

}  // namespace retuple::internal
