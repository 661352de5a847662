// Max, Min, Sum, Mean of one or more operands with broadcasting. Max and Min give NaN where an operand is NaN.
//
// Two operands go in one pass; more are folded into the output, which has the common shape.
#include "kernels/core/arith.h"
#include "kernels/core/broadcast.h"

namespace retuple::internal {
namespace {

template <TypeSet kSet, typename F, bool kMean>
absl::Status Variadic(KernelContext& ctx) {
  const int n = ctx.num_inputs();
  if (n == 0) return Bad(ctx, "no operand");
  std::vector<const Tensor*> x(n);
  for (int i = 0; i < n; ++i) {
    RT_ASSIGN_OR_RETURN(x[i], Input(ctx, i));
    if (x[i]->dtype() != x[0]->dtype()) return Bad(ctx, "the operands differ in element type");
  }
  Dims out_dims = x[0]->dims();
  for (int i = 1; i < n; ++i) {
    RT_ASSIGN_OR_RETURN(out_dims, BroadcastDims(ctx, out_dims, x[i]->dims()));
  }
  return Dispatch<kSet>(ctx.op(), x[0]->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    const T* first = x[0]->data<T>();
    const Dims first_dims = x[0]->dims();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x[0]->dtype(), out_dims));
    T* out = y->template mutable_data<T>();
    ThreadPool& threads = ctx.threads();
    if (n == 1) {
      if (out != first && y->size() > 0) std::memcpy(out, first, static_cast<size_t>(y->size()) * sizeof(T));
    } else {
      BroadcastBinary(threads, first, first_dims, x[1]->data<T>(), x[1]->dims(), out, out_dims, F{});
    }
    for (int i = 2; i < n; ++i) {
      BroadcastBinary(threads, out, out_dims, x[i]->data<T>(), x[i]->dims(), out, out_dims, F{});
    }
    if constexpr (kMean) {
      if (n > 1) {
        const auto count = static_cast<ComputeType<T>>(n);
        MapRange(out, out, y->size(), [count](ComputeType<T> v) { return v / count; });
      }
    }
    return absl::OkStatus();
  });
}

// In place only with at most two operands: a third may be input 0 again, which the first pass has overwritten.
template <TypeSet kSet, typename F, bool kMean>
void Add(KernelRegistry& r, const char* form) {
  r.Add(form, Variadic<kSet, F, kMean>);
}

}  // namespace

void RegisterVariadic(KernelRegistry& r) {
  Add<kNumeric, MaxF, false>(r, "Max");
  Add<kNumeric, MinF, false>(r, "Min");
  Add<kFloats, AddF, false>(r, "Sum");
  Add<kFloats, AddF, true>(r, "Mean");
}

}  // namespace retuple::internal
