// Det: determinants of [..., m, m] by Gaussian elimination with partial pivoting, in double.
#include <cmath>

#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

double Determinant(std::vector<double>& a, int64_t m) {
  double det = 1;
  for (int64_t c = 0; c < m; ++c) {
    int64_t pivot = c;
    for (int64_t i = c + 1; i < m; ++i) {
      if (std::fabs(a[i * m + c]) > std::fabs(a[pivot * m + c])) pivot = i;
    }
    const double p = a[pivot * m + c];
    if (p == 0) return 0;
    if (pivot != c) {
      std::swap_ranges(a.begin() + pivot * m, a.begin() + (pivot + 1) * m, a.begin() + c * m);
      det = -det;
    }
    det *= p;
    for (int64_t i = c + 1; i < m; ++i) {
      const double f = a[i * m + c] / p;
      if (f == 0) continue;
      for (int64_t j = c; j < m; ++j) a[i * m + j] -= f * a[c * m + j];
    }
  }
  return det;
}

absl::Status Det(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const int rank = x->rank();
  if (rank < 2 || x->dim(rank - 1) != x->dim(rank - 2)) {
    return Bad(ctx, "%s is not a batch of square matrices", DimsToString(x->dims()));
  }
  const int64_t m = x->dim(rank - 1);
  const Dims dims(x->dims().begin(), x->dims().end() - 2);
  return Dispatch<kFloats>(ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), dims));
    T* out = y->template mutable_data<T>();
    const T* in = x->data<T>();
    std::vector<double> a(static_cast<size_t>(m * m));
    for (int64_t k = 0; k < y->size(); ++k) {
      for (int64_t i = 0; i < m * m; ++i) a[i] = static_cast<double>(in[k * m * m + i]);
      out[k] = static_cast<T>(Determinant(a, m));
    }
    return absl::OkStatus();
  });
}

}  // namespace

void RegisterDet(KernelRegistry& r) { r.Add("Det", Det); }

}  // namespace retuple::internal
