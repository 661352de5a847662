// Zero points and scales of the quantised operators: read with checks, subtracted while widening to
// 32 bits.
#ifndef RETUPLE_KERNELS_DENSE_QUANTIZED_H_
#define RETUPLE_KERNELS_DENSE_QUANTIZED_H_

#include <cmath>
#include <vector>

#include "kernels/dense/util.h"

namespace retuple::internal {

inline bool IsByte(DType t) { return t == DType::kU8 || t == DType::kI8; }

// A per-tensor (one element) or per-row (n elements) parameter, as T.
template <typename T>
struct QuantParameter {
  std::vector<T> values{T{0}};
  T at(int64_t i) const { return values.size() == 1 ? values[0] : values[static_cast<size_t>(i)]; }
  bool single() const { return values.size() == 1; }
};

// Input i with 1 or `rows` elements; `fallback` when absent. InvalidArgument for another size.
template <typename T>
absl::StatusOr<QuantParameter<T>> ReadQuantParameter(const KernelContext& ctx, int i, int64_t rows,
                                                     T fallback) {
  QuantParameter<T> p;
  p.values[0] = fallback;
  if (!ctx.has(i)) return p;
  RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, i));
  const bool numeric = IsInteger(t->dtype()) || IsFloat(t->dtype());
  if (!numeric || (t->size() != 1 && t->size() != rows)) {
    return Bad(ctx, "input %d is %s, expected 1 or %d numbers", i, t->type().ToString(), rows);
  }
  p.values.resize(static_cast<size_t>(t->size()));
  for (int64_t k = 0; k < t->size(); ++k)
    p.values[static_cast<size_t>(k)] = static_cast<T>(t->At(k));
  return p;
}

// out[i] = bytes[i] − zero, for n elements of u8 or i8, as two's complement.
inline void WidenBytes(DType t, const void* bytes, int64_t n, int32_t zero, uint32_t* out) {
  if (t == DType::kU8) {
    const auto* p = static_cast<const uint8_t*>(bytes);
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<uint32_t>(static_cast<int32_t>(p[i]) - zero);
  } else {
    const auto* p = static_cast<const int8_t*>(bytes);
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<uint32_t>(static_cast<int32_t>(p[i]) - zero);
  }
}

// saturate(round-half-even(acc · scale) + zero) for n sums, as u8 or i8.
inline void Requantize(DType t, const uint32_t* acc, int64_t n, float scale, int32_t zero,
                       void* out, int64_t at) {
  for (int64_t i = 0; i < n; ++i) {
    const float v = std::nearbyint(static_cast<float>(static_cast<int32_t>(acc[i])) * scale) +
                    static_cast<float>(zero);
    if (t == DType::kU8) {
      static_cast<uint8_t*>(out)[at + i] =
          static_cast<uint8_t>(std::max(0.0f, std::min(255.0f, v)));
    } else {
      static_cast<int8_t*>(out)[at + i] =
          static_cast<int8_t>(std::max(-128.0f, std::min(127.0f, v)));
    }
  }
}

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_QUANTIZED_H_
