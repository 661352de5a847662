// ReverseSequence, Compress, OneHot, NonZero, Trilu: which elements go where depends on small rules or on values.
#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

// The first sequence_lens[b] entries of the time axis are reversed for each batch entry b.
absl::Status ReverseSequence(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const std::vector<int64_t> lens, RequiredInts(ctx, 1));
  if (x->rank() < 2) return Bad(ctx, "input has rank %d, expected at least 2", x->rank());
  const int64_t time_axis = IntAttr(ctx, "time_axis", 0), batch_axis = IntAttr(ctx, "batch_axis", 1);
  if (time_axis < 0 || time_axis > 1 || batch_axis != 1 - time_axis) {
    return Bad(ctx, "time_axis %d and batch_axis %d must be 0 and 1", time_axis, batch_axis);
  }
  const int64_t batch = x->dim(static_cast<int>(batch_axis)), time = x->dim(static_cast<int>(time_axis));
  if (static_cast<int64_t>(lens.size()) != batch) {
    return Bad(ctx, "%d lengths for a batch of %d", lens.size(), batch);
  }
  for (int64_t n : lens) {
    if (n < 0 || n > time) return Bad(ctx, "length %d is out of range for %d steps", n, time);
  }
  const int64_t inner = Product(x->dims(), 2, x->rank());
  const int64_t time_step = (time_axis == 0 ? batch : 1) * inner;
  const int64_t batch_step = (time_axis == 0 ? 1 : time) * inner;
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), x->dims()));
  const size_t size = DTypeSize(x->dtype());
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t t = 0; t < time; ++t) {
      const int64_t from = t < lens[b] ? lens[b] - 1 - t : t;
      CopyElements(x->dtype(), size, y->mutable_data(), b * batch_step + t * time_step, x->data(),
                   b * batch_step + from * time_step, inner);
    }
  }
  return absl::OkStatus();
}

// Slices along `axis` (or elements of the flattened input) whose condition is true; a short condition stops early.
absl::Status Compress(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* condition, InputOf(ctx, 1, DType::kBool));
  if (condition->rank() != 1) return Bad(ctx, "the condition has rank %d, expected 1", condition->rank());
  int64_t outer = 1, n = x->size(), inner = 1;
  Dims dims{0};
  int axis = 0;
  if (const int64_t* wanted = FindAttr<int64_t>(ctx.op().attrs, "axis")) {
    RT_ASSIGN_OR_RETURN(axis, NormalizeAxis(ctx, *wanted, x->rank()));
    outer = Product(x->dims(), 0, axis);
    n = x->dim(axis);
    inner = Product(x->dims(), axis + 1, x->rank());
    dims = x->dims();
  }
  const uint8_t* keep = condition->data<uint8_t>();
  if (condition->size() > n) {
    for (int64_t i = n; i < condition->size(); ++i) {
      if (keep[i]) return Bad(ctx, "the condition selects entry %d of %d", i, n);
    }
  }
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < std::min(n, condition->size()); ++i) {
    if (keep[i]) chosen.push_back(i);
  }
  dims[axis] = static_cast<int64_t>(chosen.size());
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), dims));
  const size_t size = DTypeSize(x->dtype());
  int64_t to = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i : chosen) {
      CopyElements(x->dtype(), size, y->mutable_data(), to, x->data(), (o * n + i) * inner, inner);
      to += inner;
    }
  }
  return absl::OkStatus();
}

