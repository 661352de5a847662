// Axes of size 1 are dropped and axes that stay neighbours are merged. If the innermost axis stays innermost, runs
// are copied; otherwise the input's innermost and the output's innermost axis span a plane that is transposed
// in tiles, so that both sides touch whole cache lines, while an odometer steps over the other axes.
#include "kernels/core/transpose.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

constexpr int64_t kTile = 16;
constexpr int64_t kGrainElements = 1 << 14;

struct Axis {
  int64_t size, in_stride, out_stride;
};

#if defined(__AVX__)
// An 8 x 8 block of four-byte elements in registers: interleave pairs, then pairs of pairs, then halves.
void Transpose8x8(const float* in, int64_t in_stride, float* out, int64_t out_stride) {
  __m256 r[8], t[8];
  for (int k = 0; k < 8; ++k) r[k] = _mm256_loadu_ps(in + k * in_stride);
  for (int k = 0; k < 8; k += 2) {
    t[k] = _mm256_unpacklo_ps(r[k], r[k + 1]);
    t[k + 1] = _mm256_unpackhi_ps(r[k], r[k + 1]);
  }
  for (int k = 0; k < 8; k += 4) {
    r[k] = _mm256_shuffle_ps(t[k], t[k + 2], 0x44);
    r[k + 1] = _mm256_shuffle_ps(t[k], t[k + 2], 0xEE);
    r[k + 2] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0x44);
    r[k + 3] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0xEE);
  }
  for (int k = 0; k < 4; ++k) {
    _mm256_storeu_ps(out + k * out_stride, _mm256_permute2f128_ps(r[k], r[k + 4], 0x20));
    _mm256_storeu_ps(out + (k + 4) * out_stride, _mm256_permute2f128_ps(r[k], r[k + 4], 0x31));
  }
}
#endif

// out[j·out_stride + i] = in[i·in_stride + j], i < rows (contiguous in out), j < cols (contiguous in in).
template <typename E>
void TransposePlane(const E* in, int64_t in_stride, E* out, int64_t out_stride, int64_t rows, int64_t cols) {
  for (int64_t i0 = 0; i0 < rows; i0 += kTile) {
    const int64_t ni = std::min(kTile, rows - i0);
    for (int64_t j0 = 0; j0 < cols; j0 += kTile) {
      const int64_t nj = std::min(kTile, cols - j0);
      if constexpr (std::is_trivially_copyable_v<E>) {
#if defined(__AVX__)
        if constexpr (sizeof(E) == 4) {
          if (ni % 8 == 0 && nj % 8 == 0) {
            for (int64_t i = i0; i < i0 + ni; i += 8) {
              for (int64_t j = j0; j < j0 + nj; j += 8) {
                Transpose8x8(reinterpret_cast<const float*>(in + i * in_stride + j), in_stride,
                             reinterpret_cast<float*>(out + j * out_stride + i), out_stride);
              }
            }
            continue;
          }
        }
#endif
        if (ni == kTile && nj == kTile) {
          // Through a buffer: both loops then have fixed trip counts and contiguous sides.
          E tile[kTile][kTile];
          for (int64_t i = 0; i < kTile; ++i) {
            const E* from = in + (i0 + i) * in_stride + j0;
            for (int64_t j = 0; j < kTile; ++j) tile[j][i] = from[j];
          }
          for (int64_t j = 0; j < kTile; ++j) {
            std::memcpy(out + (j0 + j) * out_stride + i0, tile[j], sizeof(tile[j]));
          }
          continue;
        }
      }
      for (int64_t j = 0; j < nj; ++j) {
        for (int64_t i = 0; i < ni; ++i) {
          out[(j0 + j) * out_stride + i0 + i] = in[(i0 + i) * in_stride + j0 + j];
        }
      }
    }
  }
}

// Calls f(in offset, out offset) for positions [begin, end) of the odometer over `axes`.
template <typename F>
void ForEachOffset(std::span<const Axis> axes, int64_t begin, int64_t end, F f) {
  absl::InlinedVector<int64_t, 6> index(axes.size());
  int64_t in = 0, out = 0, rest = begin;
  for (size_t d = axes.size(); d-- > 0;) {
    index[d] = rest % axes[d].size;
    rest /= axes[d].size;
    in += index[d] * axes[d].in_stride;
    out += index[d] * axes[d].out_stride;
  }
  for (int64_t k = begin; k < end; ++k) {
    f(in, out);
    for (size_t d = axes.size(); d-- > 0;) {
      in += axes[d].in_stride;
      out += axes[d].out_stride;
      if (++index[d] < axes[d].size) break;
      in -= axes[d].in_stride * axes[d].size;
      out -= axes[d].out_stride * axes[d].size;
      index[d] = 0;
    }
  }
}

