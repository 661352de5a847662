#include "kernels/dense/activation.h"

#include <algorithm>

#include "kernels/core/fast_math.h"

namespace retuple::internal {
namespace {

template <typename F>
void Map(const float* add, float* x, int64_t n, F f) {
  if (add == nullptr) {
    for (int64_t i = 0; i < n; ++i) x[i] = f(x[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) x[i] = f(x[i] + add[i]);
  }
}

}  // namespace

void Activate(const Activation& f, int64_t channel, const float* add, float* x, int64_t n) {
  const float a = f.a, b = f.b;
  switch (f.kind) {
    case Activation::Kind::kNone:
      if (add != nullptr) Map(add, x, n, [](float v) { return v; });
      return;
    case Activation::Kind::kRelu:
      return Map(add, x, n, [](float v) { return v < 0 ? 0.0f : v; });
    case Activation::Kind::kClip:
      return Map(add, x, n, [=](float v) {
        v = v < a ? a : v;
        return v > b ? b : v;
      });
    case Activation::Kind::kLeakyRelu:
      return Map(add, x, n, [=](float v) { return v < 0 ? v * a : v; });
    case Activation::Kind::kPRelu: {
      const float slope =
          f.slopes->size() == 1 ? (*f.slopes)[0] : (*f.slopes)[static_cast<size_t>(channel)];
      return Map(add, x, n, [=](float v) { return v < 0 ? v * slope : v; });
    }
    case Activation::Kind::kHardSigmoid:
      return Map(add, x, n, [=](float v) { return std::max(0.0f, std::min(1.0f, a * v + b)); });
    case Activation::Kind::kHardSwish:
      return Map(add, x, n, [=](float v) { return v * std::max(0.0f, std::min(1.0f, a * v + b)); });
    case Activation::Kind::kSigmoid:
      return Map(add, x, n, [](float v) { return FastSigmoid(v); });
    case Activation::Kind::kSwish:
      return Map(add, x, n, [](float v) { return v * FastSigmoid(v); });
    case Activation::Kind::kTanh:
      return Map(add, x, n, [](float v) { return FastTanh(v); });
  }
}

}  // namespace retuple::internal
