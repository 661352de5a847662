// Multidirectional broadcasting (ONNX, NumPy): shapes aligned at the end, a 1 stretches.
//
// Axes of size 1 are dropped and neighbours on which every operand steps alike are merged. What is left has an
// innermost axis on which each operand moves by 1 or stays (stride 0), so that an operator needs only the row
// loops vector-vector, vector-scalar and scalar-vector, all vectorised; [N,C,H,W] + [C,1,1] is N·C rows of
// vector-scalar, [N,C] + [C] is N rows of vector-vector.
#ifndef RETUPLE_KERNELS_CORE_BROADCAST_H_
#define RETUPLE_KERNELS_CORE_BROADCAST_H_

#include <array>

#include "kernels/core/elementwise.h"
#include "kernels/core/util.h"
#include "kernels/dispatch.h"
#include "kernels/thread_pool.h"

namespace retuple::internal {

// The common shape; InvalidArgument when there is none.
absl::StatusOr<Dims> BroadcastDims(const KernelContext& ctx, const Dims& a, const Dims& b);

inline constexpr int kMaxBroadcastOperands = 3;

struct BroadcastPlan {
  Dims dims;  // the collapsed result, outermost first, at least one axis; sizes may be 0
  // By operand, in elements; the last is 0 or 1.
  std::array<Dims, kMaxBroadcastOperands> strides;
  int operands = 0;
  int64_t rows = 1;  // product of all but the last axis
  int64_t row_size() const { return dims.back(); }
};

// Pre: each operand broadcasts to `out`; at most kMaxBroadcastOperands.
BroadcastPlan PlanBroadcast(const Dims& out, std::span<const Dims* const> operands);

// Offsets of the operands at the start of rows begin … end of a plan, stepped one row at a time.
class RowCursor {
 public:
  RowCursor(const BroadcastPlan& plan, int64_t row);
  int64_t offset(int operand) const { return offsets_[operand]; }
  void Next();

 private:
  const BroadcastPlan& plan_;
  Dims index_;
  std::array<int64_t, kMaxBroadcastOperands> offsets_{};
};

// One row: out[i] = f(a[i·sa], b[i·sb]) with sa, sb in {0, 1}. Aliasing: out may be a when sa = 1, or b when sb = 1.
template <typename A, typename B, typename O, typename F>
void BinaryRow(const A* a, int64_t sa, const B* b, int64_t sb, O* out, int64_t n, F f) {
  using CA = ComputeType<A>;
  using CB = ComputeType<B>;
  if (sa != 0 && sb != 0) {
    RT_IVDEP
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<O>(f(static_cast<CA>(a[i]), static_cast<CB>(b[i])));
    }
  } else if (sa != 0) {
    const CB y = static_cast<CB>(*b);
    RT_IVDEP
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<O>(f(static_cast<CA>(a[i]), y));
  } else if (sb != 0) {
    const CA x = static_cast<CA>(*a);
    RT_IVDEP
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<O>(f(x, static_cast<CB>(b[i])));
  } else {
    const O v = static_cast<O>(f(static_cast<CA>(*a), static_cast<CB>(*b)));
    for (int64_t i = 0; i < n; ++i) out[i] = v;
  }
}

// out = f(a, b) with a and b of the shapes `da` and `db`, which broadcast to `out_dims`.
template <typename A, typename B, typename O, typename F>
void BroadcastBinary(ThreadPool& threads, const A* a, const Dims& da, const B* b, const Dims& db, O* out,
                     const Dims& out_dims, F f) {
  const int64_t n = NumElements(out_dims);
  if (n == 0) return;
  const int64_t na = NumElements(da), nb = NumElements(db);
  if ((na == n || na == 1) && (nb == n || nb == 1)) {
    const int64_t sa = na == n, sb = nb == n;
    threads.ParallelFor(n, kElementGrain, [=](int64_t begin, int64_t end) {
      BinaryRow(a + begin * sa, sa, b + begin * sb, sb, out + begin, end - begin, f);
    });
    return;
  }
  const Dims* const operands[] = {&da, &db};
  const BroadcastPlan plan = PlanBroadcast(out_dims, operands);
  const int64_t row = plan.row_size();
  const int64_t sa = plan.strides[0].back(), sb = plan.strides[1].back();
  // [rows, few] against [few]: the short row is written out several times, so that the loop has a length.
  constexpr int64_t kShort = 64, kRepeated = 512;
  if (na == n && plan.dims.size() == 2 && sb == 1 && row <= kShort && n >= kRepeated) {
    B repeated[kRepeated];
    const int64_t period = kRepeated / row * row;
    for (int64_t i = 0; i < period; ++i) repeated[i] = b[i % row];
    threads.ParallelFor((n + period - 1) / period, std::max<int64_t>(1, kElementGrain / period),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t p = begin; p < end; ++p) {
                            BinaryRow(a + p * period, 1, repeated, 1, out + p * period,
                                      std::min(period, n - p * period), f);
                          }
                        });
    return;
  }
  threads.ParallelFor(plan.rows, std::max<int64_t>(1, kElementGrain / row), [&](int64_t begin, int64_t end) {
    RowCursor at(plan, begin);
    for (int64_t r = begin; r < end; ++r, at.Next()) {
      BinaryRow(a + at.offset(0), sa, b + at.offset(1), sb, out + r * row, row, f);
    }
  });
}

// The two operands of a binary operator and the shape that b has for broadcasting: for a legacy form (opset below
// 7, attributes axis and broadcast) b is aligned with axis `axis` of a and a's shape is the result's.
struct BinaryOperands {
  const Tensor* a;
  const Tensor* b;
  Dims b_dims;
  Dims out;
};
absl::StatusOr<BinaryOperands> ReadBinary(const KernelContext& ctx, bool legacy);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_CORE_BROADCAST_H_
