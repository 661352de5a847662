// Unique: the distinct elements of the flattened input, or the distinct slices along an axis, with the index of the
// first occurrence, the inverse map and the counts. Sorted ascending, or in order of first occurrence.
#include <numeric>

#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

// Total order with NaN last and equal to itself.
template <typename T>
int Compare(const T& a, const T& b) {
  if constexpr (kIsFloatLike<T>) {
    const bool na = a != a, nb = b != b;
    if (na || nb) return static_cast<int>(na) - static_cast<int>(nb);
  }
  return a < b ? -1 : (b < a ? 1 : 0);
}

absl::Status Unique(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const bool sorted = IntAttr(ctx, "sorted", 1) != 0;
  const int64_t* axis_attr = FindAttr<int64_t>(ctx.op().attrs, "axis");
  int64_t outer = 1, n = x->size(), inner = 1;
  int axis = 0;
  Dims dims{0};
  if (axis_attr != nullptr) {
    RT_ASSIGN_OR_RETURN(axis, NormalizeAxis(ctx, *axis_attr, x->rank()));
    outer = Product(x->dims(), 0, axis);
    n = x->dim(axis);
    inner = Product(x->dims(), axis + 1, x->rank());
    dims = x->dims();
  }
  return Dispatch<kNumeric | kBools | kStringsOnly>(
      ctx.op(), x->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
        const T* in = x->data<T>();
        auto compare = [&](int64_t a, int64_t b) {
          for (int64_t o = 0; o < outer; ++o) {
            const T* pa = in + (o * n + a) * inner;
            const T* pb = in + (o * n + b) * inner;
            for (int64_t i = 0; i < inner; ++i) {
              if (const int c = Compare(pa[i], pb[i]); c != 0) return c;
            }
          }
          return 0;
        };
        std::vector<int64_t> order(n);
        std::iota(order.begin(), order.end(), int64_t{0});
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
        // Groups of equals in sorted order; the sort is stable, so a group begins with its first occurrence.
        std::vector<int64_t> first, counts, inverse(n);
        for (int64_t i = 0; i < n; ++i) {
          if (i == 0 || compare(order[i - 1], order[i]) != 0) {
            first.push_back(order[i]);
            counts.push_back(0);
          }
          ++counts.back();
          inverse[order[i]] = static_cast<int64_t>(first.size()) - 1;
        }
        const int64_t m = static_cast<int64_t>(first.size());
        if (!sorted) {
          std::vector<int64_t> groups(m), rank(m), old_first = first, old_counts = counts;
          std::iota(groups.begin(), groups.end(), int64_t{0});
          std::sort(groups.begin(), groups.end(), [&](int64_t a, int64_t b) { return old_first[a] < old_first[b]; });
          for (int64_t i = 0; i < m; ++i) {
            rank[groups[i]] = i;
            first[i] = old_first[groups[i]];
            counts[i] = old_counts[groups[i]];
          }
          for (int64_t& v : inverse) v = rank[v];
        }
        dims[axis] = m;
        RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), dims));
        T* out = y->template mutable_data<T>();
        for (int64_t o = 0; o < outer; ++o) {
          for (int64_t i = 0; i < m; ++i, out += inner) {
            const T* from = in + (o * n + first[i]) * inner;
            std::copy(from, from + inner, out);
          }
        }
        const std::vector<int64_t>* extra[3] = {&first, &inverse, &counts};
        for (int k = 0; k < 3; ++k) {
          if (!ctx.output_used(k + 1)) continue;
          RT_ASSIGN_OR_RETURN(Tensor* t, ctx.Output(k + 1, DType::kI64, {static_cast<int64_t>(extra[k]->size())}));
          std::copy(extra[k]->begin(), extra[k]->end(), t->template mutable_data<int64_t>());
        }
        return absl::OkStatus();
      });
}

}  // namespace

void RegisterUnique(KernelRegistry& r) { r.Add("Unique", Unique); }

}  // namespace retuple::internal
