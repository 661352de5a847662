// LRN (across channels) and LpNormalization (along an axis).
#include <cmath>

#include "kernels/dense/register.h"
#include "kernels/dense/util.h"

namespace retuple::internal {
namespace {

// y = x / (bias + alpha / size · Σ x²)^beta, summed over `size` neighbouring channels.
template <typename T>
void Lrn(int64_t batch, int64_t channels, int64_t inner, int64_t size, double alpha, double beta,
         double bias, const T* x, T* y, T* sums) {
  const int64_t before = (size - 1) / 2, after = size - 1 - before;
  const T factor = static_cast<T>(alpha / static_cast<double>(size));
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      std::fill(sums, sums + inner, T{0});
      const int64_t lo = std::max<int64_t>(0, c - before);
      const int64_t hi = c < channels - after ? c + after : channels - 1;
      for (int64_t k = lo; k <= hi; ++k) {
        const T* p = x + (n * channels + k) * inner;
        for (int64_t i = 0; i < inner; ++i) sums[i] += p[i] * p[i];
      }
      const T* p = x + (n * channels + c) * inner;
      T* q = y + (n * channels + c) * inner;
      for (int64_t i = 0; i < inner; ++i) {
        const T base = static_cast<T>(bias) + factor * sums[i];
        q[i] = beta == 0.75 ? p[i] / (std::sqrt(base) * std::sqrt(std::sqrt(base)))
                            : p[i] / std::pow(base, static_cast<T>(beta));
      }
    }
  }
}

absl::Status LocalResponse(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const int64_t size = IntAttr(ctx, "size", 0);
  if (size < 1 || size > int64_t{1} << 31) return Bad(ctx, "size is %d", size);
  if (x->rank() < 2) return Bad(ctx, "operand %s has no channels", DimsToString(x->dims()));
  const double alpha = FloatAttr(ctx, "alpha", 1e-4f), beta = FloatAttr(ctx, "beta", 0.75f);
  const double bias = FloatAttr(ctx, "bias", 1.0f);
  const int64_t inner = Product(x->dims(), 2, x->rank());
  if (x->dtype() == DType::kF64) {
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), x->dims()));
    RT_ASSIGN_OR_RETURN(double* sums, ScratchOf<double>(ctx, inner));
    if (x->size() > 0) {
      Lrn(x->dim(0), x->dim(1), inner, size, alpha, beta, bias, x->data<double>(),
          y->mutable_data<double>(), sums);
    }
    return absl::OkStatus();
  }
  if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) {
    return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
  }
  RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
  RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x->dtype(), x->dims()));
  RT_ASSIGN_OR_RETURN(float* sums, ScratchOf<float>(ctx, inner));
  if (x->size() > 0) Lrn(x->dim(0), x->dim(1), inner, size, alpha, beta, bias, px, y.data(), sums);
  y.Finish();
  return absl::OkStatus();
}

// Divides by the 1- or 2-norm along the axis; rows of norm 0 stay 0.
template <typename T>
void DivideByNorm(int64_t outer, int64_t n, int64_t inner, bool squared, const T* x, T* y) {
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = 0; c < inner; ++c) {
      const int64_t at = o * n * inner + c;
      T sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        const T v = x[at + i * inner];
        sum += squared ? v * v : std::abs(v);
      }
      if (squared) sum = std::sqrt(sum);
      for (int64_t i = 0; i < n; ++i) y[at + i * inner] = sum == 0 ? T{0} : x[at + i * inner] / sum;
    }
  }
}

absl::Status LpNormalization(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, IntAttr(ctx, "axis", -1), x->rank()));
  const int64_t p = IntAttr(ctx, "p", 2);
  if (p != 1 && p != 2) return Bad(ctx, "p is %d, only 1 and 2 are defined", p);
  const int64_t outer = Product(x->dims(), 0, axis), n = x->dim(axis),
                inner = Product(x->dims(), axis + 1, x->rank());
  if (x->dtype() == DType::kF64) {
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), x->dims()));
    if (x->size() > 0)
      DivideByNorm(outer, n, inner, p == 2, x->data<double>(), y->mutable_data<double>());
    return absl::OkStatus();
  }
  if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) {
    return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
  }
  RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
  RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x->dtype(), x->dims()));
  if (x->size() > 0) DivideByNorm(outer, n, inner, p == 2, px, y.data());
  y.Finish();
  return absl::OkStatus();
}

}  // namespace

void RegisterLocalNormalization(KernelRegistry& r) {
  r.Add("LRN", LocalResponse);
  r.Add("LpNormalization", LpNormalization);
}

}  // namespace retuple::internal
