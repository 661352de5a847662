// Softmax, LogSoftmax and Hardmax along one axis; the forms before opset 13 see the operand as a
// matrix [dims before axis, dims from axis on] and normalise its rows.
#include <cmath>
#include <limits>

#include "kernels/core/fast_math.h"
#include "kernels/dense/register.h"
#include "kernels/dense/rows.h"
#include "kernels/dense/util.h"

namespace retuple::internal {
namespace {

enum class Kind { kSoftmax, kLogSoftmax, kHardmax };

template <typename T>
T Exponential(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return FastExp(x);
  } else {
    return std::exp(x);
  }
}

// The greatest of n elements; NaN if there is one.
template <typename T>
T Greatest(const T* x, int64_t n) {
  constexpr int kL = kLanes<T>;
  Vec<T> v = Splat<T>(x[0]);
  int64_t i = 0;
  for (; i + kL <= n; i += kL) v = Max<T>(v, Load(x + i));
  T best = v[0];
  for (int k = 1; k < kL; ++k) best = v[k] > best ? v[k] : best;
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

template <typename T>
void Row(Kind kind, const T* x, T* y, int64_t n) {
  if (kind == Kind::kHardmax) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i) best = x[i] > x[best] ? i : best;
    std::fill(y, y + n, T{0});
    y[best] = 1;
    return;
  }
  T max = Greatest(x, n);
  if (!(max > -std::numeric_limits<T>::infinity())) max = x[0];  // all −∞ (NaN) or NaN
  if (kind == Kind::kSoftmax) {
    for (int64_t i = 0; i < n; ++i) y[i] = Exponential<T>(x[i] - max);
    const T scale = T{1} / SumRow(y, n);
    for (int64_t i = 0; i < n; ++i) y[i] *= scale;
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = Exponential<T>(x[i] - max);
    const T log_sum = std::log(SumRow(y, n));
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - max) - log_sum;
  }
}

// Short rows, a block of them at a time: vectors run over rows.
template <typename T>
void ShortRows(Kind kind, int64_t rows, int64_t n, const T* x, T* y) {
  constexpr int64_t kBlock = 64, kLongest = 8;
  T v[kLongest][kBlock], max[kBlock], sum[kBlock];
  for (int64_t r = 0; r < rows; r += kBlock, x += kBlock * n, y += kBlock * n) {
    const int64_t count = std::min(kBlock, rows - r);
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t i = 0; i < count; ++i) v[k][i] = x[i * n + k];
      for (int64_t i = count; i < kBlock; ++i) v[k][i] = 0;
    }
    for (int64_t i = 0; i < kBlock; ++i) max[i] = v[0][i];
    for (int64_t k = 1; k < n; ++k) {
      for (int64_t i = 0; i < kBlock; ++i) max[i] = v[k][i] > max[i] ? v[k][i] : max[i];
    }
    for (int64_t i = 0; i < kBlock; ++i) sum[i] = 0;
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t i = 0; i < kBlock; ++i) {
        const T d = v[k][i] - max[i], e = Exponential<T>(d);
        v[k][i] = kind == Kind::kSoftmax ? e : d;
        sum[i] += e;
      }
    }
    for (int64_t i = 0; i < kBlock; ++i)
      sum[i] = kind == Kind::kSoftmax ? T{1} / sum[i] : std::log(sum[i]);
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t i = 0; i < count; ++i)
        y[i * n + k] = kind == Kind::kSoftmax ? v[k][i] * sum[i] : v[k][i] - sum[i];
    }
  }
}

// x: [outer, n, inner], along n.
template <typename T>
void Normalize(KernelContext& ctx, Kind kind, int64_t outer, int64_t n, int64_t inner, const T* x,
               T* y, T* columns) {
  if (inner == 1) {
    ctx.threads().ParallelFor(outer, 1 + 4000 / n, [&](int64_t begin, int64_t end) {
      if (n <= 8 && kind != Kind::kHardmax)
        return ShortRows(kind, end - begin, n, x + begin * n, y + begin * n);
      for (int64_t o = begin; o < end; ++o) Row(kind, x + o * n, y + o * n, n);
    });
    return;
  }
  T* row = columns;
  T* result = columns + n;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = 0; c < inner; ++c) {
      const int64_t at = o * n * inner + c;
      for (int64_t i = 0; i < n; ++i) row[i] = x[at + i * inner];
      Row(kind, row, result, n);
      for (int64_t i = 0; i < n; ++i) y[at + i * inner] = result[i];
    }
  }
}

absl::Status Run(KernelContext& ctx, Kind kind, bool flatten) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const int64_t a = IntAttr(ctx, "axis", flatten ? 1 : -1);
  int64_t outer = 1, n = 1, inner = 1;
  const int r = x->rank();
  if (flatten) {
    if (a < -r || a > r) return Bad(ctx, "axis %d is out of range for rank %d", a, r);
    const int axis = static_cast<int>(a < 0 ? a + r : a);
    outer = Product(x->dims(), 0, axis);
    n = Product(x->dims(), axis, r);
  } else if (r > 0) {
    RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, a, r));
    outer = Product(x->dims(), 0, axis);
    n = x->dim(axis);
    inner = Product(x->dims(), axis + 1, r);
  }
  const bool empty = x->size() == 0;
  if (x->dtype() == DType::kF64) {
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x->dtype(), x->dims()));
    RT_ASSIGN_OR_RETURN(double* columns, ScratchOf<double>(ctx, inner == 1 ? 0 : 2 * n));
    if (!empty)
      Normalize(ctx, kind, outer, n, inner, x->data<double>(), y->mutable_data<double>(), columns);
    return absl::OkStatus();
  }
  if (x->dtype() != DType::kF32 && !Is16Bit(x->dtype())) {
    return Unserved(ctx, "element type %s", std::string(DTypeName(x->dtype())));
  }
  RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, *x));
  RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x->dtype(), x->dims()));
  RT_ASSIGN_OR_RETURN(float* columns, ScratchOf<float>(ctx, inner == 1 ? 0 : 2 * n));
  if (!empty) Normalize(ctx, kind, outer, n, inner, px, y.data(), columns);
  y.Finish();
  return absl::OkStatus();
}

template <Kind kind, bool flatten>
absl::Status Entry(KernelContext& ctx) {
  return Run(ctx, kind, flatten);
}

}  // namespace

void RegisterSoftmax(KernelRegistry& r) {
  r.Add("Softmax", Entry<Kind::kSoftmax, false>);
  r.Add("Softmax-1", Entry<Kind::kSoftmax, true>);
  r.Add("LogSoftmax", Entry<Kind::kLogSoftmax, false>);
  r.Add("LogSoftmax-1", Entry<Kind::kLogSoftmax, true>);
  r.Add("Hardmax", Entry<Kind::kHardmax, false>);
  r.Add("Hardmax-1", Entry<Kind::kHardmax, true>);
}

}  // namespace retuple::internal
