// ReduceSum, Mean, Max, Min, Prod, L1, L2, SumSquare: a fold f over mapped elements m(x), then a final step.
//
// Sums of f32 are accumulated in 16 lanes over blocks of at most 2048 elements, the blocks in double; rows
// (innermost axis kept) in blocks of 64 rows, and those in blocks of 64. The error stays that of a short sum. f16 and bf16 fold in float,
// integers in 64 bits (results wrap to the element type). Of nothing: 0 for sums, 1 for the product, the lowest and
// the highest value (or infinity) for Max and Min, NaN for the mean of floats.
#include "kernels/core/reduce.h"

#include "kernels/core/arith.h"
#include "kernels/core/elementwise.h"

namespace retuple::internal {
namespace {

// The accumulator of an element type.
template <typename T>
using Wide = std::conditional_t<kIsFloatLike<T>, ComputeType<T>,
                                std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

struct Plain {
  template <typename A>
  static A Map(A x) {
    return x;
  }
};
struct Magnitude {
  template <typename A>
  static A Map(A x) {
    if constexpr (std::is_floating_point_v<A>) {
      return std::fabs(x);
    } else {
      return x < 0 ? SubF()(A{0}, x) : x;
    }
  }
};
struct Square {
  template <typename A>
  static A Map(A x) {
    return MulF()(x, x);
  }
};
struct NoFinish {
  template <typename A>
  static A Finish(A v, int64_t) {
    return v;
  }
};
struct DivideByCount {
  template <typename A>
  static A Finish(A v, int64_t n) {
    if constexpr (std::is_floating_point_v<A>) {
      return v / static_cast<A>(n);
    } else {
      return n == 0 ? A{0} : static_cast<A>(v / static_cast<A>(n));
    }
  }
};
struct Root {
  template <typename A>
  static A Finish(A v, int64_t) {
    return static_cast<A>(std::sqrt(static_cast<std::conditional_t<std::is_same_v<A, float>, float, double>>(v)));
  }
};

template <typename M, typename Last>
struct SumReducer : M, Last {
  template <typename T>
  using Acc = Wide<T>;
  template <typename T>
  static Acc<T> Init() {
    return 0;
  }
  template <typename A>
  static A Combine(A a, A b) {
    return AddF()(a, b);
  }
  static constexpr bool kBlocked = true;
};
struct ProductReducer : Plain, NoFinish {
  template <typename T>
  using Acc = Wide<T>;
  template <typename T>
  static Acc<T> Init() {
    return 1;
  }
  template <typename A>
  static A Combine(A a, A b) {
    return MulF()(a, b);
  }
  static constexpr bool kBlocked = false;
};
struct MaxReducer : Plain, NoFinish {
  template <typename T>
  using Acc = ComputeType<T>;
  template <typename T>
  static Acc<T> Init() {
    using L = std::numeric_limits<Acc<T>>;
    return L::has_infinity ? -L::infinity() : L::lowest();
  }
  template <typename A>
  static A Combine(A a, A b) {
    return MaxF()(a, b);
  }
  static constexpr bool kBlocked = false;
};
struct MinReducer : Plain, NoFinish {
  template <typename T>
  using Acc = ComputeType<T>;
  template <typename T>
  static Acc<T> Init() {
    using L = std::numeric_limits<Acc<T>>;
    return L::has_infinity ? L::infinity() : L::max();
  }
  template <typename A>
  static A Combine(A a, A b) {
    return MinF()(a, b);
  }
  static constexpr bool kBlocked = false;
};

// Folds x[0, n) in 16 lanes.
template <typename R, typename T>
typename R::template Acc<T> FoldBlock(const T* x, int64_t n) {
  using A = typename R::template Acc<T>;
  constexpr int kLanes = 16;
  A result = R::template Init<T>();
  int64_t i = 0;
  if (n >= kLanes) {
    A lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = R::Map(static_cast<A>(x[l]));
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      RT_LANES
      for (int l = 0; l < kLanes; ++l) lane[l] = R::Combine(lane[l], R::Map(static_cast<A>(x[i + l])));
    }
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lane[l] = R::Combine(lane[l], lane[l + half]);
    }
    result = lane[0];
  }
  for (; i < n; ++i) result = R::Combine(result, R::Map(static_cast<A>(x[i])));
  return result;
}

template <typename R, typename T>
void FoldRuns(const Reduction& r, const T* x, T* out, int64_t begin, int64_t end) {
  using A = typename R::template Acc<T>;
  // f32 block sums are added up in double.
  using Total = std::conditional_t<R::kBlocked && std::is_same_v<A, float>, double, A>;
  constexpr int64_t kBlock = 2048;
  Total total{};
  int64_t result = -1;
  auto flush = [&] {
    if (result >= 0) out[result] = static_cast<T>(R::Finish(static_cast<A>(total), r.count));
  };
  DriveReduction(
      r, begin, end,
      [&](int64_t at, int64_t) {
        flush();
        result = at;
        total = static_cast<Total>(R::template Init<T>());
      },
      [&](int64_t, int64_t from) {
        for (int64_t i = 0; i < r.inner; i += kBlock) {
          const A part = FoldBlock<R>(x + from + i, std::min(kBlock, r.inner - i));
          total = R::Combine(total, static_cast<Total>(part));
        }
      });
  flush();
}

