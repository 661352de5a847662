// Tensors from shapes and attributes: Shape, Size, ConstantOfShape, Constant, EyeLike, Range.
#include <cmath>

#include "kernels/core/arith.h"
#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

// Dimensions [start, end), both clamped to the rank.
absl::Status Shape(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const int64_t rank = x->rank();
  auto position = [rank](int64_t v) {
    if (v < 0) v = v < -rank ? 0 : v + rank;
    return std::min(v, rank);
  };
  const int64_t* end_attr = FindAttr<int64_t>(ctx.op().attrs, "end");
  const int64_t start = position(IntAttr(ctx, "start", 0));
  const int64_t end = std::max(start, end_attr ? position(*end_attr) : rank);
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kI64, {end - start}));
  std::copy(x->dims().begin() + start, x->dims().begin() + end, y->mutable_data<int64_t>());
  return absl::OkStatus();
}

absl::Status Size(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kI64, {}));
  *y->mutable_data<int64_t>() = x->size();
  return absl::OkStatus();
}

absl::Status ConstantOfShape(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, RequiredInts(ctx, 0));
  const Tensor* given = FindAttr<Tensor>(ctx.op().attrs, "value");
  const Tensor value = given != nullptr && given->defined() ? *given : Tensor::ScalarF32(0.0f);
  if (value.size() != 1) return Bad(ctx, "value has %d elements, expected 1", value.size());
  return DispatchBySize(ctx.op(), value.dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, value.dtype(), Dims(shape.begin(), shape.end())));
    E* out = y->template mutable_data<E>();
    std::fill(out, out + y->size(), *value.data<E>());
    return absl::OkStatus();
  });
}

template <typename T>
absl::Status ConstantVector(KernelContext& ctx, DType dtype, const std::vector<T>& v) {
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, dtype, {static_cast<int64_t>(v.size())}));
  std::copy(v.begin(), v.end(), y->mutable_data<T>());
  return absl::OkStatus();
}

absl::Status Constant(KernelContext& ctx) {
  const AttrMap& attrs = ctx.op().attrs;
  if (const Tensor* v = FindAttr<Tensor>(attrs, "value")) {
    ctx.SetOutput(0, *v);
    return absl::OkStatus();
  }
  if (const int64_t* v = FindAttr<int64_t>(attrs, "value_int")) {
    ctx.SetOutput(0, Tensor::ScalarI64(*v));
    return absl::OkStatus();
  }
  if (const float* v = FindAttr<float>(attrs, "value_float")) {
    ctx.SetOutput(0, Tensor::ScalarF32(*v));
    return absl::OkStatus();
  }
  if (const std::string* v = FindAttr<std::string>(attrs, "value_string")) {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kString, {}));
    *y->mutable_data<std::string>() = *v;
    return absl::OkStatus();
  }
  if (const Ints* v = FindAttr<Ints>(attrs, "value_ints")) return ConstantVector(ctx, DType::kI64, *v);
  if (const Floats* v = FindAttr<Floats>(attrs, "value_floats")) return ConstantVector(ctx, DType::kF32, *v);
  if (const Strings* v = FindAttr<Strings>(attrs, "value_strings")) {
    return ConstantVector(ctx, DType::kString, *v);
  }
  return Unserved(ctx, "no attribute gives a value");
}

// Ones on the k-th diagonal of a matrix of the input's shape.
absl::Status EyeLike(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  if (x->rank() != 2) return Bad(ctx, "input has rank %d, expected 2", x->rank());
  const int64_t* wanted = FindAttr<int64_t>(ctx.op().attrs, "dtype");
  if (wanted != nullptr && (*wanted < 1 || *wanted > 22)) return Bad(ctx, "dtype is %d", *wanted);
  const DType dtype = wanted ? static_cast<DType>(*wanted) : x->dtype();
  const int64_t k = IntAttr(ctx, "k", 0);
  const int64_t rows = x->dim(0), cols = x->dim(1);
  return Dispatch<kNumeric | kBools>(ctx.op(), dtype, [&]<typename T>(TypeTag<T>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, dtype, {rows, cols}));
    T* out = y->template mutable_data<T>();
    std::fill(out, out + y->size(), static_cast<T>(0));
    if (k > -rows && k < cols) {
      for (int64_t i = std::max<int64_t>(0, -k); i < rows && i + k < cols; ++i) {
        out[i * cols + i + k] = static_cast<T>(1);
      }
    }
    return absl::OkStatus();
  });
}

// start, start + delta, … below limit: max(ceil((limit - start) / delta), 0) numbers, each start + i·delta.
absl::Status Range(KernelContext& ctx) {
  const Tensor* x[3];
  for (int i = 0; i < 3; ++i) {
    RT_ASSIGN_OR_RETURN(x[i], Input(ctx, i));
    if (x[i]->size() != 1) return Bad(ctx, "input %d is not a scalar", i);
    if (x[i]->dtype() != x[0]->dtype()) return Bad(ctx, "the inputs differ in element type");
  }
  constexpr TypeSet kTypes = kFloats | kSigned;
  return Dispatch<kTypes>(ctx.op(), x[0]->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    using C = ComputeType<T>;
    const C start = static_cast<C>(*x[0]->data<T>()), limit = static_cast<C>(*x[1]->data<T>());
    const C delta = static_cast<C>(*x[2]->data<T>());
    if (delta == 0) return Bad(ctx, "delta is 0");
    int64_t n = 0;
    if constexpr (std::is_integral_v<C>) {
      // Distance and step as unsigned, so that nothing overflows.
      const bool up = delta > 0;
      if (up ? start < limit : start > limit) {
        const uint64_t a = static_cast<uint64_t>(static_cast<int64_t>(start));
        const uint64_t b = static_cast<uint64_t>(static_cast<int64_t>(limit));
        const uint64_t step = static_cast<uint64_t>(static_cast<int64_t>(delta));
        const uint64_t count = ((up ? b - a : a - b) - 1) / (up ? step : uint64_t{0} - step) + 1;
        if (count > uint64_t{1} << 62) return absl::ResourceExhaustedError("Range: too many elements");
        n = static_cast<int64_t>(count);
      }
    } else {
      const double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
      if (!(count < 9e18)) return Bad(ctx, "the number of elements is not finite");
      n = count > 0 ? static_cast<int64_t>(count) : 0;
    }
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x[0]->dtype(), {n}));
    T* out = y->template mutable_data<T>();
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(AddF()(start, MulF()(static_cast<C>(i), delta)));
    }
    return absl::OkStatus();
  });
}

}  // namespace

void RegisterGenerators(KernelRegistry& r) {
  r.Add("Shape", Shape);
  r.Add("Size", Size);
  r.Add("ConstantOfShape", ConstantOfShape);
  r.Add("Constant", Constant);
  r.Add("EyeLike", EyeLike);
  r.Add("Range", Range);
}

}  // namespace retuple::internal
