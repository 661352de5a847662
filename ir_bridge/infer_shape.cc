// Inference of the operators that give a tensor another shape, and of those that make constants.
#include <algorithm>
#include <cmath>
#include <string>

#include "ir_bridge/graph.h"
#include "ir_bridge/infer.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/infer_util.h"

namespace retuple::internal {
namespace {

// Forwards the carried elements of input 0 to an output of rank 0 or 1.
void ForwardElements(InferContext& c) {
  const Type& out = c.outputs()[0].type;
  if (!out.has_shape() || out.rank() > 1) return;
  if (auto e = c.elements(0)) c.set_elements(0, *std::move(e));
}

// The -1 of a Reshape: the product of the input's dims over that of the other target dims.
absl::StatusOr<Dim> SolveDim(const Shape& in, const Shape& target, size_t open) {
  std::vector<Dim> rest;
  bool numbers = true;
  Dim total = 1, others = 1;
  for (size_t i = 0; i < target.size(); ++i) {
    if (i == open) continue;
    rest.push_back(target[i]);
    others = others * target[i];
  }
  for (const Dim& d : in) total = total * d;
  numbers = total.known() && others.known();
  if (!numbers) return QuotientOf({in.begin(), in.end()}, std::move(rest));
  if (others.Is(0)) {
    if (total.Is(0)) return Dim::Fresh();  // any number would do
    return Contradiction("cannot reshape %s: a target dimension is 0", ShapeToString(in));
  }
  if (total.value() % others.value() != 0) {
    return Contradiction("cannot reshape %s (%d elements): the given dimensions multiply to %d",
                         ShapeToString(in), total.value(), others.value());
  }
  return Dim(total.value() / others.value());
}

absl::Status ReshapeTo(InferContext& c, const std::vector<Dim>& target, bool allow_zero) {
  const Shape* in = c.shape(0);
  Shape out;
  std::optional<size_t> open;
  for (size_t i = 0; i < target.size(); ++i) {
    const Dim t = target[i];
    if (t.Is(-1)) {
      if (open) return Contradiction("target shape %s has more than one -1", ShapeToString(target));
      open = i;
      out.push_back(Dim::Fresh());
    } else if (t.Is(0) && !allow_zero) {
      if (in != nullptr && i >= in->size()) {
        return Contradiction("target shape %s copies dimension %d of shape %s",
                             ShapeToString(target), i, ShapeToString(*in));
      }
      out.push_back(in ? (*in)[i] : Dim::Fresh());
    } else if (t.known() && t.value() < 0) {
      return Contradiction("target shape %s has a negative dimension", ShapeToString(target));
    } else {
      out.push_back(t);
    }
  }
  if (in != nullptr && open) {
    RETUPLE_ASSIGN_OR_RETURN(out[*open], SolveDim(*in, out, *open));
  } else if (in != nullptr) {
    const Dim before = ProductOf(*in), after = ProductOf(out);
    if (before.known() && after.known() && before != after) {
      return Contradiction("cannot reshape %s to %s", ShapeToString(*in), ShapeToString(out));
    }
  }
  c.set_type(0, Type::Tensor(c.dtype(0), std::move(out)));
  ForwardElements(c);
  return absl::OkStatus();
}

absl::Status Squeeze(InferContext& c, const std::optional<std::vector<int64_t>>& axes) {
  const Shape* in = c.shape(0);
  if (in == nullptr) {
    c.set_type(0, TensorType(c.dtype(0), std::nullopt));
    return absl::OkStatus();
  }
  std::vector<bool> drop(in->size());
  if (axes) {
    RETUPLE_ASSIGN_OR_RETURN(const std::vector<int> which,
                             NormalizeAxes(*axes, static_cast<int>(in->size())));
    for (int a : which) {
      const Dim d = (*in)[static_cast<size_t>(a)];
      if (d.known() && !d.Is(1)) {
        return Contradiction("axis %d of shape %s is not of size 1", a, ShapeToString(*in));
      }
      drop[static_cast<size_t>(a)] = true;
    }
  } else {
    for (size_t i = 0; i < in->size(); ++i) {
      if (!(*in)[i].known()) {  // it may or may not go: the rank is open
        c.set_type(0, TensorType(c.dtype(0), std::nullopt));
        return absl::OkStatus();
      }
      drop[i] = (*in)[i].Is(1);
    }
  }
  Shape out;
  for (size_t i = 0; i < in->size(); ++i) {
    if (!drop[i]) out.push_back((*in)[i]);
  }
  c.set_type(0, Type::Tensor(c.dtype(0), std::move(out)));
  ForwardElements(c);
  return absl::OkStatus();
}

absl::Status Unsqueeze(InferContext& c, const std::vector<int64_t>& axes) {
  const Shape* in = c.shape(0);
  if (in == nullptr) {
    c.set_type(0, TensorType(c.dtype(0), std::nullopt));
    return absl::OkStatus();
  }
  const size_t rank = in->size() + axes.size();
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<int> which,
                           NormalizeAxes(axes, static_cast<int>(rank)));
  std::vector<bool> added(rank);
  for (int a : which) added[static_cast<size_t>(a)] = true;
  Shape out;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) out.push_back(added[i] ? Dim(1) : (*in)[next++]);
  c.set_type(0, Type::Tensor(c.dtype(0), std::move(out)));
  ForwardElements(c);
  return absl::OkStatus();
}

