#include "kernels/dense/padded_planes.h"

#include <algorithm>

#include "kernels/dense/simd.h"

namespace retuple::internal {
namespace {

// The phases of stride s that taps 0 … k−1 read, ascending.
std::vector<int64_t> Phases(int64_t k, int64_t dilation, int64_t s) {
  std::vector<int64_t> p;
  for (int64_t i = 0; i < k && static_cast<int64_t>(p.size()) < s; ++i)
    p.push_back(i * dilation % s);
  std::sort(p.begin(), p.end());
  p.erase(std::unique(p.begin(), p.end()), p.end());
  return p;
}

int64_t IndexOf(const std::vector<int64_t>& v, int64_t x) {
  return std::lower_bound(v.begin(), v.end(), x) - v.begin();
}

template <typename T>
void CopyRow(const T* src, int64_t n, T* dst) {
  constexpr int kL = kLanes<T>;
  for (; n >= kL; n -= kL, src += kL, dst += kL) Store(dst, Load(src));
  if (n > 0) StoreN(dst, LoadN(src, static_cast<int>(n)), static_cast<int>(n));
}

#if defined(__AVX512F__)
// Even elements of src to `even`, odd ones to `odd`; either may be null.
inline void SplitRow(const void* src_bits, int64_t n, void* even_bits, void* odd_bits) {
  const auto* src = static_cast<const int32_t*>(src_bits);
  auto* even = static_cast<int32_t*>(even_bits);
  auto* odd = static_cast<int32_t*>(odd_bits);
  const __m512i pick_even =
      _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i pick_odd =
      _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  int64_t x = 0;
  for (; x + 32 <= n; x += 32) {
    const __m512i a = _mm512_loadu_si512(src + x), b = _mm512_loadu_si512(src + x + 16);
    if (even != nullptr)
      _mm512_storeu_si512(even + x / 2, _mm512_permutex2var_epi32(a, pick_even, b));
    if (odd != nullptr) _mm512_storeu_si512(odd + x / 2, _mm512_permutex2var_epi32(a, pick_odd, b));
  }
  const auto left = static_cast<int>(n - x);
  if (left == 0) return;
  const uint32_t have = (1u << left) - 1;
  const __m512i a = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(have & 0xffff), src + x);
  const __m512i b = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(have >> 16), src + x + 16);
  const auto even_mask = static_cast<__mmask16>((1u << ((left + 1) / 2)) - 1);
  const auto odd_mask = static_cast<__mmask16>((1u << (left / 2)) - 1);
  if (even != nullptr)
    _mm512_mask_storeu_epi32(even + x / 2, even_mask, _mm512_permutex2var_epi32(a, pick_even, b));
  if (odd != nullptr)
    _mm512_mask_storeu_epi32(odd + x / 2, odd_mask, _mm512_permutex2var_epi32(a, pick_odd, b));
}

// Every fourth element: element q + 4i of src to to[q][i]; to[q] may be null.
void SplitRowBy4(const void* src_bits, int64_t n, void* const* to_bits) {
  const auto* src = static_cast<const int32_t*>(src_bits);
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  for (int64_t x = 0; x < n; x += 64) {
    const int64_t left = std::min<int64_t>(64, n - x);
    const uint64_t have = left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    __m512i v[4];
    for (int k = 0; k < 4; ++k)
      v[k] = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(have >> (16 * k)), src + x + 16 * k);
    const __m512i e0 = _mm512_permutex2var_epi32(v[0], even, v[1]),
                  o0 = _mm512_permutex2var_epi32(v[0], odd, v[1]);
    const __m512i e1 = _mm512_permutex2var_epi32(v[2], even, v[3]),
                  o1 = _mm512_permutex2var_epi32(v[2], odd, v[3]);
    const __m512i phase[4] = {
        _mm512_permutex2var_epi32(e0, even, e1), _mm512_permutex2var_epi32(o0, even, o1),
        _mm512_permutex2var_epi32(e0, odd, e1), _mm512_permutex2var_epi32(o0, odd, o1)};
    for (int q = 0; q < 4; ++q) {
      if (to_bits[q] == nullptr) continue;
      const int64_t count = (left - q + 3) / 4;
      if (count <= 0) continue;
      _mm512_mask_storeu_epi32(static_cast<int32_t*>(to_bits[q]) + x / 4,
                               static_cast<__mmask16>((1u << count) - 1), phase[q]);
    }
  }
}
#endif

}  // namespace

PaddedPlanes::Lane PaddedPlanes::LaneOf(int64_t q, int64_t pad, int64_t s,
                                        const std::vector<int64_t>& phases) const {
  const int64_t phase = (q + pad) % s;
  const bool read = std::binary_search(phases.begin(), phases.end(), phase);
  return {read ? IndexOf(phases, phase) : -1, (q + pad) / s};
}

