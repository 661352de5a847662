// Gather, GatherElements, GatherND. Negative indices count from the end; one out of range is InvalidArgument.
#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

// Index i of an i32 or i64 tensor brought into [0, n); false if it does not fit.
template <typename I>
bool ReadIndex(const I* indices, int64_t i, int64_t n, int64_t* out) {
  int64_t v = static_cast<int64_t>(indices[i]);
  if (v < 0) v += n;
  *out = v;
  return v >= 0 && v < n;
}

// Calls f(pointer to the indices) with their C++ type.
template <typename F>
absl::Status WithIndices(const KernelContext& ctx, const Tensor& indices, F f) {
  if (indices.dtype() == DType::kI64) return f(indices.data<int64_t>());
  if (indices.dtype() == DType::kI32) return f(indices.data<int32_t>());
  return Bad(ctx, "indices are %s, expected i32 or i64", std::string(DTypeName(indices.dtype())));
}

template <typename I>
absl::Status OutOfRange(const KernelContext& ctx, const I* indices, int64_t i, int64_t n) {
  return Bad(ctx, "index %d is out of range for size %d", static_cast<int64_t>(indices[i]), n);
}

absl::Status Gather(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* indices, Input(ctx, 1));
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, IntAttr(ctx, "axis", 0), x->rank()));
  Dims dims(x->dims().begin(), x->dims().begin() + axis);
  dims.insert(dims.end(), indices->dims().begin(), indices->dims().end());
  dims.insert(dims.end(), x->dims().begin() + axis + 1, x->dims().end());
  const int64_t n = x->dim(axis), count = indices->size();
  const int64_t outer = Product(x->dims(), 0, axis);
  const int64_t inner = Product(x->dims(), axis + 1, x->rank());
  return WithIndices(ctx, *indices, [&]<typename I>(const I* index) -> absl::Status {
    for (int64_t i = 0; i < count; ++i) {
      int64_t v;
      if (!ReadIndex(index, i, n, &v)) return OutOfRange(ctx, index, i, n);
    }
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), dims));
    if (y->size() == 0) return absl::OkStatus();
    return DispatchBySize(ctx.op(), x->dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
      const E* in = x->data<E>();
      E* out = y->template mutable_data<E>();
      for (int64_t o = 0; o < outer; ++o, in += n * inner) {
        for (int64_t i = 0; i < count; ++i, out += inner) {
          int64_t v;
          ReadIndex(index, i, n, &v);
          if (inner == 1) {
            *out = in[v];
          } else {
            std::copy(in + v * inner, in + (v + 1) * inner, out);
          }
        }
      }
      return absl::OkStatus();
    });
  });
}

// out[i0, …] = x with coordinate `axis` replaced by indices[i0, …].
absl::Status GatherElements(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* indices, Input(ctx, 1));
  const int rank = x->rank();
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, IntAttr(ctx, "axis", 0), rank));
  if (indices->rank() != rank) return Bad(ctx, "indices have rank %d, data %d", indices->rank(), rank);
  for (int d = 0; d < rank; ++d) {
    if (d != axis && indices->dim(d) > x->dim(d)) {
      return Bad(ctx, "indices %s exceed data %s", DimsToString(indices->dims()), DimsToString(x->dims()));
    }
  }
  const int64_t n = x->dim(axis);
  const Dims strides = StridesOf(x->dims());
  return WithIndices(ctx, *indices, [&]<typename I>(const I* index) -> absl::Status {
    return DispatchBySize(ctx.op(), x->dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
      RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), indices->dims()));
      const int64_t total = indices->size();
      if (total == 0) return absl::OkStatus();
      const E* in = x->data<E>();
      E* out = y->template mutable_data<E>();
      // The innermost axis in a loop, an odometer over the others.
      const int64_t row = indices->dim(rank - 1);
      const int64_t step = axis == rank - 1 ? 0 : 1;
      Dims at(rank - 1, 0);
      const std::span<const int64_t> outer_dims(indices->dims().data(), rank - 1);
      for (int64_t i = 0; i < total;) {
        int64_t base = 0;
        for (int d = 0; d < rank - 1; ++d) base += d == axis ? 0 : at[d] * strides[d];
        for (int64_t j = 0; j < row; ++j, ++i) {
          int64_t v;
          if (!ReadIndex(index, i, n, &v)) return OutOfRange(ctx, index, i, n);
          out[i] = in[base + j * step + v * strides[axis]];
        }
        NextIndex(outer_dims, {at.data(), at.size()});
      }
      return absl::OkStatus();
    });
  });
}

absl::Status GatherND(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* indices, Input(ctx, 1));
  const int64_t batch_dims = IntAttr(ctx, "batch_dims", 0);
  const int q = indices->rank(), rank = x->rank();
  if (q < 1 || batch_dims < 0 || batch_dims >= q || batch_dims > rank) {
    return Bad(ctx, "batch_dims %d does not fit ranks %d and %d", batch_dims, rank, q);
  }
  const int b = static_cast<int>(batch_dims);
  for (int d = 0; d < b; ++d) {
    if (x->dim(d) != indices->dim(d)) return Bad(ctx, "batch dimension %d differs", d);
  }
  const int64_t depth = indices->dim(q - 1);
  if (depth < 1 || depth > rank - b) return Bad(ctx, "index tuples of length %d for rank %d", depth, rank - b);
  const int k = static_cast<int>(depth);
  Dims dims(indices->dims().begin(), indices->dims().end() - 1);
  dims.insert(dims.end(), x->dims().begin() + b + k, x->dims().end());
  const int64_t batches = Product(x->dims(), 0, b);
  const int64_t per_batch = Product(indices->dims(), b, q - 1);
  const int64_t slice = Product(x->dims(), b + k, rank);
  const int64_t batch_size = Product(x->dims(), b, rank);
  const Dims strides = StridesOf(x->dims());
  return WithIndices(ctx, *indices, [&]<typename I>(const I* index) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), dims));
    if (y->size() == 0) return absl::OkStatus();
    const size_t size = DTypeSize(x->dtype());
    int64_t tuple = 0;
    for (int64_t o = 0; o < batches; ++o) {
      for (int64_t i = 0; i < per_batch; ++i, ++tuple) {
        int64_t from = o * batch_size;
        for (int d = 0; d < k; ++d) {
          int64_t v;
          if (!ReadIndex(index, tuple * k + d, x->dim(b + d), &v)) {
            return OutOfRange(ctx, index, tuple * k + d, x->dim(b + d));
          }
          from += v * strides[b + d];
        }
        CopyElements(x->dtype(), size, y->mutable_data(), tuple * slice, x->data(), from, slice);
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace

void RegisterGather(KernelRegistry& r) {
  r.Add("Gather", Gather);
  r.Add("GatherElements", GatherElements);
  r.Add("GatherND", GatherND);
}

}  // namespace retuple::internal
