#include "kernels/dense/stack.h"

#include "kernels/core/util.h"

namespace retuple::internal {

absl::Status Stack(KernelContext& ctx, int o, std::span<const Tensor> items, int64_t axis,
                   bool reverse) {
  const Tensor& first = items[0];
  for (const Tensor& t : items) {
    if (t.dtype() != first.dtype() || t.dims() != first.dims()) {
      return Bad(ctx, "scan output %d changes from %s%s to %s%s", o,
                 std::string(DTypeName(first.dtype())), DimsToString(first.dims()),
                 std::string(DTypeName(t.dtype())), DimsToString(t.dims()));
    }
  }
  RT_ASSIGN_OR_RETURN(const int at, NormalizeAxis(ctx, axis, first.rank() + 1));
  Dims dims = first.dims();
  const int64_t outer = Product(dims, 0, at), inner = Product(dims, at, first.rank());
  const auto n = static_cast<int64_t>(items.size());
  dims.insert(dims.begin() + at, n);
  RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(o, first.dtype(), std::move(dims)));
  const size_t width = DTypeSize(first.dtype());
  for (int64_t i = 0; i < n; ++i) {
    const Tensor& t = items[static_cast<size_t>(reverse ? n - 1 - i : i)];
    for (int64_t j = 0; j < outer; ++j) {
      CopyElements(t.dtype(), width, y->mutable_data(), (j * n + i) * inner, t.data(), j * inner,
                   inner);
    }
  }
  return absl::OkStatus();
}

absl::Status EmptyStack(KernelContext& ctx, int o, const Graph& body, size_t result, int64_t axis) {
  const GraphOutput& out = body.outputs()[result];
  const Type& type = out.type.is_tensor() ? out.type : body.type(out.var);
  if (!type.is_tensor() || type.dtype() == DType::kUndefined) {
    return Bad(ctx, "no iteration, and the body does not declare the type of '%s'", out.name);
  }
  Dims dims;
  if (type.has_shape()) {
    for (const Dim& d : type.shape()) dims.push_back(d.known() && d.value() > 0 ? d.value() : 0);
  }
  RT_ASSIGN_OR_RETURN(const int at, NormalizeAxis(ctx, axis, static_cast<int>(dims.size()) + 1));
  dims.insert(dims.begin() + at, 0);
  return ctx.Output(o, type.dtype(), std::move(dims)).status();
}

Tensor Select(const Tensor& t, int axis, int64_t i) {
  Dims dims = t.dims();
  const int64_t n = dims[static_cast<size_t>(axis)];
  const int64_t outer = Product(dims, 0, axis), inner = Product(dims, axis + 1, t.rank());
  dims.erase(dims.begin() + axis);
  Tensor y(t.dtype(), std::move(dims));
  for (int64_t j = 0; j < outer; ++j) {
    CopyElements(t.dtype(), DTypeSize(t.dtype()), y.mutable_data(), j * inner, t.data(),
                 (j * n + i) * inner, inner);
  }
  return y;
}

}  // namespace retuple::internal
