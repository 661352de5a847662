// Transcendental functions on f32 as straight-line code that the compiler vectorises.
//
// Each function is a range reduction and a polynomial; both sides of a case distinction are computed and one is
// selected, so that a loop over an array has no branch. Coefficients are weighted minimax fits (Lawson iteration)
// on the intervals that are named. Errors are a few units in the last place; NaN, infinities and signed zeros
// come out as in the C library. Doubles go to the C library.
#ifndef RETUPLE_KERNELS_CORE_FAST_MATH_H_
#define RETUPLE_KERNELS_CORE_FAST_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace retuple::internal {

// 2^k for -126 <= k <= 127.
inline float PowerOfTwo(int32_t k) { return std::bit_cast<float>(static_cast<uint32_t>(k + 127) << 23); }

// cond ? a : b on bit patterns; a mask, because GCC turns chains of float selects into branches
// (it follows the constant of a clamp through what comes after).
inline uint32_t SelectBits(bool cond, uint32_t a, uint32_t b) {
  const uint32_t mask = uint32_t{0} - static_cast<uint32_t>(cond);
  return (a & mask) | (b & ~mask);
}

// e^x = 2^n e^r, n = round(x / ln 2), |r| <= ln 2 / 2.
inline float FastExp(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = x * 1.44269504f + kMagic;
  const float n = shifted - kMagic;
  float r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 0.00139504916f;
  p = p * r + 0.0083688898f;
  p = p * r + 0.041666206f;
  p = p * r + 0.166665182f;
  p = p * r + 0.5f;
  p = p * (r * r) + r + 1.0f;
  // The scale in two factors, so that neither overflows nor is subnormal.
  const int32_t k = static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) - 0x4B400000u);
  const int32_t half = k >> 1;
  const float scale1 = std::bit_cast<float>((static_cast<uint32_t>(half) + 127u) << 23);
  const float scale2 = std::bit_cast<float>((static_cast<uint32_t>(k) - static_cast<uint32_t>(half) + 127u) << 23);
  return p * scale1 * scale2;
}

// log x = e ln 2 + log m, m in [sqrt 1/2, sqrt 2).
inline float FastLog(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  // Subnormals are scaled by 2^23.
  const bool tiny = bits < 0x00800000u;
  const float factor = std::bit_cast<float>(SelectBits(tiny, 0x4b000000u, 0x3f800000u));
  const float bias = std::bit_cast<float>(SelectBits(tiny, 0xc1b80000u, 0));  // -23
  const uint32_t shifted = std::bit_cast<uint32_t>(x * factor) - 0x3f3504f3u;
  const float e = static_cast<float>(static_cast<int32_t>(shifted) >> 23) + bias;
  const float m = std::bit_cast<float>((shifted & 0x7fffffu) + 0x3f3504f3u);
  const float f = m - 1.0f;
  float p = -0.0763565153f;
  p = p * f + 0.127633259f;
  p = p * f - 0.131605834f;
  p = p * f + 0.142015532f;
  p = p * f - 0.166232988f;
  p = p * f + 0.200012341f;
  p = p * f - 0.250008225f;
  p = p * f + 0.333333313f;
  const float f2 = f * f;
  float r = p * f2 * f;
  r = r - e * 2.12194440e-4f;
  r = r - 0.5f * f2;
  r = (r + f) + e * 0.693359375f;
  // Zeros give -inf, +inf itself, everything else that is not a positive number NaN.
  uint32_t odd = SelectBits(bits > 0x7f800000u, 0x7fc00000u, 0x7f800000u);
  odd = SelectBits((bits << 1) == 0, 0xff800000u, odd);
  return std::bit_cast<float>(SelectBits(bits - 1 >= 0x7f7fffffu, odd, std::bit_cast<uint32_t>(r)));
}

inline float FastSigmoid(float x) { return 1.0f / (1.0f + FastExp(-x)); }

// Odd polynomial below 5/8, else 1 - 2 / (e^{2|x|} + 1).
inline float FastTanh(float x) {
  const float a = std::fabs(x);
  const float z = x * x;
  float p = -0.00569738401f;
  p = p * z + 0.0206325464f;
  p = p * z - 0.0537377968f;
  p = p * z + 0.133314207f;
  p = p * z - 0.333332807f;
  const float small = p * z * a + a;
  const float large = 1.0f - 2.0f / (FastExp(2.0f * a) + 1.0f);
  return x != x ? x : std::copysign(a < 0.625f ? small : large, x);
}

// Odd polynomial below 0.92, else 1 - e^q(|x|) with q fitted to log erfc on [0.91, 4].
inline float FastErf(float x) {
  const float a = std::fabs(x);
  const float z = x * x;
  float p = -0.000599943742f;
  p = p * z + 0.00499483757f;
  p = p * z - 0.026767727f;
  p = p * z + 0.112818465f;
  p = p * z - 0.376124978f;
  p = p * z + 0.128379151f;
  const float small = x + x * p;
  const float t = a > 4.0f ? 4.0f : a;
  float q = -2.10389117e-05f;
  q = q * t + 0.000433795532f;
  q = q * t - 0.00416774023f;
  q = q * t + 0.0251104329f;
  q = q * t - 0.108265795f;
  q = q * t - 0.633360267f;
  q = q * t - 1.12950814f;
  q = q * t + 0.000173240041f;
  const float large = std::copysign(1.0f - FastExp(q), x);
  return a < 0.92f ? small : (x != x ? x : large);
}

// log(1 + u) for 0 <= u < 1e38, with the rounding of 1 + u made good.
inline float FastLog1p(float u) {
  const float s = 1.0f + u;
  const float lost = u - (s - 1.0f);
  return FastLog(s) + lost / s;
}

// log(1 + e^x) without overflow.
inline float FastSoftplus(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const float m = std::bit_cast<float>(SelectBits(bits >> 31 != 0, 0, bits));
  return m + FastLog1p(FastExp(-std::fabs(x)));
}

// The smaller of x and limit, NaN for NaN; without a branch that a compiler could follow.
inline float CapAt(float x, float limit) {
  return std::bit_cast<float>(SelectBits(x > limit, std::bit_cast<uint32_t>(limit), std::bit_cast<uint32_t>(x)));
}
inline double CapAt(double x, double limit) { return x > limit ? limit : x; }

// One spelling for both widths.
inline float Exp(float x) { return FastExp(x); }
inline double Exp(double x) { return std::exp(x); }
inline float Log(float x) { return FastLog(x); }
inline double Log(double x) { return std::log(x); }
inline float Sigmoid(float x) { return FastSigmoid(x); }
inline double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
inline float Tanh(float x) { return FastTanh(x); }
inline double Tanh(double x) { return std::tanh(x); }
inline float Erf(float x) { return FastErf(x); }
inline double Erf(double x) { return std::erf(x); }
inline float Softplus(float x) { return FastSoftplus(x); }
inline double Softplus(double x) {
  return x != x ? x : (x > 0 ? x : 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_CORE_FAST_MATH_H_
