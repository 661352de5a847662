// Cast, CastLike and the form of opset 1 whose target is a name.
//
// Float to integer truncates towards zero; NaN gives 0, what is out of range the nearest bound. Integers wrap. To
// bool: is not zero. bf16 and f16 round to the nearest even through float.
#include <cctype>

#include "kernels/core/arith.h"
#include "kernels/core/elementwise.h"
#include "kernels/core/number_text.h"
#include "kernels/dense/util.h"

namespace retuple::internal {
namespace {

template <typename S, typename D>
D Convert(S v) {
  using C = ComputeType<S>;
  const C x = static_cast<C>(v);
  if constexpr (std::is_floating_point_v<C> && std::is_integral_v<D>) {
    constexpr C kLow = static_cast<C>(std::numeric_limits<D>::lowest());
    // The bound above: a power of two, exact in C; the greatest C below it is what converts.
    constexpr C kBeyond = static_cast<C>(static_cast<uint64_t>(std::numeric_limits<D>::max()) / 2 + 1) * C{2};
    const bool in_range = x >= kLow && x < kBeyond;
    const D inside = static_cast<D>(in_range ? x : C{0});
    const D outside = x >= kBeyond ? std::numeric_limits<D>::max()
                                   : (x < kLow ? std::numeric_limits<D>::lowest() : D{0});
    return in_range ? inside : outside;
  } else if constexpr (kIs16BitFloat<D>) {
    return static_cast<D>(static_cast<float>(x));
  } else {
    return static_cast<D>(x);
  }
}

template <typename S>
std::string ToText(S v) {
  if constexpr (kIsFloatLike<S>) {
    return FormatFloat(static_cast<ComputeType<S>>(v));
  } else if constexpr (std::is_signed_v<S>) {
    return absl::StrFormat("%d", static_cast<int64_t>(v));
  } else {
    return absl::StrFormat("%d", static_cast<uint64_t>(v));
  }
}

template <typename D>
bool FromText(const std::string& s, D* out) {
  if constexpr (std::is_same_v<D, double>) {
    return ParseFloat(s, out);
  } else if constexpr (kIsFloatLike<D>) {
    float v;
    if (!ParseFloat(s, &v)) return false;
    *out = static_cast<D>(v);
    return true;
  } else if constexpr (std::is_signed_v<D>) {
    int64_t v;
    if (!ParseInt(s, &v)) return false;
    *out = static_cast<D>(v);
    return true;
  } else {
    uint64_t v;
    int64_t negative;
    if (ParseUint(s, &v)) {
      *out = static_cast<D>(v);
    } else if (ParseInt(s, &negative)) {
      *out = static_cast<D>(negative);
    } else {
      return false;
    }
    return true;
  }
}

bool BoolFromText(const std::string& s, uint8_t* out) {
  std::string low = s;
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  double v = 0;
  if (low == "true") {
    v = 1;
  } else if (low != "false" && !ParseFloat(low, &v)) {
    return false;
  }
  *out = v != 0;
  return true;
}

// Strings to `to`.
absl::Status CastText(KernelContext& ctx, const Tensor& x, DType to) {
  const std::string* in = x.data<std::string>();
  return Dispatch<kNumeric | kBools>(ctx.op(), to, [&]<typename D>(TypeTag<D>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, to, x.dims()));
    D* out = y->template mutable_data<D>();
    for (int64_t i = 0; i < x.size(); ++i) {
      bool ok = false;
      if constexpr (std::is_same_v<D, uint8_t>) {
        ok = to == DType::kBool ? BoolFromText(in[i], out + i) : FromText(in[i], out + i);
      } else {
        ok = FromText(in[i], out + i);
      }
      if (!ok) return Bad(ctx, "\"%s\" is not a number", in[i]);
    }
    return absl::OkStatus();
  });
}

template <typename T>
constexpr DType DTypeOf() {
  return std::is_same_v<T, Half> ? DType::kF16 : DType::kBF16;
}

