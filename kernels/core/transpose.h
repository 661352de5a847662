// Permutes axes: out[i_perm0, …] = x[i_0, …].
#ifndef RETUPLE_KERNELS_CORE_TRANSPOSE_H_
#define RETUPLE_KERNELS_CORE_TRANSPOSE_H_

#include "kernels/core/util.h"
#include "kernels/thread_pool.h"

namespace retuple::internal {

// Writes the transposed x to `out`, whose axis k is axis perm[k] of x. Pre: perm is a permutation of x's axes, out
// holds x.size() elements of x's type and does not overlap x.
void TransposeInto(ThreadPool& threads, const Tensor& x, std::span<const int> perm, void* out);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_CORE_TRANSPOSE_H_