// The length that a rank-1 input has, when it is known: the rank of the shape that it spells.
std::optional<int> StaticLength(const InferContext& c, int i) {
  const Shape* s = c.shape(i);
  if (s == nullptr || s->size() != 1 || !(*s)[0].known() || (*s)[0].value() > 4096)
    return std::nullopt;
  return static_cast<int>((*s)[0].value());
}

}  // namespace

absl::Status InferShape(InferContext& c) {
  const Shape* in = c.shape(0);
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  if (in == nullptr) {
    c.set_type(0, Type::Tensor(DType::kI64, {Dim::Fresh()}));
    return absl::OkStatus();
  }
  const int64_t rank = static_cast<int64_t>(in->size());
  auto clamp = [rank](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t* end_attr = FindAttr<int64_t>(c.attrs(), "end");
  const int64_t start = clamp(AttrOr<int64_t>(c.attrs(), "start", 0));
  const int64_t end = std::max(start, end_attr ? clamp(*end_attr) : rank);
  SetVector(c, 0, DType::kI64, {in->begin() + start, in->begin() + end});
  return absl::OkStatus();
}

absl::Status InferSize(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  c.set_type(0, Type::Tensor(DType::kI64, Shape{}));
  if (const Shape* in = c.shape(0)) c.set_elements(0, {ProductOf(*in)});
  return absl::OkStatus();
}

absl::Status InferReshapeV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  const Ints* shape = FindAttr<Ints>(c.attrs(), "shape");
  if (shape == nullptr) {
    c.set_type(0, TensorType(c.dtype(0), std::nullopt));
    return absl::OkStatus();
  }
  return ReshapeTo(c, {shape->begin(), shape->end()}, false);
}

absl::Status InferReshape(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kI64));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 1, 1));
  if (const auto target = c.elements(1)) {
    return ReshapeTo(c, *target, AttrOr<int64_t>(c.attrs(), "allowzero", 0) != 0);
  }
  const auto rank = StaticLength(c, 1);
  c.set_type(0, TensorType(c.dtype(0), rank ? std::optional(FreshShape(*rank)) : std::nullopt));
  return absl::OkStatus();
}

absl::Status InferFlatten(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  const Shape* in = c.shape(0);
  if (in == nullptr) {
    c.set_type(0, Type::Tensor(c.dtype(0), FreshShape(2)));
    return absl::OkStatus();
  }
  const int64_t rank = static_cast<int64_t>(in->size());
  int64_t axis = AttrOr<int64_t>(c.attrs(), "axis", 1);
  if (axis < -rank || axis > rank)
    return Contradiction("axis %d is out of range for rank %d", axis, rank);
  if (axis < 0) axis += rank;
  const auto split = static_cast<size_t>(axis);
  c.set_type(0, Type::Tensor(c.dtype(0), {ProductOf(*in, 0, split), ProductOf(*in, split)}));
  return absl::OkStatus();
}

absl::Status InferSqueezeV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  const Ints* axes = FindAttr<Ints>(c.attrs(), "axes");
  return Squeeze(c, axes ? std::optional(*axes) : std::nullopt);
}

absl::Status InferSqueeze(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kI64));
  if (c.input(1) == nullptr) return Squeeze(c, std::nullopt);
  if (const auto axes = c.ints(1)) return Squeeze(c, axes);
  const auto count = StaticLength(c, 1);
  const Shape* in = c.shape(0);
  std::optional<Shape> shape;
  if (in != nullptr && count) {
    if (*count > static_cast<int>(in->size())) {
      return Contradiction("%d axes for an input of rank %d", *count, in->size());
    }
    shape = FreshShape(static_cast<int>(in->size()) - *count);
  }
  c.set_type(0, TensorType(c.dtype(0), shape));
  return absl::OkStatus();
}

absl::Status InferUnsqueezeV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  return Unsqueeze(c, AttrOr<Ints>(c.attrs(), "axes", {}));
}

absl::Status InferUnsqueeze(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kI64));
  if (const auto axes = c.ints(1)) return Unsqueeze(c, *axes);
  const auto count = StaticLength(c, 1);
  const Shape* in = c.shape(0);
  std::optional<Shape> shape;
  if (in != nullptr && count) shape = FreshShape(static_cast<int>(in->size()) + *count);
  c.set_type(0, TensorType(c.dtype(0), shape));
  return absl::OkStatus();
}

