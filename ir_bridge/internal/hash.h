// Deterministic hashing: the same value has the same hash on every run and machine of one byte
// order, so that nothing that depends on hash order differs between runs (absl::Hash is seeded by
// process).
#ifndef RETUPLE_IR_BRIDGE_INTERNAL_HASH_H_
#define RETUPLE_IR_BRIDGE_INTERNAL_HASH_H_

#include <cstdint>
#include <cstring>
#include <string_view>

namespace retuple::internal {

// Folds the 128-bit product of two odd-ish words: one multiplication mixes both well enough for
// tables.
inline uint64_t MixWords(uint64_t a, uint64_t b) {
  const unsigned __int128 p =
      static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xc2b2ae3d27d4eb4fu);
  return static_cast<uint64_t>(p) ^ static_cast<uint64_t>(p >> 64);
}

inline uint64_t HashCombine(uint64_t seed, uint64_t v) { return MixWords(seed + 1, v); }

// Four independent lanes keep the multiplier busy; about a byte in 0.1 ns.
inline uint64_t HashBytes(const void* data, size_t n, uint64_t seed = 0) {
  const auto* p = static_cast<const unsigned char*>(data);
  auto word = [](const unsigned char* q) {
    uint64_t w;
    std::memcpy(&w, q, 8);
    return w;
  };
  uint64_t h = HashCombine(seed, n);
  if (n >= 32) {
    uint64_t lane[4] = {h, h + 1, h + 2, h + 3};
    for (; n >= 32; p += 32, n -= 32) {
      for (int i = 0; i < 4; ++i) lane[i] = MixWords(lane[i], word(p + 8 * i));
    }
    h = MixWords(MixWords(lane[0], lane[1]), MixWords(lane[2], lane[3]));
  }
  for (; n >= 8; p += 8, n -= 8) h = MixWords(h, word(p));
  if (n > 0) {
    uint64_t w = 0;
    std::memcpy(&w, p, n);
    h = MixWords(h, w);
  }
  return h;
}

inline uint64_t HashString(std::string_view s, uint64_t seed = 0) {
  return HashBytes(s.data(), s.size(), seed);
}

}  // namespace retuple::internal

#endif  // RETUPLE_IR_BRIDGE_INTERNAL_HASH_H_
