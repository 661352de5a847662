// Element-wise functions that a convolution or a product applies to its result while it is in the
// cache.
#ifndef RETUPLE_KERNELS_DENSE_ACTIVATION_H_
#define RETUPLE_KERNELS_DENSE_ACTIVATION_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace retuple::internal {

struct Activation {
  enum class Kind : uint8_t {
    kNone,
    kRelu,
    kClip,         // to [a, b]
    kLeakyRelu,    // slope a
    kPRelu,        // slope of the channel
    kHardSigmoid,  // clip(a · x + b, 0, 1)
    kHardSwish,    // x · clip(a · x + b, 0, 1)
    kSigmoid,
    kSwish,  // x · sigmoid(x)
    kTanh,
  };
  Kind kind = Kind::kNone;
  float a = 0, b = 0;
  std::shared_ptr<const std::vector<float>> slopes;  // kPRelu: one a channel, or one for all
};

// x[i] = f(x[i] + add[i]) for i < n, all of channel `channel`; `add` may be null.
void Activate(const Activation& f, int64_t channel, const float* add, float* x, int64_t n);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_ACTIVATION_H_
