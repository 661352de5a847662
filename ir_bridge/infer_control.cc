// Inference of control flow, sequences and optionals. Bodies are closed graphs: an Apply passes the
// captured values after its ordinary operands, and so does inference.
#include <algorithm>
#include <string>

#include "ir_bridge/graph.h"
#include "ir_bridge/infer.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/infer_util.h"

namespace retuple::internal {
namespace {

// A loop state is widened at most this often before its shape is given up.
constexpr int kMaxWidenings = 3;

int OrdinaryInputs(const InferContext& c) {
  return std::clamp(c.num_inputs() - c.op().num_captures, 0, c.num_inputs());
}

void AppendCaptures(const InferContext& c, std::vector<const ValueInfo*>& args) {
  for (int i = OrdinaryInputs(c); i < c.num_inputs(); ++i) args.push_back(c.input(i));
}

// The elements of a sequence share an element type, but symbols in it need not be one number for
// all of them.
Type Instance(const Type& t) {
  if (!t.has_shape()) return t;
  Shape s = t.shape();
  for (Dim& d : s) {
    if (!d.known() && !d.named()) d = Dim::Fresh();
  }
  return Type::Tensor(t.dtype(), std::move(s));
}

Type ElementOf(const Type& t) {
  return t.kind() == Type::Kind::kSequence || t.kind() == Type::Kind::kOptional
             ? Instance(t.element())
             : Type();
}

absl::Status ExpectSequence(const InferContext& c, int i) {
  const Type& t = c.type(i);
  if (t.is_unknown() || t.kind() == Type::Kind::kSequence) return absl::OkStatus();
  return Contradiction("input %d is %s, expected a sequence", i, t.ToString());
}

// A condition or position: one element.
absl::Status ExpectOne(const InferContext& c, int i) {
  const Shape* s = c.shape(i);
  if (s == nullptr) return absl::OkStatus();
  for (const Dim& d : *s) {
    if (d.known() && !d.Is(1)) {
      return Contradiction("input %d has shape %s, expected one element", i, ShapeToString(*s));
    }
  }
  return absl::OkStatus();
}

// True if `next` says no less than `state` did, up to symbols that were already given up.
bool Stable(const Type& state, const Type& next) {
  if (state == next) return true;
  if (state.kind() != next.kind() || state.dtype() != next.dtype() || state.rank() != next.rank()) {
    return false;
  }
  if (state.is_tensor()) {
    for (int i = 0; i < state.rank(); ++i) {
      const Dim a = state.shape()[static_cast<size_t>(i)], b = next.shape()[static_cast<size_t>(i)];
      if (a != b && (a.known() || a.named())) return false;
    }
    return true;
  }
  return !state.is_unknown() && Stable(state.element(), next.element());
}

Type WithoutShape(const Type& t) {
  switch (t.kind()) {
    case Type::Kind::kTensor:
      return t.dtype() == DType::kUndefined ? Type() : Type::Tensor(t.dtype());
    case Type::Kind::kSequence:
      return Type::Sequence(WithoutShape(t.element()));
    case Type::Kind::kOptional:
      return Type::Optional(WithoutShape(t.element()));
    case Type::Kind::kUnknown:
      return Type();
  }
  return Type();
}

// States that a body feeds back to itself. `run` infers one iteration from the states' types; the
// states are widened until an iteration keeps them. Returns the outputs of the last run; `states`
// are the types of the results.
template <typename Run>
absl::StatusOr<std::vector<ValueInfo>> Iterate(std::vector<Type>& states, size_t first_output,
                                               Run run) {
  for (int round = 0;; ++round) {
    RETUPLE_ASSIGN_OR_RETURN(std::vector<ValueInfo> outputs, run(states));
    bool stable = true;
    for (size_t i = 0; i < states.size() && first_output + i < outputs.size(); ++i) {
      const Type& after = outputs[first_output + i].type;
      if (after.is_unknown()) {
        stable = stable && states[i].is_unknown();
        states[i] = Type();
        continue;
      }
      Type joined = JoinTypes(states[i], after);
      if (joined.is_unknown() && states[i].is_unknown()) continue;
      if (Stable(states[i], joined)) continue;
      stable = false;
      states[i] = round >= kMaxWidenings ? WithoutShape(joined) : std::move(joined);
    }
    if (stable || round > 2 * kMaxWidenings) return outputs;
  }
}

Type Stacked(const Type& element, Dim length, size_t axis = 0) {
  if (!element.is_tensor()) return Type();
  if (!element.has_shape() || axis > element.shape().size())
    return TensorType(element.dtype(), std::nullopt);
  Shape s = Instance(element).shape();
  s.insert(s.begin() + static_cast<int64_t>(axis), length);
  return Type::Tensor(element.dtype(), std::move(s));
}

}  // namespace

absl::Status InferIf(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 0, DType::kBool));
  RETUPLE_RETURN_IF_ERROR(ExpectOne(c, 0));
  std::vector<const ValueInfo*> args;
  AppendCaptures(c, args);
  std::vector<std::vector<ValueInfo>> branches;
  for (const char* name : {"then_branch", "else_branch"}) {
    RETUPLE_ASSIGN_OR_RETURN(std::vector<ValueInfo> outputs, c.InferSubgraph(name, args));
    if (static_cast<int>(outputs.size()) != c.num_outputs()) {
      return Contradiction("%s has %d outputs, the node has %d", name, outputs.size(),
                           c.num_outputs());
    }
    branches.push_back(std::move(outputs));
  }
  const auto condition = c.ints(0);
  for (int i = 0; i < c.num_outputs(); ++i) {
    ValueInfo &a = branches[0][static_cast<size_t>(i)], &b = branches[1][static_cast<size_t>(i)];
    if (condition && condition->size() == 1) {
      c.outputs()[static_cast<size_t>(i)] = (*condition)[0] != 0 ? a : b;
      continue;
    }
    c.set_type(i, JoinTypes(a.type, b.type));
    if (a.elements && b.elements && *a.elements == *b.elements) c.set_elements(i, *a.elements);
  }
  return absl::OkStatus();
}

