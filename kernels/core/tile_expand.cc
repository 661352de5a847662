// Tile and Expand.
#include "kernels/core/broadcast.h"

namespace retuple::internal {
namespace {

absl::Status TileBy(KernelContext& ctx, const Tensor& x, std::span<const int64_t> repeats) {
  const int rank = x.rank();
  Dims dims(rank);
  for (int d = 0; d < rank; ++d) {
    if (repeats[d] < 0 || MulOverflows(x.dim(d), repeats[d], &dims[d])) {
      return Bad(ctx, "repeat %d on axis %d", repeats[d], d);
    }
  }
  return DispatchBySize(ctx.op(), x.dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x.dtype(), dims));
    if (y->size() == 0) return absl::OkStatus();
    const E* in = x.data<E>();
    E* out = y->template mutable_data<E>();
    if (rank == 0) {
      *out = *in;
      return absl::OkStatus();
    }
    // Trailing axes that are not repeated are one run with the axis before them.
    int last = rank;
    int64_t run = 1;
    while (last > 0 && repeats[last - 1] == 1) run *= x.dim(--last);
    int64_t copies = 1;
    if (last > 0) {
      --last;
      run *= x.dim(last);
      copies = repeats[last];
    }
    const Dims strides = StridesOf(x.dims());
    Dims index(last, 0);
    do {
      int64_t from = 0;
      for (int d = 0; d < last; ++d) from += (index[d] % x.dim(d)) * strides[d];
      if (run == 1) {
        std::fill(out, out + copies, in[from]);
        out += copies;
      } else {
        for (int64_t c = 0; c < copies; ++c, out += run) std::copy(in + from, in + from + run, out);
      }
    } while (NextIndex({dims.data(), static_cast<size_t>(last)}, {index.data(), index.size()}));
    return absl::OkStatus();
  });
}

absl::Status Tile(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats, RequiredInts(ctx, 1));
  if (static_cast<int>(repeats.size()) != x->rank()) {
    return Bad(ctx, "%d repeats for rank %d", repeats.size(), x->rank());
  }
  return TileBy(ctx, *x, repeats);
}

// Opset 1: `tiles` copies along `axis`, both scalars of the data's element type.
absl::Status Tile1(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  int64_t values[2];
  for (int i = 0; i < 2; ++i) {
    RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, i + 1));
    if (t->size() != 1 || t->dtype() == DType::kString || IsComplex(t->dtype())) {
      return Bad(ctx, "input %d is not a number", i + 1);
    }
    values[i] = t->IntAt(0);
  }
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, values[1], x->rank()));
  std::vector<int64_t> repeats(x->rank(), 1);
  repeats[axis] = values[0];
  return TileBy(ctx, *x, repeats);
}

// The common shape of the input and the given one: a 1 in either stretches.
absl::Status Expand(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, RequiredInts(ctx, 1));
  for (int64_t n : shape) {
    if (n < 0) return Bad(ctx, "shape %s is not a shape", DimsToString(shape));
  }
  RT_ASSIGN_OR_RETURN(const Dims dims, BroadcastDims(ctx, x->dims(), Dims(shape.begin(), shape.end())));
  return DispatchBySize(ctx.op(), x->dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), dims));
    if (y->size() == 0) return absl::OkStatus();
    const Dims* const operands[] = {&x->dims()};
    const BroadcastPlan plan = PlanBroadcast(dims, operands);
    const int64_t row = plan.row_size();
    const E* in = x->data<E>();
    E* out = y->template mutable_data<E>();
    RowCursor at(plan, 0);
    for (int64_t r = 0; r < plan.rows; ++r, at.Next(), out += row) {
      const E* from = in + at.offset(0);
      if (plan.strides[0].back() == 0) {
        std::fill(out, out + row, *from);
      } else {
        std::copy(from, from + row, out);
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace

void RegisterTileExpand(KernelRegistry& r) {
  r.Add("Tile", Tile);
  r.Add("Tile-1", Tile1);
  r.Add("Expand", Expand);
}

}  // namespace retuple::internal
