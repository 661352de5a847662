// Operators that only rename a shape: Reshape, Flatten, Squeeze, Unsqueeze, Identity. The result shares storage.
#include "kernels/core/util.h"

namespace retuple::internal {
namespace {

absl::Status View(KernelContext& ctx, const Tensor& x, Dims dims) {
  ctx.SetOutput(0, x.Reshaped(std::move(dims)));
  return absl::OkStatus();
}

// 0 copies the input's dimension (unless allowzero), one -1 is inferred.
absl::Status ReshapeTo(KernelContext& ctx, const Tensor& x, std::span<const int64_t> shape, bool allow_zero) {
  Dims dims(shape.begin(), shape.end());
  int inferred = -1;
  int64_t known = 1;
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    if (dims[i] == -1) {
      if (inferred >= 0) return Bad(ctx, "shape %s has more than one -1", DimsToString(shape));
      inferred = i;
      continue;
    }
    if (dims[i] == 0 && !allow_zero) {
      if (i >= x.rank()) return Bad(ctx, "shape %s copies a dimension that the input lacks", DimsToString(shape));
      dims[i] = x.dim(i);
    }
    if (dims[i] < 0 || MulOverflows(known, dims[i], &known)) {
      return Bad(ctx, "shape %s is not a shape", DimsToString(shape));
    }
  }
  if (inferred >= 0) {
    if (known == 0 || x.size() % known != 0) {
      return Bad(ctx, "%s cannot take shape %s", DimsToString(x.dims()), DimsToString(shape));
    }
    dims[inferred] = x.size() / known;
    known *= dims[inferred];
  }
  if (known != x.size()) {
    return Bad(ctx, "%s cannot take shape %s", DimsToString(x.dims()), DimsToString(shape));
  }
  return View(ctx, x, std::move(dims));
}

absl::Status Reshape(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, RequiredInts(ctx, 1));
  return ReshapeTo(ctx, *x, shape, IntAttr(ctx, "allowzero", 0) != 0);
}

absl::Status Reshape1(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const Ints* shape = IntsAttr(ctx, "shape");
  return ReshapeTo(ctx, *x, shape ? *shape : Ints{}, false);
}

// [d0, …] becomes [product below axis, product from axis on].
absl::Status Flatten(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const int64_t wanted = IntAttr(ctx, "axis", 1);
  const int rank = x->rank();
  if (wanted < -rank || wanted > rank) return Bad(ctx, "axis %d is out of range for rank %d", wanted, rank);
  const int axis = static_cast<int>(wanted < 0 ? wanted + rank : wanted);
  return View(ctx, *x, Dims{Product(x->dims(), 0, axis), Product(x->dims(), axis, rank)});
}

absl::Status SqueezeAxes(KernelContext& ctx, const Tensor& x, const std::vector<int64_t>* axes) {
  std::vector<bool> drop(x.rank());
  if (axes != nullptr) {
    RT_ASSIGN_OR_RETURN(drop, AxisFlags(ctx, *axes, x.rank()));
  }
  Dims dims;
  for (int i = 0; i < x.rank(); ++i) {
    if (axes == nullptr) drop[i] = x.dim(i) == 1;
    if (!drop[i]) {
      dims.push_back(x.dim(i));
    } else if (x.dim(i) != 1) {
      return Bad(ctx, "axis %d of %s is not 1", i, DimsToString(x.dims()));
    }
  }
  return View(ctx, x, std::move(dims));
}

absl::Status Squeeze(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const auto axes, IntsInput(ctx, 1));
  return SqueezeAxes(ctx, *x, axes ? &*axes : nullptr);
}

absl::Status Squeeze1(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  return SqueezeAxes(ctx, *x, IntsAttr(ctx, "axes"));
}

absl::Status UnsqueezeAxes(KernelContext& ctx, const Tensor& x, const std::vector<int64_t>& axes) {
  const int rank = x.rank() + static_cast<int>(axes.size());
  RT_ASSIGN_OR_RETURN(const std::vector<bool> add, AxisFlags(ctx, axes, rank));
  Dims dims;
  int from = 0;
  for (int i = 0; i < rank; ++i) dims.push_back(add[i] ? 1 : x.dim(from++));
  return View(ctx, x, std::move(dims));
}

absl::Status Unsqueeze(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, RequiredInts(ctx, 1));
  return UnsqueezeAxes(ctx, *x, axes);
}

absl::Status Unsqueeze1(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const Ints* axes = IntsAttr(ctx, "axes");
  return UnsqueezeAxes(ctx, *x, axes ? *axes : Ints{});
}

// Sequences and optionals pass too.
absl::Status Identity(KernelContext& ctx) {
  if (ctx.num_inputs() < 1 || !ctx.has(0)) return Bad(ctx, "input 0 is missing");
  ctx.SetOutput(0, ctx.value(0));
  return absl::OkStatus();
}

}  // namespace

void RegisterViews(KernelRegistry& r) {
  constexpr KernelFlags kView{.view = true};
  r.Add("Reshape", Reshape, kView);
  r.Add("Reshape-1", Reshape1, kView);
  r.Add("Flatten", Flatten, kView);
  r.Add("Squeeze", Squeeze, kView);
  r.Add("Squeeze-1", Squeeze1, kView);
  r.Add("Unsqueeze", Unsqueeze, kView);
  r.Add("Unsqueeze-1", Unsqueeze1, kView);
  r.Add("Identity", Identity, kView);
}

}  // namespace retuple::internal
