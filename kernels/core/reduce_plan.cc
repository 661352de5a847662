#include "kernels/core/reduce.h"

namespace retuple::internal {

Reduction PlanReduction(const Dims& dims, const std::vector<bool>& flags, bool keepdims) {
  Reduction r;
  const int rank = static_cast<int>(dims.size());
  for (int i = 0; i < rank; ++i) {
    if (!flags[i]) {
      r.out.push_back(dims[i]);
      r.results *= dims[i];
    } else {
      if (keepdims) r.out.push_back(1);
      r.count *= dims[i];
    }
  }
  if (r.results == 0 || r.count == 0) return r;
  // Merged axes, innermost first.
  struct Axis {
    int64_t size, stride;
    bool reduced;
  };
  absl::InlinedVector<Axis, 6> axes;
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    if (dims[i] != 1) {
      if (!axes.empty() && axes.back().reduced == flags[i]) {
        axes.back().size *= dims[i];
      } else {
        axes.push_back({dims[i], stride, flags[i]});
      }
    }
    stride *= dims[i];
  }
  if (axes.empty()) return r;
  r.inner = axes[0].size;
  r.inner_reduced = axes[0].reduced;
  for (size_t k = axes.size(); k-- > 1;) {
    const Axis& a = axes[k];
    (a.reduced ? r.reduced_dims : r.kept_dims).push_back(a.size);
    (a.reduced ? r.reduced_strides : r.kept_strides).push_back(a.stride);
    (a.reduced ? r.reduced_outer : r.kept_outer) *= a.size;
  }
  return r;
}

absl::StatusOr<Reduction> ReadReduction(const KernelContext& ctx, const Tensor& x, bool axes_input) {
  std::vector<int64_t> axes;
  bool given = false;
  if (axes_input) {
    RT_ASSIGN_OR_RETURN(auto v, IntsInput(ctx, 1));
    if (v) {
      axes = *std::move(v);
      given = !axes.empty();
    }
  } else if (const Ints* a = IntsAttr(ctx, "axes")) {
    axes = *a;
    given = !axes.empty();
  }
  const bool keepdims = IntAttr(ctx, "keepdims", 1) != 0;
  if (!given && axes_input && IntAttr(ctx, "noop_with_empty_axes", 0) != 0) {
    Reduction r;
    r.identity = true;
    r.out = x.dims();
    return r;
  }
  std::vector<bool> flags(x.rank(), true);
  if (given) {
    RT_ASSIGN_OR_RETURN(flags, AxisFlags(ctx, axes, x.rank()));
  }
  return PlanReduction(x.dims(), flags, keepdims);
}

}  // namespace retuple::internal
