// Concat and Split with all their forms: [outer, n, inner] cut or joined along one axis, copied by runs.
#include "kernels/core/util.h"

namespace retuple::internal {
namespace {

absl::Status ConcatAlong(KernelContext& ctx, int64_t wanted_axis) {
  const int n = ctx.num_inputs();
  if (n == 0) return Bad(ctx, "no operand");
  RT_ASSIGN_OR_RETURN(const Tensor* first, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, wanted_axis, first->rank()));
  Dims dims = first->dims();
  dims[axis] = 0;
  absl::InlinedVector<const Tensor*, 8> parts(n);
  for (int i = 0; i < n; ++i) {
    RT_ASSIGN_OR_RETURN(parts[i], Input(ctx, i));
    const Tensor& t = *parts[i];
    bool fits = t.dtype() == first->dtype() && t.rank() == first->rank();
    for (int d = 0; fits && d < t.rank(); ++d) fits = d == axis || t.dim(d) == dims[d];
    if (!fits || AddOverflows(dims[axis], t.dim(axis), &dims[axis])) {
      return Bad(ctx, "operand %d is %s, which does not join %s on axis %d", i, t.type().ToString(),
                 first->type().ToString(), axis);
    }
  }
  const DType dtype = first->dtype();
  const size_t size = DTypeSize(dtype);
  const int64_t outer = Product(dims, 0, axis);
  const int64_t inner = Product(dims, axis + 1, static_cast<int>(dims.size()));
  const int64_t row = dims[axis] * inner;
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, dtype, dims));
  int64_t at = 0;
  for (const Tensor* t : parts) {
    const int64_t run = t->dim(axis) * inner;
    for (int64_t o = 0; o < outer; ++o) {
      CopyElements(dtype, size, y->mutable_data(), o * row + at, t->data(), o * run, run);
    }
    at += run;
  }
  return absl::OkStatus();
}

absl::Status Concat(KernelContext& ctx) {
  const int64_t* axis = FindAttr<int64_t>(ctx.op().attrs, "axis");
  if (axis == nullptr) return Bad(ctx, "axis is missing");
  return ConcatAlong(ctx, *axis);
}

absl::Status Concat1(KernelContext& ctx) { return ConcatAlong(ctx, IntAttr(ctx, "axis", 1)); }

// `sizes` empty: as equal as possible, the last smaller (num_outputs), or exactly equal when `exact`.
absl::Status SplitInto(KernelContext& ctx, std::vector<int64_t> sizes, bool exact) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, IntAttr(ctx, "axis", 0), x->rank()));
  const int64_t n = x->dim(axis);
  const int outputs = ctx.num_outputs();
  if (sizes.empty()) {
    const int64_t k = std::max(outputs, 1);
    if (exact && n % k != 0) return Bad(ctx, "%d does not split into %d equal parts", n, k);
    const int64_t part = (n + k - 1) / k;
    int64_t left = n;
    for (int64_t i = 0; i < k; ++i) {
      sizes.push_back(std::min(part, left));
      left -= sizes.back();
    }
  }
  if (static_cast<int>(sizes.size()) != outputs) {
    return Bad(ctx, "split has %d parts for %d outputs", sizes.size(), outputs);
  }
  int64_t total = 0;
  for (int64_t s : sizes) {
    if (s < 0 || AddOverflows(total, s, &total)) return Bad(ctx, "split size %d", s);
  }
  if (total != n) return Bad(ctx, "split sizes add up to %d, axis %d has %d", total, axis, n);
  const size_t size = DTypeSize(x->dtype());
  const int64_t outer = Product(x->dims(), 0, axis);
  const int64_t inner = Product(x->dims(), axis + 1, x->rank());
  int64_t at = 0;
  for (int i = 0; i < outputs; ++i) {
    const int64_t run = sizes[i] * inner;
    if (ctx.output_used(i)) {
      Dims dims = x->dims();
      dims[axis] = sizes[i];
      RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(i, x->dtype(), dims));
      for (int64_t o = 0; o < outer; ++o) {
        CopyElements(x->dtype(), size, y->mutable_data(), o * run, x->data(), o * n * inner + at, run);
      }
    }
    at += run;
  }
  return absl::OkStatus();
}

absl::Status Split(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(auto sizes, IntsInput(ctx, 1));
  const int64_t* count = FindAttr<int64_t>(ctx.op().attrs, "num_outputs");
  if (count != nullptr && *count > 0) {
    if (*count != ctx.num_outputs()) {
      return Bad(ctx, "num_outputs is %d, the node has %d outputs", *count, ctx.num_outputs());
    }
    return SplitInto(ctx, {}, false);
  }
  return SplitInto(ctx, sizes ? *std::move(sizes) : std::vector<int64_t>(), true);
}

absl::Status Split1(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(auto sizes, IntsInput(ctx, 1));
  if (sizes) return SplitInto(ctx, *std::move(sizes), true);
  const Ints* split = IntsAttr(ctx, "split");
  return SplitInto(ctx, split ? *split : Ints{}, true);
}

absl::Status Split2(KernelContext& ctx) {
  const Ints* split = IntsAttr(ctx, "split");
  return SplitInto(ctx, split ? *split : Ints{}, true);
}

}  // namespace

void RegisterConcatSplit(KernelRegistry& r) {
  r.Add("Concat", Concat);
  r.Add("Concat-1", Concat1);
  r.Add("Split", Split);
  r.Add("Split-1", Split1);
  r.Add("Split-2", Split2);
}

}  // namespace retuple::internal