// Rows of `inner` results, a chunk of columns at a time so that the accumulators stay in the cache.
template <typename R, typename T>
void FoldRows(const Reduction& r, const T* x, T* out, int64_t begin, int64_t end) {
  using A = typename R::template Acc<T>;
  constexpr int64_t kColumns = 512, kRows = 64;
  A sum[kColumns], middle[kColumns], block[kColumns];
  for (int64_t c = 0; c < r.inner; c += kColumns) {
    const int64_t m = std::min(kColumns, r.inner - c);
    std::fill(middle, middle + m, A{});
    std::fill(block, block + m, A{});
    int64_t result = -1, rows = 0, blocks = 0;
    // Empties `from`, which holds `count` parts, into `to`.
    auto merge = [m](A* to, A* from, int64_t& count) {
      if (count == 0) return;
      for (int64_t i = 0; i < m; ++i) to[i] = R::Combine(to[i], from[i]), from[i] = A{};
      count = 0;
    };
    auto flush = [&] {
      if (result < 0) return;
      if constexpr (R::kBlocked) {
        merge(middle, block, rows);
        blocks = 1;
        merge(sum, middle, blocks);
      }
      for (int64_t i = 0; i < m; ++i) out[result + c + i] = static_cast<T>(R::Finish(sum[i], r.count));
    };
    DriveReduction(
        r, begin, end,
        [&](int64_t at, int64_t) {
          flush();
          result = at;
          std::fill(sum, sum + m, R::template Init<T>());
        },
        [&](int64_t, int64_t from) {
          const T* p = x + from + c;
          if constexpr (R::kBlocked) {
            for (int64_t i = 0; i < m; ++i) block[i] = R::Combine(block[i], R::Map(static_cast<A>(p[i])));
            if (++rows == kRows) {
              merge(middle, block, rows);
              if (++blocks == kRows) merge(sum, middle, blocks);
            }
          } else {
            for (int64_t i = 0; i < m; ++i) sum[i] = R::Combine(sum[i], R::Map(static_cast<A>(p[i])));
          }
        });
    flush();
  }
}

template <TypeSet kSet, typename R, bool kAxesInput>
absl::Status Reduce(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Reduction r, ReadReduction(ctx, *x, kAxesInput));
  return Dispatch<kSet>(ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    using A = typename R::template Acc<T>;
    const T* in = x->data<T>();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), r.out));
    T* out = y->template mutable_data<T>();
    if (r.identity) {
      std::copy(in, in + x->size(), out);
      return absl::OkStatus();
    }
    if (r.results == 0) return absl::OkStatus();
    if (r.count == 0) {
      std::fill(out, out + r.results, static_cast<T>(R::Finish(static_cast<A>(R::template Init<T>()), 0)));
      return absl::OkStatus();
    }
    const int64_t work = r.count * (r.inner_reduced ? 1 : r.inner);
    ctx.threads().ParallelFor(r.kept_outer, std::max<int64_t>(1, kElementGrain / work),
                              [&](int64_t begin, int64_t end) {
                                if (r.inner_reduced) {
                                  FoldRuns<R>(r, in, out, begin, end);
                                } else {
                                  FoldRows<R>(r, in, out, begin, end);
                                }
                              });
    return absl::OkStatus();
  });
}

constexpr TypeSet kReduced = kFloats | Bit(DType::kI32) | Bit(DType::kI64) | Bit(DType::kU32) | Bit(DType::kU64);
constexpr TypeSet kOrdered = kNumeric | kBools;

template <TypeSet kSet, typename R>
void Add(KernelRegistry& r, const std::string& form) {
  r.Add(form, Reduce<kSet, R, true>);
  r.Add(form + "-1", Reduce<kSet, R, false>);
}

}  // namespace

void RegisterReductions(KernelRegistry& r) {
  Add<kReduced, SumReducer<Plain, NoFinish>>(r, "ReduceSum");
  Add<kReduced, SumReducer<Plain, DivideByCount>>(r, "ReduceMean");
  Add<kReduced, SumReducer<Magnitude, NoFinish>>(r, "ReduceL1");
  Add<kReduced, SumReducer<Square, Root>>(r, "ReduceL2");
  Add<kReduced, SumReducer<Square, NoFinish>>(r, "ReduceSumSquare");
  Add<kReduced, ProductReducer>(r, "ReduceProd");
  Add<kOrdered, MaxReducer>(r, "ReduceMax");
  Add<kOrdered, MinReducer>(r, "ReduceMin");
}

}  // namespace retuple::internal
