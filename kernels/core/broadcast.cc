#include "kernels/core/broadcast.h"

namespace retuple::internal {

absl::StatusOr<Dims> BroadcastDims(const KernelContext& ctx, const Dims& a, const Dims& b) {
  const size_t rank = std::max(a.size(), b.size());
  Dims out(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1) {
      return Bad(ctx, "shapes %s and %s do not broadcast", DimsToString(a), DimsToString(b));
    }
    out[i] = x == 1 ? y : x;
  }
  return out;
}

BroadcastPlan PlanBroadcast(const Dims& out, std::span<const Dims* const> operands) {
  BroadcastPlan plan;
  plan.operands = static_cast<int>(operands.size());
  const int rank = static_cast<int>(out.size());
  // Innermost first, reversed at the end. `step` is the element stride of each operand at the current axis.
  std::array<int64_t, kMaxBroadcastOperands> step;
  step.fill(1);
  for (int d = rank - 1; d >= 0; --d) {
    if (out[d] == 1) continue;
    std::array<int64_t, kMaxBroadcastOperands> stride{};
    for (int k = 0; k < plan.operands; ++k) {
      const Dims& dims = *operands[k];
      const int axis = d - (rank - static_cast<int>(dims.size()));
      const int64_t size = axis < 0 ? 1 : dims[axis];
      stride[k] = size == 1 ? 0 : step[k];
      step[k] *= size;
    }
    bool merge = !plan.dims.empty();
    for (int k = 0; merge && k < plan.operands; ++k) {
      const int64_t inner = plan.strides[k].back();
      merge = stride[k] == inner * plan.dims.back() && (inner != 0 || stride[k] == 0);
    }
    if (merge) {
      plan.dims.back() *= out[d];
      continue;
    }
    plan.dims.push_back(out[d]);
    for (int k = 0; k < plan.operands; ++k) plan.strides[k].push_back(stride[k]);
  }
  if (plan.dims.empty()) {
    plan.dims.push_back(1);
    for (int k = 0; k < plan.operands; ++k) plan.strides[k].push_back(1);
  }
  std::reverse(plan.dims.begin(), plan.dims.end());
  for (int k = 0; k < plan.operands; ++k) std::reverse(plan.strides[k].begin(), plan.strides[k].end());
  for (size_t d = 0; d + 1 < plan.dims.size(); ++d) plan.rows *= plan.dims[d];
  return plan;
}

RowCursor::RowCursor(const BroadcastPlan& plan, int64_t row) : plan_(plan), index_(plan.dims.size() - 1) {
  for (size_t d = index_.size(); d-- > 0;) {
    const int64_t size = std::max<int64_t>(plan.dims[d], 1);
    index_[d] = row % size;
    row /= size;
    for (int k = 0; k < plan.operands; ++k) offsets_[k] += index_[d] * plan.strides[k][d];
  }
}

void RowCursor::Next() {
  for (size_t d = index_.size(); d-- > 0;) {
    for (int k = 0; k < plan_.operands; ++k) offsets_[k] += plan_.strides[k][d];
    if (++index_[d] < plan_.dims[d]) return;
    for (int k = 0; k < plan_.operands; ++k) offsets_[k] -= plan_.strides[k][d] * plan_.dims[d];
    index_[d] = 0;
  }
}

absl::StatusOr<BinaryOperands> ReadBinary(const KernelContext& ctx, bool legacy) {
  BinaryOperands r;
  RT_ASSIGN_OR_RETURN(r.a, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(r.b, Input(ctx, 1));
  r.b_dims = r.b->dims();
  if (!legacy) {
    if (r.a->dims() == r.b_dims) {
      r.out = r.b_dims;
      return r;
    }
    RT_ASSIGN_OR_RETURN(r.out, BroadcastDims(ctx, r.a->dims(), r.b_dims));
    return r;
  }
  if (IntAttr(ctx, "broadcast", 0) == 0) {
    if (r.a->dims() != r.b_dims) {
      return Bad(ctx, "shapes %s and %s differ and broadcast is 0", DimsToString(r.a->dims()),
                 DimsToString(r.b_dims));
    }
  } else if (const int64_t* axis = FindAttr<int64_t>(ctx.op().attrs, "axis")) {
    const int rank = r.a->rank();
    const int64_t first = *axis < 0 ? *axis + rank : *axis;
    if (first < 0 || first > rank || first + r.b->rank() > rank) {
      return Bad(ctx, "axis %d does not align %s with %s", *axis, DimsToString(r.b_dims),
                 DimsToString(r.a->dims()));
    }
    r.b_dims.resize(rank - first, 1);
  }
  RT_ASSIGN_OR_RETURN(r.out, BroadcastDims(ctx, r.a->dims(), r.b_dims));
  if (r.out != r.a->dims()) {
    return Bad(ctx, "%s does not broadcast to %s", DimsToString(r.b_dims), DimsToString(r.a->dims()));
  }
  return r;
}

}  // namespace retuple::internal
