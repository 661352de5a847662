// Pad: constant, reflect, edge and wrap, per axis a count before and after; a negative count cuts.
//
// Each axis gets a table from output to input position (-1: the constant), so that all modes are one copying loop.
// Reflection and wrapping continue periodically when the pad is longer than the axis. Where an axis is cut on one
// side, what is left of it is what the other side repeats.
#include "kernels/core/util.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

enum class Mode { kConstant, kReflect, kEdge, kWrap };

absl::StatusOr<Mode> ReadMode(const KernelContext& ctx) {
  const std::string mode = StringAttr(ctx, "mode", "constant");
  if (mode == "constant") return Mode::kConstant;
  if (mode == "reflect") return Mode::kReflect;
  if (mode == "edge") return Mode::kEdge;
  if (mode == "wrap") return Mode::kWrap;
  return Bad(ctx, "mode is \"%s\"", mode);
}

int64_t FloorMod(int64_t a, int64_t n) {
  const int64_t r = a % n;
  return r < 0 ? r + n : r;
}

// Input position of output position `at` (relative to the kept part of length n > 0), or -1.
int64_t Source(Mode mode, int64_t at, int64_t n) {
  if (at >= 0 && at < n) return at;
  switch (mode) {
    case Mode::kConstant:
      return -1;
    case Mode::kEdge:
      return at < 0 ? 0 : n - 1;
    case Mode::kWrap:
      return FloorMod(at, n);
    case Mode::kReflect: {
      if (n == 1) return 0;
      const int64_t r = FloorMod(at, 2 * (n - 1));
      return r < n ? r : 2 * (n - 1) - r;
    }
  }
  return -1;
}

struct PadAxis {
  int64_t size = 0;
  std::vector<int64_t> source;       // by output position; empty for the innermost axis' interior
  int64_t first = 0, last = 0;       // output positions [first, last) map to consecutive inputs
};

// `value` null: zero (an empty string).
absl::Status PadWith(KernelContext& ctx, const Tensor& x, std::span<const int64_t> before,
                     std::span<const int64_t> after, const Tensor* value) {
  RT_ASSIGN_OR_RETURN(const Mode mode, ReadMode(ctx));
  const int rank = x.rank();
  Dims dims(rank);
  for (int d = 0; d < rank; ++d) {
    int64_t n = 0;
    if (AddOverflows(x.dim(d), before[d], &n) || AddOverflows(n, after[d], &n) || n < 0) {
      return Bad(ctx, "pads %d and %d do not fit axis %d of size %d", before[d], after[d], d, x.dim(d));
    }
    dims[d] = n;
  }
  return DispatchBySize(ctx.op(), x.dtype(), [&]<typename E>(TypeTag<E>) -> absl::Status {
    E fill{};
    if (value != nullptr) fill = *value->data<E>();
    const E* in = x.data<E>();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x.dtype(), dims));
    if (y->size() == 0) return absl::OkStatus();
    E* out = y->template mutable_data<E>();
    if (rank == 0) {
      *out = *in;
      return absl::OkStatus();
    }
    // The output exists, so tables as long as its axes are affordable.
    std::vector<PadAxis> axes(rank);
    for (int d = 0; d < rank; ++d) {
      PadAxis& a = axes[d];
      a.size = dims[d];
      const int64_t low = std::max<int64_t>(0, -std::max(before[d], -x.dim(d)));
      const int64_t high = x.dim(d) - std::max<int64_t>(0, -std::max(after[d], -x.dim(d)));
      const int64_t kept = high - low;
      if (kept <= 0 && mode != Mode::kConstant) return Bad(ctx, "nothing is left of axis %d to repeat", d);
      const int64_t shift = std::max<int64_t>(before[d], 0);
      a.source.resize(dims[d]);
      for (int64_t i = 0; i < dims[d]; ++i) {
        const int64_t s = kept > 0 ? Source(mode, i - shift, kept) : -1;
        a.source[i] = s < 0 ? -1 : s + low;
      }
      a.first = std::min(shift, dims[d]);
      a.last = std::clamp(shift + kept, a.first, dims[d]);
    }
    const Dims strides = StridesOf(x.dims());
    const PadAxis& row = axes[rank - 1];
    Dims index(rank - 1, 0);
    for (;;) {
      int64_t base = 0;
      bool constant = false;
      for (int d = 0; d < rank - 1; ++d) {
        const int64_t s = axes[d].source[index[d]];
        constant |= s < 0;
        base += s * strides[d];
      }
      if (constant) {
        std::fill(out, out + row.size, fill);
      } else {
        auto edge = [&](int64_t b, int64_t e) {
          for (int64_t i = b; i < e; ++i) out[i] = row.source[i] < 0 ? fill : in[base + row.source[i]];
        };
        edge(0, row.first);
        if (row.first < row.last) {
          const E* from = in + base + row.source[row.first];
          std::copy(from, from + (row.last - row.first), out + row.first);
        }
        edge(row.last, row.size);
      }
      out += row.size;
      if (!NextIndex({dims.data(), static_cast<size_t>(rank - 1)}, {index.data(), index.size()})) break;
    }
    return absl::OkStatus();
  });
}

absl::Status Pad(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, RequiredInts(ctx, 1));
  RT_ASSIGN_OR_RETURN(const auto axes, IntsInput(ctx, 3));
  const Tensor* value = nullptr;
  if (ctx.num_inputs() > 2 && ctx.has(2)) {
    RT_ASSIGN_OR_RETURN(value, InputOf(ctx, 2, x->dtype()));
    if (value->size() == 0) value = nullptr;  // exporters write an empty tensor for "none"
    if (value && value->size() != 1) return Bad(ctx, "the constant has shape %s", DimsToString(value->dims()));
  }
  const int rank = x->rank();
  std::vector<int64_t> before(rank, 0), after(rank, 0);
  const size_t count = axes ? axes->size() : static_cast<size_t>(rank);
  if (pads.size() != 2 * count) return Bad(ctx, "%d pads for %d axes", pads.size(), count);
  std::vector<bool> seen(rank);
  for (size_t i = 0; i < count; ++i) {
    RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, axes ? (*axes)[i] : static_cast<int64_t>(i), rank));
    if (seen[axis]) return Bad(ctx, "axis %d is given twice", axis);
    seen[axis] = true;
    before[axis] = pads[i];
    after[axis] = pads[count + i];
  }
  return PadWith(ctx, *x, before, after, value);
}

absl::Status PadAttr(KernelContext& ctx, std::string_view name) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  const Ints* pads = IntsAttr(ctx, name);
  const size_t rank = static_cast<size_t>(x->rank());
  if (pads == nullptr || pads->size() != 2 * rank) return Bad(ctx, "pads do not fit rank %d", rank);
  const std::span<const int64_t> all(*pads);
  Tensor value;
  if (IsFloat(x->dtype())) value = Tensor::ScalarLike(x->dtype(), FloatAttr(ctx, "value", 0.0f));
  return PadWith(ctx, *x, all.first(rank), all.last(rank), value.defined() ? &value : nullptr);
}

absl::Status Pad1(KernelContext& ctx) { return PadAttr(ctx, "paddings"); }
absl::Status Pad2(KernelContext& ctx) { return PadAttr(ctx, "pads"); }

}  // namespace

void RegisterPad(KernelRegistry& r) {
  r.Add("Pad", Pad);
  r.Add("Pad-1", Pad1);
  r.Add("Pad-2", Pad2);
}

}  // namespace retuple::internal
