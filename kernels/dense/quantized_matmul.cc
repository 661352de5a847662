// MatMulInteger and QLinearMatMul: products of bytes summed in 32 bits. Zero points are subtracted
// first; they are one number, or one a row of A and one a column of B.
#include "kernels/dense/matmul.h"
#include "kernels/dense/matmul_core.h"
#include "kernels/dense/quantized.h"
#include "kernels/dense/register.h"

namespace retuple::internal {
namespace {

struct Operands {
  MatMulShape shape;
  const uint32_t* a = nullptr;
  const uint32_t* b = nullptr;
};

absl::Status CheckBytes(const KernelContext& ctx, const Tensor& a, const Tensor& b) {
  if (IsByte(a.dtype()) && IsByte(b.dtype())) return absl::OkStatus();
  return Unserved(ctx, "operands of type %s and %s", std::string(DTypeName(a.dtype())),
                  std::string(DTypeName(b.dtype())));
}

absl::StatusOr<Operands> Prepare(KernelContext& ctx, const Tensor& a, const Tensor& b, int a_zero,
                                 int b_zero) {
  RT_RETURN_IF_ERROR(CheckBytes(ctx, a, b));
  Operands o;
  RT_ASSIGN_OR_RETURN(o.shape, MatMulShape::Make(ctx, a.dims(), b.dims()));
  const int64_t m = a.rank() > 1 ? o.shape.m : 1, k = o.shape.k, n = b.rank() > 1 ? o.shape.n : 1;
  // A zero point may also stand for every row of every batch.
  const int64_t a_rows = k == 0 ? 0 : a.size() / k, b_cols = k == 0 ? 0 : b.size() / k;
  RT_ASSIGN_OR_RETURN(auto za, ReadQuantParameter<int32_t>(ctx, a_zero, m, 0));
  RT_ASSIGN_OR_RETURN(auto zb, ReadQuantParameter<int32_t>(ctx, b_zero, n, 0));
  RT_ASSIGN_OR_RETURN(uint32_t * wa, ScratchOf<uint32_t>(ctx, a.size()));
  RT_ASSIGN_OR_RETURN(uint32_t * wb, ScratchOf<uint32_t>(ctx, b.size()));
  if (za.single()) {
    WidenBytes(a.dtype(), a.data(), a.size(), za.at(0), wa);
  } else {
    for (int64_t i = 0; i < a_rows; ++i)
      WidenBytes(a.dtype(), a.data<char>() + i * k, k, za.at(i % m), wa + i * k);
  }
  WidenBytes(b.dtype(), b.data(), b.size(), zb.single() ? zb.at(0) : 0, wb);
  if (!zb.single()) {
    for (int64_t i = 0; i < k * b_cols; ++i) wb[i] -= static_cast<uint32_t>(zb.at(i % n));
  }
  o.a = wa;
  o.b = wb;
  return o;
}

absl::Status Product32(KernelContext& ctx, const Operands& o, uint32_t* y) {
  const MatMulShape& s = o.shape;
  return ForEachBatch(s, [&](int64_t i, int64_t ia, int64_t ib) {
    return Multiply<uint32_t>(ctx, s.m, s.n, s.k, {o.a + ia * s.m * s.k, s.k, 1},
                              {o.b + ib * s.k * s.n, s.n, 1}, nullptr, y + i * s.m * s.n, s.n);
  });
}

absl::Status MatMulInteger(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* a, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* b, Input(ctx, 1));
  RT_ASSIGN_OR_RETURN(const Operands o, Prepare(ctx, *a, *b, 2, 3));
  RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, DType::kI32, o.shape.out));
  return Product32(ctx, o, y->mutable_data<uint32_t>());
}

// Inputs a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point.
absl::Status QLinearMatMul(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* a, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* b, Input(ctx, 3));
  RT_ASSIGN_OR_RETURN(const Tensor* y_zero, Input(ctx, 7));
  if (!IsByte(y_zero->dtype()))
    return Unserved(ctx, "a result of type %s", std::string(DTypeName(y_zero->dtype())));
  RT_ASSIGN_OR_RETURN(const Operands o, Prepare(ctx, *a, *b, 2, 5));
  const MatMulShape& s = o.shape;
  RT_ASSIGN_OR_RETURN(const auto a_scale, ReadQuantParameter<float>(ctx, 1, s.m, 1));
  RT_ASSIGN_OR_RETURN(const auto b_scale, ReadQuantParameter<float>(ctx, 4, s.n, 1));
  RT_ASSIGN_OR_RETURN(const auto y_scale, ReadQuantParameter<float>(ctx, 6, 1, 1));
  RT_ASSIGN_OR_RETURN(const auto zero, ReadQuantParameter<int32_t>(ctx, 7, 1, 0));
  RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, y_zero->dtype(), s.out));
  RT_ASSIGN_OR_RETURN(uint32_t * sums, ScratchOf<uint32_t>(ctx, y->size()));
  RT_RETURN_IF_ERROR(Product32(ctx, o, sums));
  if (s.n == 0) return absl::OkStatus();
  for (int64_t r = 0; r < y->size() / s.n; ++r) {
    const float row = a_scale.at(r % s.m) / y_scale.at(0);
    if (b_scale.single()) {
      Requantize(y->dtype(), sums + r * s.n, s.n, row * b_scale.at(0), zero.at(0),
                 y->mutable_data(), r * s.n);
      continue;
    }
    for (int64_t c = 0; c < s.n; ++c) {
      Requantize(y->dtype(), sums + r * s.n + c, 1, row * b_scale.at(c), zero.at(0),
                 y->mutable_data(), r * s.n + c);
    }
  }
  return absl::OkStatus();
}

}  // namespace

void RegisterQuantizedMatMul(KernelRegistry& r) {
  r.Add("MatMulInteger", MatMulInteger);
  r.Add("QLinearMatMul", QLinearMatMul);
}

}  // namespace retuple::internal
