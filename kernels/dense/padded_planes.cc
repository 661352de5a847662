#include "kernels/dense/padded_planes.h"

#include <algorithm>

#include "kernels/dense/simd.h"

namespace retuple::internal {
namespace {

// The phases of stride s that taps 0 … k−1 read, ascending.
std::vector<int64_t> Phases(int64_t k, int64_t dilation, int64_t s) {
  std::vector<int64_t> p;
  for (int64_t i = 0; i < k && static_cast<int64_t>(p.size()) < s; ++i) p.push_back(i * dilation % s);
  std::sort(p.begin(), p.end());
  p.erase(std::unique(p.begin(), p.end()), p.end());
  return p;
}

int64_t IndexOf(const std::vector<int64_t>& v, int64_t x) {
  return std::lower_bound(v.begin(), v.end(), x) - v.begin();
}

// dst[i] = src[i · s + first] where that is in [0, n), else `fill`; i < count. `first` may be negative.
template <typename T>
void CopyPhase(const T* src, int64_t n, int64_t first, int64_t s, T* dst, int64_t count, T fill) {
  int64_t lo = first < 0 ? std::min(count, (-first + s - 1) / s) : 0;
  const int64_t hi = n > first ? std::clamp((n - first + s - 1) / s, lo, count) : lo;
  for (int64_t i = 0; i < lo; ++i) dst[i] = fill;
  if (s == 1) {
    constexpr int kL = kLanes<T>;
    const T* p = src + first + lo;
    T* q = dst + lo;
    int64_t len = hi - lo;
    for (; len >= kL; len -= kL, p += kL, q += kL) Store(q, Load(p));
    if (len > 0) StoreN(q, LoadN(p, static_cast<int>(len)), static_cast<int>(len));
  } else {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) {
      if (s == 2) {
        const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        // The second vector is read only where all its elements exist.
        for (; lo + 16 <= hi && (lo + 16) * 2 + first <= n; lo += 16) {
          const T* p = src + lo * 2 + first;
          const __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 16);
          _mm512_storeu_si512(dst + lo, _mm512_permutex2var_epi32(a, even, b));
        }
      }
    }
#endif
    for (int64_t i = lo; i < hi; ++i) dst[i] = src[i * s + first];
  }
  for (int64_t i = hi; i < count; ++i) dst[i] = fill;
}

}  // namespace

PaddedPlanes::PaddedPlanes(const Window& w, bool split_rows)
    : window_(w),
      split_rows_(split_rows),
      in_place_(!w.padded() && w.stride[2] == 1 && (!split_rows || w.stride[1] == 1)),
      col_phases_(Phases(w.kernel[2], w.dilation[2], w.stride[2])),
      row_phases_(split_rows ? Phases(w.kernel[1], w.dilation[1], w.stride[1]) : std::vector<int64_t>{0}) {
  const int64_t height = w.in[1] + w.pad_begin[1] + w.pad_end[1];
  const int64_t width = w.in[2] + w.pad_begin[2] + w.pad_end[2];
  const int64_t sh = split_rows ? w.stride[1] : 1;
  rows_ = (height + sh - 1) / sh;
  pitch_ = (width + w.stride[2] - 1) / w.stride[2];
  const auto phases = static_cast<int64_t>(col_phases_.size() * row_phases_.size());
  if (MulOverflows(rows_, pitch_, &plane_) || MulOverflows(plane_, phases, &plane_) || !channel_size()) {
    plane_ = -1;
    return;
  }
  for (int64_t kd = 0; kd < w.kernel[0]; ++kd) {
    for (int64_t kh = 0; kh < w.kernel[1]; ++kh) {
      for (int64_t kw = 0; kw < w.kernel[2]; ++kw) {
        const int64_t y = kh * w.dilation[1], x = kw * w.dilation[2];
        const int64_t row_phase = split_rows ? IndexOf(row_phases_, y % sh) : 0;
        const int64_t phase =
            row_phase * static_cast<int64_t>(col_phases_.size()) + IndexOf(col_phases_, x % w.stride[2]);
        taps_.push_back(kd * w.dilation[0] * plane_ + phase * rows_ * pitch_ + (y / sh) * pitch_ + x / w.stride[2]);
      }
    }
  }
}

std::optional<int64_t> PaddedPlanes::channel_size() const {
  int64_t n = 0;
  const int64_t depth = window_.in[0] + window_.pad_begin[0] + window_.pad_end[0];
  if (plane_ < 0 || MulOverflows(plane_, depth, &n)) return std::nullopt;
  return n;
}

template <typename T>
void PaddedPlanes::Copy(const T* src, T* dst, T fill) const {
  const Window& w = window_;
  const int64_t depth = w.in[0] + w.pad_begin[0] + w.pad_end[0];
  const int64_t sh = split_rows_ ? w.stride[1] : 1;
  for (int64_t d = 0; d < depth; ++d) {
    const int64_t z = d - w.pad_begin[0];
    if (z < 0 || z >= w.in[0]) {
      std::fill(dst, dst + plane_, fill);
      dst += plane_;
      continue;
    }
    for (int64_t row_phase : row_phases_) {
      for (int64_t col_phase : col_phases_) {
        for (int64_t r = 0; r < rows_; ++r, dst += pitch_) {
          const int64_t y = r * sh + row_phase - w.pad_begin[1];
          if (y < 0 || y >= w.in[1]) {
            std::fill(dst, dst + pitch_, fill);
          } else {
            CopyPhase(src + (z * w.in[1] + y) * w.in[2], w.in[2], col_phase - w.pad_begin[2], w.stride[2], dst,
                      pitch_, fill);
          }
        }
      }
    }
  }
}

template void PaddedPlanes::Copy<float>(const float*, float*, float) const;
template void PaddedPlanes::Copy<double>(const double*, double*, double) const;
template void PaddedPlanes::Copy<uint32_t>(const uint32_t*, uint32_t*, uint32_t) const;

}  // namespace retuple::internal
