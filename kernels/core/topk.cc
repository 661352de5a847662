// TopK along one axis; of equal values the lower index comes first, NaN counts as larger than any number.
#include <numeric>

#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

// Strict order "a before b", descending or ascending.
template <bool kLargest, typename C>
bool Before(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (a != a || b != b) return kLargest ? (a != a && b == b) : (a == a && b != b);
  }
  return kLargest ? a > b : a < b;
}

template <bool kLargest, typename T>
void SelectTop(const T* x, int64_t n, int64_t stride, int64_t k, std::vector<int64_t>& order) {
  using C = ComputeType<T>;
  order.resize(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  auto before = [&](int64_t a, int64_t b) {
    const C va = static_cast<C>(x[a * stride]), vb = static_cast<C>(x[b * stride]);
    if (Before<kLargest>(va, vb)) return true;
    if (Before<kLargest>(vb, va)) return false;
    return a < b;
  };
  if (k < n) std::nth_element(order.begin(), order.begin() + k, order.end(), before);
  std::sort(order.begin(), order.begin() + k, before);
}

absl::Status TopKWith(KernelContext& ctx, int64_t k) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, IntAttr(ctx, "axis", -1), x->rank()));
  const int64_t n = x->dim(axis);
  if (k < 0 || k > n) return Bad(ctx, "k is %d for an axis of size %d", k, n);
  const bool largest = IntAttr(ctx, "largest", 1) != 0;
  const int64_t outer = Product(x->dims(), 0, axis);
  const int64_t inner = Product(x->dims(), axis + 1, x->rank());
  Dims dims = x->dims();
  dims[axis] = k;
  return Dispatch<kNumeric>(ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* values, ctx.Output(0, x->dtype(), dims));
    RT_ASSIGN_OR_RETURN(Tensor* indices, ctx.Output(1, DType::kI64, dims));
    if (values->size() == 0) return absl::OkStatus();
    T* v = values->template mutable_data<T>();
    auto* at = indices->template mutable_data<int64_t>();
    std::vector<int64_t> order;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        const T* from = x->data<T>() + o * n * inner + i;
        if (largest) {
          SelectTop<true>(from, n, inner, k, order);
        } else {
          SelectTop<false>(from, n, inner, k, order);
        }
        for (int64_t j = 0; j < k; ++j) {
          const int64_t to = (o * k + j) * inner + i;
          v[to] = from[order[j] * inner];
          at[to] = order[j];
        }
      }
    }
    return absl::OkStatus();
  });
}

absl::Status TopK(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const int64_t k, IntInput(ctx, 1));
  return TopKWith(ctx, k);
}

absl::Status TopK1(KernelContext& ctx) { return TopKWith(ctx, IntAttr(ctx, "k", -1)); }

}  // namespace

void RegisterTopK(KernelRegistry& r) {
  r.Add("TopK", TopK);
  r.Add("TopK-1", TopK1);
}

}  // namespace retuple::internal
