// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
//
// input: [N, C, d1, …], target: [N, d1, …] of class numbers. The loss of an entry is -w[t] · input[n, t, d], or 0
// where the target is ignore_index; `mean` divides the sum by the sum of the weights that took part.
#include <cmath>

#include "kernels/core/fast_math.h"
#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

struct LossShape {
  int64_t n, c, d;
};

absl::StatusOr<LossShape> ReadShape(const KernelContext& ctx, const Tensor& x, const Tensor& target) {
  bool fits = x.rank() >= 2 && target.rank() == x.rank() - 1 && target.dim(0) == x.dim(0);
  for (int i = 2; fits && i < x.rank(); ++i) fits = x.dim(i) == target.dim(i - 1);
  if (!fits) {
    return Bad(ctx, "input %s and target %s do not fit", DimsToString(x.dims()), DimsToString(target.dims()));
  }
  return LossShape{x.dim(0), x.dim(1), Product(x.dims(), 2, x.rank())};
}

// Output 0 from log probabilities [n, c, d].
template <typename T>
absl::Status Loss(KernelContext& ctx, DType dtype, const double* log_p, const LossShape& s, const Tensor& target,
                  const Tensor* weight) {
  const std::string reduction = StringAttr(ctx, "reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    return Bad(ctx, "reduction is \"%s\"", reduction);
  }
  if (target.dtype() != DType::kI32 && target.dtype() != DType::kI64) return Bad(ctx, "targets are not i32 or i64");
  if (weight != nullptr && (weight->rank() != 1 || weight->dim(0) != s.c || weight->dtype() != dtype)) {
    return Bad(ctx, "weight does not fit %d classes", s.c);
  }
  const int64_t* ignore = FindAttr<int64_t>(ctx.op().attrs, "ignore_index");
  T* each = nullptr;
  if (reduction == "none") {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, dtype, target.dims()));
    each = y->template mutable_data<T>();
  }
  double sum = 0, total_weight = 0;
  for (int64_t i = 0; i < s.n * s.d; ++i) {
    const int64_t t = target.IntAt(i);
    double loss = 0;
    if (ignore == nullptr || t != *ignore) {
      if (t < 0 || t >= s.c) return Bad(ctx, "target %d is out of range for %d classes", t, s.c);
      const double w = weight ? static_cast<double>(weight->data<T>()[t]) : 1.0;
      loss = -w * log_p[(i / s.d * s.c + t) * s.d + i % s.d];
      total_weight += w;
    }
    sum += loss;
    if (each) each[i] = static_cast<T>(static_cast<ComputeType<T>>(loss));
  }
  if (each) return absl::OkStatus();
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, dtype, {}));
  const double value = reduction == "mean" ? sum / total_weight : sum;
  *y->template mutable_data<T>() = static_cast<T>(static_cast<ComputeType<T>>(value));
  return absl::OkStatus();
}

template <bool kSoftmax>
absl::Status LossKernel(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* target, Input(ctx, 1));
  const Tensor* weight = nullptr;
  if (ctx.num_inputs() > 2 && ctx.has(2)) {
    RT_ASSIGN_OR_RETURN(weight, Input(ctx, 2));
  }
  RT_ASSIGN_OR_RETURN(const LossShape s, ReadShape(ctx, *x, *target));
  return Dispatch<kFloats>(ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    auto* log_p = static_cast<double*>(ctx.Scratch(static_cast<size_t>(x->size() + 1) * sizeof(double)));
    if (log_p == nullptr) return absl::ResourceExhaustedError(absl::StrFormat("%s: no memory", ctx.op().form()));
    const T* in = x->data<T>();
    for (int64_t i = 0; i < x->size(); ++i) log_p[i] = static_cast<double>(in[i]);
    if constexpr (kSoftmax) {
      for (int64_t n = 0; n < s.n && s.c > 0; ++n) {
        for (int64_t d = 0; d < s.d; ++d) {
          double* p = log_p + n * s.c * s.d + d;
          double top = p[0], sum = 0;
          for (int64_t c = 1; c < s.c; ++c) top = std::max(top, p[c * s.d]);
          for (int64_t c = 0; c < s.c; ++c) sum += std::exp(p[c * s.d] - top);
          const double shift = top + std::log(sum);
          for (int64_t c = 0; c < s.c; ++c) p[c * s.d] -= shift;
        }
      }
      if (ctx.output_used(1)) {
        RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(1, x->dtype(), x->dims()));
        T* out = y->template mutable_data<T>();
        for (int64_t i = 0; i < x->size(); ++i) out[i] = static_cast<T>(static_cast<ComputeType<T>>(log_p[i]));
      }
    }
    return Loss<T>(ctx, x->dtype(), log_p, s, *target, weight);
  });
}

}  // namespace

void RegisterLosses(KernelRegistry& r) {
  r.Add("NegativeLogLikelihoodLoss", LossKernel<false>);
  r.Add("SoftmaxCrossEntropyLoss", LossKernel<true>);
}

}  // namespace retuple::internal