// Inputs M, cond, states, captures. Body: (iteration, cond, states, captures) → (cond, states, scan
// elements).
absl::Status InferLoop(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 0, DType::kI64));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kBool));
  for (int i : {0, 1}) {
    if (i < OrdinaryInputs(c)) RETUPLE_RETURN_IF_ERROR(ExpectOne(c, i));
  }
  const int n = std::max(OrdinaryInputs(c) - 2, 0);
  std::vector<Type> states;
  for (int i = 0; i < n; ++i) states.push_back(c.type(2 + i));
  ValueInfo iteration, condition;
  iteration.type = Type::Tensor(DType::kI64, Shape{});
  condition.type = Type::Tensor(DType::kBool, Shape{});
  auto run = [&](const std::vector<Type>& types) {
    std::vector<ValueInfo> infos(types.size());
    std::vector<const ValueInfo*> args = {&iteration, &condition};
    for (size_t i = 0; i < types.size(); ++i) {
      infos[i].type = types[i];
      args.push_back(&infos[i]);
    }
    AppendCaptures(c, args);
    return c.InferSubgraph("body", args);
  };
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<ValueInfo> outputs, Iterate(states, 1, run));
  if (static_cast<int>(outputs.size()) != c.num_outputs() + 1 || c.num_outputs() < n) {
    return Contradiction("the body has %d outputs, expected %d (a condition more than the node's)",
                         outputs.size(), c.num_outputs() + 1);
  }
  // The trip count is M if nothing stops the loop before.
  Dim trips = Dim::Fresh();
  const auto max_trips = OrdinaryInputs(c) > 0 ? c.elements(0) : std::nullopt;
  const auto start = OrdinaryInputs(c) > 1 ? c.ints(1) : std::nullopt;
  const bool starts = OrdinaryInputs(c) < 2 || c.input(1) == nullptr ||
                      (start && *start == std::vector<int64_t>{1});
  const bool goes_on =
      outputs[0].elements && outputs[0].elements->size() == 1 && (*outputs[0].elements)[0].Is(1);
  if (start && start->size() == 1 && (*start)[0] == 0) {
    trips = 0;
  } else if (max_trips && max_trips->size() == 1 && starts && goes_on) {
    trips = (*max_trips)[0].known() ? Dim(std::max<int64_t>((*max_trips)[0].value(), 0))
                                    : (*max_trips)[0];
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Type& t = outputs[static_cast<size_t>(i) + 1].type;
    c.set_type(i, i < n ? states[static_cast<size_t>(i)] : Stacked(t, trips));
  }
  return absl::OkStatus();
}

