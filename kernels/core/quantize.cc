// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
//
// y = saturate(round(x / scale) + zero_point), halves to even; x = (y - zero_point) · scale. Scale and zero point
// are scalars, or vectors along `axis`.
#include <cmath>

#include "kernels/core/arith.h"
#include "kernels/core/elementwise.h"

namespace retuple::internal {
namespace {

// How scale and zero point are laid over the data: [outer, n, inner] with one parameter per entry of n.
struct Layout {
  int64_t outer = 1, n = 1, inner = 1;
};

absl::StatusOr<Layout> ReadLayout(const KernelContext& ctx, const Tensor& x, const Tensor& scale,
                                  const Tensor* zero_point) {
  if (IntAttr(ctx, "block_size", 0) != 0) return Unserved(ctx, "blocked quantisation");
  if (zero_point != nullptr && zero_point->size() != scale.size()) {
    return Bad(ctx, "zero point %s and scale %s differ", DimsToString(zero_point->dims()),
               DimsToString(scale.dims()));
  }
  Layout l;
  if (scale.size() == 1 && scale.rank() <= 1) {
    l.inner = x.size();
    return l;
  }
  if (scale.rank() != 1) return Bad(ctx, "scale has rank %d", scale.rank());
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, IntAttr(ctx, "axis", 1), x.rank()));
  if (scale.size() != x.dim(axis)) {
    return Bad(ctx, "%d scales for axis %d of %s", scale.size(), axis, DimsToString(x.dims()));
  }
  l.outer = Product(x.dims(), 0, axis);
  l.n = x.dim(axis);
  l.inner = Product(x.dims(), axis + 1, x.rank());
  return l;
}

absl::StatusOr<const Tensor*> ZeroPoint(const KernelContext& ctx) {
  if (ctx.num_inputs() < 3 || !ctx.has(2)) return nullptr;
  return Input(ctx, 2);
}

template <typename Q>
Q Saturate(float rounded, int32_t zero) {
  const float low = static_cast<float>(std::numeric_limits<Q>::lowest() - zero);
  const float high = static_cast<float>(std::numeric_limits<Q>::max() - zero);
  float v = rounded < low ? low : rounded;
  v = v > high ? high : v;
  v = v != v ? 0.0f : v;
  return static_cast<Q>(static_cast<int32_t>(v) + zero);
}

// A function of its own: inside a lambda a store through Q* might alter the captured numbers, which keeps it scalar.
template <typename Q, typename T>
void QuantizeRow(const T* x, Q* out, int64_t n, float scale, int32_t zero) {
  RT_IVDEP
  for (int64_t i = 0; i < n; ++i) out[i] = Saturate<Q>(std::nearbyint(static_cast<float>(x[i]) / scale), zero);
}

constexpr TypeSet kQuantized = Bit(DType::kU8) | Bit(DType::kI8) | Bit(DType::kU16) | Bit(DType::kI16);
constexpr TypeSet kQuantizeFrom = Bit(DType::kF32) | Bit(DType::kF16) | Bit(DType::kBF16);

absl::Status QuantizeLinear(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* scale, Input(ctx, 1));
  RT_ASSIGN_OR_RETURN(const Tensor* zero_point, ZeroPoint(ctx));
  RT_ASSIGN_OR_RETURN(const Layout l, ReadLayout(ctx, *x, *scale, zero_point));
  if (!IsFloat(scale->dtype())) return Bad(ctx, "scale is not a float");
  DType to = zero_point ? zero_point->dtype() : DType::kU8;
  if (const int64_t wanted = IntAttr(ctx, "output_dtype", 0); !zero_point && wanted > 0 && wanted <= 22) {
    to = static_cast<DType>(wanted);
  }
  return Dispatch<kQuantized>(ctx.op(), to, [&]<typename Q>(TypeTag<Q>) -> absl::Status {
    // i32 is legal as an input of QuantizeLinear.
    return Dispatch<kQuantizeFrom | Bit(DType::kI32)>(
        ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
          RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, to, x->dims()));
          Q* out = y->template mutable_data<Q>();
          const T* in = x->data<T>();
          const Q* zeros = zero_point ? zero_point->data<Q>() : nullptr;
          for (int64_t o = 0; o < l.outer; ++o) {
            for (int64_t c = 0; c < l.n; ++c, in += l.inner, out += l.inner) {
              const float s = static_cast<float>(scale->At(c));
              const int32_t zero = zeros ? zeros[c] : 0;
              const T* from = in;
              Q* to_row = out;
              ctx.threads().ParallelFor(l.inner, kElementGrain, [=](int64_t begin, int64_t end) {
                QuantizeRow(from + begin, to_row + begin, end - begin, s, zero);
              });
            }
          }
          return absl::OkStatus();
        });
  });
}

