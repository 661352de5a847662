// Slice: per axis start, end, step; negative positions count from the end, what lies outside is clamped.
#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

struct Range {
  int64_t start = 0, step = 1, count = 0;
};

// Clamped range of an axis of size n. Pre: step != 0. No intermediate overflows.
Range Clamp(int64_t start, int64_t end, int64_t step, int64_t n) {
  auto position = [n](int64_t v) { return v < 0 ? (v < -n ? int64_t{-1} : v + n) : v; };
  Range r;
  r.step = step;
  if (step > 0) {
    r.start = std::clamp<int64_t>(start < -n ? 0 : position(start), 0, n);
    const int64_t stop = std::clamp<int64_t>(end < -n ? 0 : position(end), 0, n);
    if (stop > r.start) r.count = (stop - r.start - 1) / step + 1;
  } else {
    r.start = std::clamp<int64_t>(position(start), -1, n - 1);
    const int64_t stop = std::clamp<int64_t>(position(end), -1, n - 1);
    // The magnitude as unsigned: step may be the lowest int64.
    const uint64_t stride = uint64_t{0} - static_cast<uint64_t>(step);
    if (r.start > stop) r.count = static_cast<int64_t>(static_cast<uint64_t>(r.start - stop - 1) / stride) + 1;
  }
  if (r.count <= 1) r.step = 1;
  return r;
}

// Copies the box that `ranges` cuts out of x, innermost runs at once.
template <typename E>
void CopyBox(const E* x, const Dims& dims, std::span<const Range> ranges, E* out) {
  const int rank = static_cast<int>(dims.size());
  // Trailing axes taken whole are one run with the axis before them.
  int64_t run = 1;
  int last = rank;
  while (last > 0) {
    const Range& r = ranges[last - 1];
    if (r.step != 1) break;
    --last;
    const bool whole = r.count == dims[last];
    run *= r.count;
    if (!whole) break;
  }
  const Dims strides = StridesOf(dims);
  int64_t base = 0;
  for (int d = 0; d < rank; ++d) base += ranges[d].start * strides[d];
  // Axes [0, last) are stepped; the innermost of them in a tight loop.
  const int inner = last - 1;
  const int64_t inner_count = inner >= 0 ? ranges[inner].count : 1;
  const int64_t inner_step = inner >= 0 ? ranges[inner].step * strides[inner] : 0;
  Dims index(std::max(inner, 0), 0);
  for (;;) {
    const E* p = x + base;
    if (run == 1) {
      for (int64_t i = 0; i < inner_count; ++i) out[i] = p[i * inner_step];
      out += inner_count;
    } else {
      for (int64_t i = 0; i < inner_count; ++i, out += run) std::copy(p + i * inner_step, p + i * inner_step + run, out);
    }
    int d = inner - 1;
    for (; d >= 0; --d) {
      base += ranges[d].step * strides[d];
      if (++index[d] < ranges[d].count) break;
      base -= ranges[d].step * strides[d] * ranges[d].count;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

absl::Status SliceBy(KernelContext& ctx, std::span<const int64_t> starts, std::span<const int64_t> ends,
                     const std::vector<int64_t>* axes, const std::vector<int64_t>* steps) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const int rank = x->rank();
  if (starts.size() != ends.size() || (axes && axes->size() != starts.size()) ||
      (steps && steps->size() != starts.size())) {
    return Bad(ctx, "starts, ends, axes and steps differ in length");
  }
  if (!axes && static_cast<int>(starts.size()) > rank) {
    return Bad(ctx, "%d starts for rank %d", starts.size(), rank);
  }
  absl::InlinedVector<Range, 6> ranges(rank);
  for (int d = 0; d < rank; ++d) ranges[d].count = x->dim(d);
  std::vector<bool> seen(rank);
  for (size_t i = 0; i < starts.size(); ++i) {
    RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, axes ? (*axes)[i] : static_cast<int64_t>(i), rank));
    if (seen[axis]) return Bad(ctx, "axis %d is given twice", axis);
    seen[axis] = true;
    const int64_t step = steps ? (*steps)[i] : 1;
    if (step == 0) return Bad(ctx, "step 0 on axis %d", axis);
    ranges[axis] = Clamp(starts[i], ends[i], step, x->dim(axis));
  }
  Dims dims(rank);
  for (int d = 0; d < rank; ++d) dims[d] = ranges[d].count;
  return DispatchBySize(ctx.op(), x->dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), dims));
    if (y->size() > 0) CopyBox(x->data<E>(), x->dims(), ranges, y->template mutable_data<E>());
    return absl::OkStatus();
  });
}

absl::Status Slice(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, RequiredInts(ctx, 1));
  RT_ASSIGN_OR_RETURN(const std::vector<int64_t> ends, RequiredInts(ctx, 2));
  RT_ASSIGN_OR_RETURN(const auto axes, IntsInput(ctx, 3));
  RT_ASSIGN_OR_RETURN(const auto steps, IntsInput(ctx, 4));
  return SliceBy(ctx, starts, ends, axes ? &*axes : nullptr, steps ? &*steps : nullptr);
}

absl::Status Slice1(KernelContext& ctx) {
  const Ints* starts = IntsAttr(ctx, "starts");
  const Ints* ends = IntsAttr(ctx, "ends");
  if (starts == nullptr || ends == nullptr) return Bad(ctx, "starts or ends is missing");
  return SliceBy(ctx, *starts, *ends, IntsAttr(ctx, "axes"), nullptr);
}

}  // namespace

void RegisterSlice(KernelRegistry& r) {
  r.Add("Slice", Slice);
  r.Add("Slice-1", Slice1);
}

}  // namespace retuple::internal
