// Scatter, ScatterElements, ScatterND: a copy of the data with updates written, or reduced into it (add, mul, max,
// min). Updates are applied in order, so that of duplicates the last wins.
#include "kernels/core/arith.h"
#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

enum class Combine { kNone, kAdd, kMul, kMax, kMin };

absl::StatusOr<Combine> ReadReduction(const KernelContext& ctx) {
  const std::string name = StringAttr(ctx, "reduction", "none");
  if (name == "none") return Combine::kNone;
  if (name == "add") return Combine::kAdd;
  if (name == "mul") return Combine::kMul;
  if (name == "max") return Combine::kMax;
  if (name == "min") return Combine::kMin;
  return Bad(ctx, "reduction is \"%s\"", name);
}

// The indices as offsets in their own order, each brought into [0, n).
absl::StatusOr<std::vector<int64_t>> Positions(const KernelContext& ctx, const Tensor& indices, int64_t n) {
  if (indices.dtype() != DType::kI64 && indices.dtype() != DType::kI32) {
    return Bad(ctx, "indices are %s, expected i32 or i64", std::string(DTypeName(indices.dtype())));
  }
  std::vector<int64_t> v = indices.ToInts();
  for (int64_t& i : v) {
    const int64_t given = i;
    if (i < 0) i += n;
    if (i < 0 || i >= n) return Bad(ctx, "index %d is out of range for size %d", given, n);
  }
  return v;
}

// Applies update k (runs of `run` elements) at out[offset(k) …], k < count.
template <typename Offset>
absl::Status Apply(KernelContext& ctx, Combine how, const Tensor& updates, Tensor* y, int64_t count, int64_t run,
                   Offset offset) {
  if (how == Combine::kNone) {
    const size_t size = DTypeSize(y->dtype());
    for (int64_t k = 0; k < count; ++k) {
      CopyElements(y->dtype(), size, y->mutable_data(), offset(k), updates.data(), k * run, run);
    }
    return absl::OkStatus();
  }
  return Dispatch<kNumeric | kBools>(ctx.op(), y->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    using C = ComputeType<T>;
    const T* from = updates.data<T>();
    T* out = y->template mutable_data<T>();
    auto loop = [&](auto f) {
      for (int64_t k = 0; k < count; ++k) {
        T* to = out + offset(k);
        for (int64_t i = 0; i < run; ++i, ++from) {
          to[i] = static_cast<T>(f(static_cast<C>(to[i]), static_cast<C>(*from)));
        }
      }
    };
    switch (how) {
      case Combine::kAdd:
        loop(AddF{});
        break;
      case Combine::kMul:
        loop(MulF{});
        break;
      case Combine::kMax:
        loop(MaxF{});
        break;
      default:
        loop(MinF{});
        break;
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Tensor*> CopyData(KernelContext& ctx, const Tensor& x) {
  const void* from = x.data();
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x.dtype(), x.dims()));
  if (y->data() != from) {
    CopyElements(x.dtype(), DTypeSize(x.dtype()), y->mutable_data(), 0, from, 0, x.size());
  }
  return y;
}

absl::Status ScatterElements(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* indices, Input(ctx, 1));
  RT_ASSIGN_OR_RETURN(const Tensor* updates, InputOf(ctx, 2, x->dtype()));
  RT_ASSIGN_OR_RETURN(const Combine how, ReadReduction(ctx));
  const int rank = x->rank();
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, IntAttr(ctx, "axis", 0), rank));
  if (indices->rank() != rank || updates->dims() != indices->dims()) {
    return Bad(ctx, "indices %s and updates %s must have one shape of rank %d", DimsToString(indices->dims()),
               DimsToString(updates->dims()), rank);
  }
  for (int d = 0; d < rank; ++d) {
    if (d != axis && indices->dim(d) > x->dim(d)) {
      return Bad(ctx, "indices %s exceed data %s", DimsToString(indices->dims()), DimsToString(x->dims()));
    }
  }
  RT_ASSIGN_OR_RETURN(std::vector<int64_t> offsets, Positions(ctx, *indices, x->dim(axis)));
  const Dims strides = StridesOf(x->dims());
  Dims at(rank, 0);
  for (int64_t& o : offsets) {
    o *= strides[axis];
    for (int d = 0; d < rank; ++d) {
      if (d != axis) o += at[d] * strides[d];
    }
    NextIndex({indices->dims().data(), indices->dims().size()}, {at.data(), at.size()});
  }
  RT_ASSIGN_OR_RETURN(Tensor* y, CopyData(ctx, *x));
  return Apply(ctx, how, *updates, y, indices->size(), 1, [&](int64_t k) { return offsets[k]; });
}

absl::Status ScatterND(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* indices, InputOf(ctx, 1, DType::kI64));
  RT_ASSIGN_OR_RETURN(const Tensor* updates, InputOf(ctx, 2, x->dtype()));
  RT_ASSIGN_OR_RETURN(const Combine how, ReadReduction(ctx));
  const int rank = x->rank(), q = indices->rank();
  if (q < 1) return Bad(ctx, "indices are a scalar");
  const int64_t depth = indices->dim(q - 1);
  if (depth < 1 || depth > rank) return Bad(ctx, "index tuples of length %d for rank %d", depth, rank);
  const int k = static_cast<int>(depth);
  Dims want(indices->dims().begin(), indices->dims().end() - 1);
  want.insert(want.end(), x->dims().begin() + k, x->dims().end());
  if (updates->dims() != want) {
    return Bad(ctx, "updates are %s, expected %s", DimsToString(updates->dims()), DimsToString(want));
  }
  const int64_t count = Product(indices->dims(), 0, q - 1);
  const int64_t run = Product(x->dims(), k, rank);
  const Dims strides = StridesOf(x->dims());
  const int64_t* index = indices->data<int64_t>();
  std::vector<int64_t> offsets(count, 0);
  for (int64_t i = 0; i < count; ++i) {
    for (int d = 0; d < k; ++d) {
      const int64_t n = x->dim(d);
      int64_t v = index[i * k + d];
      if (v < 0) v += n;
      if (v < 0 || v >= n) return Bad(ctx, "index %d is out of range for size %d", index[i * k + d], n);
      offsets[i] += v * strides[d];
    }
  }
  RT_ASSIGN_OR_RETURN(Tensor* y, CopyData(ctx, *x));
  return Apply(ctx, how, *updates, y, count, run, [&](int64_t i) { return offsets[i]; });
}

}  // namespace

void RegisterScatter(KernelRegistry& r) {
  // Not in place: updates or indices may be the data itself.
  r.Add("Scatter", ScatterElements);
  r.Add("ScatterElements", ScatterElements);
  r.Add("ScatterND", ScatterND);
}

}  // namespace retuple::internal
