// Pow and Mod.
//
// Pow's result has the base's element type; the exponent may have another. Frequent constant exponents are
// multiplications or roots. An integer power wraps; a negative exponent of an integer base gives the truncated
// quotient (0 but for bases 1 and -1; base 0 gives 0).
#include "kernels/core/arith.h"
#include "kernels/core/broadcast.h"

namespace retuple::internal {
namespace {

template <typename C>
C IntegerPower(C base, int64_t e) {
  if (e < 0) {
    if (base == 1) return 1;
    if constexpr (std::is_signed_v<C>) {
      if (base == -1) return (e & 1) ? C(-1) : C(1);
    }
    return 0;
  }
  uint64_t result = 1, b = static_cast<uint64_t>(base);
  for (uint64_t k = static_cast<uint64_t>(e); k != 0; k >>= 1) {
    if (k & 1) result *= b;
    b *= b;
  }
  return static_cast<C>(result);
}

struct PowF {
  template <typename C, typename E>
  C operator()(C x, E e) const {
    if constexpr (std::is_integral_v<C> && std::is_integral_v<E>) {
      return IntegerPower<C>(x, e);
    } else if constexpr (std::is_integral_v<C>) {
      return SaturateTo<C>(std::pow(static_cast<double>(x), static_cast<double>(e)));
    } else {
      return static_cast<C>(std::pow(x, static_cast<C>(e)));
    }
  }
};

// x^e for an exponent that has a cheaper spelling; false if it has none.
template <typename T>
bool SpecialPower(ThreadPool& threads, const T* x, T* out, int64_t n, double e) {
  using C = ComputeType<T>;
  auto map = [&](auto f) {
    threads.ParallelFor(n, kElementGrain, [=](int64_t begin, int64_t end) {
      MapRange(x + begin, out + begin, end - begin, f);
    });
    return true;
  };
  if (e == 2) return map([](C v) { return v * v; });
  if (e == 1) return map([](C v) { return v; });
  if (e == 3) return map([](C v) { return v * v * v; });
  if (e == -1) return map([](C v) { return C{1} / v; });
  if constexpr (std::is_same_v<T, float>) {
    // pow(-0, ½) is +0 and pow(-inf, ½) is +inf, unlike the root.
    if (e == 0.5) {
      threads.ParallelFor(n, kElementGrain, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const float v = x[i] + 0.0f;
          out[i] = v == -std::numeric_limits<float>::infinity() ? -v : v;
        }
        Eigen::Map<Eigen::ArrayXf> y(out + begin, end - begin);
        y = y.sqrt();
      });
      return true;
    }
  }
  return false;
}

template <typename T, typename E>
absl::Status PowTyped(KernelContext& ctx, const BinaryOperands& x, const E* exponent) {
  const T* base = x.a->data<T>();
  const Dims a_dims = x.a->dims();
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x.a->dtype(), x.out));
  T* out = y->template mutable_data<T>();
  if constexpr (kIsFloatLike<T>) {
    if (x.b->size() == 1 && x.a->dims() == x.out &&
        SpecialPower(ctx.threads(), base, out, y->size(), static_cast<double>(*exponent))) {
      return absl::OkStatus();
    }
  }
  BroadcastBinary(ctx.threads(), base, a_dims, exponent, x.b_dims, out, x.out, PowF{});
  return absl::OkStatus();
}

template <bool kLegacy>
absl::Status Pow(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const BinaryOperands x, ReadBinary(ctx, kLegacy));
  const Tensor& e = *x.b;
  return Dispatch<kNumeric>(ctx.op(), x.a->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    if constexpr (kIsFloatLike<T>) {
      if (e.dtype() == x.a->dtype()) return PowTyped<T>(ctx, x, e.data<T>());
    }
    if (!IsFloat(e.dtype()) && !IsInteger(e.dtype())) return UnservedType(ctx.op(), e.dtype());
    // Other exponents in one of two types.
    if (IsInteger(e.dtype())) {
      auto* wide = static_cast<int64_t*>(ctx.Scratch(static_cast<size_t>(e.size() + 1) * sizeof(int64_t)));
      if (wide == nullptr) return absl::ResourceExhaustedError("Pow: no memory for the exponents");
      for (int64_t i = 0; i < e.size(); ++i) wide[i] = e.IntAt(i);
      return PowTyped<T>(ctx, x, wide);
    }
    auto* wide = static_cast<double*>(ctx.Scratch(static_cast<size_t>(e.size() + 1) * sizeof(double)));
    if (wide == nullptr) return absl::ResourceExhaustedError("Pow: no memory for the exponents");
    for (int64_t i = 0; i < e.size(); ++i) wide[i] = e.At(i);
    return PowTyped<T>(ctx, x, wide);
  });
}

// fmod = 0: the sign of the divisor (Python); fmod = 1: the sign of the dividend (C). x mod 0 is 0 for integers.
struct FloorModF {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<C>) {
        if (b == -1) return 0;
        const C r = static_cast<C>(a % b);
        return r != 0 && (r < 0) != (b < 0) ? static_cast<C>(r + b) : r;
      } else {
        return static_cast<C>(a % b);
      }
    } else {
      const C r = std::fmod(a, b);
      if (r == 0) return std::copysign(r, b);
      return (r < 0) != (b < 0) ? r + b : r;
    }
  }
};
struct TruncModF {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<C>) {
        if (b == -1) return 0;
      }
      return static_cast<C>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

template <typename F>
absl::Status ModWith(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const BinaryOperands x, ReadBinary(ctx, false));
  if (x.a->dtype() != x.b->dtype()) return Bad(ctx, "the operands differ in element type");
  return Dispatch<kNumeric>(ctx.op(), x.a->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    const T* a = x.a->data<T>();
    const Dims a_dims = x.a->dims();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x.a->dtype(), x.out));
    BroadcastBinary(ctx.threads(), a, a_dims, x.b->data<T>(), x.b_dims, y->template mutable_data<T>(), x.out,
                    F{});
    return absl::OkStatus();
  });
}

absl::Status Mod(KernelContext& ctx) {
  return IntAttr(ctx, "fmod", 0) != 0 ? ModWith<TruncModF>(ctx) : ModWith<FloorModF>(ctx);
}

}  // namespace

void RegisterPower(KernelRegistry& r) {
  constexpr KernelFlags kInPlace{.in_place = true};
  r.Add("Pow", Pow<false>, kInPlace);
  r.Add("Pow-1", Pow<true>, kInPlace);
  r.Add("Mod", Mod, kInPlace);
}

}  // namespace retuple::internal