// Scan from opset 9 on: inputs are states, then sequences scanned along an axis each.
absl::Status InferScan(InferContext& c) {
  const int inputs = OrdinaryInputs(c);
  const int64_t scans = AttrOr<int64_t>(c.attrs(), "num_scan_inputs", 0);
  if (scans < 1 || scans > inputs)
    return Contradiction("num_scan_inputs is %d for %d inputs", scans, inputs);
  const int n = inputs - static_cast<int>(scans);
  const Ints in_axes = AttrOr<Ints>(c.attrs(), "scan_input_axes", {});
  const Ints out_axes = AttrOr<Ints>(c.attrs(), "scan_output_axes", {});
  std::vector<Type> states;
  for (int i = 0; i < n; ++i) states.push_back(c.type(i));
  std::vector<ValueInfo> slices(static_cast<size_t>(scans));
  Dim length = Dim::Fresh();
  for (int i = 0; i < static_cast<int>(scans); ++i) {
    const auto at = static_cast<size_t>(i);
    RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, n + i, 1));
    std::optional<Shape> s = ShapeOf(c, n + i);
    if (s) {
      RETUPLE_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(at < in_axes.size() ? in_axes[at] : 0,
                                                             static_cast<int>(s->size())));
      const Dim d = (*s)[static_cast<size_t>(axis)];
      RETUPLE_RETURN_IF_ERROR(ExpectSameDim(length, d, "lengths of the scan inputs"));
      length = Better(length, d);
      if (i == 0) length = d;
      s->erase(s->begin() + axis);
    }
    slices[at].type = TensorType(c.dtype(n + i), std::move(s));
  }
  auto run = [&](const std::vector<Type>& types) {
    std::vector<ValueInfo> infos(types.size());
    std::vector<const ValueInfo*> args;
    for (size_t i = 0; i < types.size(); ++i) {
      infos[i].type = types[i];
      args.push_back(&infos[i]);
    }
    for (const ValueInfo& s : slices) args.push_back(&s);
    AppendCaptures(c, args);
    return c.InferSubgraph("body", args);
  };
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<ValueInfo> outputs, Iterate(states, 0, run));
  if (static_cast<int>(outputs.size()) != c.num_outputs() || c.num_outputs() < n) {
    return Contradiction("the body has %d outputs, the node has %d", outputs.size(),
                         c.num_outputs());
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (i < n) {
      c.set_type(i, states[static_cast<size_t>(i)]);
      continue;
    }
    const Type& t = outputs[static_cast<size_t>(i)].type;
    const auto k = static_cast<size_t>(i - n);
    int axis = 0;
    if (t.has_shape() && k < out_axes.size()) {
      RETUPLE_ASSIGN_OR_RETURN(axis, NormalizeAxis(out_axes[k], t.rank() + 1, "scan_output_axes"));
    }
    c.set_type(i, Stacked(t, length, static_cast<size_t>(axis)));
  }
  return absl::OkStatus();
}

