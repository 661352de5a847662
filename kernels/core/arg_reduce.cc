// ArgMax, ArgMin and CumSum: one axis, [outer, n, inner].
//
// The first (or with select_last_index the last) of equal extremes wins; a NaN is the extreme, the first NaN at that.
#include "kernels/core/arith.h"
#include "kernels/core/elementwise.h"

namespace retuple::internal {
namespace {

// True if b replaces the extreme a seen before it.
template <bool kMax, bool kLast, typename C>
bool Replaces(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (a != a) return kLast && b != b;
    if (b != b) return true;
  }
  if constexpr (kLast) return kMax ? b >= a : b <= a;
  return kMax ? b > a : b < a;
}

// The extreme of a run in lanes; NaN if there is one. Pre: n >= 1.
template <bool kMax>
float RunExtreme(const float* x, int64_t n) {
  using F = std::conditional_t<kMax, MaxF, MinF>;
  constexpr int kLanes = 16;
  float top = x[0];
  int64_t i = 0;
  if (n >= kLanes) {
    float lane[kLanes];
    std::copy(x, x + kLanes, lane);
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      RT_LANES
      for (int l = 0; l < kLanes; ++l) lane[l] = F()(lane[l], x[i + l]);
    }
    for (float v : lane) top = F()(top, v);
  }
  for (; i < n; ++i) top = F()(top, x[i]);
  return top;
}

// Where the extreme stands.
template <bool kMax, bool kLast>
int64_t ArgRun(const float* x, int64_t n) {
  const float top = RunExtreme<kMax>(x, n);
  auto find = [&](auto is_top) {
    if constexpr (kLast) {
      int64_t i = n - 1;
      while (i > 0 && !is_top(x[i])) --i;
      return i;
    } else {
      int64_t i = 0;
      while (i < n - 1 && !is_top(x[i])) ++i;
      return i;
    }
  };
  if (top != top) return find([](float v) { return v != v; });
  return find([top](float v) { return v == top; });
}

template <bool kMax, bool kLast, typename T>
void ArgExtreme(const T* x, int64_t* out, int64_t outer, int64_t n, int64_t inner) {
  using C = ComputeType<T>;
  std::vector<C> best(inner > 1 ? inner : 0);
  for (int64_t o = 0; o < outer; ++o, x += n * inner, out += inner) {
    if constexpr (std::is_same_v<T, float>) {
      if (inner == 1) {
        *out = ArgRun<kMax, kLast>(x, n);
        continue;
      }
    }
    if (inner == 1) {
      C top = static_cast<C>(x[0]);
      int64_t at = 0;
      for (int64_t i = 1; i < n; ++i) {
        const C v = static_cast<C>(x[i]);
        if (Replaces<kMax, kLast>(top, v)) top = v, at = i;
      }
      *out = at;
      continue;
    }
    for (int64_t j = 0; j < inner; ++j) best[j] = static_cast<C>(x[j]), out[j] = 0;
    for (int64_t i = 1; i < n; ++i) {
      const T* row = x + i * inner;
      for (int64_t j = 0; j < inner; ++j) {
        const C v = static_cast<C>(row[j]);
        if (Replaces<kMax, kLast>(best[j], v)) best[j] = v, out[j] = i;
      }
    }
  }
}

template <bool kMax>
absl::Status Arg(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  // A scalar counts as one element along axis 0.
  const int rank = std::max(x->rank(), 1);
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, IntAttr(ctx, "axis", 0), rank));
  const bool last = IntAttr(ctx, "select_last_index", 0) != 0;
  const bool keepdims = IntAttr(ctx, "keepdims", 1) != 0;
  const int64_t n = x->rank() == 0 ? 1 : x->dim(axis);
  const int64_t outer = x->rank() == 0 ? 1 : Product(x->dims(), 0, axis);
  const int64_t inner = x->rank() == 0 ? 1 : Product(x->dims(), axis + 1, rank);
  Dims dims = x->dims();
  if (x->rank() > 0) {
    if (keepdims) {
      dims[axis] = 1;
    } else {
      dims.erase(dims.begin() + axis);
    }
  }
  if (n == 0 && outer * inner > 0) return Bad(ctx, "axis %d has size 0", axis);
  return Dispatch<kNumeric>(ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kI64, dims));
    if (y->size() == 0) return absl::OkStatus();
    auto* out = y->template mutable_data<int64_t>();
    if (last) {
      ArgExtreme<kMax, true>(x->data<T>(), out, outer, n, inner);
    } else {
      ArgExtreme<kMax, false>(x->data<T>(), out, outer, n, inner);
    }
    return absl::OkStatus();
  });
}

absl::Status CumSum(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const int64_t wanted, IntInput(ctx, 1));
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, wanted, x->rank()));
  const bool exclusive = IntAttr(ctx, "exclusive", 0) != 0;
  const bool reverse = IntAttr(ctx, "reverse", 0) != 0;
  const int64_t n = x->dim(axis);
  const int64_t outer = Product(x->dims(), 0, axis);
  const int64_t inner = Product(x->dims(), axis + 1, x->rank());
  constexpr TypeSet kTypes =
      kFloats | Bit(DType::kI32) | Bit(DType::kI64) | Bit(DType::kU32) | Bit(DType::kU64);
  return Dispatch<kTypes>(ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    using C = ComputeType<T>;
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), x->dims()));
    if (y->size() == 0) return absl::OkStatus();
    const T* in = x->data<T>();
    T* out = y->template mutable_data<T>();
    std::vector<C> sum(inner);
    for (int64_t o = 0; o < outer; ++o) {
      std::fill(sum.begin(), sum.end(), C{0});
      for (int64_t k = 0; k < n; ++k) {
        const int64_t at = (o * n + (reverse ? n - 1 - k : k)) * inner;
        for (int64_t j = 0; j < inner; ++j) {
          const C next = AddF()(sum[j], static_cast<C>(in[at + j]));
          out[at + j] = static_cast<T>(exclusive ? sum[j] : next);
          sum[j] = next;
        }
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace

void RegisterArgReductions(KernelRegistry& r) {
  r.Add("ArgMax", Arg<true>);
  r.Add("ArgMin", Arg<false>);
}

void RegisterCumSum(KernelRegistry& r) { r.Add("CumSum", CumSum); }

}  // namespace retuple::internal
