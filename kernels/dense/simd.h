// Vectors of the widest registers that this build may use, written with the compilers' vector
// extensions.
//
// Vec<T> holds kLanes<T> elements of float, double, uint32_t or uint64_t (integers are unsigned so
// that they wrap).
// +, −, ×, comparisons and ?: work element by element; a * b + c contracts to a fused multiply-add
// where the target has one. Loads and stores are unaligned; the N forms touch the first n elements
// only.
#ifndef RETUPLE_KERNELS_DENSE_SIMD_H_
#define RETUPLE_KERNELS_DENSE_SIMD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace retuple::internal {

#if defined(__AVX512F__)
inline constexpr int kVecBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVecBytes = 32;
#else
inline constexpr int kVecBytes = 16;
#endif

template <typename T>
struct VecOf;
#define RETUPLE_VEC_OF(T)                                                                        \
  template <>                                                                                    \
  struct VecOf<T> {                                                                              \
    typedef T type __attribute__((vector_size(kVecBytes)));                                      \
    typedef T unaligned __attribute__((vector_size(kVecBytes), aligned(alignof(T)), may_alias)); \
  };
RETUPLE_VEC_OF(float)
RETUPLE_VEC_OF(double)
RETUPLE_VEC_OF(int32_t)
RETUPLE_VEC_OF(uint32_t)
RETUPLE_VEC_OF(uint64_t)
#undef RETUPLE_VEC_OF

template <typename T>
using Vec = typename VecOf<T>::type;
template <typename T>
inline constexpr int kLanes = kVecBytes / static_cast<int>(sizeof(T));

template <typename T>
inline Vec<T> Load(const T* p) {
  return *reinterpret_cast<const typename VecOf<T>::unaligned*>(p);
}
template <typename T>
inline void Store(T* p, Vec<T> v) {
  *reinterpret_cast<typename VecOf<T>::unaligned*>(p) = v;
}
template <typename T>
inline Vec<T> Splat(T x) {
  return Vec<T>{} + x;
}
template <>
inline Vec<float> Splat<float>(float x) {  // adding 0 would lose the sign of −0
#if defined(__AVX512F__)
  return _mm512_set1_ps(x);
#else
  Vec<float> v{};
  for (int i = 0; i < kLanes<float>; ++i) v[i] = x;
  return v;
#endif
}
template <>
inline Vec<double> Splat<double>(double x) {
#if defined(__AVX512F__)
  return _mm512_set1_pd(x);
#else
  Vec<double> v{};
  for (int i = 0; i < kLanes<double>; ++i) v[i] = x;
  return v;
#endif
}

// The first n elements, the rest zero. 0 <= n <= lanes.
template <typename T>
inline Vec<T> LoadN(const T* p, int n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    const auto mask = static_cast<__mmask16>((1u << n) - 1);
    return reinterpret_cast<Vec<T>>(_mm512_maskz_loadu_epi32(mask, p));
  } else {
    const auto mask = static_cast<__mmask8>((1u << n) - 1);
    return reinterpret_cast<Vec<T>>(_mm512_maskz_loadu_epi64(mask, p));
  }
#else
  Vec<T> v{};
  std::memcpy(&v, p, static_cast<size_t>(n) * sizeof(T));
  return v;
#endif
}
template <typename T>
inline void StoreN(T* p, Vec<T> v, int n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    const auto mask = static_cast<__mmask16>((1u << n) - 1);
    _mm512_mask_storeu_epi32(p, mask, reinterpret_cast<__m512i>(v));
  } else {
    const auto mask = static_cast<__mmask8>((1u << n) - 1);
    _mm512_mask_storeu_epi64(p, mask, reinterpret_cast<__m512i>(v));
  }
#else
  std::memcpy(p, &v, static_cast<size_t>(n) * sizeof(T));
#endif
}

// NaN in `a` stays when `b` is a number (a < b ? b : a and its mirror).
template <typename T>
inline Vec<T> Max(Vec<T> a, Vec<T> b) {
  return a < b ? b : a;
}
template <typename T>
inline Vec<T> Min(Vec<T> a, Vec<T> b) {
  return a > b ? b : a;
}

template <typename T>
inline T Sum(Vec<T> v) {
  T s = 0;
  for (int i = 0; i < kLanes<T>; ++i) s += v[i];
  return s;
}

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_SIMD_H_
