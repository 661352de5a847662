// Einsum: y[output labels] = Σ over the other labels of the product of the operands.
//
// Operands are contracted from left to right, two at a time, as a batched matrix product: labels of
// both operands that are still needed are batch, labels of one only are rows or columns, labels of
// both that are needed no more are summed. Labels of one operand that nobody else needs are summed
// before. Each operand is brought into [batch, rows, sum] order by one copy.
#include <algorithm>

#include "kernels/dense/matmul_core.h"
#include "kernels/dense/register.h"
#include "kernels/dispatch.h"

namespace retuple::internal {
namespace {

// Labels are letters; the axes of an ellipsis are numbered, counted from the last, above kEllipsis.
constexpr int kEllipsis = 256;
using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

absl::StatusOr<Labels> ParseTerm(const KernelContext& ctx, std::string_view term, int rank,
                                 int* ellipsis) {
  Labels before, after;
  bool dots = false;
  for (size_t i = 0; i < term.size(); ++i) {
    const char c = term[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (dots || term.substr(i, 3) != "...") return Bad(ctx, "misplaced '.' in the equation");
      dots = true;
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      (dots ? after : before).push_back(c);
    } else {
      return Bad(ctx, "character '%c' in the equation", c);
    }
  }
  const int named = static_cast<int>(before.size() + after.size());
  int extra = 0;
  if (rank >= 0) {
    extra = rank - named;
    if (extra < 0 || (extra > 0 && !dots))
      return Bad(ctx, "'%s' for an operand of rank %d", std::string(term), rank);
    *ellipsis = std::max(*ellipsis, extra);
  } else if (dots) {
    extra = *ellipsis;
  }
  Labels all = before;
  for (int i = extra; i-- > 0;) all.push_back(kEllipsis + i);
  all.insert(all.end(), after.begin(), after.end());
  return all;
}

absl::StatusOr<Equation> Parse(const KernelContext& ctx, const std::string& text,
                               const std::vector<const Tensor*>& x) {
  Equation e;
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  int ellipsis = 0;
  size_t start = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t end = left.find(',', start);
    if (start > left.size() || ((end == std::string::npos) != (i + 1 == x.size()))) {
      return Bad(ctx, "equation '%s' for %d operands", text, x.size());
    }
    const std::string term = left.substr(start, end == std::string::npos ? end : end - start);
    RT_ASSIGN_OR_RETURN(Labels l, ParseTerm(ctx, term, x[i]->rank(), &ellipsis));
    e.inputs.push_back(std::move(l));
    start = end == std::string::npos ? left.size() + 1 : end + 1;
  }
  if (arrow != std::string::npos) {
    RT_ASSIGN_OR_RETURN(e.output,
                        ParseTerm(ctx, std::string_view(text).substr(arrow + 2), -1, &ellipsis));
  } else {  // the ellipsis, then labels that occur once, in alphabetical order
    for (int i = ellipsis; i-- > 0;) e.output.push_back(kEllipsis + i);
    for (int c = 'A'; c <= 'z'; ++c) {
      int n = 0;
      for (const Labels& l : e.inputs) n += static_cast<int>(std::count(l.begin(), l.end(), c));
      if (n == 1) e.output.push_back(c);
    }
  }
  for (size_t i = 0; i < e.output.size(); ++i) {
    const int c = e.output[i];
    if (std::count(e.output.begin(), e.output.end(), c) > 1)
      return Bad(ctx, "a label occurs twice in the output");
    bool known = false;
    for (const Labels& l : e.inputs) known = known || std::count(l.begin(), l.end(), c) > 0;
    if (!known) return Bad(ctx, "an output label occurs in no operand");
  }
  return e;
}

bool Has(const Labels& l, int c) { return std::find(l.begin(), l.end(), c) != l.end(); }

// An operand in the computation: one stride for each label (0 where it is broadcast), labels
// distinct.
template <typename T>
struct Term {
  Labels labels;
  Dims strides;
  const T* data = nullptr;
};

template <typename T>
class Contraction {
 public:
  Contraction(KernelContext& ctx, const Equation& e)
      : ctx_(ctx), e_(e), sizes_(kEllipsis + 64, -1) {}

