#include "kernels/dense/util.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace retuple::internal {

void WidenFloats(DType from, const void* src, int64_t n, float* dst) {
  const auto* p = static_cast<const uint16_t*>(src);
  int64_t i = 0;
  if (from == DType::kBF16) {
    for (; i < n; ++i) {
      const uint32_t bits = static_cast<uint32_t>(p[i]) << 16;
      std::memcpy(dst + i, &bits, 4);
    }
    return;
  }
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m256i h = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + i));
    _mm512_storeu_ps(dst + i, _mm512_cvtph_ps(h));
  }
#endif
  for (; i < n; ++i) dst[i] = F16ToFloat(p[i]);
}

void NarrowFloats(DType to, const float* src, int64_t n, void* dst) {
  auto* p = static_cast<uint16_t*>(dst);
  int64_t i = 0;
  if (to == DType::kBF16) {
    for (; i < n; ++i) p[i] = FloatToBF16(src[i]);
    return;
  }
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m256i h =
        _mm512_cvtps_ph(_mm512_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + i), h);
  }
#endif
  for (; i < n; ++i) p[i] = FloatToF16(src[i]);
}

absl::StatusOr<const float*> AsFloats(KernelContext& ctx, const Tensor& t) {
  if (t.dtype() == DType::kF32) return t.data<float>();
  RT_ASSIGN_OR_RETURN(float* wide, ScratchOf<float>(ctx, t.size()));
  WidenFloats(t.dtype(), t.data(), t.size(), wide);
  return wide;
}

absl::StatusOr<FloatOutput> FloatOutput::Make(KernelContext& ctx, int i, DType dtype, Dims dims) {
  FloatOutput out;
  RT_ASSIGN_OR_RETURN(out.tensor_, ctx.Output(i, dtype, std::move(dims)));
  if (dtype == DType::kF32) {
    out.data_ = out.tensor_->mutable_data<float>();
  } else {
    RT_ASSIGN_OR_RETURN(out.data_, ScratchOf<float>(ctx, out.tensor_->size()));
  }
  return out;
}

}  // namespace retuple::internal
