// Element-wise functions of one operand without parameters.
//
// Semantics are those of IEEE arithmetic and NumPy: NaN in gives NaN out, sign(NaN) is NaN, round is to the nearest
// even, integer abs and neg of the lowest value wrap.
// Nobody reads floating-point exception flags here: only so may GCC turn both sides of a select into vector code.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math", "no-math-errno")
#endif

#include "kernels/core/elementwise.h"
#include "kernels/core/fast_math.h"

namespace retuple::internal {
namespace {

template <TypeSet kSet, typename F>
absl::Status Unary(KernelContext& ctx) {
  return MapUnary<kSet>(ctx, F{});
}

#define RT_UNARY_FUNCTOR(Name, expr)        \
  struct Name {                             \
    template <typename C>                   \
    C operator()(C x) const {               \
      return static_cast<C>(expr);          \
    }                                       \
  }

struct AbsF {
  template <typename C>
  C operator()(C x) const {
    if constexpr (std::is_floating_point_v<C>) {
      return std::fabs(x);
    } else if constexpr (std::is_signed_v<C>) {
      using U = std::make_unsigned_t<C>;
      return static_cast<C>(x < 0 ? static_cast<U>(U{0} - static_cast<U>(x)) : static_cast<U>(x));
    } else {
      return x;
    }
  }
};
struct NegF {
  template <typename C>
  C operator()(C x) const {
    if constexpr (std::is_floating_point_v<C>) {
      return -x;
    } else {
      using U = std::make_unsigned_t<C>;
      return static_cast<C>(static_cast<U>(U{0} - static_cast<U>(x)));
    }
  }
};
struct SignF {
  template <typename C>
  C operator()(C x) const {
    if constexpr (std::is_floating_point_v<C>) {
      const C s = x > 0 ? C{1} : (x < 0 ? C{-1} : C{0});
      return x != x ? x : s;
    } else {
      return static_cast<C>((x > 0) - (x < 0));
    }
  }
};
// x tanh(log(1 + e^x)) = x (e² + 2e) / (e² + 2e + 2), e = e^x; from 20 on the quotient is 1.
struct MishF {
  template <typename C>
  C operator()(C x) const {
    const C e = Exp(CapAt(x, C{20}));
    const C n = e * (e + C{2});
    return x * (n / (n + C{2}));
  }
};
struct GeluErfF {
  template <typename C>
  C operator()(C x) const {
    return C(0.5) * x * (C{1} + Erf(x * C(0.70710678118654752)));
  }
};
struct GeluTanhF {
  template <typename C>
  C operator()(C x) const {
    return C(0.5) * x * (C{1} + Tanh(C(0.79788456080286536) * (x + C(0.044715) * x * x * x)));
  }
};

RT_UNARY_FUNCTOR(AcosF, std::acos(x));
RT_UNARY_FUNCTOR(AcoshF, std::acosh(x));
RT_UNARY_FUNCTOR(AsinF, std::asin(x));
RT_UNARY_FUNCTOR(AsinhF, std::asinh(x));
RT_UNARY_FUNCTOR(AtanF, std::atan(x));
RT_UNARY_FUNCTOR(AtanhF, std::atanh(x));
RT_UNARY_FUNCTOR(CeilF, std::ceil(x));
RT_UNARY_FUNCTOR(CosF, std::cos(x));
RT_UNARY_FUNCTOR(CoshF, std::cosh(x));
RT_UNARY_FUNCTOR(ErfF, Erf(x));
RT_UNARY_FUNCTOR(ExpF, Exp(x));
RT_UNARY_FUNCTOR(FloorF, std::floor(x));
RT_UNARY_FUNCTOR(LogF, Log(x));
RT_UNARY_FUNCTOR(ReciprocalF, C{1} / x);
RT_UNARY_FUNCTOR(RoundF, std::nearbyint(x));
RT_UNARY_FUNCTOR(SigmoidF, Sigmoid(x));
RT_UNARY_FUNCTOR(SinF, std::sin(x));
RT_UNARY_FUNCTOR(SinhF, std::sinh(x));
RT_UNARY_FUNCTOR(SoftplusF, Softplus(x));
RT_UNARY_FUNCTOR(SoftsignF, x / (C{1} + std::fabs(x)));
RT_UNARY_FUNCTOR(TanF, std::tan(x));
RT_UNARY_FUNCTOR(TanhF, Tanh(x));
RT_UNARY_FUNCTOR(BitNotF, ~x);
RT_UNARY_FUNCTOR(NotF, x == 0);

// std::sqrt sets errno, which keeps a loop scalar; Eigen has the vector instruction.
struct SqrtF {
  template <typename C>
  C operator()(C x) const {
    return std::sqrt(x);
  }
};

absl::Status SqrtKernel(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  if (x->dtype() != DType::kF32) return Unary<kFloats, SqrtF>(ctx);
  const float* in = x->data<float>();
  const int64_t n = x->size();
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), x->dims()));
  float* out = y->mutable_data<float>();
  ctx.threads().ParallelFor(n, kElementGrain, [=](int64_t begin, int64_t end) {
    Eigen::Map<Eigen::ArrayXf>(out + begin, end - begin) =
        Eigen::Map<const Eigen::ArrayXf>(in + begin, end - begin).sqrt();
  });
  return absl::OkStatus();
}

