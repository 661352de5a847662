// Maps a function over a tensor: y[i] = f(x[i]), in place when the plan says so.
//
// f takes and gives ComputeType<T>. The loops are written so that the compiler vectorises f when f has no
// branch; 16-bit floats go through a small buffer of floats.
#ifndef RETUPLE_KERNELS_CORE_ELEMENTWISE_H_
#define RETUPLE_KERNELS_CORE_ELEMENTWISE_H_

#include "kernels/core/util.h"
#include "kernels/dense/util.h"
#include "kernels/dispatch.h"
#include "kernels/thread_pool.h"

namespace retuple::internal {

inline constexpr int64_t kElementGrain = 1 << 14;  // elements a thread takes at least

// Aliasing: out may be x.
template <typename T, typename F>
void MapRange(const T* x, T* out, int64_t n, F f) {
  if constexpr (kIs16BitFloat<T>) {
    constexpr int64_t kBlock = 256;
    constexpr DType kType = std::is_same_v<T, Half> ? DType::kF16 : DType::kBF16;
    float buffer[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = std::min(kBlock, n - i);
      WidenFloats(kType, x + i, m, buffer);
      RT_IVDEP
      for (int64_t j = 0; j < m; ++j) buffer[j] = f(buffer[j]);
      NarrowFloats(kType, buffer, m, out + i);
    }
  } else {
    RT_IVDEP
    for (int64_t i = 0; i < n; ++i) out[i] = f(x[i]);
  }
}

// Output 0 = f(input 0) for element types in kSet.
template <TypeSet kSet, typename F>
absl::Status MapUnary(KernelContext& ctx, F f) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  return Dispatch<kSet>(ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    const T* in = x->data<T>();
    const int64_t n = x->size();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), x->dims()));
    T* out = y->template mutable_data<T>();
    ctx.threads().ParallelFor(n, kElementGrain, [=](int64_t begin, int64_t end) {
      MapRange(in + begin, out + begin, end - begin, f);
    });
    return absl::OkStatus();
  });
}

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_CORE_ELEMENTWISE_H_
