// MatMul. A constant matrix on the right is packed when the plan is made; f16 and bf16 multiply in
// f32.
#include "kernels/dense/matmul.h"

#include <variant>

#include "kernels/dense/matmul_core.h"
#include "kernels/dense/register.h"
#include "kernels/dispatch.h"

namespace retuple::internal {

absl::StatusOr<MatMulShape> MatMulShape::Make(const KernelContext& ctx, std::span<const int64_t> a,
                                              std::span<const int64_t> b) {
  MatMulShape s;
  if (a.empty() || b.empty()) return Bad(ctx, "an operand is a scalar");
  const size_t ra = a.size(), rb = b.size();
  s.m = ra == 1 ? 1 : a[ra - 2];
  s.k = a[ra - 1];
  s.n = rb == 1 ? 1 : b[rb - 1];
  const int64_t kb = rb == 1 ? b[0] : b[rb - 2];
  if (s.k != kb) {
    return Bad(ctx, "inner dimensions differ: %s by %s", DimsToString(a), DimsToString(b));
  }
  const size_t na = ra > 2 ? ra - 2 : 0, nb = rb > 2 ? rb - 2 : 0, n = std::max(na, nb);
  s.batch.resize(n);
  s.a_strides.resize(n);
  s.b_strides.resize(n);
  int64_t sa = 1, sb = 1;
  for (size_t d = n; d-- > 0;) {
    const int64_t da = d + na >= n ? a[d + na - n] : 1, db = d + nb >= n ? b[d + nb - n] : 1;
    if (da != db && da != 1 && db != 1) {
      return Bad(ctx, "batch dimensions do not broadcast: %s by %s", DimsToString(a),
                 DimsToString(b));
    }
    s.batch[d] = da == 1 ? db : da;
    s.a_strides[d] = da == 1 ? 0 : sa;
    s.b_strides[d] = db == 1 ? 0 : sb;
    sa *= da;
    sb *= db;
  }
  s.out = s.batch;
  if (ra > 1) s.out.push_back(s.m);
  if (rb > 1) s.out.push_back(s.n);
  const auto total = CheckedNumElements(s.out);
  if (!total) return Bad(ctx, "the result is too large");
  s.batches = *total == 0 ? 0 : NumElements(s.batch);
  s.b_is_one_matrix = sb == 1 && sa == s.batches;
  return s;
}

namespace {

// The types that the product is computed in; integers as unsigned.
template <typename T>
using Computed = std::conditional_t<
    kIs16BitFloat<T>, float,
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>, T>>;

using Packed = std::variant<std::monostate, PackedMatrix<float>, PackedMatrix<double>,
                            PackedMatrix<uint32_t>, PackedMatrix<uint64_t>>;

class MatMulKernel final : public Kernel {
 public:
  // `bias`: one number a column, added to the result; empty for none.
  MatMulKernel(const Tensor* b, std::vector<float> bias) : bias_(std::move(bias)) {
    if (b == nullptr || b->rank() < 2 || b->size() == 0) return;
    const int r = b->rank();
    if (Product(b->dims(), 0, r - 2) != 1) return;
    const int64_t k = b->dim(r - 2), n = b->dim(r - 1);
    switch (b->dtype()) {
      case DType::kF32:
        packed_ = PackedMatrix<float>(k, n, {b->data<float>(), n, 1});
        break;
      case DType::kF64:
        packed_ = PackedMatrix<double>(k, n, {b->data<double>(), n, 1});
        break;
      case DType::kF16:
      case DType::kBF16: {
        std::vector<float> wide(static_cast<size_t>(k * n));
        WidenFloats(b->dtype(), b->data(), k * n, wide.data());
        packed_ = PackedMatrix<float>(k, n, {wide.data(), n, 1});
        break;
      }
      default:
        break;
    }
  }

  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* a, Input(ctx, 0));
    RT_ASSIGN_OR_RETURN(const Tensor* b, InputOf(ctx, 1, a->dtype()));
    RT_ASSIGN_OR_RETURN(const MatMulShape s, MatMulShape::Make(ctx, a->dims(), b->dims()));
    constexpr TypeSet kWideInts =
        Bit(DType::kI32) | Bit(DType::kI64) | Bit(DType::kU32) | Bit(DType::kU64);
    return Dispatch<kFloats | kWideInts>(
        ctx.op(), a->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
          if constexpr (kIs16BitFloat<T>) {
            RT_ASSIGN_OR_RETURN(const float* pa, AsFloats(ctx, *a));
            const float* pb = nullptr;
            if (std::holds_alternative<std::monostate>(packed_)) {
              RT_ASSIGN_OR_RETURN(pb, AsFloats(ctx, *b));
            }
            RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, a->dtype(), s.out));
            RT_RETURN_IF_ERROR(Compute<float>(ctx, s, pa, pb, y.data()));
            y.Finish();
            return absl::OkStatus();
          } else {
            RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, a->dtype(), s.out));
            using C = Computed<T>;
            return Compute<C>(ctx, s, a->data<C>(), b->data<C>(), y->mutable_data<C>());
          }
        });
  }

 private:
  template <typename T>
  absl::Status Compute(KernelContext& ctx, const MatMulShape& s, const T* a, const T* b,
                       T* y) const {
    if (s.batches == 0) return absl::OkStatus();
    RT_RETURN_IF_ERROR(ComputeProduct<T>(ctx, s, a, b, y));
    if constexpr (std::is_same_v<T, float>) {
      if (!bias_.empty() && !BiasInProduct(s)) {
        if (static_cast<int64_t>(bias_.size()) != s.n)
          return Bad(ctx, "%d biases for %d columns", bias_.size(), s.n);
        const int64_t rows = s.m * s.batches;
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < s.n; ++j) y[i * s.n + j] += bias_[static_cast<size_t>(j)];
        }
      }
    }
    return absl::OkStatus();
  }

  bool BiasInProduct(const MatMulShape& s) const {
    const auto* packed = std::get_if<PackedMatrix<float>>(&packed_);
    return packed != nullptr && packed->k() == s.k && packed->n() == s.n && s.b_is_one_matrix &&
           static_cast<int64_t>(bias_.size()) == s.n;
  }

  template <typename T>
  absl::Status ComputeProduct(KernelContext& ctx, const MatMulShape& s, const T* a, const T* b,
                              T* y) const {
    const auto* packed = std::get_if<PackedMatrix<T>>(&packed_);
    if (packed != nullptr && packed->k() == s.k && packed->n() == s.n && s.b_is_one_matrix) {
      const T* bias = nullptr;
      if constexpr (std::is_same_v<T, float>) bias = BiasInProduct(s) ? bias_.data() : nullptr;
      packed->Multiply(&ctx.threads(), s.m * s.batches, {a, s.k, 1}, bias, y, s.n);
      return absl::OkStatus();
    }
    if (s.b_is_one_matrix) {
      return Multiply<T>(ctx, s.m * s.batches, s.n, s.k, {a, s.k, 1}, {b, s.n, 1}, nullptr, y, s.n);
    }
    // Scratch is not given back between batches, so the panels of one batch serve all.
    const bool direct = s.m <= 4 * kTileRows || s.n == 1;
    T* panels = nullptr;
    if (s.n > 1) {
      int64_t size = 0;
      if (MulOverflows(direct ? RoundUp(s.m, kTileRows) : RoundUp(s.n, kPanelCols<T>), s.k,
                       &size)) {
        return Bad(ctx, "sizes overflow");
      }
      RT_ASSIGN_OR_RETURN(panels, ScratchOf<T>(ctx, size));
    }
    int64_t last_b = -1;
    return ForEachBatch(s, [&](int64_t i, int64_t ia, int64_t ib) -> absl::Status {
      const T* pa = a + ia * s.m * s.k;
      const T* pb = b + ib * s.k * s.n;
      T* py = y + i * s.m * s.n;
      if (s.n == 1) return Multiply<T>(ctx, s.m, 1, s.k, {pa, s.k, 1}, {pb, 1, 1}, nullptr, py, 1);
      if (direct) {
        PackA<T>(s.m, s.k, pa, s.k, 1, panels);
        GemmDirect<T>(s.m, s.n, s.k, panels, pb, s.n, nullptr, py, s.n);
      } else {
        if (ib != last_b) PackB<T>(s.k, s.n, pb, s.n, 1, panels);
        last_b = ib;
        GemmPackedB<T>(s.m, s.n, s.k, pa, s.k, 1, panels, nullptr, py, s.n, &ctx.threads());
      }
      return absl::OkStatus();
    });
  }

  Packed packed_;
  std::vector<float> bias_;
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeMatMul(const KernelInit& init) {
  return MakeBiasedMatMul(init, {});
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeBiasedMatMul(const KernelInit& init,
                                                         std::vector<float> bias) {
  return std::make_unique<MatMulKernel>(init.constants.size() > 1 ? init.constants[1] : nullptr,
                                        std::move(bias));
}

void RegisterMatMul(KernelRegistry& r) { r.AddFactory("MatMul", MakeMatMul); }

}  // namespace retuple::internal
