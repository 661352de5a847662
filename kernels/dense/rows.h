// Sums over contiguous rows, in vectors.
#ifndef RETUPLE_KERNELS_DENSE_ROWS_H_
#define RETUPLE_KERNELS_DENSE_ROWS_H_

#include <algorithm>

#include "kernels/dense/simd.h"

namespace retuple::internal {

// Σ f(vector) over n elements; f(0-padded tail) must be 0 where the padding is.
template <typename T, typename F>
T FoldRow(const T* p, int64_t n, F f) {
  constexpr int kL = kLanes<T>;
  Vec<T> a{}, b{}, c{}, d{};
  int64_t i = 0;
  for (; i + 4 * kL <= n; i += 4 * kL) {
    a += f(Load(p + i), kL);
    b += f(Load(p + i + kL), kL);
    c += f(Load(p + i + 2 * kL), kL);
    d += f(Load(p + i + 3 * kL), kL);
  }
  for (; i < n; i += kL) {
    const int len = static_cast<int>(std::min<int64_t>(kL, n - i));
    a += f(LoadN(p + i, len), len);
  }
  return Sum<T>((a + b) + (c + d));
}

template <typename T>
T SumRow(const T* p, int64_t n) {
  return FoldRow(p, n, [](Vec<T> v, int) { return v; });
}

// Σ (x − mean)².
template <typename T>
T SquaredDeviation(const T* p, int64_t n, T mean) {
  const Vec<T> m = Splat<T>(mean);
  constexpr int kL = kLanes<T>;
  Vec<T> a{}, b{};
  int64_t i = 0;
  for (; i + 2 * kL <= n; i += 2 * kL) {
    const Vec<T> u = Load(p + i) - m, v = Load(p + i + kL) - m;
    a += u * u;
    b += v * v;
  }
  T s = Sum<T>(a + b);
  for (; i < n; ++i) s += (p[i] - mean) * (p[i] - mean);
  return s;
}

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_ROWS_H_
