#include "kernels/dense/fft.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace retuple::internal {

Fft::Fft(int64_t n, bool inverse) : n_(n), inverse_(inverse) {
  power_of_two_ = std::has_single_bit(static_cast<uint64_t>(n));
  m_ = power_of_two_ ? n : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * n - 1)));
  roots_.resize(static_cast<size_t>(std::max<int64_t>(m_ / 2, 1)));
  for (size_t k = 0; k < roots_.size(); ++k) {
    roots_[k] =
        std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(m_));
  }
  work_.resize(static_cast<size_t>(m_));
  if (power_of_two_) return;
  chirp_.resize(static_cast<size_t>(n));
  filter_.assign(static_cast<size_t>(m_), 0);
  for (int64_t k = 0; k < n; ++k) {
    // k² mod 2n keeps the angle exact.
    const auto square =
        static_cast<int64_t>(static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k) %
                             static_cast<unsigned __int128>(2 * n));
    const auto i = static_cast<size_t>(k);
    chirp_[i] =
        std::polar(1.0, -std::numbers::pi * static_cast<double>(square) / static_cast<double>(n));
    filter_[i] = std::conj(chirp_[i]);
    if (k > 0) filter_[static_cast<size_t>(m_ - k)] = filter_[i];
  }
  PowerOfTwo(filter_, roots_);
}

void Fft::PowerOfTwo(std::vector<Complex>& x, const std::vector<Complex>& roots) {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (size_t half = 1; half < n; half *= 2) {
    const size_t step = n / (2 * half);
    for (size_t i = 0; i < n; i += 2 * half) {
      for (size_t k = 0; k < half; ++k) {
        const Complex u = x[i + k], w = roots[k * step], z = x[i + k + half];
        const Complex v(z.real() * w.real() - z.imag() * w.imag(),
                        z.real() * w.imag() + z.imag() * w.real());
        x[i + k] = u + v;
        x[i + k + half] = u - v;
      }
    }
  }
}

void Fft::Run(Complex* x) {
  const auto n = static_cast<size_t>(n_);
  // The inverse is the conjugate of the transform of the conjugate.
  for (size_t i = 0; i < n; ++i) work_[i] = inverse_ ? std::conj(x[i]) : x[i];
  if (power_of_two_) {
    PowerOfTwo(work_, roots_);
  } else {
    for (size_t i = 0; i < n; ++i) work_[i] *= chirp_[i];
    for (size_t i = n; i < work_.size(); ++i) work_[i] = 0;
    PowerOfTwo(work_, roots_);
    for (size_t i = 0; i < work_.size(); ++i) work_[i] = std::conj(work_[i] * filter_[i]);
    PowerOfTwo(work_, roots_);
    for (size_t i = 0; i < n; ++i)
      work_[i] = std::conj(work_[i]) / static_cast<double>(m_) * chirp_[i];
  }
  for (size_t i = 0; i < n; ++i)
    x[i] = inverse_ ? std::conj(work_[i]) / static_cast<double>(n_) : work_[i];
}

}  // namespace retuple::internal
