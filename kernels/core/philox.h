// A counter-based random generator: Philox 4x32 with ten rounds (Salmon, Moraes, Dror, Shaw, "Parallel random numbers:
// as easy as 1, 2, 3", SC 2011). Block k of a stream depends on the seed and k alone, so that a draw is the same
// whatever the order or the number of threads.
#ifndef RETUPLE_KERNELS_CORE_PHILOX_H_
#define RETUPLE_KERNELS_CORE_PHILOX_H_

#include <array>
#include <cmath>
#include <cstdint>

namespace retuple::internal {

class Philox {
 public:
  explicit Philox(uint64_t seed) : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)} {}

  // Four random words.
  std::array<uint32_t, 4> Block(uint64_t counter) const {
    std::array<uint32_t, 4> c{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
    uint32_t k0 = key_[0], k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c[0];
      const uint64_t p1 = uint64_t{0xCD9E8D57u} * c[2];
      c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return c;
  }

  // Uniform in [0, 1), 53 bits; draw i of the stream.
  double Uniform(uint64_t i) const {
    const auto b = Block(i >> 1);
    const uint64_t w = i & 1 ? (uint64_t{b[2]} << 32 | b[3]) : (uint64_t{b[0]} << 32 | b[1]);
    return static_cast<double>(w >> 11) * 0x1.0p-53;
  }

  // Standard normal by Box and Muller; draw i of the stream.
  double Normal(uint64_t i) const {
    const double u = 1.0 - Uniform(i & ~uint64_t{1});  // in (0, 1]
    const double v = 6.283185307179586 * Uniform(i | 1);
    const double r = std::sqrt(-2.0 * std::log(u));
    return i & 1 ? r * std::sin(v) : r * std::cos(v);
  }

 private:
  uint32_t key_[2];
};

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_CORE_PHILOX_H_
