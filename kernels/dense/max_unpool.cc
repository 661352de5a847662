// MaxUnpool: puts each element of a max-pooled tensor back at the index that MaxPool recorded; the
// rest is zero.
//
// Indices count in the shape [n, c, d…] that kernel, strides and pads imply. With `output_shape`
// that block stands at the corner of the (larger) output.
#include "kernels/dense/conv_shape.h"
#include "kernels/dense/register.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

absl::StatusOr<Dims> ImpliedShape(const KernelContext& ctx, const WindowAttrs& a, const Tensor& x) {
  const auto r = static_cast<size_t>(x.rank()) - 2;
  if (a.kernel_shape.size() != r || (!a.strides.empty() && a.strides.size() != r) ||
      (!a.pads.empty() && a.pads.size() != 2 * r)) {
    return Bad(ctx, "kernel_shape, strides or pads do not have %d axes", r);
  }
  Dims dims = x.dims();
  for (size_t i = 0; i < r; ++i) {
    const int64_t stride = a.strides.empty() ? 1 : a.strides[i];
    int64_t n = 0;
    if (MulOverflows(dims[i + 2] - 1, stride, &n)) return Bad(ctx, "sizes overflow");
    n += a.kernel_shape[i] - (a.pads.empty() ? 0 : a.pads[i] + a.pads[r + i]);
    if (n < 0) return Bad(ctx, "output axis %d would be %d", i, n);
    dims[i + 2] = n;
  }
  return dims;
}

class MaxUnpoolKernel final : public Kernel {
 public:
  explicit MaxUnpoolKernel(WindowAttrs a) : attrs_(std::move(a)) {}
  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    RT_ASSIGN_OR_RETURN(const Tensor* indices, InputOf(ctx, 1, DType::kI64));
    if (x->rank() < 3) return Bad(ctx, "operand %s has no spatial axis", DimsToString(x->dims()));
    if (indices->dims() != x->dims())
      return Bad(ctx, "indices have another shape than the operand");
    RT_ASSIGN_OR_RETURN(const Dims implied, ImpliedShape(ctx, attrs_, *x));
    const std::optional<int64_t> block = CheckedNumElements(implied);
    if (!block) return Bad(ctx, "the result is too large");
    Dims out = implied;
    RT_ASSIGN_OR_RETURN(const auto given, IntsInput(ctx, 2));
    if (given) {
      if (given->size() != out.size()) return Bad(ctx, "output_shape has %d axes", given->size());
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = (*given)[i];
        if (out[i] < implied[i])
          return Bad(ctx, "output_shape %s is smaller than %s", DimsToString(*given),
                     DimsToString(implied));
      }
    }
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), out));
    const Dims strides = StridesOf(out);
    return DispatchBySize(ctx.op(), x->dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
      if constexpr (std::is_same_v<E, std::string>) {
        return UnservedType(ctx.op(), x->dtype());
      } else {
        E* py = y->mutable_data<E>();
        std::fill(py, py + y->size(), E{});
        for (int64_t i = 0; i < x->size(); ++i) {
          int64_t at = indices->data<int64_t>()[i];
          if (at < 0 || at >= *block)
            return Bad(ctx, "index %d is outside of %s", at, DimsToString(implied));
          int64_t to = 0;
          for (size_t d = out.size(); d-- > 0;) {
            to += at % implied[d] * strides[d];
            at /= implied[d];
          }
          py[to] = x->data<E>()[i];
        }
        return absl::OkStatus();
      }
    });
  }

 private:
  WindowAttrs attrs_;
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeMaxUnpool(const KernelInit& init) {
  RT_ASSIGN_OR_RETURN(WindowAttrs a, WindowAttrs::Read(init.op));
  return std::make_unique<MaxUnpoolKernel>(std::move(a));
}

}  // namespace

void RegisterMaxUnpool(KernelRegistry& r) { r.AddFactory("MaxUnpool", MakeMaxUnpool); }

}  // namespace retuple::internal
