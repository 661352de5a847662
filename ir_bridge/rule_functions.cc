#include "ir_bridge/rule_functions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "ir_bridge/tensor_object.h"

namespace retuple {
namespace {

using Args = std::span<const Term>;

class IrFunctions {
 public:
  IrFunctions(FunctionRegistry& f, TermCodec& codec, TermTypes& types, const RuleEnvironment& env)
      : f_(f), ctx_(codec.ctx()), codec_(codec), types_(types), env_(env) {}

  void AddAll() {
    AddConstantGuards();
    AddTypeGuards();
    AddValues();
    AddShapes();
    AddKeywords();
    AddChannels();
  }

 private:
  // ---- access

  absl::StatusOr<const Tensor*> Constant(Term t) const {
    const Tensor* c = TensorOf(ctx_, t);
    if (c == nullptr) return absl::InvalidArgumentError(absl::StrFormat("%s is not a constant", Brief(ctx_, t, 60)));
    return c;
  }
  absl::StatusOr<int64_t> Int(Term t) const {
    if (ctx_.kind(t) != Kind::kInteger) return absl::InvalidArgumentError(absl::StrFormat("%s is not an integer", Brief(ctx_, t, 60)));
    return ctx_.IntegerValue(t);
  }
  // Integers of a list or of a constant integer tensor.
  absl::StatusOr<std::vector<int64_t>> Ints(Term t) const {
    if (const Tensor* c = TensorOf(ctx_, t)) {
      if (!IsInteger(c->dtype())) return absl::InvalidArgumentError("not a tensor of integers");
      return c->ToInts();
    }
    if (!ctx_.IsTuple(t)) return absl::InvalidArgumentError(absl::StrFormat("%s is no list of integers", Brief(ctx_, t, 60)));
    std::vector<int64_t> out;
    for (Term c : ctx_.Children(t)) {
      auto i = Int(c);
      if (!i.ok()) return i.status();
      out.push_back(*i);
    }
    return out;
  }
  Term List(const std::vector<int64_t>& v) {
    std::vector<Term> out;
    for (int64_t i : v) out.push_back(ctx_.Integer(i));
    return ctx_.Tuple(out);
  }
  absl::StatusOr<Shape> ShapeOf(Term t) {
    const Type& type = types_.TypeOf(t);
    if (!type.is_tensor() || !type.has_shape()) return absl::FailedPreconditionError(absl::StrFormat("the rank of %s is unknown", Brief(ctx_, t, 60)));
    return type.shape();
  }
  absl::StatusOr<int> Rank(Term t) {
    auto s = ShapeOf(t);
    if (!s.ok()) return s.status();
    return static_cast<int>(s->size());
  }
  absl::StatusOr<int> Axis(Term axis, int rank) const {
    auto a = Int(axis);
    if (!a.ok()) return a.status();
    const int64_t n = *a < 0 ? *a + rank : *a;
    if (n < 0 || n >= rank) return absl::InvalidArgumentError(absl::StrFormat("axis %d of rank %d", *a, rank));
    return static_cast<int>(n);
  }
  void Guard(const char* name, int min, int max, std::function<absl::StatusOr<bool>(Args)> g) {
    f_.AddGuard(name, min, max, [g = std::move(g)](RuleContext&, Args a) { return g(a); });
  }
  void Function(const char* name, int min, int max, std::function<absl::StatusOr<Term>(Args)> g) {
    f_.Add(name, min, max, [g = std::move(g)](RuleContext&, Args a) { return g(a); });
  }

  void AddConstantGuards();
  void AddTypeGuards();
  void AddValues();
  void AddShapes();
  void AddKeywords();
  void AddChannels();
  bool Foldable(Term t);
  absl::StatusOr<std::vector<int64_t>> ReshapeTarget(Term x, const Shape& target);
  absl::StatusOr<Term> ChannelVector(Term c, Term like, int64_t channels, int64_t axis);

