// LayerNormalization, InstanceNormalization, GroupNormalization and MeanVarianceNormalization.
//
// All centre and scale rows: y = (x − mean) / √(variance + ε), then a scale and a bias that belong
// to the position in the row (layer) or to the channel (instance, group).
#include <array>
#include <cmath>
#include <limits>

#include "kernels/dense/register.h"
#include "kernels/dense/rows.h"
#include "kernels/dense/util.h"

namespace retuple::internal {
namespace {

// Calls f.template operator()<T>(x, y) with T float (also for the 16-bit floats) or double.
template <typename F>
absl::Status OnFloats(KernelContext& ctx, const Tensor& x, F f) {
  if (x.dtype() == DType::kF64) {
    RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, x.dtype(), x.dims()));
    return f(x.data<double>(), y->mutable_data<double>());
  }
  if (x.dtype() != DType::kF32 && !Is16Bit(x.dtype())) {
    return Unserved(ctx, "element type %s", std::string(DTypeName(x.dtype())));
  }
  RT_ASSIGN_OR_RETURN(const float* px, AsFloats(ctx, x));
  RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, x.dtype(), x.dims()));
  RT_RETURN_IF_ERROR(f(px, y.data()));
  y.Finish();
  return absl::OkStatus();
}

// The elements of a parameter as T, in its own memory where the type is T.
template <typename T>
absl::StatusOr<const T*> ParameterOf(KernelContext& ctx, const Tensor& t) {
  if constexpr (std::is_same_v<T, float>) {
    if (t.dtype() == DType::kF32 || Is16Bit(t.dtype())) return AsFloats(ctx, t);
  } else {
    if (t.dtype() == DType::kF64) return t.data<double>();
  }
  if (!IsFloat(t.dtype())) return Bad(ctx, "a parameter is %s", std::string(DTypeName(t.dtype())));
  RT_ASSIGN_OR_RETURN(T * v, ScratchOf<T>(ctx, t.size()));
  for (int64_t i = 0; i < t.size(); ++i) v[i] = static_cast<T>(t.At(i));
  return v;
}

template <typename T>
struct Moments {
  T mean, inverse;  // inverse standard deviation
};

template <typename T>
Moments<T> RowMoments(const T* x, int64_t n, T epsilon) {
  const T mean = SumRow(x, n) / static_cast<T>(n);
  const T variance = SquaredDeviation(x, n, mean) / static_cast<T>(n);
  return {mean, T{1} / std::sqrt(variance + epsilon)};
}

// A scale or bias of LayerNormalization as n elements: those of the row, or one for all, or
// broadcast within the row.
template <typename T>
absl::StatusOr<const T*> RowParameter(KernelContext& ctx, const Tensor& t,
                                      std::span<const int64_t> row, int64_t n) {
  RT_ASSIGN_OR_RETURN(const T* p, ParameterOf<T>(ctx, t));
  Dims dims = t.dims();
  while (dims.size() > row.size() && dims[0] == 1) dims.erase(dims.begin());
  if (dims.size() > row.size()) {
    return Bad(ctx, "a parameter of shape %s does not broadcast to the row %s",
               DimsToString(t.dims()), DimsToString(row));
  }
  dims.insert(dims.begin(), row.size() - dims.size(), 1);
  bool whole = true;
  for (size_t i = 0; i < row.size(); ++i) {
    whole = whole && dims[i] == row[i];
    if (dims[i] != row[i] && dims[i] != 1) {
      return Bad(ctx, "a parameter of shape %s does not broadcast to the row %s",
                 DimsToString(t.dims()), DimsToString(row));
    }
  }
  if (whole) return p;
  RT_ASSIGN_OR_RETURN(T * full, ScratchOf<T>(ctx, n));
  const Dims strides = StridesOf(dims);
  Dims index(row.size(), 0);
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < row.size(); ++d) at += dims[d] == 1 ? 0 : index[d] * strides[d];
    full[i] = p[at];
    NextIndex(row, index);
  }
  return full;
}