PaddedPlanes::PaddedPlanes(const Window& w, bool split_rows)
    : window_(w),
      split_rows_(split_rows),
      in_place_(!w.padded() && w.stride[2] == 1 && (!split_rows || w.stride[1] == 1)),
      col_phases_(Phases(w.kernel[2], w.dilation[2], w.stride[2])),
      row_phases_(split_rows ? Phases(w.kernel[1], w.dilation[1], w.stride[1])
                             : std::vector<int64_t>{0}) {
  const int64_t height = w.in[1] + w.pad_begin[1] + w.pad_end[1];
  const int64_t width = w.in[2] + w.pad_begin[2] + w.pad_end[2];
  const int64_t sh = split_rows ? w.stride[1] : 1;
  rows_ = (height + sh - 1) / sh;
  pitch_ = (width + w.stride[2] - 1) / w.stride[2];
  const auto phases = static_cast<int64_t>(col_phases_.size() * row_phases_.size());
  if (MulOverflows(rows_, pitch_, &plane_) || MulOverflows(plane_, phases, &plane_) ||
      !channel_size()) {
    plane_ = -1;
    return;
  }
  for (int64_t q = 0; q < std::min(w.stride[2], w.in[2]); ++q) {
    col_lanes_.push_back(LaneOf(q, w.pad_begin[2], w.stride[2], col_phases_));
  }
  for (int64_t q = 0; q < std::min(sh, w.in[1]); ++q) {
    row_lanes_.push_back(LaneOf(q, w.pad_begin[1], sh, row_phases_));
  }
  for (int64_t kd = 0; kd < w.kernel[0]; ++kd) {
    for (int64_t kh = 0; kh < w.kernel[1]; ++kh) {
      for (int64_t kw = 0; kw < w.kernel[2]; ++kw) {
        const int64_t y = kh * w.dilation[1], x = kw * w.dilation[2];
        const int64_t row_phase = split_rows ? IndexOf(row_phases_, y % sh) : 0;
        const int64_t phase = row_phase * static_cast<int64_t>(col_phases_.size()) +
                              IndexOf(col_phases_, x % w.stride[2]);
        taps_.push_back(kd * w.dilation[0] * plane_ + phase * rows_ * pitch_ + (y / sh) * pitch_ +
                        x / w.stride[2]);
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
void PaddedPlanes::Fill(T* dst, T value) const {
  const Window& w = window_;
  if (col_phases_.size() * row_phases_.size() > 1 || w.stride[2] > 1 ||
      (split_rows_ && w.stride[1] > 1)) {
    std::fill(dst, dst + *channel_size(), value);
    return;
  }
  const int64_t depth = w.in[0] + w.pad_begin[0] + w.pad_end[0],
                around = w.pad_begin[2] + w.pad_end[2];
  for (int64_t d = 0; d < depth; ++d, dst += plane_) {
    if (d < w.pad_begin[0] || d >= w.pad_begin[0] + w.in[0]) {
      std::fill(dst, dst + plane_, value);
      continue;
    }
    // Up to the first element; the gaps between rows; from the last element on.
    T* p = dst + w.pad_begin[1] * pitch_ + w.pad_begin[2];
    std::fill(dst, p, value);
    for (int64_t y = 0; y + 1 < w.in[1]; ++y, p += pitch_) {
      for (int64_t x = 0; x < around; ++x) p[w.in[2] + x] = value;
    }
    std::fill(w.in[1] > 0 ? p + w.in[2] : p, dst + plane_, value);
  }
}

template <typename T>
void PaddedPlanes::Copy(const T* src, T* dst) const {
  const Window& w = window_;
  const int64_t height = w.in[1], width = w.in[2], s = w.stride[2];
  const auto sh = static_cast<int64_t>(row_lanes_.size());
  const auto cols = static_cast<int64_t>(col_phases_.size());
  const int64_t phase_size = rows_ * pitch_;
  constexpr int kL = kLanes<T>;
  for (int64_t z = 0; z < w.in[0]; ++z) {
    T* plane = dst + (z + w.pad_begin[0]) * plane_;
    if (s == 1 && (!split_rows_ || w.stride[1] == 1) &&
        width <= kL) {  // small planes: a row is one vector
      T* to = plane + w.pad_begin[1] * pitch_ + w.pad_begin[2];
      const int n = static_cast<int>(width);
      for (int64_t y = 0; y < height; ++y, src += width, to += pitch_) StoreN(to, LoadN(src, n), n);
      continue;
    }
    for (int64_t y = 0; y < height; ++y, src += width) {
      const Lane& row = row_lanes_[static_cast<size_t>(sh == 1 ? 0 : y % sh)];
      if (row.phase < 0) continue;
      T* base =
          plane + row.phase * cols * phase_size + (row.first + (sh == 1 ? y : y / sh)) * pitch_;
      if (s == 1) {
        CopyRow(src, width, base + w.pad_begin[2]);
        continue;
      }
#if defined(__AVX512F__)
      if constexpr (sizeof(T) == 4) {
        if (s == 2 && width > 1) {
          T* to[2];
          for (size_t q = 0; q < 2; ++q) {
            const Lane& c = col_lanes_[q];
            to[q] = c.phase < 0 ? nullptr : base + c.phase * phase_size + c.first;
          }
          SplitRow(src, width, to[0], to[1]);
          continue;
        }
        if (s == 4 && width >= 4) {
          void* to[4];
          for (size_t q = 0; q < 4; ++q) {
            const Lane& c = col_lanes_[q];
            to[q] = c.phase < 0 ? nullptr : base + c.phase * phase_size + c.first;
          }
          SplitRowBy4(src, width, to);
          continue;
        }
      }
#endif
      for (size_t q = 0; q < col_lanes_.size(); ++q) {
        const Lane& c = col_lanes_[q];
        if (c.phase < 0) continue;
        T* to = base + c.phase * phase_size + c.first;
        for (int64_t x = static_cast<int64_t>(q); x < width; x += s) *to++ = src[x];
      }
    }
  }
}

#define RETUPLE_PLANES(T)                           \
  template void PaddedPlanes::Fill<T>(T*, T) const; \
  template void PaddedPlanes::Copy<T>(const T*, T*) const;
RETUPLE_PLANES(float)
RETUPLE_PLANES(double)
RETUPLE_PLANES(uint32_t)
#undef RETUPLE_PLANES

}  // namespace retuple::internal
