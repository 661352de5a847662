// The geometry of a reduction: which axes go, the result's shape, and the input as a few merged axes.
//
// Axes of size 1 are dropped and neighbours of one kind (kept or reduced) merged, so that kinds alternate. Two
// shapes of inner loop serve everything: if the innermost merged axis is reduced, each result is a fold over
// contiguous runs; if it is kept, rows are accumulated element-wise into a row of results. Both vectorise.
#ifndef RETUPLE_KERNELS_CORE_REDUCE_H_
#define RETUPLE_KERNELS_CORE_REDUCE_H_

#include "kernels/core/util.h"

namespace retuple::internal {

struct Reduction {
  Dims out;                 // shape of the result (with or without the reduced axes)
  bool identity = false;    // noop_with_empty_axes: the input is the result
  int64_t count = 1;        // elements that fold into one result
  int64_t results = 1;      // number of results
  // Merged axes, outermost first, without the innermost one.
  Dims kept_dims, kept_strides;        // strides in the input, elements
  Dims reduced_dims, reduced_strides;
  bool inner_reduced = true;  // kind of the innermost merged axis
  int64_t inner = 1;          // its size
  int64_t kept_outer = 1;     // product of kept_dims
  int64_t reduced_outer = 1;  // product of reduced_dims
};

// Pre: flags.size() == dims.size().
Reduction PlanReduction(const Dims& dims, const std::vector<bool>& flags, bool keepdims);

// Reads axes (attribute `axes`, or input 1 when `axes_input`), keepdims and noop_with_empty_axes of a Reduce*.
absl::StatusOr<Reduction> ReadReduction(const KernelContext& ctx, const Tensor& x, bool axes_input);

// Calls start(result offset, count of results) once for every group of results, then fold(result offset,
// input offset) for every run of `inner` elements that folds into them: one result when inner_reduced, `inner` of
// them otherwise. Groups [begin, end) of kept_outer.
template <typename Start, typename Fold>
void DriveReduction(const Reduction& r, int64_t begin, int64_t end, Start start, Fold fold) {
  const int64_t width = r.inner_reduced ? 1 : r.inner;
  Dims kept(r.kept_dims.size(), 0);
  int64_t base = 0, rest = begin;
  for (size_t d = kept.size(); d-- > 0;) {
    kept[d] = rest % r.kept_dims[d];
    rest /= r.kept_dims[d];
    base += kept[d] * r.kept_strides[d];
  }
  Dims reduced(r.reduced_dims.size(), 0);
  for (int64_t k = begin; k < end; ++k) {
    start(k * width, width);
    int64_t at = base;
    for (int64_t j = 0; j < r.reduced_outer; ++j) {
      fold(k * width, at);
      for (size_t d = reduced.size(); d-- > 0;) {
        at += r.reduced_strides[d];
        if (++reduced[d] < r.reduced_dims[d]) break;
        at -= r.reduced_strides[d] * r.reduced_dims[d];
        reduced[d] = 0;
      }
    }
    for (size_t d = kept.size(); d-- > 0;) {
      base += r.kept_strides[d];
      if (++kept[d] < r.kept_dims[d]) break;
      base -= r.kept_strides[d] * r.kept_dims[d];
      kept[d] = 0;
    }
  }
}

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_CORE_REDUCE_H_