absl::Status LayerNormalization(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* scale, Input(ctx, 1));
  const Tensor* bias = nullptr;
  if (ctx.has(2)) {
    RT_ASSIGN_OR_RETURN(bias, Input(ctx, 2));
  }
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, IntAttr(ctx, "axis", -1), x->rank()));
  const int64_t outer = Product(x->dims(), 0, axis), n = Product(x->dims(), axis, x->rank());
  const std::span<const int64_t> row =
      std::span<const int64_t>(x->dims()).subspan(static_cast<size_t>(axis));
  const float epsilon = FloatAttr(ctx, "epsilon", 1e-5f);
  Dims stat = x->dims();
  for (size_t i = static_cast<size_t>(axis); i < stat.size(); ++i) stat[i] = 1;
  // Mean and InvStdDev in the type of stash_type (f32), f64 for a f64 operand.
  std::array<Tensor*, 2> stats{nullptr, nullptr};
  const DType stat_type = x->dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  for (int i = 0; i < 2; ++i) {
    if (!ctx.output_used(i + 1)) continue;
    RT_ASSIGN_OR_RETURN(stats[static_cast<size_t>(i)], ctx.Output(i + 1, stat_type, stat));
  }
  return OnFloats(ctx, *x, [&]<typename T>(const T* px, T* py) -> absl::Status {
    RT_ASSIGN_OR_RETURN(const T* g, RowParameter<T>(ctx, *scale, row, n));
    const T* b = nullptr;
    if (bias != nullptr) {
      RT_ASSIGN_OR_RETURN(b, RowParameter<T>(ctx, *bias, row, n));
    }
    if (x->size() == 0) return absl::OkStatus();
    T* mean_out = stats[0] != nullptr ? stats[0]->mutable_data<T>() : nullptr;
    T* inverse_out = stats[1] != nullptr ? stats[1]->mutable_data<T>() : nullptr;
    ctx.threads().ParallelFor(outer, 1 + 8000 / n, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        const T* from = px + o * n;
        T* to = py + o * n;
        const Moments<T> m = RowMoments<T>(from, n, static_cast<T>(epsilon));
        if (mean_out != nullptr) mean_out[o] = m.mean;
        if (inverse_out != nullptr) inverse_out[o] = m.inverse;
        if (b != nullptr) {
          for (int64_t i = 0; i < n; ++i) to[i] = (from[i] - m.mean) * m.inverse * g[i] + b[i];
        } else {
          for (int64_t i = 0; i < n; ++i) to[i] = (from[i] - m.mean) * m.inverse * g[i];
        }
      }
    });
    return absl::OkStatus();
  });
}

// Rows are groups of channels of one image; groups == channels for InstanceNormalization.
absl::Status GroupRows(KernelContext& ctx, const Tensor& x, int64_t groups, const Tensor& scale,
                       const Tensor& bias) {
  const int64_t channels = x.dim(1), size = Product(x.dims(), 2, x.rank()), per = channels / groups;
  const float epsilon = FloatAttr(ctx, "epsilon", 1e-5f);
  const bool by_group = scale.size() == groups && scale.size() != channels;
  if ((scale.size() != channels && !by_group) || bias.size() != scale.size()) {
    return Bad(ctx, "%d scales and %d biases for %d channels in %d groups", scale.size(),
               bias.size(), channels, groups);
  }
  return OnFloats(ctx, x, [&]<typename T>(const T* px, T* py) -> absl::Status {
    RT_ASSIGN_OR_RETURN(const T* g, ParameterOf<T>(ctx, scale));
    RT_ASSIGN_OR_RETURN(const T* b, ParameterOf<T>(ctx, bias));
    if (x.size() == 0) return absl::OkStatus();
    ctx.threads().ParallelFor(
        x.dim(0) * groups, 1 + 8000 / (per * size), [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            const int64_t first = r % groups * per;
            const T* from = px + r * per * size;
            T* to = py + r * per * size;
            const Moments<T> m = RowMoments<T>(from, per * size, static_cast<T>(epsilon));
            for (int64_t c = 0; c < per; ++c) {
              const int64_t at = by_group ? r % groups : first + c;
              const T a = m.inverse * g[at], s = b[at];
              for (int64_t i = 0; i < size; ++i, ++from, ++to) *to = (*from - m.mean) * a + s;
            }
          }
        });
    return absl::OkStatus();
  });
}