// Opset 8: (sequence_lens, states, scans), everything with a leading batch axis that the body does
// not see; the scanned axis is 1.
absl::Status InferScanV8(InferContext& c) {
  const int inputs = OrdinaryInputs(c) - 1;
  const int64_t scans = AttrOr<int64_t>(c.attrs(), "num_scan_inputs", 0);
  if (scans < 1 || scans > inputs)
    return Contradiction("num_scan_inputs is %d for %d inputs", scans, inputs);
  const int n = inputs - static_cast<int>(scans);
  Dim batch = Dim::Fresh(), length = Dim::Fresh();
  auto without = [&](int i, size_t axes) -> absl::StatusOr<Type> {
    RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, i, static_cast<int>(axes)));
    std::optional<Shape> s = ShapeOf(c, i);
    if (s) {
      RETUPLE_RETURN_IF_ERROR(ExpectSameDim(batch, (*s)[0], "batch"));
      batch = Better(batch, (*s)[0]);
      if (axes == 2) {
        RETUPLE_RETURN_IF_ERROR(ExpectSameDim(length, (*s)[1], "lengths of the scan inputs"));
        length = Better(length, (*s)[1]);
      }
      s->erase(s->begin(), s->begin() + static_cast<int64_t>(axes));
    }
    return TensorType(c.dtype(i), std::move(s));
  };
  std::vector<Type> states;
  for (int i = 0; i < n; ++i) {
    RETUPLE_ASSIGN_OR_RETURN(Type t, without(1 + i, 1));
    states.push_back(std::move(t));
  }
  std::vector<ValueInfo> slices(static_cast<size_t>(scans));
  for (int i = 0; i < static_cast<int>(scans); ++i) {
    RETUPLE_ASSIGN_OR_RETURN(slices[static_cast<size_t>(i)].type, without(1 + n + i, 2));
  }
  auto run = [&](const std::vector<Type>& types) {
    std::vector<ValueInfo> infos(types.size());
    std::vector<const ValueInfo*> args;
    for (size_t i = 0; i < types.size(); ++i) {
      infos[i].type = types[i];
      args.push_back(&infos[i]);
    }
    for (const ValueInfo& s : slices) args.push_back(&s);
    AppendCaptures(c, args);
    return c.InferSubgraph("body", args);
  };
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<ValueInfo> outputs, Iterate(states, 0, run));
  if (static_cast<int>(outputs.size()) != c.num_outputs() || c.num_outputs() < n) {
    return Contradiction("the body has %d outputs, the node has %d", outputs.size(),
                         c.num_outputs());
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Type t = i < n ? states[static_cast<size_t>(i)]
                         : Stacked(outputs[static_cast<size_t>(i)].type, length);
    c.set_type(i, Stacked(t, batch));
  }
  return absl::OkStatus();
}

absl::Status InferSequenceConstruct(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, c.num_inputs()));
  Type element = c.type(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    RETUPLE_RETURN_IF_ERROR(CommonDType(c, 0, i).status());
    element = JoinTypes(element, c.type(i));
  }
  c.set_type(0, Type::Sequence(std::move(element)));
  return absl::OkStatus();
}

absl::Status InferSequenceEmpty(InferContext& c) {
  DType dtype = DType::kF32;
  if (const int64_t* t = FindAttr<int64_t>(c.attrs(), "dtype")) {
    RETUPLE_ASSIGN_OR_RETURN(dtype, DTypeFromAttr(*t, "dtype"));
  }
  c.set_type(0, Type::Sequence(Type::Tensor(dtype)));
  return absl::OkStatus();
}

absl::Status InferSequenceAt(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectSequence(c, 0));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectOne(c, 1));
  c.set_type(0, ElementOf(c.type(0)));
  return absl::OkStatus();
}

absl::Status InferSequenceInsert(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectSequence(c, 0));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 2));
  if (c.type(0).is_unknown()) return absl::OkStatus();
  const Type& element = c.type(0).element();
  if (element.dtype() != DType::kUndefined && c.dtype(1) != DType::kUndefined &&
      element.dtype() != c.dtype(1)) {
    return Contradiction("inserting %s into %s", c.type(1).ToString(), c.type(0).ToString());
  }
  c.set_type(0, Type::Sequence(JoinTypes(element, c.type(1))));
  return absl::OkStatus();
}

absl::Status InferSequenceErase(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectSequence(c, 0));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 1));
  c.set_type(0, c.type(0));
  return absl::OkStatus();
}

