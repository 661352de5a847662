// Sequences and optionals. A sequence holds values by handle; inserting copies the list of handles, not the data.
#include "kernels/core/transpose.h"

namespace retuple::internal {
namespace {

absl::StatusOr<const std::vector<Value>*> SequenceInput(const KernelContext& ctx, int i) {
  if (i >= ctx.num_inputs() || !ctx.has(i)) return Bad(ctx, "input %d is missing", i);
  const Value& v = ctx.value(i);
  if (v.kind != Value::Kind::kSequence || v.sequence == nullptr) return Bad(ctx, "input %d is not a sequence", i);
  return v.sequence.get();
}

// Position input i in [-n, limit), counted from the front; `fallback` when it is absent.
absl::StatusOr<int64_t> Position(const KernelContext& ctx, int i, int64_t n, int64_t limit, int64_t fallback) {
  int64_t at = fallback;
  if (i < ctx.num_inputs() && ctx.has(i)) {
    RT_ASSIGN_OR_RETURN(at, IntInput(ctx, i));
    if (at < -n || at >= limit) return Bad(ctx, "position %d is out of range for a sequence of %d", at, n);
    if (at < 0) at += n;
  }
  if (at < 0 || at >= limit) return Bad(ctx, "position %d is out of range for a sequence of %d", at, n);
  return at;
}

absl::Status SequenceEmpty(KernelContext& ctx) {
  ctx.SetOutput(0, Value::Sequence({}));
  return absl::OkStatus();
}

absl::Status SequenceConstruct(KernelContext& ctx) {
  std::vector<Value> items;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, i));
    items.emplace_back(*t);
    if (t->dtype() != items[0].tensor.dtype()) return Bad(ctx, "the elements differ in element type");
  }
  ctx.SetOutput(0, Value::Sequence(std::move(items)));
  return absl::OkStatus();
}

absl::Status SequenceInsert(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const std::vector<Value>* s, SequenceInput(ctx, 0));
  RT_ASSIGN_OR_RETURN(const Tensor* t, Input(ctx, 1));
  const int64_t n = static_cast<int64_t>(s->size());
  RT_ASSIGN_OR_RETURN(const int64_t at, Position(ctx, 2, n, n + 1, n));
  if (n > 0 && (*s)[0].is_tensor() && (*s)[0].tensor.dtype() != t->dtype()) {
    return Bad(ctx, "the tensor and the sequence differ in element type");
  }
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(n) + 1);
  items = *s;
  items.insert(items.begin() + at, Value(*t));
  ctx.SetOutput(0, Value::Sequence(std::move(items)));
  return absl::OkStatus();
}

absl::Status SequenceErase(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const std::vector<Value>* s, SequenceInput(ctx, 0));
  const int64_t n = static_cast<int64_t>(s->size());
  RT_ASSIGN_OR_RETURN(const int64_t at, Position(ctx, 1, n, n, n - 1));
  std::vector<Value> items = *s;
  items.erase(items.begin() + at);
  ctx.SetOutput(0, Value::Sequence(std::move(items)));
  return absl::OkStatus();
}

absl::Status SequenceAt(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const std::vector<Value>* s, SequenceInput(ctx, 0));
  const int64_t n = static_cast<int64_t>(s->size());
  RT_ASSIGN_OR_RETURN(const int64_t at, Position(ctx, 1, n, n, -1));
  ctx.SetOutput(0, (*s)[at]);
  return absl::OkStatus();
}

absl::Status SequenceLength(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const std::vector<Value>* s, SequenceInput(ctx, 0));
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kI64, {}));
  *y->mutable_data<int64_t>() = static_cast<int64_t>(s->size());
  return absl::OkStatus();
}

// Joins along `axis`; with new_axis the elements are stacked on a new one.
absl::Status ConcatFromSequence(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const std::vector<Value>* s, SequenceInput(ctx, 0));
  if (s->empty()) return Bad(ctx, "the sequence is empty");
  for (const Value& v : *s) {
    if (!v.is_tensor()) return Bad(ctx, "an element is not a tensor");
  }
  const bool stack = IntAttr(ctx, "new_axis", 0) != 0;
  const Tensor& first = (*s)[0].tensor;
  const int rank = first.rank() + (stack ? 1 : 0);
  const int64_t* wanted = FindAttr<int64_t>(ctx.op().attrs, "axis");
  if (wanted == nullptr) return Bad(ctx, "axis is missing");
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, *wanted, rank));
  Dims dims = first.dims();
  if (stack) dims.insert(dims.begin() + axis, 1);
  int64_t total = 0;
  for (const Value& v : *s) {
    const Tensor& t = v.tensor;
    bool fits = t.dtype() == first.dtype() && t.rank() == first.rank();
    for (int d = 0; fits && d < t.rank(); ++d) fits = (!stack && d == axis) || t.dim(d) == first.dim(d);
    if (!fits || AddOverflows(total, stack ? 1 : t.dim(axis), &total)) {
      return Bad(ctx, "an element is %s, which does not join %s", t.type().ToString(), first.type().ToString());
    }
  }
  dims[axis] = total;
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, first.dtype(), dims));
  const size_t size = DTypeSize(first.dtype());
  const int64_t outer = Product(dims, 0, axis);
  const int64_t inner = Product(dims, axis + 1, rank);
  int64_t at = 0;
  for (const Value& v : *s) {
    const int64_t run = (stack ? 1 : v.tensor.dim(axis)) * inner;
    for (int64_t o = 0; o < outer; ++o) {
      CopyElements(first.dtype(), size, y->mutable_data(), o * total * inner + at, v.tensor.data(), o * run, run);
    }
    at += run;
  }
  return absl::OkStatus();
}