absl::Status InstanceNormalization(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* scale, Input(ctx, 1));
  RT_ASSIGN_OR_RETURN(const Tensor* bias, Input(ctx, 2));
  if (x->rank() < 2) return Bad(ctx, "operand %s has no channels", DimsToString(x->dims()));
  return GroupRows(ctx, *x, std::max<int64_t>(1, x->dim(1)), *scale, *bias);
}

absl::Status GroupNormalization(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* scale, Input(ctx, 1));
  RT_ASSIGN_OR_RETURN(const Tensor* bias, Input(ctx, 2));
  const int64_t groups = IntAttr(ctx, "num_groups", 0);
  if (x->rank() < 2 || groups < 1 || x->dim(1) % groups != 0) {
    return Bad(ctx, "operand %s does not divide into %d groups", DimsToString(x->dims()), groups);
  }
  return GroupRows(ctx, *x, groups, *scale, *bias);
}

// Over `axes` (default all but the channels): (x − mean) / (√variance + 1e-9).
absl::Status MeanVarianceNormalization(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const Ints* given = IntsAttr(ctx, "axes");
  const Ints axes = given != nullptr ? *given : Ints{0, 2, 3};
  RT_ASSIGN_OR_RETURN(const std::vector<bool> reduced, AxisFlags(ctx, axes, x->rank()));
  Dims kept = x->dims();
  for (size_t i = 0; i < kept.size(); ++i) {
    if (reduced[i]) kept[i] = 1;
  }
  const Dims strides = StridesOf(kept);
  const int64_t groups = NumElements(kept);
  if (groups > std::numeric_limits<int32_t>::max()) return Unserved(ctx, "%d groups", groups);
  return OnFloats(ctx, *x, [&]<typename T>(const T* px, T* py) -> absl::Status {
    if (x->size() == 0) return absl::OkStatus();
    RT_ASSIGN_OR_RETURN(int32_t * group, ScratchOf<int32_t>(ctx, x->size()));
    RT_ASSIGN_OR_RETURN(double* sums, ScratchOf<double>(ctx, 2 * groups));
    double* squares = sums + groups;
    std::fill(sums, sums + 2 * groups, 0.0);
    Dims index(x->dims().size(), 0);
    for (int64_t i = 0; i < x->size(); ++i) {
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d) at += reduced[d] ? 0 : index[d] * strides[d];
      group[i] = static_cast<int32_t>(at);
      sums[at] += static_cast<double>(px[i]);
      NextIndex(x->dims(), index);
    }
    const auto count = static_cast<double>(x->size() / groups);
    for (int64_t i = 0; i < x->size(); ++i) {
      const double d = static_cast<double>(px[i]) - sums[group[i]] / count;
      squares[group[i]] += d * d;
    }
    for (int64_t i = 0; i < x->size(); ++i) {
      const double d = static_cast<double>(px[i]) - sums[group[i]] / count;
      py[i] = static_cast<T>(d / (std::sqrt(squares[group[i]] / count) + 1e-9));
    }
    return absl::OkStatus();
  });
}

}  // namespace

void RegisterLayerNormalization(KernelRegistry& r) {
  r.Add("LayerNormalization", LayerNormalization);
  r.Add("GroupNormalization", GroupNormalization);
  r.Add("MeanVarianceNormalization", MeanVarianceNormalization);
}

void RegisterInstanceNormalization(KernelRegistry& r) {
  r.Add("InstanceNormalization", InstanceNormalization);
}

}  // namespace retuple::internal
