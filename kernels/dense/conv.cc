// Conv on f32 and f64; f16 and bf16 are computed in f32. The plan of a shape and the packed weights
// are kept from one run to the next.
#include "kernels/dense/conv.h"

#include "kernels/dense/conv_compute.h"
#include "kernels/dense/register.h"

namespace retuple::internal {
namespace {

// What stays between runs; a kernel runs on one thread at a time.
template <typename T>
struct ConvState {
  Dims x_dims, w_dims;
  ConvPlan<T> plan;
  AlignedArray<T> packed;

  absl::Status Prepare(const KernelContext& ctx, const WindowAttrs& attrs, const Tensor& x,
                       const Tensor& w, const T* constant_weights) {
    if (!w_dims.empty() && x.dims() == x_dims && w.dims() == w_dims) return absl::OkStatus();
    RT_ASSIGN_OR_RETURN(const ConvShape s, ConvShape::Make(ctx, attrs, x.dims(), w.dims()));
    const ConvMethod old = plan.method();
    const bool same = !w_dims.empty() && w.dims() == w_dims;
    plan = ConvPlan<T>(s);
    x_dims = x.dims();
    w_dims = w.dims();
    if (constant_weights == nullptr || w.size() == 0 || (same && old == plan.method()))
      return absl::OkStatus();
    const std::optional<int64_t> size = plan.packed_size();
    packed = {};
    if (!size || *size == 0) return absl::OkStatus();
    packed = AlignedArray<T>(static_cast<size_t>(*size));
    plan.Pack(constant_weights, packed.data());
    return absl::OkStatus();
  }
};

class ConvKernel final : public Kernel {
 public:
  ConvKernel(WindowAttrs attrs, const Tensor* w, const Activation& post, bool adds)
      : attrs_(std::move(attrs)), post_(post), adds_(adds) {
    if (w == nullptr || w->rank() < 3) return;
    weights_ = *w;
    if (Is16Bit(w->dtype())) {
      wide_.resize(static_cast<size_t>(w->size()));
      WidenFloats(w->dtype(), w->data(), w->size(), wide_.data());
    }
  }

  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    RT_ASSIGN_OR_RETURN(const Tensor* w, InputOf(ctx, 1, x->dtype()));
    const Tensor* b = nullptr;
    if (ctx.has(2) && (!adds_ || ctx.num_inputs() > 3)) {
      RT_ASSIGN_OR_RETURN(b, InputOf(ctx, 2, x->dtype()));
      if (b->size() != (w->rank() > 0 ? w->dim(0) : 0)) {
        return Bad(ctx, "%d biases for weights of shape %s", b->size(), DimsToString(w->dims()));
      }
    }
    if (x->dtype() == DType::kF64) {
      const double* constant = weights_.dtype() == DType::kF64 ? weights_.data<double>() : nullptr;
      RT_RETURN_IF_ERROR(state64_.Prepare(ctx, attrs_, *x, *w, constant));
      RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), state64_.plan.shape().out_dims));
      return state64_.plan.Run(ctx, x->data<double>(), w->data<double>(),
                               state64_.packed.empty() ? nullptr : state64_.packed.data(),
                               b != nullptr ? b->data<double>() : nullptr, {}, nullptr,
                               y->mutable_data<double>());
    }
    if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) {
      return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
    }
    const float* constant = weights_.dtype() == DType::kF32 ? weights_.data<float>()
                            : wide_.empty()                 ? nullptr
                                                            : wide_.data();
    RT_RETURN_IF_ERROR(state_.Prepare(ctx, attrs_, *x, *w, constant));
    const ConvPlan<float>& plan = state_.plan;
    const float* add = nullptr;
    if (adds_) {
      RT_ASSIGN_OR_RETURN(const Tensor* t, InputOf(ctx, ctx.num_inputs() - 1, DType::kF32));
      if (t->dims() != plan.shape().out_dims) return RunBroadcast(ctx, *x, *w, b, *t);
      add = t->data<float>();
    }
    RT_ASSIGN_OR_RETURN(FloatOutput y,
                        FloatOutput::Make(ctx, 0, x->dtype(), plan.shape().out_dims));
    RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
    const float* pw = wide_.data();
    if (wide_.empty()) {
      RT_ASSIGN_OR_RETURN(pw, AsFloats(ctx, *w));
    }
    const float* pb = nullptr;
    if (b != nullptr) {
      RT_ASSIGN_OR_RETURN(pb, AsFloats(ctx, *b));
    }
    RT_RETURN_IF_ERROR(plan.Run(ctx, px, pw, state_.packed.empty() ? nullptr : state_.packed.data(),
                                pb, post_, add, y.data()));
    y.Finish();
    return absl::OkStatus();
  }

 private:
  // post(convolution + t) where t has another shape than the convolution. f32 only.
  absl::Status RunBroadcast(KernelContext& ctx, const Tensor& x, const Tensor& w, const Tensor* b,
                            const Tensor& t) const {
    const Dims& conv = state_.plan.shape().out_dims;
    const size_t r = std::max(conv.size(), t.dims().size());
    auto widen = [r](Dims d) {
      d.insert(d.begin(), r - d.size(), 1);
      return d;
    };
    const Dims a = widen(conv), c = widen(t.dims());
    Dims out(r);
    for (size_t d = 0; d < r; ++d) {
      if (a[d] != c[d] && a[d] != 1 && c[d] != 1) {
        return Bad(ctx, "results %s and %s do not broadcast", DimsToString(conv),
                   DimsToString(t.dims()));
      }
      out[d] = a[d] == 1 ? c[d] : a[d];
    }
    const std::optional<int64_t> size = CheckedNumElements(conv);
    if (!size) return Bad(ctx, "the result is too large");
    RT_ASSIGN_OR_RETURN(float* result, ScratchOf<float>(ctx, *size));
    RT_RETURN_IF_ERROR(state_.plan.Run(ctx, x.data<float>(), w.data<float>(),
                                       state_.packed.empty() ? nullptr : state_.packed.data(),
                                       b != nullptr ? b->data<float>() : nullptr, {}, nullptr,
                                       result));
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, DType::kF32, out));
    const Dims sa = StridesOf(a), sc = StridesOf(c);
    Dims index(r, 0);
    const size_t channel_axis = r - conv.size() + 1;
    for (int64_t i = 0; i < y->size(); ++i) {
      int64_t at = 0, ct = 0;
      for (size_t d = 0; d < r; ++d) {
        at += a[d] == 1 ? 0 : index[d] * sa[d];
        ct += c[d] == 1 ? 0 : index[d] * sc[d];
      }
      float* v = y->mutable_data<float>() + i;
      *v = result[at] + t.data<float>()[ct];
      Activate(post_, index[channel_axis], nullptr, v, 1);
      NextIndex(out, index);
    }
    return absl::OkStatus();
  }

  WindowAttrs attrs_;
  Activation post_;
  bool adds_;
  Tensor weights_;           // constant weights, else undefined
  std::vector<float> wide_;  // constant 16-bit weights
  mutable ConvState<float> state_;
  mutable ConvState<double> state64_;
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeConv(const KernelInit& init) {
  return MakeConvolution(init, {}, false);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeConvolution(const KernelInit& init,
                                                        const Activation& post, bool adds) {
  RT_ASSIGN_OR_RETURN(WindowAttrs attrs, WindowAttrs::Read(init.op));
  const Tensor* w = init.constants.size() > 1 ? init.constants[1] : nullptr;
  return std::make_unique<ConvKernel>(std::move(attrs), w, post, adds);
}

void RegisterConv(KernelRegistry& r) { r.AddFactory("Conv", MakeConv); }

}  // namespace retuple::internal