absl::Status InferTranspose(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  const Shape* in = c.shape(0);
  const Ints* perm = FindAttr<Ints>(c.attrs(), "perm");
  if (in == nullptr) {
    const bool known = perm != nullptr && perm->size() < 4096;
    c.set_type(
        0, TensorType(c.dtype(0), known ? std::optional(FreshShape(static_cast<int>(perm->size())))
                                        : std::nullopt));
    return absl::OkStatus();
  }
  Shape out(in->rbegin(), in->rend());
  if (perm != nullptr) {
    if (perm->size() != in->size()) {
      return Contradiction("perm has %d entries, but the input has shape %s", perm->size(),
                           ShapeToString(*in));
    }
    RETUPLE_ASSIGN_OR_RETURN(const std::vector<int> axes,
                             NormalizeAxes(*perm, static_cast<int>(in->size())));
    for (size_t i = 0; i < axes.size(); ++i) out[i] = (*in)[static_cast<size_t>(axes[i])];
  }
  c.set_type(0, Type::Tensor(c.dtype(0), std::move(out)));
  ForwardElements(c);
  return absl::OkStatus();
}

absl::Status InferExpand(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kI64));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 1, 1));
  const Shape* in = c.shape(0);
  std::optional<Shape> out;
  if (const auto target = c.elements(1)) {
    for (const Dim& d : *target) {
      if (d.known() && d.value() < 0) {
        return Contradiction("target shape %s has a negative dimension", ShapeToString(*target));
      }
    }
    if (in != nullptr) {
      RETUPLE_ASSIGN_OR_RETURN(out, BroadcastShapes(*in, *target));
    }
  } else if (const auto length = StaticLength(c, 1); length && in != nullptr) {
    out = FreshShape(std::max(*length, static_cast<int>(in->size())));
    for (size_t i = 0; i < in->size(); ++i) {  // dims other than 1 stay
      const Dim d = (*in)[in->size() - 1 - i];
      if (d.known() && !d.Is(1)) (*out)[out->size() - 1 - i] = d;
    }
  }
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  if (const auto e = c.elements(0); e && e->size() == 1) {
    const Type& t = c.outputs()[0].type;
    if (t.is_static() && t.rank() <= 1 &&
        (t.rank() == 0 || t.shape()[0].value() <= kMaxCarriedElements)) {
      const auto n = static_cast<size_t>(t.rank() == 0 ? 1 : t.shape()[0].value());
      c.set_elements(0, std::vector<Dim>(n, (*e)[0]));
    }
  }
  return absl::OkStatus();
}

absl::Status InferTileV1(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  std::optional<Shape> out = ShapeOf(c, 0);
  const auto tiles = c.elements(1);
  const auto axis = c.ints(2);
  if (out && tiles && axis && tiles->size() == 1 && axis->size() == 1) {
    RETUPLE_ASSIGN_OR_RETURN(const int a, NormalizeAxis((*axis)[0], static_cast<int>(out->size())));
    (*out)[static_cast<size_t>(a)] = (*out)[static_cast<size_t>(a)] * (*tiles)[0];
  } else if (out) {
    out = FreshShape(static_cast<int>(out->size()));
  }
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferTile(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kI64));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 1, 1));
  std::optional<Shape> out = ShapeOf(c, 0);
  const auto repeats = c.elements(1);
  const auto length = StaticLength(c, 1);
  if (out && length && static_cast<size_t>(*length) != out->size()) {
    return Contradiction("%d repeats for shape %s", *length, ShapeToString(*out));
  }
  if (out && repeats) {
    for (size_t i = 0; i < out->size(); ++i) {
      if ((*repeats)[i].known() && (*repeats)[i].value() < 0) {
        return Contradiction("repeats %s has a negative entry", ShapeToString(*repeats));
      }
      (*out)[i] = (*out)[i] * (*repeats)[i];
    }
  } else if (out || length) {
    out = FreshShape(out ? static_cast<int>(out->size()) : *length);
  }
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferConstant(InferContext& c) {
  if (c.num_outputs() == 0) return absl::OkStatus();
  const AttrMap& a = c.attrs();
  int given = 0;
  for (const auto& [name, value] : a) given += name.starts_with("value") ? 1 : 0;
  if (given != 1) return Contradiction("%d value attributes, expected exactly one", given);
  if (const auto* t = FindAttr<Tensor>(a, "value")) c.outputs()[0] = InfoOf(*t);
  if (FindAttr<float>(a, "value_float")) c.set_type(0, Type::Tensor(DType::kF32, Shape{}));
  if (FindAttr<std::string>(a, "value_string"))
    c.set_type(0, Type::Tensor(DType::kString, Shape{}));
  if (const auto* v = FindAttr<int64_t>(a, "value_int")) {
    c.set_type(0, Type::Tensor(DType::kI64, Shape{}));
    c.set_elements(0, {*v});
  }
  auto length = [](const auto& v) { return Shape{Dim(static_cast<int64_t>(v.size()))}; };
  if (const auto* v = FindAttr<Floats>(a, "value_floats")) {
    c.set_type(0, Type::Tensor(DType::kF32, length(*v)));
  }
  if (const auto* v = FindAttr<Strings>(a, "value_strings")) {
    c.set_type(0, Type::Tensor(DType::kString, length(*v)));
  }
  if (const auto* v = FindAttr<Ints>(a, "value_ints")) {
    c.set_type(0, Type::Tensor(DType::kI64, length(*v)));
    if (static_cast<int64_t>(v->size()) <= kMaxCarriedElements)
      c.set_elements(0, {v->begin(), v->end()});
  }
  return absl::OkStatus();
}