absl::Status InferSequenceLength(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectSequence(c, 0));
  c.set_type(0, Type::Tensor(DType::kI64, Shape{}));
  return absl::OkStatus();
}

absl::Status InferSequenceMap(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectSequence(c, 0));
  std::vector<ValueInfo> infos(static_cast<size_t>(OrdinaryInputs(c)));
  std::vector<const ValueInfo*> args;
  for (int i = 0; i < OrdinaryInputs(c); ++i) {
    const Type& t = c.type(i);
    infos[static_cast<size_t>(i)].type = t.kind() == Type::Kind::kSequence ? ElementOf(t) : t;
    args.push_back(&infos[static_cast<size_t>(i)]);
  }
  AppendCaptures(c, args);
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<ValueInfo> outputs, c.InferSubgraph("body", args));
  if (static_cast<int>(outputs.size()) != c.num_outputs()) {
    return Contradiction("the body has %d outputs, the node has %d", outputs.size(),
                         c.num_outputs());
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_type(i, Type::Sequence(outputs[static_cast<size_t>(i)].type));
  }
  return absl::OkStatus();
}

absl::Status InferConcatFromSequence(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectSequence(c, 0));
  const Type element = ElementOf(c.type(0));
  if (!element.has_shape()) {
    c.set_type(0, TensorType(element.dtype(), std::nullopt));
    return absl::OkStatus();
  }
  const bool stack = AttrOr<int64_t>(c.attrs(), "new_axis", 0) != 0;
  Shape out = element.shape();
  RETUPLE_ASSIGN_OR_RETURN(const int axis,
                           NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", 0),
                                         static_cast<int>(out.size()) + (stack ? 1 : 0)));
  if (stack) {
    out.insert(out.begin() + axis, Dim::Fresh());
  } else {
    out[static_cast<size_t>(axis)] = Dim::Fresh();
  }
  c.set_type(0, Type::Tensor(element.dtype(), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferSplitToSequence(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectIndices(c, 1));
  std::optional<Shape> out = ShapeOf(c, 0);
  if (out) {
    RETUPLE_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(AttrOr<int64_t>(c.attrs(), "axis", 0),
                                                           static_cast<int>(out->size())));
    Dim& d = (*out)[static_cast<size_t>(axis)];
    if (c.input(1) == nullptr) {  // pieces of size 1, the axis dropped on demand
      if (AttrOr<int64_t>(c.attrs(), "keepdims", 1) != 0) {
        d = 1;
      } else {
        out->erase(out->begin() + axis);
      }
    } else {
      const auto sizes = c.elements(1);
      const bool scalar = c.shape(1) != nullptr && c.shape(1)->empty();
      bool equal =
          sizes && !sizes->empty() &&
          std::all_of(sizes->begin(), sizes->end(), [&](Dim s) { return s == (*sizes)[0]; });
      if (equal && scalar) {  // the last piece may be smaller
        const Dim s = (*sizes)[0];
        if (s.known() && s.value() <= 0) return Contradiction("split is %d", s.value());
        equal = FloorDiv(d, s) * s == d;
      }
      d = equal ? (*sizes)[0] : Dim::Fresh();
    }
  }
  c.set_type(0, Type::Sequence(TensorType(c.dtype(0), std::move(out))));
  return absl::OkStatus();
}

absl::Status InferOptional(InferContext& c) {
  if (c.input(0) != nullptr) {
    c.set_type(0, Type::Optional(c.type(0)));
  } else if (const Type* t = FindAttr<Type>(c.attrs(), "type")) {
    c.set_type(0, Type::Optional(*t));
  } else {
    return Contradiction("neither an input nor the attribute 'type' is given");
  }
  return absl::OkStatus();
}

absl::Status InferOptionalGetElement(InferContext& c) {
  const Type& t = c.type(0);
  c.set_type(0, t.kind() == Type::Kind::kOptional ? t.element() : t);
  return absl::OkStatus();
}

absl::Status InferOptionalHasElement(InferContext& c) {
  c.set_type(0, Type::Tensor(DType::kBool, Shape{}));
  return absl::OkStatus();
}

}  // namespace retuple::internal
