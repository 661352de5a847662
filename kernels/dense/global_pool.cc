// GlobalAveragePool, GlobalMaxPool and GlobalLpPool: [n, c, spatial…] → [n, c, 1…].
#include <cmath>
#include <limits>

#include "kernels/dense/register.h"
#include "kernels/dense/rows.h"
#include "kernels/dense/util.h"

namespace retuple::internal {
namespace {

// reduce(pointer, count) for each of the n · c planes.
template <typename Reduce32, typename Reduce64>
absl::Status OverPlanes(KernelContext& ctx, Reduce32 f32, Reduce64 f64) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  if (x->rank() < 3) return Bad(ctx, "operand %s has no spatial axis", DimsToString(x->dims()));
  Dims dims = x->dims();
  const int64_t planes = dims[0] * dims[1], size = Product(dims, 2, x->rank());
  for (size_t i = 2; i < dims.size(); ++i) dims[i] = 1;
  if (size == 0 && planes > 0)
    return Bad(ctx, "a plane of operand %s is empty", DimsToString(x->dims()));
  if (x->dtype() == DType::kF64) {
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), std::move(dims)));
    for (int64_t i = 0; i < planes; ++i)
      y->mutable_data<double>()[i] = f64(x->data<double>() + i * size, size);
    return absl::OkStatus();
  }
  if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) {
    return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
  }
  RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x->dtype(), std::move(dims)));
  RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
  float* py = y.data();
  ctx.threads().ParallelFor(planes, 1 + 50000 / std::max<int64_t>(size, 1),
                            [&](int64_t begin, int64_t end) {
                              for (int64_t i = begin; i < end; ++i)
                                py[i] = f32(px + i * size, size);
                            });
  y.Finish();
  return absl::OkStatus();
}

template <typename T>
T MaxOf(const T* p, int64_t n) {
  T best = p[0];
  for (int64_t i = 1; i < n; ++i) best = p[i] > best || p[i] != p[i] ? p[i] : best;
  return best;
}

template <typename T>
T NormOf(const T* x, int64_t n, double p) {
  double s = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double a = std::abs(static_cast<double>(x[i]));
    s += p == 2 ? a * a : p == 1 ? a : std::pow(a, p);
  }
  return static_cast<T>(p == 2 ? std::sqrt(s) : p == 1 ? s : std::pow(s, 1 / p));
}

absl::Status GlobalAveragePool(KernelContext& ctx) {
  const auto mean = []<typename T>(const T* p, int64_t n) {
    return SumRow(p, n) / static_cast<T>(n);
  };
  return OverPlanes(ctx, mean, mean);
}

absl::Status GlobalMaxPool(KernelContext& ctx) {
  const auto max = []<typename T>(const T* p, int64_t n) { return MaxOf(p, n); };
  return OverPlanes(ctx, max, max);
}

absl::Status GlobalLpPool(KernelContext& ctx) {
  const int64_t* integer = FindAttr<int64_t>(ctx.op().attrs, "p");
  const double p = integer != nullptr ? static_cast<double>(*integer) : FloatAttr(ctx, "p", 2.0f);
  if (!(p > 0)) return Bad(ctx, "p is %g", p);
  const auto norm = [p]<typename T>(const T* x, int64_t n) { return NormOf(x, n, p); };
  return OverPlanes(ctx, norm, norm);
}

}  // namespace

void RegisterGlobalPool(KernelRegistry& r) {
  r.Add("GlobalAveragePool", GlobalAveragePool);
  r.Add("GlobalMaxPool", GlobalMaxPool);
  r.Add("GlobalLpPool", GlobalLpPool);
  r.Add("GlobalLpPool-1", GlobalLpPool);
}

}  // namespace retuple::internal
