// Add, Sub, Mul, Div with broadcasting, and their forms before opset 7.
#include "kernels/core/arith.h"
#include "kernels/core/broadcast.h"

namespace retuple::internal {
namespace {

template <typename F, bool kLegacy>
absl::Status Arithmetic(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const BinaryOperands x, ReadBinary(ctx, kLegacy));
  if (x.a->dtype() != x.b->dtype()) return Bad(ctx, "the operands differ in element type");
  return Dispatch<kNumeric>(ctx.op(), x.a->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    const T* a = x.a->data<T>();
    const T* b = x.b->data<T>();
    const Dims a_dims = x.a->dims();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x.a->dtype(), x.out));
    BroadcastBinary(ctx.threads(), a, a_dims, b, x.b_dims, y->template mutable_data<T>(), x.out, F{});
    return absl::OkStatus();
  });
}

}  // namespace

void RegisterArithmetic(KernelRegistry& r) {
  constexpr KernelFlags kInPlace{.in_place = true};
  r.Add("Add", Arithmetic<AddF, false>, kInPlace);
  r.Add("Add-1", Arithmetic<AddF, true>, kInPlace);
  r.Add("Sub", Arithmetic<SubF, false>, kInPlace);
  r.Add("Sub-1", Arithmetic<SubF, true>, kInPlace);
  r.Add("Mul", Arithmetic<MulF, false>, kInPlace);
  r.Add("Mul-1", Arithmetic<MulF, true>, kInPlace);
  r.Add("Div", Arithmetic<DivF, false>, kInPlace);
  r.Add("Div-1", Arithmetic<DivF, true>, kInPlace);
}

}  // namespace retuple::internal
