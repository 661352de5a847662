// Flush-to-zero and denormals-are-zero for the length of a scope, on the calling thread.
//
// Trained weights push activations into the subnormal range, where x86 arithmetic is up to thirty
// times slower; a run therefore treats subnormals as zero. Elsewhere than on x86 and AArch64 this
// does nothing.
#ifndef RETUPLE_KERNELS_DENORMALS_H_
#define RETUPLE_KERNELS_DENORMALS_H_

#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace retuple {

// The floating-point control word of this thread, to be handed to a helper thread.
inline uint64_t FloatControl() {
#if defined(__SSE__)
  return _mm_getcsr();
#elif defined(__aarch64__)
  uint64_t r;
  asm volatile("mrs %0, fpcr" : "=r"(r));
  return r;
#else
  return 0;
#endif
}

inline void SetFloatControl(uint64_t word) {
#if defined(__SSE__)
  _mm_setcsr(static_cast<unsigned>(word));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(word));
#else
  (void)word;
#endif
}

// The word with subnormals flushed.
inline uint64_t Flushing(uint64_t word) {
#if defined(__SSE__)
  return word | 0x8040;  // FTZ and DAZ
#elif defined(__aarch64__)
  return word | (uint64_t{1} << 24);
#else
  return word;
#endif
}

class ScopedFlushDenormals {
 public:
  explicit ScopedFlushDenormals(bool on) : on_(on) {
    if (on_) {
      old_ = FloatControl();
      SetFloatControl(Flushing(old_));
    }
  }
  ~ScopedFlushDenormals() {
    if (on_) SetFloatControl(old_);
  }
  ScopedFlushDenormals(const ScopedFlushDenormals&) = delete;
  ScopedFlushDenormals& operator=(const ScopedFlushDenormals&) = delete;

 private:
  bool on_;
  uint64_t old_ = 0;
};

}  // namespace retuple

#endif  // RETUPLE_KERNELS_DENORMALS_H_
