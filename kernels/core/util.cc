#include "kernels/core/util.h"

#include "absl/strings/str_join.h"

namespace retuple::internal {

std::string DimsToString(std::span<const int64_t> dims) {
  return absl::StrFormat("[%s]", absl::StrJoin(dims.begin(), dims.end(), ","));
}

absl::StatusOr<const Tensor*> Input(const KernelContext& ctx, int i) {
  if (i < ctx.num_inputs() && ctx.has(i)) {
    if (const Tensor* t = ctx.tensor_or_null(i)) return t;
    return Bad(ctx, "input %d is not a tensor", i);
  }
  return Bad(ctx, "input %d is missing", i);
}

absl::StatusOr<const Tensor*> InputOf(const KernelContext& ctx, int i, DType dtype) {
  RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, i));
  if (t->dtype() != dtype) {
    return Bad(ctx, "input %d is %s, expected %s", i, std::string(DTypeName(t->dtype())),
               std::string(DTypeName(dtype)));
  }
  return t;
}

absl::StatusOr<std::optional<std::vector<int64_t>>> IntsInput(const KernelContext& ctx, int i) {
  if (i >= ctx.num_inputs() || !ctx.has(i)) return std::optional<std::vector<int64_t>>();
  RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, i));
  if (t->dtype() != DType::kI64 && t->dtype() != DType::kI32) {
    return Bad(ctx, "input %d is %s, expected i64 or i32", i, std::string(DTypeName(t->dtype())));
  }
  if (t->rank() > 1) return Bad(ctx, "input %d has rank %d, expected a vector", i, t->rank());
  return std::optional<std::vector<int64_t>>(t->ToInts());
}

absl::StatusOr<std::vector<int64_t>> RequiredInts(const KernelContext& ctx, int i) {
  RT_ASSIGN_OR_RETURN(auto v, IntsInput(ctx, i));
  if (!v) return Bad(ctx, "input %d is missing", i);
  return *std::move(v);
}

absl::StatusOr<int64_t> IntInput(const KernelContext& ctx, int i) {
  RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, i));
  if (!IsInteger(t->dtype())) return Bad(ctx, "input %d is not of integer type", i);
  if (t->size() != 1) {
    return Bad(ctx, "input %d has shape %s, expected one element", i, DimsToString(t->dims()));
  }
  return t->IntAt(0);
}

absl::StatusOr<int> NormalizeAxis(const KernelContext& ctx, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return Bad(ctx, "axis %d is out of range for rank %d", axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<std::vector<bool>> AxisFlags(const KernelContext& ctx, std::span<const int64_t> axes,
                                            int rank) {
  std::vector<bool> flags(rank, false);
  for (int64_t a : axes) {
    RT_ASSIGN_OR_RETURN(int axis, NormalizeAxis(ctx, a, rank));
    if (flags[axis]) return Bad(ctx, "axis %d is given twice", axis);
    flags[axis] = true;
  }
  return flags;
}

Dims StridesOf(std::span<const int64_t> dims) {
  Dims strides(dims.size());
  int64_t n = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = n;
    n *= std::max<int64_t>(dims[i], 1);
  }
  return strides;
}

}  // namespace retuple::internal