// values = [off, on]; an index outside [-depth, depth) gives a row of off.
absl::Status OneHot(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* indices, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* depth_tensor, Input(ctx, 1));
  RT_ASSIGN_OR_RETURN(const Tensor* values, Input(ctx, 2));
  auto numeric = [](DType t) { return t != DType::kString && !IsComplex(t); };
  if (!numeric(indices->dtype()) || !numeric(depth_tensor->dtype())) return Bad(ctx, "indices or depth is no number");
  if (depth_tensor->size() != 1) return Bad(ctx, "depth is not a scalar");
  if (values->rank() != 1 || values->dim(0) != 2) return Bad(ctx, "values are not a pair");
  const int64_t depth = depth_tensor->IntAt(0);
  if (depth < 0) return Bad(ctx, "depth is %d", depth);
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, IntAttr(ctx, "axis", -1), indices->rank() + 1));
  Dims dims = indices->dims();
  dims.insert(dims.begin() + axis, depth);
  const int64_t outer = Product(indices->dims(), 0, axis);
  const int64_t inner = Product(indices->dims(), axis, indices->rank());
  return DispatchBySize(ctx.op(), values->dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
    const E off = values->data<E>()[0], on = values->data<E>()[1];
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, values->dtype(), dims));
    E* out = y->template mutable_data<E>();
    std::fill(out, out + y->size(), off);
    if (y->size() == 0) return absl::OkStatus();
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        int64_t v = indices->IntAt(o * inner + i);
        if (v < 0) v += depth;
        if (v >= 0 && v < depth) out[(o * depth + v) * inner + i] = on;
      }
    }
    return absl::OkStatus();
  });
}

template <typename T>
bool IsNonZero(const T& v) {
  if constexpr (std::is_same_v<T, std::string>) {
    return !v.empty();
  } else {
    return v != static_cast<T>(0);
  }
}

// Coordinates of the non-zero elements in row-major order, [rank, count]; a scalar counts as one axis.
absl::Status NonZero(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  Dims dims = x->dims();
  if (dims.empty()) dims.push_back(1);
  const int64_t rank = static_cast<int64_t>(dims.size());
  const Dims strides = StridesOf(dims);
  return Dispatch<kNumeric | kBools | kStringsOnly>(
      ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
        const T* in = x->data<T>();
        std::vector<int64_t> found;
        for (int64_t i = 0; i < x->size(); ++i) {
          if (IsNonZero(in[i])) found.push_back(i);
        }
        const int64_t count = static_cast<int64_t>(found.size());
        RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kI64, {rank, count}));
        auto* out = y->template mutable_data<int64_t>();
        for (int64_t d = 0; d < rank; ++d) {
          for (int64_t i = 0; i < count; ++i) out[d * count + i] = found[i] / strides[d] % dims[d];
        }
        return absl::OkStatus();
      });
}

// The upper (lower) triangle from the k-th diagonal on (down); 0 elsewhere.
absl::Status Trilu(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  if (x->rank() < 2) return Bad(ctx, "input has rank %d, expected at least 2", x->rank());
  int64_t k = 0;
  if (ctx.num_inputs() > 1 && ctx.has(1)) {
    RT_ASSIGN_OR_RETURN(k, IntInput(ctx, 1));
  }
  const bool upper = IntAttr(ctx, "upper", 1) != 0;
  const int rank = x->rank();
  const int64_t rows = x->dim(rank - 2), cols = x->dim(rank - 1);
  const int64_t planes = Product(x->dims(), 0, rank - 2);
  k = std::clamp(k, -rows - 1, cols + 1);
  return DispatchBySize(ctx.op(), x->dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
    const E* in = x->data<E>();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), x->dims()));
    if (y->size() == 0) return absl::OkStatus();
    E* out = y->template mutable_data<E>();
    for (int64_t p = 0; p < planes; ++p) {
      for (int64_t i = 0; i < rows; ++i, in += cols, out += cols) {
        // Columns [cut, cols) belong to the upper triangle, [0, cut) with k + 1 to the lower.
        const int64_t cut = std::clamp<int64_t>(i + k + (upper ? 0 : 1), 0, cols);
        if (upper) {
          std::fill(out, out + cut, E{});
          std::copy(in + cut, in + cols, out + cut);
        } else {
          std::copy(in, in + cut, out);
          std::fill(out + cut, out + cols, E{});
        }
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace

void RegisterSelection(KernelRegistry& r) {
  r.Add("ReverseSequence", ReverseSequence);
  r.Add("Compress", Compress);
  r.Add("OneHot", OneHot);
  r.Add("NonZero", NonZero);
  r.Add("Trilu", Trilu);
}

}  // namespace retuple::internal
