// Conv on f32 and f64; f16 and bf16 are computed in f32.
#include "kernels/dense/conv_compute.h"
#include "kernels/dense/register.h"

namespace retuple::internal {
namespace {

class ConvKernel final : public Kernel {
 public:
  ConvKernel(WindowAttrs attrs, const Tensor* w) : attrs_(std::move(attrs)) {
    if (w == nullptr || w->rank() < 3 || w->size() == 0 || w->dim(0) % attrs_.group != 0) return;
    if (w->dim(1) == 1 && w->dim(0) / attrs_.group < 4) return;  // depthwise: reads the weights as they are
    const int64_t maps = w->dim(0) / attrs_.group, depth = w->size() / w->dim(0);
    if (w->dtype() == DType::kF64) {
      packed64_ = PackedFilters<double>::Pack(attrs_.group, maps, depth, w->data<double>());
      return;
    }
    if (w->dtype() == DType::kF32) {
      packed_ = PackedFilters<float>::Pack(attrs_.group, maps, depth, w->data<float>());
    } else if (Is16Bit(w->dtype())) {
      wide_.resize(static_cast<size_t>(w->size()));
      WidenFloats(w->dtype(), w->data(), w->size(), wide_.data());
      packed_ = PackedFilters<float>::Pack(attrs_.group, maps, depth, wide_.data());
    }
  }

  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    RT_ASSIGN_OR_RETURN(const Tensor* w, InputOf(ctx, 1, x->dtype()));
    const Tensor* b = nullptr;
    if (ctx.has(2)) {
      RT_ASSIGN_OR_RETURN(b, InputOf(ctx, 2, x->dtype()));
      if (b->size() != (w->rank() > 0 ? w->dim(0) : 0)) {
        return Bad(ctx, "%d biases for weights of shape %s", b->size(), DimsToString(w->dims()));
      }
    }
    RT_ASSIGN_OR_RETURN(const ConvShape s, ConvShape::Make(ctx, attrs_, x->dims(), w->dims()));
    if (x->dtype() == DType::kF64) {
      RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), s.out_dims));
      return Convolve<double>(ctx, s, x->data<double>(), w->data<double>(), packed64_.empty() ? nullptr : &packed64_,
                              b != nullptr ? b->data<double>() : nullptr, {}, y->mutable_data<double>());
    }
    if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) {
      return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
    }
    RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x->dtype(), s.out_dims));
    RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
    const float* pw = wide_.data();
    if (wide_.empty()) {
      RT_ASSIGN_OR_RETURN(pw, AsFloats(ctx, *w));
    }
    const float* pb = nullptr;
    if (b != nullptr) {
      RT_ASSIGN_OR_RETURN(pb, AsFloats(ctx, *b));
    }
    RT_RETURN_IF_ERROR(Convolve<float>(ctx, s, px, pw, packed_.empty() ? nullptr : &packed_, pb, {}, y.data()));
    y.Finish();
    return absl::OkStatus();
  }

 private:
  WindowAttrs attrs_;
  PackedFilters<float> packed_;
  PackedFilters<double> packed64_;
  std::vector<float> wide_;  // constant 16-bit weights
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeConv(const KernelInit& init) {
  RT_ASSIGN_OR_RETURN(WindowAttrs attrs, WindowAttrs::Read(init.op));
  return std::make_unique<ConvKernel>(std::move(attrs), init.constants.size() > 1 ? init.constants[1] : nullptr);
}

}  // namespace

void RegisterConv(KernelRegistry& r) { r.AddFactory("Conv", MakeConv); }

}  // namespace retuple::internal