template <typename E>
void Move(ThreadPool& threads, const E* in, E* out, absl::InlinedVector<Axis, 6>& axes) {
  // `axes` in output order, outermost first.
  if (axes.empty()) {
    *out = *in;
    return;
  }
  const Axis last = axes.back();
  if (last.in_stride == 1) {
    axes.pop_back();
    int64_t count = 1;
    for (const Axis& a : axes) count *= a.size;
    threads.ParallelFor(count, std::max<int64_t>(1, kGrainElements / last.size), [&](int64_t b, int64_t e) {
      ForEachOffset(axes, b, e, [&](int64_t from, int64_t to) {
        if constexpr (std::is_trivially_copyable_v<E>) {
          if (static_cast<size_t>(last.size) * sizeof(E) >= 64) {
            std::memcpy(out + to, in + from, static_cast<size_t>(last.size) * sizeof(E));
            return;
          }
        }
        for (int64_t i = 0; i < last.size; ++i) out[to + i] = in[from + i];
      });
    });
    return;
  }
  axes.pop_back();
  size_t contiguous = 0;
  for (size_t d = 0; d < axes.size(); ++d) {
    if (axes[d].in_stride == 1) contiguous = d;
  }
  const Axis cols = axes[contiguous];
  axes.erase(axes.begin() + contiguous);
  int64_t count = 1;
  for (const Axis& a : axes) count *= a.size;
  if (count == 1) {
    // One plane: cut it along its columns.
    threads.ParallelFor(cols.size, std::max<int64_t>(kTile, kGrainElements / last.size),
                        [&](int64_t b, int64_t e) {
                          TransposePlane(in + b, last.in_stride, out + b * cols.out_stride, cols.out_stride,
                                         last.size, e - b);
                        });
    return;
  }
  threads.ParallelFor(count, std::max<int64_t>(1, kGrainElements / (last.size * cols.size)),
                      [&](int64_t b, int64_t e) {
                        ForEachOffset(axes, b, e, [&](int64_t from, int64_t to) {
                          TransposePlane(in + from, last.in_stride, out + to, cols.out_stride, last.size,
                                         cols.size);
                        });
                      });
}

}  // namespace

void TransposeInto(ThreadPool& threads, const Tensor& x, std::span<const int> perm, void* out) {
  if (x.size() == 0) return;
  const Dims strides = StridesOf(x.dims());
  absl::InlinedVector<Axis, 6> axes;
  int64_t out_stride = x.size();
  for (int p : perm) {
    const int64_t size = x.dim(p);
    if (size == 1) continue;
    out_stride /= size;
    if (!axes.empty() && axes.back().in_stride == strides[p] * size) {
      axes.back().size *= size;
      axes.back().in_stride = strides[p];
      axes.back().out_stride = out_stride;
    } else {
      axes.push_back({size, strides[p], out_stride});
    }
  }
  switch (x.dtype() == DType::kString ? 0 : DTypeSize(x.dtype())) {
    case 0:
      return Move(threads, x.data<std::string>(), static_cast<std::string*>(out), axes);
    case 1:
      return Move(threads, x.data<uint8_t>(), static_cast<uint8_t*>(out), axes);
    case 2:
      return Move(threads, x.data<uint16_t>(), static_cast<uint16_t*>(out), axes);
    case 4:
      return Move(threads, x.data<uint32_t>(), static_cast<uint32_t*>(out), axes);
    case 8:
      return Move(threads, x.data<uint64_t>(), static_cast<uint64_t*>(out), axes);
    default:
      return Move(threads, x.data<Bytes16>(), static_cast<Bytes16*>(out), axes);
  }
}

namespace {

absl::Status Transpose(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const int rank = x->rank();
  absl::InlinedVector<int, 6> perm(rank);
  for (int i = 0; i < rank; ++i) perm[i] = rank - 1 - i;
  if (const Ints* given = IntsAttr(ctx, "perm"); given != nullptr && !given->empty()) {
    if (static_cast<int>(given->size()) != rank) {
      return Bad(ctx, "perm has %d entries for rank %d", given->size(), rank);
    }
    uint64_t seen = 0;
    for (int i = 0; i < rank; ++i) {
      RT_ASSIGN_OR_RETURN(perm[i], NormalizeAxis(ctx, (*given)[i], rank));
      if (perm[i] < 64) {
        if (seen >> perm[i] & 1) return Bad(ctx, "perm has axis %d twice", perm[i]);
        seen |= uint64_t{1} << perm[i];
      }
    }
    if (rank > 64) return Unserved(ctx, "rank %d", rank);
  }
  Dims dims(rank);
  for (int i = 0; i < rank; ++i) dims[i] = x->dim(perm[i]);
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), dims));
  TransposeInto(ctx.threads(), *x, perm, y->mutable_data());
  return absl::OkStatus();
}

}  // namespace

void RegisterTranspose(KernelRegistry& r) { r.Add("Transpose", Transpose); }

}  // namespace retuple::internal
