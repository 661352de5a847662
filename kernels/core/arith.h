// Scalar arithmetic that is defined for every operand: integers wrap, x / 0 is 0, lowest / -1 wraps.
#ifndef RETUPLE_KERNELS_CORE_ARITH_H_
#define RETUPLE_KERNELS_CORE_ARITH_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace retuple::internal {

// An unsigned type in which sums and products of T cannot overflow in the sense of the language.
template <typename T>
using WrapType = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

struct AddF {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return static_cast<C>(static_cast<WrapType<C>>(a) + static_cast<WrapType<C>>(b));
    } else {
      return a + b;
    }
  }
};
struct SubF {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return static_cast<C>(static_cast<WrapType<C>>(a) - static_cast<WrapType<C>>(b));
    } else {
      return a - b;
    }
  }
};
struct MulF {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return static_cast<C>(static_cast<WrapType<C>>(a) * static_cast<WrapType<C>>(b));
    } else {
      return a * b;
    }
  }
};
struct DivF {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<C>) {
        if (b == -1) return SubF()(C{0}, a);
      }
      return static_cast<C>(a / b);
    } else {
      return a / b;
    }
  }
};
// NaN if either is; the first of equals.
struct MaxF {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return a < b ? b : a;
    } else {
      return (a > b) | (a != a) ? a : b;
    }
  }
};
struct MinF {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return b < a ? b : a;
    } else {
      return (a < b) | (a != a) ? a : b;
    }
  }
};

// A double as a T: NaN gives 0, what is out of range the nearest bound.
template <typename T>
T SaturateTo(double v) {
  if constexpr (std::is_integral_v<T>) {
    if (v != v) return 0;
    if (v <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
    if (v >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  }
  return static_cast<T>(v);
}

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_CORE_ARITH_H_
