// Activations with parameters.
//
// A bound written as a select, `x < 0 ? 0 : x`, keeps NaN and is one vector instruction.
#include "kernels/core/broadcast.h"
#include "kernels/core/elementwise.h"
#include "kernels/core/fast_math.h"

namespace retuple::internal {
namespace {

template <typename C>
C Expm1(C x) {
  return Exp(x) - C{1};
}
template <>
double Expm1(double x) {
  return std::expm1(x);
}

struct ReluF {
  template <typename C>
  C operator()(C x) const {
    return x < C{0} ? C{0} : x;
  }
};
absl::Status Relu(KernelContext& ctx) { return MapUnary<kFloats | kSigned>(ctx, ReluF{}); }

absl::Status LeakyRelu(KernelContext& ctx) {
  const float alpha = FloatAttr(ctx, "alpha", 0.01f);
  return MapUnary<kFloats>(ctx, [alpha](auto x) {
    using C = decltype(x);
    return x < C{0} ? x * static_cast<C>(alpha) : x;
  });
}

absl::Status Elu(KernelContext& ctx) {
  const float alpha = FloatAttr(ctx, "alpha", 1.0f);
  return MapUnary<kFloats>(ctx, [alpha](auto x) {
    using C = decltype(x);
    const C e = static_cast<C>(alpha) * Expm1(x < C{0} ? x : C{0});
    return x < C{0} ? e : x;
  });
}

absl::Status Selu(KernelContext& ctx) {
  const float alpha = FloatAttr(ctx, "alpha", 1.67326319217681884765625f);
  const float gamma = FloatAttr(ctx, "gamma", 1.05070102214813232421875f);
  return MapUnary<kFloats>(ctx, [alpha, gamma](auto x) {
    using C = decltype(x);
    const C e = static_cast<C>(alpha) * Expm1(x < C{0} ? x : C{0});
    return static_cast<C>(gamma) * (x < C{0} ? e : x);
  });
}

// max(0, x) + min(0, α (e^{x/α} − 1)).
absl::Status Celu(KernelContext& ctx) {
  const float alpha = FloatAttr(ctx, "alpha", 1.0f);
  if (alpha == 0) return Bad(ctx, "alpha is 0");
  return MapUnary<kFloats>(ctx, [alpha](auto x) {
    using C = decltype(x);
    const C a = static_cast<C>(alpha);
    const C e = a * Expm1(x / a);
    return (x < C{0} ? C{0} : x) + (e > C{0} ? C{0} : e);
  });
}

template <typename C>
C Unit(C x) {
  const C y = x < C{0} ? C{0} : x;
  return y > C{1} ? C{1} : y;
}

absl::Status HardSigmoid(KernelContext& ctx) {
  const float alpha = FloatAttr(ctx, "alpha", 0.2f);
  const float beta = FloatAttr(ctx, "beta", 0.5f);
  return MapUnary<kFloats>(ctx, [alpha, beta](auto x) {
    using C = decltype(x);
    return Unit<C>(static_cast<C>(alpha) * x + static_cast<C>(beta));
  });
}

absl::Status HardSwish(KernelContext& ctx) {
  return MapUnary<kFloats>(ctx, [](auto x) {
    using C = decltype(x);
    return x * Unit<C>(x * C(1.0 / 6.0) + C(0.5));
  });
}

absl::Status Shrink(KernelContext& ctx) {
  const float lambd = FloatAttr(ctx, "lambd", 0.5f);
  const float bias = FloatAttr(ctx, "bias", 0.0f);
  return MapUnary<kNumeric>(ctx, [lambd, bias](auto x) {
    using C = decltype(x);
    if constexpr (std::is_floating_point_v<C>) {
      const C l = static_cast<C>(lambd), b = static_cast<C>(bias);
      return x < -l ? x + b : (x > l ? x - b : (x != x ? x : C{0}));
    } else {
      const double v = static_cast<double>(x);
      const double y = v < -lambd ? v + bias : (v > lambd ? v - bias : 0.0);
      constexpr double kLow = static_cast<double>(std::numeric_limits<C>::lowest());
      constexpr double kHigh = static_cast<double>(std::numeric_limits<C>::max());
      return !(y > kLow) ? std::numeric_limits<C>::lowest()
                         : (y >= kHigh ? std::numeric_limits<C>::max() : static_cast<C>(y));
    }
  });
}

absl::Status ThresholdedRelu(KernelContext& ctx) {
  const float alpha = FloatAttr(ctx, "alpha", 1.0f);
  return MapUnary<kFloats>(ctx, [alpha](auto x) {
    using C = decltype(x);
    return x > static_cast<C>(alpha) || x != x ? x : C{0};
  });
}

// ---- Clip

template <typename C>
struct ClipF {
  C low, high;
  C operator()(C x) const {
    const C y = x < low ? low : x;
    return y > high ? high : y;
  }
};

absl::Status ClipTo(KernelContext& ctx, const Tensor& x, const Tensor* low, const Tensor* high) {
  return Dispatch<kNumeric>(ctx.op(), x.dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    using C = ComputeType<T>;
    using Limits = std::numeric_limits<C>;
    ClipF<C> f{Limits::has_infinity ? -Limits::infinity() : Limits::lowest(),
               Limits::has_infinity ? Limits::infinity() : Limits::max()};
    if (low != nullptr) f.low = static_cast<C>(*low->data<T>());
    if (high != nullptr) f.high = static_cast<C>(*high->data<T>());
    const T* in = x.data<T>();
    const int64_t n = x.size();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x.dtype(), x.dims()));
    T* out = y->template mutable_data<T>();
    ctx.threads().ParallelFor(n, kElementGrain, [=](int64_t begin, int64_t end) {
      MapRange(in + begin, out + begin, end - begin, f);
    });
    return absl::OkStatus();
  });
}

