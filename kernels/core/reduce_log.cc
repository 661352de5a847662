// ReduceLogSum and ReduceLogSumExp.
//
// log Σ e^x = m + log Σ e^(x - m) with m the maximum of the group; where m is infinite it is the result. Two passes
// over the input; f16, bf16 and f32 work in float with double totals, the rest in double. Of nothing: -inf.
// Nobody reads floating-point exception flags here: only so may GCC turn both sides of a select into vector code.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math", "no-math-errno")
#endif

#include "kernels/core/arith.h"
#include "kernels/core/elementwise.h"
#include "kernels/core/fast_math.h"
#include "kernels/core/reduce.h"

namespace retuple::internal {
namespace {

template <typename T>
using Work = std::conditional_t<kIs16BitFloat<T> || std::is_same_v<T, float>, float, double>;

// Adds f(x[i], shift of the result) to the totals of all results.
template <typename T, typename F>
void Accumulate(const Reduction& r, const T* x, double* totals, F f) {
  using W = Work<T>;
  DriveReduction(
      r, 0, r.kept_outer, [&](int64_t at, int64_t n) { std::fill(totals + at, totals + at + n, 0.0); },
      [&](int64_t at, int64_t from) {
        const T* p = x + from;
        if (r.inner_reduced) {
          for (int64_t i = 0; i < r.inner; i += 512) {
            const int64_t m = std::min<int64_t>(512, r.inner - i);
            W buffer[512];
            for (int64_t j = 0; j < m; ++j) buffer[j] = f(static_cast<W>(p[i + j]), at);
            W lanes[8] = {};
            int64_t j = 0;
            for (; j + 8 <= m; j += 8) {
              for (int l = 0; l < 8; ++l) lanes[l] += buffer[j + l];
            }
            for (; j < m; ++j) lanes[0] += buffer[j];
            double sum = 0;
            for (W v : lanes) sum += static_cast<double>(v);
            totals[at] += sum;
          }
        } else {
          for (int64_t i = 0; i < r.inner; ++i) totals[at + i] += f(static_cast<W>(p[i]), at + i);
        }
      });
}

template <bool kExp, bool kAxesInput>
absl::Status ReduceLog(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Reduction r, ReadReduction(ctx, *x, kAxesInput));
  constexpr TypeSet kTypes =
      kFloats | Bit(DType::kI32) | Bit(DType::kI64) | Bit(DType::kU32) | Bit(DType::kU64);
  return Dispatch<kTypes>(ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    using W = Work<T>;
    const T* in = x->data<T>();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), r.out));
    T* out = y->template mutable_data<T>();
    if (r.identity) {
      std::copy(in, in + x->size(), out);
      return absl::OkStatus();
    }
    if (r.results == 0) return absl::OkStatus();
    constexpr double kInf = std::numeric_limits<double>::infinity();
    auto store = [&](int64_t i, double v) {
      if constexpr (std::is_integral_v<T>) {
        out[i] = SaturateTo<T>(v);
      } else {
        out[i] = static_cast<T>(static_cast<W>(v));
      }
    };
    if (r.count == 0) {
      for (int64_t i = 0; i < r.results; ++i) store(i, -kInf);
      return absl::OkStatus();
    }
    const size_t bytes = static_cast<size_t>(r.results) * sizeof(double);
    auto* totals = static_cast<double*>(ctx.Scratch(bytes));
    auto* shift = static_cast<W*>(ctx.Scratch(static_cast<size_t>(r.results) * sizeof(W)));
    if (totals == nullptr || shift == nullptr) return absl::ResourceExhaustedError("ReduceLog*: no memory");
    if constexpr (!kExp) {
      Accumulate(r, in, totals, [](W v, int64_t) { return v; });
      for (int64_t i = 0; i < r.results; ++i) store(i, std::log(totals[i]));
    } else {
      DriveReduction(
          r, 0, r.kept_outer,
          [&](int64_t at, int64_t n) { std::fill(shift + at, shift + at + n, -std::numeric_limits<W>::infinity()); },
          [&](int64_t at, int64_t from) {
            for (int64_t i = 0; i < r.inner; ++i) {
              W& m = shift[r.inner_reduced ? at : at + i];
              m = MaxF()(m, static_cast<W>(in[from + i]));
            }
          });
      // An infinite maximum must not meet itself in x - m.
      std::vector<W> finite(shift, shift + r.results);
      for (W& m : finite) m = std::isinf(m) ? W{0} : m;
      Accumulate(r, in, totals, [&](W v, int64_t i) { return Exp(v - finite[i]); });
      for (int64_t i = 0; i < r.results; ++i) {
        store(i, std::isinf(shift[i]) ? static_cast<double>(shift[i]) : std::log(totals[i]) + shift[i]);
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace

void RegisterLogReductions(KernelRegistry& r) {
  r.Add("ReduceLogSum", ReduceLog<false, true>);
  r.Add("ReduceLogSum-1", ReduceLog<false, false>);
  r.Add("ReduceLogSumExp", ReduceLog<true, true>);
  r.Add("ReduceLogSumExp-1", ReduceLog<true, false>);
}

}  // namespace retuple::internal