  absl::Status Add(const Tensor& x, const T* data, size_t i) {
    Term<T> t;
    t.data = data;
    const Labels& labels = e_.inputs[i];
    const Dims strides = StridesOf(x.dims());
    for (size_t d = 0; d < labels.size(); ++d) {
      const int c = labels[d];
      if (c >= kEllipsis + 64) return Unserved(ctx_, "an ellipsis of %d axes", c - kEllipsis);
      int64_t& size = sizes_[static_cast<size_t>(c)];
      const int64_t n = x.dims()[d];
      if (size < 0 || size == 1) {
        size = n;
      } else if (n != size && n != 1) {
        return Bad(ctx_, "sizes %d and %d for one label", size, n);
      }
      const int64_t stride = n == 1 ? 0 : strides[d];
      auto it = std::find(t.labels.begin(), t.labels.end(), c);
      if (it != t.labels.end()) {
        t.strides[static_cast<size_t>(it - t.labels.begin())] += stride;  // a diagonal
      } else {
        t.labels.push_back(c);
        t.strides.push_back(stride);
      }
    }
    terms_.push_back(std::move(t));
    return absl::OkStatus();
  }

  Dims OutDims() const { return SizesOf(e_.output); }

  // y: the output, row-major in OutDims(). Pre: not empty.
  absl::Status Run(T* y) {
    Term<T> left = terms_[0];
    for (size_t i = 1; i < terms_.size(); ++i) {
      Labels needed = e_.output;
      for (size_t k = i + 1; k < terms_.size(); ++k)
        needed.insert(needed.end(), terms_[k].labels.begin(), terms_[k].labels.end());
      RT_ASSIGN_OR_RETURN(left, Product(left, terms_[i], needed));
    }
    Labels summed;
    for (int c : left.labels) {
      if (!Has(e_.output, c)) summed.push_back(c);
    }
    return SumInto(left, e_.output, summed, y);
  }

 private:
  int64_t SizeOf(int c) const { return sizes_[static_cast<size_t>(c)]; }
  Dims SizesOf(const Labels& l) const {
    Dims d;
    for (int c : l) d.push_back(SizeOf(c));
    return d;
  }
  absl::StatusOr<int64_t> Count(const Labels& l) const {
    const std::optional<int64_t> n = CheckedNumElements(SizesOf(l));
    if (!n) return Bad(ctx_, "an intermediate result is too large");
    return *n;
  }
  static int64_t StrideOf(const Term<T>& t, int c) {
    for (size_t i = 0; i < t.labels.size(); ++i) {
      if (t.labels[i] == c) return t.strides[i];
    }
    return 0;
  }

  // out[order…] = Σ over `summed` of t.
  absl::Status SumInto(const Term<T>& t, const Labels& order, const Labels& summed, T* out) const {
    RT_ASSIGN_OR_RETURN(const int64_t n, Count(order));
    RT_ASSIGN_OR_RETURN(const int64_t inner, Count(summed));
    const Dims outer_dims = SizesOf(order), inner_dims = SizesOf(summed);
    Dims index(order.size(), 0), sub(summed.size(), 0);
    Dims outer_strides, inner_strides;
    for (int c : order) outer_strides.push_back(StrideOf(t, c));
    for (int c : summed) inner_strides.push_back(StrideOf(t, c));
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d) at += index[d] * outer_strides[d];
      if (summed.empty()) {
        out[i] = t.data[at];
      } else {
        T sum = 0;
        std::fill(sub.begin(), sub.end(), 0);
        for (int64_t k = 0; k < inner; ++k) {
          int64_t off = at;
          for (size_t d = 0; d < sub.size(); ++d) off += sub[d] * inner_strides[d];
          sum += t.data[off];
          NextIndex(inner_dims, sub);
        }
        out[i] = sum;
      }
      NextIndex(outer_dims, index);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Term<T>> Product(const Term<T>& a, const Term<T>& b, const Labels& needed) {
    Labels batch, rows, cols, sums, a_only, b_only;
    for (int c : a.labels) {
      if (Has(b.labels, c)) {
        (Has(needed, c) ? batch : sums).push_back(c);
      } else {
        (Has(needed, c) ? rows : a_only).push_back(c);
      }
    }
    for (int c : b.labels) {
      if (!Has(a.labels, c)) (Has(needed, c) ? cols : b_only).push_back(c);
    }
    RT_ASSIGN_OR_RETURN(const int64_t nb, Count(batch));
    RT_ASSIGN_OR_RETURN(const int64_t m, Count(rows));
    RT_ASSIGN_OR_RETURN(const int64_t n, Count(cols));
    RT_ASSIGN_OR_RETURN(const int64_t k, Count(sums));
    auto join = [](const Labels& x, const Labels& y, const Labels& z) {
      Labels l = x;
      l.insert(l.end(), y.begin(), y.end());
      l.insert(l.end(), z.begin(), z.end());
      return l;
    };
    RT_ASSIGN_OR_RETURN(const T* pa, Ordered(a, join(batch, rows, sums), a_only));
    RT_ASSIGN_OR_RETURN(const T* pb, Ordered(b, join(batch, sums, cols), b_only));
    Term<T> result;
    result.labels = join(batch, rows, cols);
    RT_ASSIGN_OR_RETURN(const int64_t size, Count(result.labels));
    RT_ASSIGN_OR_RETURN(T * y, ScratchOf<T>(ctx_, size));
    result.strides = StridesOf(SizesOf(result.labels));
    result.data = y;
    for (int64_t i = 0; i < nb && size > 0; ++i) {
      RT_RETURN_IF_ERROR(Multiply<T>(ctx_, m, n, k, {pa + i * m * k, k, 1}, {pb + i * k * n, n, 1},
                                     nullptr, y + i * m * n, n));
    }
    return result;
  }