// Without `split` pieces of size 1 (the axis dropped unless keepdims); a scalar gives the size of every piece but the
// last, a vector the sizes.
absl::Status SplitToSequence(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(ctx, IntAttr(ctx, "axis", 0), x->rank()));
  const int64_t n = x->dim(axis);
  std::vector<int64_t> sizes;
  const bool given = ctx.num_inputs() > 1 && ctx.has(1);
  bool drop = false;
  if (given) {
    RT_ASSIGN_OR_RETURN(const std::vector<int64_t> split, RequiredInts(ctx, 1));
    if (ctx.input(1).rank() == 0) {
      if (split[0] < 1) return Bad(ctx, "split is %d", split[0]);
      for (int64_t left = n; left > 0; left -= sizes.back()) sizes.push_back(std::min(split[0], left));
    } else {
      int64_t total = 0;
      for (int64_t s : split) {
        if (s < 0 || AddOverflows(total, s, &total)) return Bad(ctx, "split size %d", s);
      }
      if (total != n) return Bad(ctx, "split sizes add up to %d, axis %d has %d", total, axis, n);
      sizes = split;
    }
  } else {
    sizes.assign(static_cast<size_t>(n), 1);
    drop = IntAttr(ctx, "keepdims", 1) == 0;
  }
  const size_t size = DTypeSize(x->dtype());
  const int64_t outer = Product(x->dims(), 0, axis);
  const int64_t inner = Product(x->dims(), axis + 1, x->rank());
  std::vector<Value> items;
  int64_t at = 0;
  for (int64_t s : sizes) {
    Dims dims = x->dims();
    dims[axis] = s;
    if (drop) dims.erase(dims.begin() + axis);
    Tensor t(x->dtype(), dims);
    const int64_t run = s * inner;
    for (int64_t o = 0; o < outer; ++o) {
      CopyElements(x->dtype(), size, t.mutable_data(), o * run, x->data(), o * n * inner + at, run);
    }
    at += run;
    items.emplace_back(std::move(t));
  }
  ctx.SetOutput(0, Value::Sequence(std::move(items)));
  return absl::OkStatus();
}

// ---- Optionals: a full one is its element.

absl::Status Optional(KernelContext& ctx) {
  ctx.SetOutput(0, ctx.num_inputs() > 0 && ctx.has(0) ? ctx.value(0) : Value::None());
  return absl::OkStatus();
}

absl::Status OptionalHasElement(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kBool, {}));
  const bool has = ctx.num_inputs() > 0 && ctx.has(0) && ctx.value(0).kind != Value::Kind::kNone;
  *y->mutable_data<uint8_t>() = has;
  return absl::OkStatus();
}

absl::Status OptionalGetElement(KernelContext& ctx) {
  if (ctx.num_inputs() < 1 || !ctx.has(0) || ctx.value(0).kind == Value::Kind::kNone) {
    return Bad(ctx, "the optional is empty");
  }
  ctx.SetOutput(0, ctx.value(0));
  return absl::OkStatus();
}

}  // namespace

void RegisterSequences(KernelRegistry& r) {
  constexpr KernelFlags kView{.view = true};
  r.Add("SequenceEmpty", SequenceEmpty);
  r.Add("SequenceConstruct", SequenceConstruct);
  r.Add("SequenceInsert", SequenceInsert);
  r.Add("SequenceErase", SequenceErase);
  r.Add("SequenceAt", SequenceAt);
  r.Add("SequenceLength", SequenceLength);
  r.Add("ConcatFromSequence", ConcatFromSequence);
  r.Add("SplitToSequence", SplitToSequence);
  r.Add("Optional", Optional, kView);
  r.Add("OptionalHasElement", OptionalHasElement);
  r.Add("OptionalGetElement", OptionalGetElement, kView);
}

}  // namespace retuple::internal
