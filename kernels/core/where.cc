// Where: out = condition ? x : y, all three broadcast; any element type.
#include "kernels/core/broadcast.h"

namespace retuple::internal {
namespace {

template <typename E>
void SelectRow(const uint8_t* c, int64_t sc, const E* x, int64_t sx, const E* y, int64_t sy, E* out, int64_t n) {
  if (sc == 0) {
    const E* from = *c != 0 ? x : y;
    const int64_t step = *c != 0 ? sx : sy;
    if (step != 0) {
      std::copy(from, from + n, out);
    } else {
      std::fill(out, out + n, *from);
    }
  } else if (sx != 0 && sy != 0) {
    RT_IVDEP
    for (int64_t i = 0; i < n; ++i) out[i] = c[i] != 0 ? x[i] : y[i];
  } else if (sx != 0) {
    const E v = *y;
    for (int64_t i = 0; i < n; ++i) out[i] = c[i] != 0 ? x[i] : v;
  } else {
    const E v = *x;
    for (int64_t i = 0; i < n; ++i) out[i] = c[i] != 0 ? v : y[i * sy];
  }
}

absl::Status Where(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* c, InputOf(ctx, 0, DType::kBool));
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 1));
  RT_ASSIGN_OR_RETURN(const Tensor* y, Input(ctx, 2));
  if (x->dtype() != y->dtype()) return Bad(ctx, "the operands differ in element type");
  RT_ASSIGN_OR_RETURN(Dims dims, BroadcastDims(ctx, x->dims(), y->dims()));
  RT_ASSIGN_OR_RETURN(dims, BroadcastDims(ctx, c->dims(), dims));
  return DispatchBySize(ctx.op(), x->dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* t, ctx.Output(0, x->dtype(), dims));
    if (t->size() == 0) return absl::OkStatus();
    E* out = t->template mutable_data<E>();
    const Dims* const operands[] = {&c->dims(), &x->dims(), &y->dims()};
    const BroadcastPlan plan = PlanBroadcast(dims, operands);
    const int64_t row = plan.row_size();
    ctx.threads().ParallelFor(
        plan.rows, std::max<int64_t>(1, kElementGrain / row), [&](int64_t begin, int64_t end) {
          RowCursor at(plan, begin);
          for (int64_t r = begin; r < end; ++r, at.Next()) {
            SelectRow(c->data<uint8_t>() + at.offset(0), plan.strides[0].back(), x->data<E>() + at.offset(1),
                      plan.strides[1].back(), y->data<E>() + at.offset(2), plan.strides[2].back(),
                      out + r * row, row);
          }
        });
    return absl::OkStatus();
  });
}

}  // namespace

void RegisterWhere(KernelRegistry& r) { r.Add("Where", Where); }

}  // namespace retuple::internal