absl::Status InferConstantOfShape(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 0, DType::kI64));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 0, 1));
  const auto* value = FindAttr<Tensor>(c.attrs(), "value");
  if (value != nullptr && value->size() != 1) {
    return Contradiction("value has %d elements, expected 1", value->size());
  }
  const DType dtype = value ? value->dtype() : DType::kF32;
  const auto dims = c.elements(0);
  if (!dims) {
    const auto rank = StaticLength(c, 0);
    c.set_type(0, TensorType(dtype, rank ? std::optional(FreshShape(*rank)) : std::nullopt));
    return absl::OkStatus();
  }
  for (const Dim& d : *dims) {
    if (d.known() && d.value() < 0) {
      return Contradiction("shape %s has a negative dimension", ShapeToString(*dims));
    }
  }
  c.set_type(0, Type::Tensor(dtype, *dims));
  if (value != nullptr && dims->size() <= 1 && FitsElement(dtype, 0)) {
    const Dim n = dims->empty() ? Dim(1) : (*dims)[0];
    if (n.known() && n.value() <= kMaxCarriedElements) {
      c.set_elements(0, std::vector<Dim>(static_cast<size_t>(n.value()), value->IntAt(0)));
    }
  }
  return absl::OkStatus();
}

absl::Status InferEyeLike(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 0, 2));
  DType dtype = c.dtype(0);
  if (const int64_t* t = FindAttr<int64_t>(c.attrs(), "dtype")) {
    RETUPLE_ASSIGN_OR_RETURN(dtype, DTypeFromAttr(*t, "dtype"));
  }
  SetLike(c, 0, dtype, 0);
  return absl::OkStatus();
}

absl::Status InferRange(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_ASSIGN_OR_RETURN(DType dtype, CommonDType(c, 0, 1));
  RETUPLE_RETURN_IF_ERROR(CommonDType(c, 0, 2).status());
  Dim length = Dim::Fresh();
  std::vector<Dim> elements;
  const auto start = c.elements(0), limit = c.elements(1), delta = c.elements(2);
  if (start && limit && delta && start->size() == 1 && limit->size() == 1 && delta->size() == 1 &&
      (*delta)[0].known()) {
    const Dim s = (*start)[0], l = (*limit)[0];
    const int64_t step = (*delta)[0].value();
    if (step == 0) return Contradiction("delta is 0");
    if (s.known() && l.known()) {
      const __int128 span = static_cast<__int128>(l.value()) - s.value();
      const __int128 count = step > 0 ? (span + step - 1) / step : (span + step + 1) / step;
      if (span == 0 || (step > 0) != (span > 0)) {
        length = 0;
      } else if (count <= INT64_MAX) {
        length = static_cast<int64_t>(count);
      }
      if (length.known() && length.value() <= kMaxCarriedElements && FitsElement(dtype, 0)) {
        for (int64_t i = 0; i < length.value(); ++i) elements.push_back(s + Dim(i) * Dim(step));
      }
    } else if (step > 0) {
      length = CeilDiv(l - s, step);
    }
  } else if (dtype == DType::kF32 || dtype == DType::kF64) {
    const Tensor *s = c.constant(0), *l = c.constant(1), *d = c.constant(2);
    if (s && l && d && s->size() == 1 && l->size() == 1 && d->size() == 1 && d->At(0) != 0) {
      const double n = std::ceil((l->At(0) - s->At(0)) / d->At(0));
      if (n < 9e15) length = n > 0 ? static_cast<int64_t>(n) : 0;
    }
  }
  c.set_type(0, Type::Tensor(dtype, {length}));
  if (length.known() && static_cast<int64_t>(elements.size()) == length.value()) {
    c.set_elements(0, std::move(elements));
  }
  return absl::OkStatus();
}

}  // namespace retuple::internal