absl::Status Gelu(KernelContext& ctx) {
  const std::string approximate = StringAttr(ctx, "approximate", "none");
  if (approximate == "tanh") return MapUnary<kFloats>(ctx, GeluTanhF{});
  if (approximate == "none") return MapUnary<kFloats>(ctx, GeluErfF{});
  return Bad(ctx, "approximate is \"%s\", expected none or tanh", approximate);
}

// f: ComputeType -> bool.
template <typename F>
absl::Status Predicate(KernelContext& ctx, F f) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  return Dispatch<kFloats>(ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    const T* in = x->data<T>();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kBool, x->dims()));
    auto* out = y->mutable_data<uint8_t>();
    for (int64_t i = 0, n = x->size(); i < n; ++i) out[i] = f(static_cast<ComputeType<T>>(in[i]));
    return absl::OkStatus();
  });
}

absl::Status IsNaN(KernelContext& ctx) {
  return Predicate(ctx, [](auto x) { return x != x; });
}

absl::Status IsInf(KernelContext& ctx) {
  const bool positive = IntAttr(ctx, "detect_positive", 1) != 0;
  const bool negative = IntAttr(ctx, "detect_negative", 1) != 0;
  return Predicate(ctx, [=](auto x) {
    using C = decltype(x);
    constexpr C kInf = std::numeric_limits<C>::infinity();
    return (positive && x == kInf) || (negative && x == -kInf);
  });
}

}  // namespace

void RegisterUnary(KernelRegistry& r) {
  constexpr KernelFlags kInPlace{.in_place = true};
  r.Add("Abs", Unary<kNumeric, AbsF>, kInPlace);
  r.Add("Acos", Unary<kFloats, AcosF>, kInPlace);
  r.Add("Acosh", Unary<kFloats, AcoshF>, kInPlace);
  r.Add("Asin", Unary<kFloats, AsinF>, kInPlace);
  r.Add("Asinh", Unary<kFloats, AsinhF>, kInPlace);
  r.Add("Atan", Unary<kFloats, AtanF>, kInPlace);
  r.Add("Atanh", Unary<kFloats, AtanhF>, kInPlace);
  r.Add("BitwiseNot", Unary<kInts, BitNotF>, kInPlace);
  r.Add("Ceil", Unary<kFloats, CeilF>, kInPlace);
  r.Add("Cos", Unary<kFloats, CosF>, kInPlace);
  r.Add("Cosh", Unary<kFloats, CoshF>, kInPlace);
  r.Add("Erf", Unary<kFloats, ErfF>, kInPlace);
  r.Add("Exp", Unary<kFloats, ExpF>, kInPlace);
  r.Add("Floor", Unary<kFloats, FloorF>, kInPlace);
  r.Add("Gelu", Gelu, kInPlace);
  r.Add("IsInf", IsInf);
  r.Add("IsNaN", IsNaN);
  r.Add("Log", Unary<kFloats, LogF>, kInPlace);
  r.Add("Mish", Unary<kFloats, MishF>, kInPlace);
  r.Add("Neg", Unary<kFloats | kSigned, NegF>, kInPlace);
  r.Add("Not", Unary<kBools, NotF>, kInPlace);
  r.Add("Reciprocal", Unary<kFloats, ReciprocalF>, kInPlace);
  r.Add("Round", Unary<kFloats, RoundF>, kInPlace);
  r.Add("Sigmoid", Unary<kFloats, SigmoidF>, kInPlace);
  r.Add("Sign", Unary<kNumeric, SignF>, kInPlace);
  r.Add("Sin", Unary<kFloats, SinF>, kInPlace);
  r.Add("Sinh", Unary<kFloats, SinhF>, kInPlace);
  r.Add("Softplus", Unary<kFloats, SoftplusF>, kInPlace);
  r.Add("Softsign", Unary<kFloats, SoftsignF>, kInPlace);
  r.Add("Sqrt", SqrtKernel, kInPlace);
  r.Add("Tan", Unary<kFloats, TanF>, kInPlace);
  r.Add("Tanh", Unary<kFloats, TanhF>, kInPlace);
}

}  // namespace retuple::internal