absl::Status DequantizeLinear(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* scale, Input(ctx, 1));
  RT_ASSIGN_OR_RETURN(const Tensor* zero_point, ZeroPoint(ctx));
  RT_ASSIGN_OR_RETURN(const Layout l, ReadLayout(ctx, *x, *scale, zero_point));
  if (zero_point != nullptr && zero_point->dtype() != x->dtype()) {
    return Bad(ctx, "zero point and input differ in element type");
  }
  return Dispatch<kQuantized | Bit(DType::kI32)>(ctx.op(), x->dtype(), [&]<typename Q>(TypeTag<Q>) -> absl::Status {
    return Dispatch<kQuantizeFrom>(ctx.op(), scale->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
      RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, scale->dtype(), x->dims()));
      T* out = y->template mutable_data<T>();
      const Q* in = x->data<Q>();
      const Q* zeros = zero_point ? zero_point->data<Q>() : nullptr;
      for (int64_t o = 0; o < l.outer; ++o) {
        for (int64_t c = 0; c < l.n; ++c, in += l.inner, out += l.inner) {
          const float s = static_cast<float>(scale->data<T>()[c]);
          const int64_t zero = zeros ? static_cast<int64_t>(zeros[c]) : 0;
          for (int64_t i = 0; i < l.inner; ++i) {
            out[i] = static_cast<T>(static_cast<float>(static_cast<int64_t>(in[i]) - zero) * s);
          }
        }
      }
      return absl::OkStatus();
    });
  });
}

// The range of x, stretched to contain 0, onto [0, 255].
absl::Status DynamicQuantizeLinear(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, InputOf(ctx, 0, DType::kF32));
  const float* in = x->data<float>();
  const int64_t n = x->size();
  float low = 0, high = 0;
  // Lanes let the compiler keep minimum and maximum in vectors.
  constexpr int kLanes = 16;
  float lows[kLanes] = {}, highs[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    RT_LANES
    for (int l = 0; l < kLanes; ++l) lows[l] = in[i + l] < lows[l] ? in[i + l] : lows[l];
    RT_LANES
    for (int l = 0; l < kLanes; ++l) highs[l] = in[i + l] > highs[l] ? in[i + l] : highs[l];
  }
  for (; i < n; ++i) {
    low = std::min(low, in[i]);
    high = std::max(high, in[i]);
  }
  for (int l = 0; l < kLanes; ++l) {
    low = std::min(low, lows[l]);
    high = std::max(high, highs[l]);
  }
  float scale = (high - low) / 255.0f;
  if (scale == 0) scale = 1.0f;
  const float zero = std::nearbyint(std::clamp(-low / scale, 0.0f, 255.0f));
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kU8, x->dims()));
  RT_ASSIGN_OR_RETURN(Tensor* y_scale, ctx.Output(1, DType::kF32, {}));
  RT_ASSIGN_OR_RETURN(Tensor* y_zero, ctx.Output(2, DType::kU8, {}));
  *y_scale->mutable_data<float>() = scale;
  *y_zero->mutable_data<uint8_t>() = static_cast<uint8_t>(zero == zero ? zero : 0.0f);
  const int32_t zero_point = *y_zero->data<uint8_t>();
  auto* out = y->mutable_data<uint8_t>();
  ctx.threads().ParallelFor(n, kElementGrain, [=](int64_t begin, int64_t end) {
    QuantizeRow(in + begin, out + begin, end - begin, scale, zero_point);
  });
  return absl::OkStatus();
}

}  // namespace

void RegisterQuantize(KernelRegistry& r) {
  r.Add("QuantizeLinear", QuantizeLinear);
  r.Add("DequantizeLinear", DequantizeLinear);
  r.Add("DynamicQuantizeLinear", DynamicQuantizeLinear);
}

}  // namespace retuple::internal
