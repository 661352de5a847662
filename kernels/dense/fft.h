// Discrete Fourier transforms of any length, in f64.
#ifndef RETUPLE_KERNELS_DENSE_FFT_H_
#define RETUPLE_KERNELS_DENSE_FFT_H_

#include <complex>
#include <cstdint>
#include <vector>

namespace retuple::internal {

// X[k] = Σ x[j] e^{∓2πijk/n}, − for the forward transform; the inverse is divided by n. Powers of
// two by Cooley–Tukey, other lengths by Bluestein's chirp (L. I. Bluestein, 1970) over the next
// power of two.
class Fft {
 public:
  Fft(int64_t n, bool inverse);
  int64_t size() const { return n_; }
  // In place; x: n elements.
  void Run(std::complex<double>* x);

 private:
  using Complex = std::complex<double>;
  static void PowerOfTwo(std::vector<Complex>& x, const std::vector<Complex>& roots);

  int64_t n_, m_;
  bool inverse_, power_of_two_;
  std::vector<Complex> roots_;  // e^{−2πik/m}, k < m/2
  std::vector<Complex> chirp_, filter_, work_;
};

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_FFT_H_