  FunctionRegistry& f_;
  Context& ctx_;
  TermCodec& codec_;
  TermTypes& types_;
  const RuleEnvironment& env_;
};

// A pure application whose operands are all constants and whose result is not much larger than they are.
bool IrFunctions::Foldable(Term t) {
  const bool nth = codec_.IsNth(t);
  const Term app = nth ? codec_.NthApp(t) : t;
  if (!codec_.IsApp(app)) return false;
  int64_t in = 0;
  for (Term c : ctx_.Rands(app)) {
    if (c == codec_.none) continue;
    const Tensor* tensor = TensorOf(ctx_, c);
    if (tensor == nullptr) return false;
    in += tensor->size();
  }
  auto op = codec_.OpOf(ctx_.Rator(app));
  if (!op.ok() || (*op)->schema == nullptr || (*op)->effect != Effect::kPure) return false;
  if (!nth && (*op)->multi_output()) return false;
  for (const auto& [name, value] : (*op)->attrs) {
    if (KindOf(value) == AttrKind::kGraph || KindOf(value) == AttrKind::kGraphs) return false;
  }
  const Type& type = types_.TypeOf(t);
  if (!type.is_tensor() || !type.is_static()) return type.is_tensor() && in <= 1024;
  int64_t out = 1;
  for (const Dim& d : type.shape()) {
    if (__builtin_mul_overflow(out, d.value(), &out)) return false;
  }
  return out <= std::max<int64_t>(in, 1024) || out <= env_.fold_limit / 64;
}

void IrFunctions::AddConstantGuards() {
  Guard("constant", 0, kAnyArgs, [this](Args a) -> absl::StatusOr<bool> {
    return std::all_of(a.begin(), a.end(), [this](Term t) { return TensorOf(ctx_, t) != nullptr; });
  });
  Guard("foldable", 1, 1, [this](Args a) -> absl::StatusOr<bool> { return Foldable(a[0]); });
  // A constant of one element.
  Guard("one-element", 1, kAnyArgs, [this](Args a) -> absl::StatusOr<bool> {
    return std::all_of(a.begin(), a.end(), [this](Term t) {
      const Tensor* c = TensorOf(ctx_, t);
      return c != nullptr && c->size() == 1;
    });
  });
  Guard("unit-steps", 0, kAnyArgs, [this](Args a) -> absl::StatusOr<bool> {
    return std::all_of(a.begin(), a.end(), [this](Term t) {
      const Tensor* c = TensorOf(ctx_, t);
      return c != nullptr && c->UniformValue() == 1.0;
    });
  });
  Guard("opset>=", 1, 1, [this](Args a) -> absl::StatusOr<bool> {
    auto v = Int(a[0]);
    if (!v.ok()) return v.status();
    return env_.opset >= *v;
  });
  Guard("absent", 1, 1, [this](Args a) -> absl::StatusOr<bool> { return a[0] == codec_.none; });
  // Every element of a constant lies in a range or compares with a number.
  auto all = [this](const char* name, bool (*test)(double, double)) {
    Guard(name, 2, 2, [this, test](Args a) -> absl::StatusOr<bool> {
      auto c = Constant(a[0]);
      if (!c.ok()) return c.status();
      double bound;
      if (ctx_.kind(a[1]) == Kind::kInteger) {
        bound = static_cast<double>(ctx_.IntegerValue(a[1]));
      } else if (ctx_.kind(a[1]) == Kind::kReal) {
        bound = ctx_.RealValue(a[1]);
      } else {
        auto d = Constant(a[1]);
        if (!d.ok()) return d.status();
        if ((*d)->size() != 1 || (*d)->dtype() == DType::kString) return absl::InvalidArgumentError("not a number");
        bound = (*d)->At(0);
      }
      if ((*c)->dtype() == DType::kString) return absl::InvalidArgumentError("not numbers");
      for (int64_t i = 0; i < (*c)->size(); ++i) {
        if (!test((*c)->At(i), bound)) return false;
      }
      return true;
    });
  };
  all("all>=", [](double x, double b) { return x >= b; });
  all("all<=", [](double x, double b) { return x <= b; });
  all("all>", [](double x, double b) { return x > b; });
  // Equal up to the rounding of the constant's own type (a literal such as 0.7978845608).
  all("all~", [](double x, double b) { return std::abs(x - b) <= 1e-6 * std::max(1.0, std::abs(b)); });
}

void IrFunctions::AddTypeGuards() {
  auto dtype = [this](const char* name, bool (*test)(DType)) {
    Guard(name, 1, kAnyArgs, [this, test](Args a) -> absl::StatusOr<bool> {
      return std::all_of(a.begin(), a.end(), [&](Term t) { return types_.TypeOf(t).is_tensor() && test(types_.TypeOf(t).dtype()); });
    });
  };
  dtype("float", IsFloat);
  dtype("integer", IsInteger);
  dtype("f32", [](DType t) { return t == DType::kF32; });
  dtype("wide-float", [](DType t) { return t == DType::kF32 || t == DType::kF64; });
  dtype("bool", [](DType t) { return t == DType::kBool; });
  Guard("same-type", 2, 2, [this](Args a) -> absl::StatusOr<bool> { return types_.Compare(a[0], a[1]) == TypeVerdict::kSame; });
  Guard("same-dtype", 2, 2, [this](Args a) -> absl::StatusOr<bool> {
    const DType x = types_.TypeOf(a[0]).dtype();
    return x != DType::kUndefined && x == types_.TypeOf(a[1]).dtype();
  });
  Guard("same-shape", 2, 2, [this](Args a) -> absl::StatusOr<bool> {
    auto x = ShapeOf(a[0]);
    auto y = ShapeOf(a[1]);
    return x.ok() && y.ok() && *x == *y;
  });
  Guard("rank", 2, 2, [this](Args a) -> absl::StatusOr<bool> {
    auto r = Rank(a[0]);
    auto n = Int(a[1]);
    if (!n.ok()) return n.status();
    return r.ok() && *r == *n;
  });
  Guard("rank<=", 2, 2, [this](Args a) -> absl::StatusOr<bool> {
    auto r = Rank(a[0]);
    auto n = ctx_.kind(a[1]) == Kind::kInteger ? Int(a[1]) : absl::StatusOr<int64_t>(int64_t{-1});
    if (*n < 0) {
      auto other = Rank(a[1]);
      if (!other.ok()) return other.status();
      n = *other;
    }
    return r.ok() && *r <= *n;
  });
  Guard("known-rank", 1, kAnyArgs, [this](Args a) -> absl::StatusOr<bool> {
    return std::all_of(a.begin(), a.end(), [&](Term t) { return types_.TypeOf(t).has_shape(); });
  });
  // c broadcasts into the shape of x without making it larger.
  Guard("broadcasts-into", 2, 2, [this](Args a) -> absl::StatusOr<bool> {
    auto c = ShapeOf(a[0]);
    if (!c.ok()) return false;
    if (c->empty()) return true;
    auto x = ShapeOf(a[1]);
    if (!x.ok() || c->size() > x->size()) return false;
    const size_t shift = x->size() - c->size();
    for (size_t i = 0; i < c->size(); ++i) {
      if (!(*c)[i].Is(1) && (*c)[i] != (*x)[i + shift]) return false;
    }
    return true;
  });
  Guard("static-shape", 1, 1, [this](Args a) -> absl::StatusOr<bool> { return types_.TypeOf(a[0]).is_static(); });
  // Every element of an integer value that is computed at run time is known all the same.
  Guard("known-elements", 1, 1, [this](Args a) -> absl::StatusOr<bool> {
    if (TensorOf(ctx_, a[0]) != nullptr || !codec_.IsApp(a[0])) return false;
    const ValueInfo& info = types_.Info(a[0]);
    return info.elements.has_value() && info.type.has_shape() && IsInteger(info.type.dtype()) &&
           std::all_of(info.elements->begin(), info.elements->end(), [](const Dim& d) { return d.known(); });
  });
  Guard("dim", 3, 3, [this](Args a) -> absl::StatusOr<bool> {
    auto s = ShapeOf(a[0]);
    auto n = Int(a[2]);
    if (!s.ok()) return false;
    if (!n.ok()) return n.status();
    auto i = Axis(a[1], static_cast<int>(s->size()));
    return i.ok() && (*s)[static_cast<size_t>(*i)].Is(*n);
  });
}

void IrFunctions::AddValues() {
  // (ints 1 2 3), (ints ?list): a vector of i64.
  Function("ints", 0, kAnyArgs, [this](Args a) -> absl::StatusOr<Term> {
    std::vector<int64_t> v;
    if (a.size() == 1 && ctx_.kind(a[0]) != Kind::kInteger) {
      auto list = Ints(a[0]);
      if (!list.ok()) return list.status();
      v = *list;
    } else {
      for (Term t : a) {
        auto i = Int(t);
        if (!i.ok()) return i.status();
        v.push_back(*i);
      }
    }
    return TensorTerm(ctx_, Tensor::VectorI64(v));
  });
  Function("int-scalar", 1, 1, [this](Args a) -> absl::StatusOr<Term> {
    auto i = Int(a[0]);
    if (!i.ok()) return i.status();
    return TensorTerm(ctx_, Tensor::ScalarI64(*i));
  });
  // The integers of a constant, as a list.
  Function("list-of", 1, 1, [this](Args a) -> absl::StatusOr<Term> {
    auto v = Ints(a[0]);
    if (!v.ok()) return v.status();
    return List(*v);
  });
  // The only element of a constant as a number.
  Function("number-of", 1, 1, [this](Args a) -> absl::StatusOr<Term> {
    auto c = Constant(a[0]);
    if (!c.ok()) return c.status();
    if ((*c)->dtype() == DType::kString || !(*c)->UniformValue().has_value()) return absl::InvalidArgumentError("not one number");
    if (IsInteger((*c)->dtype()) || (*c)->dtype() == DType::kBool) return ctx_.Integer((*c)->IntAt(0));
    return ctx_.Real((*c)->At(0));
  });
  // (scalar-like x v): the number v as a scalar of x's element type.
  Function("scalar-like", 2, 2, [this](Args a) -> absl::StatusOr<Term> {
    const Type& type = types_.TypeOf(a[0]);
    if (!type.is_tensor() || type.dtype() == DType::kUndefined || type.dtype() == DType::kString || IsComplex(type.dtype())) {
      return absl::FailedPreconditionError("the element type is unknown or no number");
    }
    const bool integer = ctx_.kind(a[1]) == Kind::kInteger;
    if (!integer && ctx_.kind(a[1]) != Kind::kReal) return absl::InvalidArgumentError("expected a number");
    return TensorTerm(ctx_, Tensor::ScalarLike(type.dtype(), integer ? static_cast<double>(ctx_.IntegerValue(a[1])) : ctx_.RealValue(a[1])));
  });
  Function("dtype-of", 1, 1, [this](Args a) -> absl::StatusOr<Term> {
    const DType t = types_.TypeOf(a[0]).dtype();
    if (t == DType::kUndefined) return absl::FailedPreconditionError("the element type is unknown");
    return ctx_.Integer(static_cast<int64_t>(t));
  });
  // A known integer value as a constant of its own type and rank.
  Function("elements-of", 1, 1, [this](Args a) -> absl::StatusOr<Term> {
    const ValueInfo info = types_.Info(a[0]);
    if (!info.elements.has_value() || !info.type.has_shape() || info.type.rank() > 1) return absl::FailedPreconditionError("elements unknown");
    Dims dims;
    if (info.type.rank() == 1) dims.push_back(static_cast<int64_t>(info.elements->size()));
    Tensor t(info.type.dtype(), dims);
    for (size_t i = 0; i < info.elements->size(); ++i) {
      if (!(*info.elements)[i].known()) return absl::FailedPreconditionError("elements unknown");
      const int64_t v = (*info.elements)[i].value();
      switch (info.type.dtype()) {
        case DType::kI64:
          t.mutable_data<int64_t>()[i] = v;
          break;
        case DType::kI32:
          t.mutable_data<int32_t>()[i] = static_cast<int32_t>(v);
          break;
        default:
          return absl::FailedPreconditionError("only i64 and i32 values are carried");
      }
    }
    return TensorTerm(ctx_, std::move(t));
  });
}

// Sizes for Reshape that give `target` from x: numbers, 0 where a dimension of x is copied, −1 once.
absl::StatusOr<std::vector<int64_t>> IrFunctions::ReshapeTarget(Term x, const Shape& target) {
  const Type& from = types_.TypeOf(x);
  std::vector<int64_t> out;
  int inferred = -1;
  bool empty = false;
  for (size_t i = 0; i < target.size(); ++i) {
    const Dim& d = target[i];
    if (d.known()) {
      out.push_back(d.value());
      empty = empty || d.value() == 0;
    } else if (from.has_shape() && i < from.shape().size() && from.shape()[i] == d) {
      out.push_back(0);
    } else if (inferred < 0) {
      inferred = static_cast<int>(i);
      out.push_back(-1);
    } else {
      return absl::FailedPreconditionError("more than one dimension is unknown");
    }
  }
  if (empty) return absl::FailedPreconditionError("a dimension is 0");
  return out;
}

void IrFunctions::AddShapes() {
  Function("rank-of", 1, 1, [this](Args a) -> absl::StatusOr<Term> {
    auto r = Rank(a[0]);
    if (!r.ok()) return r.status();
    return ctx_.Integer(*r);
  });
  Function("dim-of", 2, 2, [this](Args a) -> absl::StatusOr<Term> {
    auto s = ShapeOf(a[0]);
    if (!s.ok()) return s.status();
    auto i = Axis(a[1], static_cast<int>(s->size()));
    if (!i.ok()) return i.status();
    const Dim d = (*s)[static_cast<size_t>(*i)];
    if (!d.known()) return absl::FailedPreconditionError("the dimension is unknown");
    return ctx_.Integer(d.value());
  });
  // The dims of x as a list, all known.
  Function("dims-of", 1, 1, [this](Args a) -> absl::StatusOr<Term> {
    auto s = ShapeOf(a[0]);
    if (!s.ok()) return s.status();
    std::vector<int64_t> v;
    for (const Dim& d : *s) {
      if (!d.known()) return absl::FailedPreconditionError("a dimension is unknown");
      v.push_back(d.value());
    }
    return List(v);
  });
  Function("axis-of", 2, 2, [this](Args a) -> absl::StatusOr<Term> {
    auto r = Rank(a[1]);
    if (!r.ok()) return r.status();
    auto i = Axis(a[0], *r);
    if (!i.ok()) return i.status();
    return ctx_.Integer(*i);
  });
  // (axes-of list x): the axes made non-negative for x's rank and sorted; (axes-in list n) for rank n.
  auto axes = [this](Args a, int rank) -> absl::StatusOr<Term> {
    auto v = Ints(a[0]);
    if (!v.ok()) return v.status();
    for (int64_t& i : *v) {
      if (i < 0) i += rank;
      if (i < 0 || i >= rank) return absl::InvalidArgumentError("axis out of range");
    }
    std::sort(v->begin(), v->end());
    if (std::adjacent_find(v->begin(), v->end()) != v->end()) return absl::InvalidArgumentError("an axis twice");
    return List(*v);
  };
  Function("axes-of", 2, 2, [this, axes](Args a) -> absl::StatusOr<Term> {
    auto r = Rank(a[1]);
    if (!r.ok()) return r.status();
    return axes(a, *r);
  });
  Function("axes-in", 2, 2, [this, axes](Args a) -> absl::StatusOr<Term> {
    auto r = Int(a[1]);
    if (!r.ok()) return r.status();
    return axes(a, static_cast<int>(*r));
  });
  Function("reversed-axes", 1, 1, [this](Args a) -> absl::StatusOr<Term> {
    auto r = Rank(a[0]);
    if (!r.ok()) return r.status();
    std::vector<int64_t> v(static_cast<size_t>(*r));
    for (size_t i = 0; i < v.size(); ++i) v[i] = *r - 1 - static_cast<int64_t>(i);
    return List(v);
  });
  // Axes of Unsqueeze(Unsqueeze(x, inner), outer) as one list, for the final rank.
  Function("merge-unsqueeze", 3, 3, [this](Args a) -> absl::StatusOr<Term> {
    auto inner = Ints(a[0]), outer = Ints(a[1]);
    auto rank = Int(a[2]);
    if (!inner.ok()) return inner.status();
    if (!outer.ok()) return outer.status();
    if (!rank.ok()) return rank.status();
    std::vector<int64_t> free;
    for (int64_t i = 0; i < *rank; ++i) {
      if (std::find(outer->begin(), outer->end(), i) == outer->end()) free.push_back(i);
    }
    std::vector<int64_t> out = *outer;
    for (int64_t i : *inner) {
      if (i < 0 || static_cast<size_t>(i) >= free.size()) return absl::InvalidArgumentError("axis out of range");
      out.push_back(free[static_cast<size_t>(i)]);
    }
    std::sort(out.begin(), out.end());
    return List(out);
  });
  // Axes of Squeeze(Squeeze(x, inner), outer) as one list, for the rank of x.
  Function("merge-squeeze", 3, 3, [this](Args a) -> absl::StatusOr<Term> {
    auto inner = Ints(a[0]), outer = Ints(a[1]);
    auto rank = Int(a[2]);
    if (!inner.ok()) return inner.status();
    if (!outer.ok()) return outer.status();
    if (!rank.ok()) return rank.status();
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < *rank; ++i) {
      if (std::find(inner->begin(), inner->end(), i) == inner->end()) kept.push_back(i);
    }
    std::vector<int64_t> out = *inner;
    for (int64_t i : *outer) {
      if (i < 0 || static_cast<size_t>(i) >= kept.size()) return absl::InvalidArgumentError("axis out of range");
      out.push_back(kept[static_cast<size_t>(i)]);
    }
    std::sort(out.begin(), out.end());
    return List(out);
  });
  // (reshape-sizes x y): sizes by which Reshape makes x the shape of y, as an i64 vector.
  Function("reshape-sizes", 2, 2, [this](Args a) -> absl::StatusOr<Term> {
    auto target = ShapeOf(a[1]);
    if (!target.ok()) return target.status();
    auto v = ReshapeTarget(a[0], *target);
    if (!v.ok()) return v.status();
    return TensorTerm(ctx_, Tensor::VectorI64(*v));
  });
  // A transpose that keeps the order of all dimensions other than 1.
  Guard("keeps-order", 2, 2, [this](Args a) -> absl::StatusOr<bool> {
    auto s = ShapeOf(a[0]);
    auto p = Ints(a[1]);
    if (!s.ok()) return s.status();
    if (!p.ok()) return p.status();
    int64_t last = -1;
    for (int64_t i : *p) {
      if (i < 0 || static_cast<size_t>(i) >= s->size()) return false;
      if ((*s)[static_cast<size_t>(i)].Is(1)) continue;
      if (i < last) return false;
      last = i;
    }
    return true;
  });
}

void IrFunctions::AddKeywords() {
  // Lists of keywords, as `..?a` binds them: (kw-get ?a pads default), (kw-set ?a pads value).
  Function("kw-get", 3, 3, [this](Args a) -> absl::StatusOr<Term> {
    if (!ctx_.IsSymbol(a[1])) return absl::InvalidArgumentError("kw-get takes a name");
    return ctx_.KeywordValue(a[0], ctx_.Keyword(ctx_.Text(a[1]))).value_or(a[2]);
  });
  Function("kw-set", 3, 3, [this](Args a) -> absl::StatusOr<Term> {
    if (!ctx_.IsSymbol(a[1])) return absl::InvalidArgumentError("kw-set takes a name");
    const Term key = ctx_.Keyword(ctx_.Text(a[1]));
    std::vector<Term> out;
    auto c = ctx_.Children(a[0]);
    for (size_t i = 0; i + 1 < c.size(); i += 2) {
      if (c[i] != key) {
        out.push_back(c[i]);
        out.push_back(c[i + 1]);
      }
    }
    out.push_back(key);
    out.push_back(a[2]);
    return ctx_.Tuple(out);
  });
  Function("repeat", 2, 2, [this](Args a) -> absl::StatusOr<Term> {
    auto n = Int(a[1]);
    if (!n.ok()) return n.status();
    if (*n < 0 || *n > 64) return absl::InvalidArgumentError("too many");
    return ctx_.Tuple(std::vector<Term>(static_cast<size_t>(*n), a[0]));
  });
  // Pads of ONNX's Pad on all axes, [begin…, end…], as pads of a Conv or pool (spatial axes only); declines when batch or channel
  // are padded or a pad is negative.
  Function("spatial-pads", 1, 1, [this](Args a) -> absl::StatusOr<Term> {
    auto p = Ints(a[0]);
    if (!p.ok()) return p.status();
    const size_t r = p->size() / 2;
    if (p->size() % 2 != 0 || r < 3) return absl::InvalidArgumentError("not pads of an image");
    std::vector<int64_t> out;
    for (size_t i = 0; i < p->size(); ++i) {
      if ((*p)[i] < 0) return absl::InvalidArgumentError("a negative pad");
      if (i % r < 2) {
        if ((*p)[i] != 0) return absl::InvalidArgumentError("batch or channels are padded");
      } else {
        out.push_back((*p)[i]);
      }
    }
    return List(out);
  });
}

// `c` as a vector of `channels` elements if, broadcast against `like`, it varies along `axis` alone.
absl::StatusOr<Term> IrFunctions::ChannelVector(Term c, Term like, int64_t channels, int64_t axis) {
  auto t = Constant(c);
  if (!t.ok()) return t.status();
  auto rank = Rank(like);
  if (!rank.ok()) return rank.status();
  if ((*t)->rank() > *rank || (*t)->dtype() == DType::kString || channels < 1 || channels > (int64_t{1} << 24)) {
    return absl::FailedPreconditionError("it is no constant along the channels");
  }
  const int shift = *rank - (*t)->rank();
  int64_t along = 1;
  for (int i = 0; i < (*t)->rank(); ++i) {
    if ((*t)->dim(i) == 1) continue;
    if (i + shift != axis || (*t)->dim(i) != channels) return absl::FailedPreconditionError("it varies along another axis than the channels");
    along = channels;
  }
  Tensor out((*t)->dtype(), {channels});
  const size_t size = DTypeSize((*t)->dtype());
  for (int64_t i = 0; i < channels; ++i) {
    std::memcpy(out.mutable_data<char>() + static_cast<size_t>(i) * size,
                (*t)->data<char>() + (along == 1 ? 0 : static_cast<size_t>(i) * size), size);
  }
  return TensorTerm(ctx_, std::move(out));
}

void IrFunctions::AddChannels() {
  // (channel-vector c y): c, broadcast against y, as a vector along y's axis 1; declines when it varies along another.
  Function("channel-vector", 2, 2, [this](Args a) -> absl::StatusOr<Term> {
    auto s = ShapeOf(a[1]);
    if (!s.ok()) return s.status();
    if (s->size() < 2 || !(*s)[1].known()) return absl::FailedPreconditionError("the number of channels is unknown");
    return ChannelVector(a[0], a[1], (*s)[1].value(), 1);
  });
  // (last-vector c y): likewise along the last axis.
  Function("last-vector", 2, 2, [this](Args a) -> absl::StatusOr<Term> {
    auto s = ShapeOf(a[1]);
    if (!s.ok()) return s.status();
    if (s->empty() || !s->back().known()) return absl::FailedPreconditionError("the last dimension is unknown");
    return ChannelVector(a[0], a[1], s->back().value(), static_cast<int64_t>(s->size()) - 1);
  });
  // (along v w axis): the vector v reshaped to broadcast along `axis` of w: [1, …, n, …, 1] of w's rank.
  Function("along", 3, 3, [this](Args a) -> absl::StatusOr<Term> {
    auto v = Constant(a[0]);
    if (!v.ok()) return v.status();
    auto rank = Rank(a[1]);
    if (!rank.ok()) return rank.status();
    auto axis = Axis(a[2], *rank);
    if (!axis.ok()) return axis.status();
    Dims dims(static_cast<size_t>(*rank), 1);
    dims[static_cast<size_t>(*axis)] = (*v)->size();
    return TensorTerm(ctx_, (*v)->Reshaped(dims));
  });
  // A vector of n zeros of x's element type.
  Function("zeros-like", 2, 2, [this](Args a) -> absl::StatusOr<Term> {
    auto n = Int(a[1]);
    if (!n.ok()) return n.status();
    const DType t = types_.TypeOf(a[0]).dtype();
    if (t == DType::kUndefined || t == DType::kString || *n < 0 || *n > (int64_t{1} << 24)) return absl::FailedPreconditionError("no zeros of this type");
    Tensor out(t, {*n});
    if (out.bytes() > 0) std::memset(out.mutable_data(), 0, out.bytes());
    return TensorTerm(ctx_, std::move(out));
  });
}

}  // namespace

void AddIrFunctions(FunctionRegistry& functions, TermCodec& codec, TermTypes& types, const RuleEnvironment& env) {
  // The closures keep the object alive.
  auto impl = std::make_shared<IrFunctions>(functions, codec, types, env);
  impl->AddAll();
  functions.Keep(impl);
}

}  // namespace retuple