template <typename S>
absl::Status CastNumbers(KernelContext& ctx, const Tensor& x, DType to) {
  const S* in = x.data<S>();
  const int64_t n = x.size();
  if (to == DType::kBool) {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, to, x.dims()));
    auto* out = y->mutable_data<uint8_t>();
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<ComputeType<S>>(in[i]) != 0;
    return absl::OkStatus();
  }
  return Dispatch<kNumeric>(ctx.op(), to, [&]<typename D>(TypeTag<D>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, to, x.dims()));
    D* out = y->template mutable_data<D>();
    ctx.threads().ParallelFor(n, kElementGrain, [=](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<S, float> && kIs16BitFloat<D>) {
        return NarrowFloats(to, in + begin, end - begin, out + begin);
      }
      if constexpr (kIs16BitFloat<S> && std::is_same_v<D, float>) {
        return WidenFloats(DTypeOf<S>(), in + begin, end - begin, out + begin);
      }
      RT_IVDEP
      for (int64_t i = begin; i < end; ++i) out[i] = Convert<S, D>(in[i]);
    });
    return absl::OkStatus();
  });
}

absl::Status CastTo(KernelContext& ctx, const Tensor& x, DType to) {
  if (to == x.dtype()) {
    if (to == DType::kBool || to == DType::kString || DTypeSize(to) > 0) {
      ctx.SetOutput(0, x);
      return absl::OkStatus();
    }
  }
  if (x.dtype() == DType::kString) return CastText(ctx, x, to);
  if (to == DType::kString) {
    return Dispatch<kNumeric | kBools>(ctx.op(), x.dtype(), [&]<typename S>(TypeTag<S>) -> absl::Status {
      RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, to, x.dims()));
      auto* out = y->template mutable_data<std::string>();
      const S* in = x.data<S>();
      const bool is_bool = x.dtype() == DType::kBool;
      for (int64_t i = 0; i < x.size(); ++i) {
        out[i] = is_bool ? (in[i] != static_cast<S>(0) ? "True" : "False") : ToText(in[i]);
      }
      return absl::OkStatus();
    });
  }
  if (x.dtype() == DType::kBool) {
    const auto* in = x.data<uint8_t>();
    return Dispatch<kNumeric>(ctx.op(), to, [&]<typename D>(TypeTag<D>) -> absl::Status {
      RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, to, x.dims()));
      D* out = y->template mutable_data<D>();
      for (int64_t i = 0; i < x.size(); ++i) out[i] = static_cast<D>(in[i] != 0 ? 1 : 0);
      return absl::OkStatus();
    });
  }
  return Dispatch<kNumeric>(ctx.op(), x.dtype(), [&]<typename S>(TypeTag<S>) -> absl::Status {
    return CastNumbers<S>(ctx, x, to);
  });
}

absl::Status Cast(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const int64_t to = IntAttr(ctx, "to", 0);
  if (to < 1 || to > static_cast<int64_t>(DType::kI4)) return Bad(ctx, "to is %d", to);
  return CastTo(ctx, *x, static_cast<DType>(to));
}

absl::Status Cast1(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  static constexpr struct {
    std::string_view name;
    DType dtype;
  } kNames[] = {{"FLOAT", DType::kF32},   {"UINT8", DType::kU8},     {"INT8", DType::kI8},
                {"UINT16", DType::kU16},  {"INT16", DType::kI16},    {"INT32", DType::kI32},
                {"INT64", DType::kI64},   {"STRING", DType::kString}, {"BOOL", DType::kBool},
                {"FLOAT16", DType::kF16}, {"DOUBLE", DType::kF64},   {"UINT32", DType::kU32},
                {"UINT64", DType::kU64},  {"BFLOAT16", DType::kBF16}};
  const std::string to = StringAttr(ctx, "to", "");
  for (const auto& n : kNames) {
    if (n.name == to) return CastTo(ctx, *x, n.dtype);
  }
  return Bad(ctx, "to is \"%s\"", to);
}

absl::Status CastLike(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* like, Input(ctx, 1));
  return CastTo(ctx, *x, like->dtype());
}

}  // namespace

void RegisterCast(KernelRegistry& r) {
  // A cast to the same type forwards its input.
  constexpr KernelFlags kView{.view = true};
  r.Add("Cast", Cast, kView);
  r.Add("Cast-1", Cast1, kView);
  r.Add("CastLike", CastLike, kView);
}

}  // namespace retuple::internal