absl::Status Clip(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const Tensor* bounds[2] = {nullptr, nullptr};
  for (int i = 0; i < 2; ++i) {
    if (i + 1 >= ctx.num_inputs() || !ctx.has(i + 1)) continue;
    RT_ASSIGN_OR_RETURN(bounds[i], InputOf(ctx, i + 1, x->dtype()));
    if (bounds[i]->size() != 1) {
      return Bad(ctx, "bound %d has shape %s, expected a scalar", i, DimsToString(bounds[i]->dims()));
    }
  }
  return ClipTo(ctx, *x, bounds[0], bounds[1]);
}

absl::Status Clip1(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  if (!IsFloat(x->dtype())) return UnservedType(ctx.op(), x->dtype());
  Tensor low, high;
  if (const float* v = FindAttr<float>(ctx.op().attrs, "min")) low = Tensor::ScalarLike(x->dtype(), *v);
  if (const float* v = FindAttr<float>(ctx.op().attrs, "max")) high = Tensor::ScalarLike(x->dtype(), *v);
  return ClipTo(ctx, *x, low.defined() ? &low : nullptr, high.defined() ? &high : nullptr);
}

// ---- PRelu

struct PReluF {
  template <typename C>
  C operator()(C x, C slope) const {
    if constexpr (std::is_integral_v<C>) {
      return x < C{0} ? static_cast<C>(static_cast<uint64_t>(x) * static_cast<uint64_t>(slope)) : x;
    } else {
      return x < C{0} ? x * slope : x;
    }
  }
};

absl::Status PReluWith(KernelContext& ctx, const Tensor& x, const Tensor& slope, const Dims& slope_dims) {
  if (slope.dtype() != x.dtype()) return Bad(ctx, "slope and input differ in element type");
  RT_ASSIGN_OR_RETURN(const Dims out_dims, BroadcastDims(ctx, x.dims(), slope_dims));
  if (out_dims != x.dims()) {
    return Bad(ctx, "slope %s does not broadcast to %s", DimsToString(slope_dims), DimsToString(x.dims()));
  }
  constexpr TypeSet kTypes = kFloats | Bit(DType::kI32) | Bit(DType::kI64) | Bit(DType::kU32) | Bit(DType::kU64);
  return Dispatch<kTypes>(ctx.op(), x.dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    const T* in = x.data<T>();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x.dtype(), out_dims));
    BroadcastBinary(ctx.threads(), in, out_dims, slope.data<T>(), slope_dims,
                    y->template mutable_data<T>(), out_dims, PReluF{});
    return absl::OkStatus();
  });
}

absl::Status PRelu(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* slope, Input(ctx, 1));
  return PReluWith(ctx, *x, *slope, slope->dims());
}

// Opset 1 and 6: one slope, or one a channel.
absl::Status PRelu1(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* slope, Input(ctx, 1));
  Dims dims = slope->dims();
  if (slope->size() == 1) {
    dims.clear();
  } else if (slope->rank() == 1 && x->rank() >= 2) {
    dims.resize(x->rank() - 1, 1);
  }
  return PReluWith(ctx, *x, *slope, dims);
}

}  // namespace

void RegisterActivations(KernelRegistry& r) {
  constexpr KernelFlags kInPlace{.in_place = true};
  r.Add("Celu", Celu, kInPlace);
  r.Add("Clip", Clip, kInPlace);
  r.Add("Clip-1", Clip1, kInPlace);
  r.Add("Elu", Elu, kInPlace);
  r.Add("HardSigmoid", HardSigmoid, kInPlace);
  r.Add("HardSwish", HardSwish, kInPlace);
  r.Add("LeakyRelu", LeakyRelu, kInPlace);
  r.Add("PRelu", PRelu, kInPlace);
  r.Add("PRelu-1", PRelu1, kInPlace);
  r.Add("Relu", Relu, kInPlace);
  r.Add("Selu", Selu, kInPlace);
  r.Add("Shrink", Shrink, kInPlace);
  r.Add("ThresholdedRelu", ThresholdedRelu, kInPlace);
}

}  // namespace retuple::internal
