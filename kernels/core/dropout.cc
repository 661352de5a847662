// Dropout: the identity with an all-true mask when not training, else out = x · mask / (1 - ratio).
//
// The mask is bool in the newest form (and false where an element is dropped); in older forms it has the data's
// element type.
#include "kernels/core/philox.h"
#include "kernels/core/random.h"
#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

absl::Status Inference(KernelContext& ctx, const Tensor& x, DType mask_type) {
  if (ctx.output_used(1)) {
    if (mask_type == DType::kBool) {
      RT_ASSIGN_OR_RETURN(Tensor* mask, ctx.Output(1, DType::kBool, x.dims()));
      std::fill(mask->mutable_data<uint8_t>(), mask->mutable_data<uint8_t>() + mask->size(), uint8_t{1});
    } else {
      RT_RETURN_IF_ERROR(Dispatch<kFloats>(ctx.op(), mask_type, [&]<typename T>(TypeTag<T>) -> absl::Status {
        RT_ASSIGN_OR_RETURN(Tensor* mask, ctx.Output(1, mask_type, x.dims()));
        T* m = mask->template mutable_data<T>();
        std::fill(m, m + mask->size(), static_cast<T>(1.0f));
        return absl::OkStatus();
      }));
    }
  }
  ctx.SetOutput(0, x);
  return absl::OkStatus();
}

absl::Status Training(KernelContext& ctx, const Tensor& x, double ratio, DType mask_type) {
  if (!(ratio >= 0 && ratio < 1)) return Bad(ctx, "ratio is %g, expected [0, 1)", ratio);
  const Philox philox(StreamSeed(ctx));
  return Dispatch<kFloats>(ctx.op(), x.dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    using C = ComputeType<T>;
    const T* in = x.data<T>();
    const int64_t n = x.size();
    const bool bool_mask = mask_type == DType::kBool;
    Tensor* mask = nullptr;
    if (ctx.output_used(1)) {
      RT_ASSIGN_OR_RETURN(mask, ctx.Output(1, mask_type, x.dims()));
    }
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x.dtype(), x.dims()));
    T* out = y->template mutable_data<T>();
    const C scale = static_cast<C>(1.0 / (1.0 - ratio));
    for (int64_t i = 0; i < n; ++i) {
      const bool keep = philox.Uniform(static_cast<uint64_t>(i)) >= ratio;
      out[i] = static_cast<T>(keep ? static_cast<C>(in[i]) * scale : C{0});
      if (mask == nullptr) continue;
      if (bool_mask) {
        mask->mutable_data<uint8_t>()[i] = keep;
      } else {
        mask->mutable_data<T>()[i] = static_cast<T>(keep ? 1.0f : 0.0f);
      }
    }
    return absl::OkStatus();
  });
}

absl::Status Dropout(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  double ratio = 0.5;
  if (ctx.num_inputs() > 1 && ctx.has(1)) {
    RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, 1));
    if (t->size() != 1 || !IsFloat(t->dtype())) return Bad(ctx, "ratio is not a float scalar");
    ratio = t->At(0);
  }
  bool training = false;
  if (ctx.num_inputs() > 2 && ctx.has(2)) {
    RT_ASSIGN_OR_RETURN(const Tensor* t, InputOf(ctx, 2, DType::kBool));
    if (t->size() != 1) return Bad(ctx, "training_mode is not a scalar");
    training = *t->data<uint8_t>() != 0;
  }
  return training && ratio != 0 ? Training(ctx, *x, ratio, DType::kBool) : Inference(ctx, *x, DType::kBool);
}

absl::Status Dropout1(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  if (IntAttr(ctx, "is_test", 0) != 0) return Inference(ctx, *x, x->dtype());
  return Training(ctx, *x, FloatAttr(ctx, "ratio", 0.5f), x->dtype());
}

// Opset 7 has only the inference form; from 10 on the mask is bool.
absl::Status Dropout7(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  return Inference(ctx, *x, DType::kBool);
}

}  // namespace

void RegisterDropout(KernelRegistry& r) {
  constexpr KernelFlags kView{.view = true};
  r.Add("Dropout", Dropout, kView);
  r.Add("Dropout-1", Dropout1, kView);
  r.Add("Dropout-7", Dropout7, kView);
}

}  // namespace retuple::internal
