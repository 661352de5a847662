// Gemm and its form of opset 1: y: [m, n] = alpha · op(a) · op(b) + beta · c, c broadcast to [m,
// n].
#include "kernels/dense/matmul_core.h"
#include "kernels/dense/register.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

struct GemmAttrs {
  bool trans_a = false, trans_b = false;
  float alpha = 1, beta = 1;
};

GemmAttrs ReadAttrs(const AttrMap& m) {
  GemmAttrs a;
  a.trans_a = AttrOr<int64_t>(m, "transA", 0) != 0;
  a.trans_b = AttrOr<int64_t>(m, "transB", 0) != 0;
  a.alpha = AttrOr<float>(m, "alpha", 1);
  a.beta = AttrOr<float>(m, "beta", 1);
  return a;
}

// y = alpha * y + beta * c, element by element. c strides of 0 where it is broadcast.
template <typename T, typename C>
void AddScaled(int64_t m, int64_t n, T* y, float alpha, const C* c, int64_t row, int64_t col,
               float beta) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T& v = y[i * n + j];
      if constexpr (std::is_integral_v<T>) {
        using S = std::make_signed_t<T>;
        if (alpha == 1 && beta == 1) {
          v += c != nullptr ? static_cast<T>(c[i * row + j * col]) : T{0};
        } else {
          double x = alpha * static_cast<double>(static_cast<S>(v));
          if (c != nullptr)
            x += static_cast<double>(beta) * static_cast<double>(c[i * row + j * col]);
          x = std::clamp(x, -9.2e18, 9.2e18);
          v = static_cast<T>(static_cast<int64_t>(x));
        }
      } else {
        const T scaled = alpha == 1 ? v : static_cast<T>(alpha) * v;
        v = c == nullptr ? scaled
                         : scaled + static_cast<T>(beta) * static_cast<T>(c[i * row + j * col]);
      }
    }
  }
}

class GemmKernel final : public Kernel {
 public:
  explicit GemmKernel(const KernelInit& init) : attrs_(ReadAttrs(init.op.attrs)) {
    const Tensor* b = init.constants.size() > 1 ? init.constants[1] : nullptr;
    if (b == nullptr || b->rank() != 2 || b->size() == 0 || b->dtype() != DType::kF32) return;
    const int64_t k = b->dim(attrs_.trans_b ? 1 : 0), n = b->dim(attrs_.trans_b ? 0 : 1);
    packed_ = PackedMatrix<float>(
        k, n, {b->data<float>(), attrs_.trans_b ? 1 : n, attrs_.trans_b ? k : 1});
  }

  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* a, Input(ctx, 0));
    RT_ASSIGN_OR_RETURN(const Tensor* b, InputOf(ctx, 1, a->dtype()));
    const Tensor* c = nullptr;
    if (ctx.has(2)) {
      RT_ASSIGN_OR_RETURN(c, InputOf(ctx, 2, a->dtype()));
    }
    if (a->rank() != 2 || b->rank() != 2) {
      return Bad(ctx, "operands %s and %s are not matrices", DimsToString(a->dims()),
                 DimsToString(b->dims()));
    }
    const int64_t m = a->dim(attrs_.trans_a ? 1 : 0), k = a->dim(attrs_.trans_a ? 0 : 1);
    const int64_t kb = b->dim(attrs_.trans_b ? 1 : 0), n = b->dim(attrs_.trans_b ? 0 : 1);
    if (k != kb) {
      return Bad(ctx, "inner dimensions differ: %s by %s", DimsToString(a->dims()),
                 DimsToString(b->dims()));
    }
    int64_t c_row = 0, c_col = 0;
    if (c != nullptr) {
      const int rc = c->rank();
      const int64_t cols = rc > 0 ? c->dim(rc - 1) : 1, rows = rc > 1 ? c->dim(rc - 2) : 1;
      if (rc > 2 || (cols != 1 && cols != n) || (rows != 1 && rows != m)) {
        return Bad(ctx, "C of shape %s does not broadcast to [%d,%d]", DimsToString(c->dims()), m,
                   n);
      }
      c_row = rows == 1 ? 0 : cols;
      c_col = cols == 1 ? 0 : 1;
    }
    constexpr TypeSet kWideInts =
        Bit(DType::kI32) | Bit(DType::kI64) | Bit(DType::kU32) | Bit(DType::kU64);
    return Dispatch<kFloats | kWideInts>(
        ctx.op(), a->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
          if constexpr (kIs16BitFloat<T>) {
            RT_ASSIGN_OR_RETURN(const float* pa, AsFloats(ctx, *a));
            RT_ASSIGN_OR_RETURN(const float* pb, AsFloats(ctx, *b));
            const float* pc = nullptr;
            if (c != nullptr) {
              RT_ASSIGN_OR_RETURN(pc, AsFloats(ctx, *c));
            }
            RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, a->dtype(), {m, n}));
            RT_RETURN_IF_ERROR(
                (Compute<float, float>(ctx, m, n, k, pa, pb, pc, c_row, c_col, y.data())));
            y.Finish();
            return absl::OkStatus();
          } else {
            using U = std::conditional_t<std::is_integral_v<T>,
                                         std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>, T>;
            RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, a->dtype(), {m, n}));
            return Compute<U, T>(ctx, m, n, k, a->data<U>(), b->data<U>(),
                                 c != nullptr ? c->data<T>() : nullptr, c_row, c_col,
                                 y->mutable_data<U>());
          }
        });
  }

 private:
  template <typename T, typename C>
  absl::Status Compute(KernelContext& ctx, int64_t m, int64_t n, int64_t k, const T* a, const T* b,
                       const C* c, int64_t c_row, int64_t c_col, T* y) const {
    if (m == 0 || n == 0) return absl::OkStatus();
    const Strided<T> sa{a, attrs_.trans_a ? 1 : k, attrs_.trans_a ? m : 1};
    const Strided<T> sb{b, attrs_.trans_b ? 1 : n, attrs_.trans_b ? k : 1};
    // A row of C as the start value, where that is all there is to do.
    const T* bias = nullptr;
    if constexpr (std::is_same_v<T, C>) {
      if (c != nullptr && attrs_.alpha == 1 && attrs_.beta == 1 && c_row == 0 &&
          (c_col == 1 || n == 1))
        bias = c;
    }
    bool done = false;
    if constexpr (std::is_same_v<T, float>) {
      if (!packed_.empty() && packed_.k() == k && packed_.n() == n) {
        packed_.Multiply(&ctx.threads(), m, sa, bias, y, n);
        done = true;
      }
    }
    if (!done) RT_RETURN_IF_ERROR(Multiply<T>(ctx, m, n, k, sa, sb, bias, y, n));
    if (bias == nullptr && (c != nullptr || attrs_.alpha != 1)) {
      AddScaled<T, C>(m, n, y, attrs_.alpha, c, c_row, c_col, attrs_.beta);
    }
    return absl::OkStatus();
  }

  GemmAttrs attrs_;
  PackedMatrix<float> packed_;
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeGemm(const KernelInit& init) {
  return std::make_unique<GemmKernel>(init);
}

}  // namespace

void RegisterGemm(KernelRegistry& r) {
  r.AddFactory("Gemm", MakeGemm);
  // Without `broadcast` C has the full shape, which the broadcasting code serves as well.
  r.AddFactory("Gemm-1", MakeGemm);
}

}  // namespace retuple::internal