  // The term in row-major `order`, `summed` summed away: its own memory when it lies so already.
  absl::StatusOr<const T*> Ordered(const Term<T>& t, const Labels& order, const Labels& summed) {
    if (summed.empty()) {
      const Dims want = StridesOf(SizesOf(order));
      bool same = true;
      for (size_t d = 0; d < order.size(); ++d)
        same = same && (StrideOf(t, order[d]) == want[d] || SizeOf(order[d]) == 1);
      if (same) return t.data;
    }
    RT_ASSIGN_OR_RETURN(const int64_t n, Count(order));
    RT_ASSIGN_OR_RETURN(T * copy, ScratchOf<T>(ctx_, n));
    RT_RETURN_IF_ERROR(SumInto(t, order, summed, copy));
    return copy;
  }

  KernelContext& ctx_;
  const Equation& e_;
  std::vector<int64_t> sizes_;
  std::vector<Term<T>> terms_;
};

absl::Status Einsum(KernelContext& ctx) {
  const std::string text = StringAttr(ctx, "equation", "");
  std::vector<const Tensor*> x;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, i));
    if (!x.empty() && t->dtype() != x[0]->dtype()) return Bad(ctx, "operands of different types");
    x.push_back(t);
  }
  if (x.empty()) return Bad(ctx, "no operand");
  RT_ASSIGN_OR_RETURN(const Equation e, Parse(ctx, text, x));
  auto run = [&]<typename T>(auto data_of, auto output) -> absl::Status {
    Contraction<T> c(ctx, e);
    for (size_t i = 0; i < x.size(); ++i) {
      RT_ASSIGN_OR_RETURN(const T* p, data_of(*x[i]));
      RT_RETURN_IF_ERROR(c.Add(*x[i], p, i));
    }
    return output(c);
  };
  const DType t = x[0]->dtype();
  if (t == DType::kF32 || Is16Bit(t)) {
    return run.template operator()<float>(
        [&](const Tensor& v) { return AsFloats(ctx, v); },
        [&](Contraction<float>& c) -> absl::Status {
          RT_ASSIGN_OR_RETURN(FloatOutput y, FloatOutput::Make(ctx, 0, t, c.OutDims()));
          if (y.size() > 0) RT_RETURN_IF_ERROR(c.Run(y.data()));
          y.Finish();
          return absl::OkStatus();
        });
  }
  auto typed = [&]<typename T>(TypeTag<T>) -> absl::Status {
    return run.template operator()<T>(
        [](const Tensor& v) { return absl::StatusOr<const T*>(v.data<T>()); },
        [&](Contraction<T>& c) -> absl::Status {
          RT_ASSIGN_OR_RETURN(Tensor * y, ctx.Output(0, t, c.OutDims()));
          return y->size() > 0 ? c.Run(y->mutable_data<T>()) : absl::OkStatus();
        });
  };
  switch (t) {
    case DType::kF64:
      return typed(TypeTag<double>{});
    case DType::kI32:
    case DType::kU32:
      return typed(TypeTag<uint32_t>{});
    case DType::kI64:
    case DType::kU64:
      return typed(TypeTag<uint64_t>{});
    default:
      return Unserved(ctx, "element type %s", std::string(DTypeName(t)));
  }
}

}  // namespace

void RegisterEinsum(KernelRegistry& r) { r.Add("Einsum", Einsum); }

}  // namespace retuple::internal
