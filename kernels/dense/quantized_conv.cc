// ConvInteger and QLinearConv: byte operands, zero points subtracted, summed in 32 bits by the
// float kernels' code.
#include "kernels/dense/conv_compute.h"
#include "kernels/dense/quantized.h"
#include "kernels/dense/register.h"

namespace retuple::internal {
namespace {

// The positions of the operands in the two operators.
struct Layout {
  int w, x_zero, w_zero;
};

class QuantizedConv : public Kernel {
 public:
  QuantizedConv(WindowAttrs attrs, Layout layout) : attrs_(std::move(attrs)), layout_(layout) {}

 protected:
  // sums: [s.out_dims] = x ∗ w (+ bias, as two's complement).
  absl::Status Sums(KernelContext& ctx, const ConvShape& s, const Tensor& x, const Tensor& w,
                    const uint32_t* bias, uint32_t* sums) const {
    const int64_t maps = s.groups * s.out_channels;
    RT_ASSIGN_OR_RETURN(const auto x_zero, ReadQuantParameter<int32_t>(ctx, layout_.x_zero, 1, 0));
    RT_ASSIGN_OR_RETURN(const auto w_zero,
                        ReadQuantParameter<int32_t>(ctx, layout_.w_zero, maps, 0));
    RT_ASSIGN_OR_RETURN(uint32_t * wide_x, ScratchOf<uint32_t>(ctx, x.size()));
    RT_ASSIGN_OR_RETURN(uint32_t * wide_w, ScratchOf<uint32_t>(ctx, w.size()));
    WidenBytes(x.dtype(), x.data(), x.size(), x_zero.at(0), wide_x);
    const int64_t depth = maps == 0 ? 0 : w.size() / maps;
    for (int64_t m = 0; m < maps; ++m) {
      WidenBytes(w.dtype(), w.data<char>() + m * depth, depth, w_zero.at(m), wide_w + m * depth);
    }
    return Convolve<uint32_t>(ctx, s, wide_x, wide_w, bias, sums);
  }

  absl::StatusOr<ConvShape> Shape(const KernelContext& ctx, const Tensor& x,
                                  const Tensor& w) const {
    if (!IsByte(x.dtype()) || !IsByte(w.dtype())) {
      return Unserved(ctx, "operands of type %s and %s", std::string(DTypeName(x.dtype())),
                      std::string(DTypeName(w.dtype())));
    }
    return ConvShape::Make(ctx, attrs_, x.dims(), w.dims());
  }

  WindowAttrs attrs_;
  Layout layout_;
};

// Inputs x, w, x_zero_point, w_zero_point.
class ConvInteger final : public QuantizedConv {
 public:
  explicit ConvInteger(WindowAttrs a) : QuantizedConv(std::move(a), {1, 2, 3}) {}
  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    RT_ASSIGN_OR_RETURN(const Tensor* w, Input(ctx, 1));
    RT_ASSIGN_OR_RETURN(const ConvShape s, Shape(ctx, *x, *w));
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, DType::kI32, s.out_dims));
    return Sums(ctx, s, *x, *w, nullptr, y->mutable_data<uint32_t>());
  }
};

// Inputs x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B (i32).
class QLinearConv final : public QuantizedConv {
 public:
  explicit QLinearConv(WindowAttrs a) : QuantizedConv(std::move(a), {3, 2, 5}) {}
  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    RT_ASSIGN_OR_RETURN(const Tensor* w, Input(ctx, 3));
    RT_ASSIGN_OR_RETURN(const Tensor* y_zero, Input(ctx, 7));
    if (!IsByte(y_zero->dtype()))
      return Unserved(ctx, "a result of type %s", std::string(DTypeName(y_zero->dtype())));
    RT_ASSIGN_OR_RETURN(const ConvShape s, Shape(ctx, *x, *w));
    const int64_t maps = s.groups * s.out_channels, pixels = s.window.out_size();
    const uint32_t* bias = nullptr;
    if (ctx.has(8)) {
      RT_ASSIGN_OR_RETURN(const Tensor* b, InputOf(ctx, 8, DType::kI32));
      if (b->size() != maps) return Bad(ctx, "%d biases for %d maps", b->size(), maps);
      bias = b->data<uint32_t>();
    }
    RT_ASSIGN_OR_RETURN(const auto x_scale, ReadQuantParameter<float>(ctx, 1, 1, 1));
    RT_ASSIGN_OR_RETURN(const auto w_scale, ReadQuantParameter<float>(ctx, 4, maps, 1));
    RT_ASSIGN_OR_RETURN(const auto y_scale, ReadQuantParameter<float>(ctx, 6, 1, 1));
    RT_ASSIGN_OR_RETURN(const auto zero, ReadQuantParameter<int32_t>(ctx, 7, 1, 0));
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, y_zero->dtype(), s.out_dims));
    RT_ASSIGN_OR_RETURN(uint32_t * sums, ScratchOf<uint32_t>(ctx, y->size()));
    RT_RETURN_IF_ERROR(Sums(ctx, s, *x, *w, bias, sums));
    for (int64_t i = 0; i < s.batch * maps; ++i) {
      const float scale = x_scale.at(0) * w_scale.at(i % maps) / y_scale.at(0);
      Requantize(y->dtype(), sums + i * pixels, pixels, scale, zero.at(0), y->mutable_data(),
                 i * pixels);
    }
    return absl::OkStatus();
  }
};

template <typename K>
absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelInit& init) {
  RT_ASSIGN_OR_RETURN(WindowAttrs a, WindowAttrs::Read(init.op));
  return std::make_unique<K>(std::move(a));
}

}  // namespace

void RegisterQuantizedConv(KernelRegistry& r) {
  r.AddFactory("ConvInteger", Make<ConvInteger>);
  r.AddFactory("QLinearConv", Make<QLinearConv>);
}

}  // namespace retuple::internal
