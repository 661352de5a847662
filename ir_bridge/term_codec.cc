#include "ir_bridge/term_codec.h"

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "ir_bridge/graph_adapter.h"
#include "ir_bridge/tensor_object.h"

namespace retuple {
namespace {

constexpr int64_t kMaxOutputs = 1 << 20;

absl::Status Bad(const Context& ctx, Term t, const char* wanted) {
  return absl::InvalidArgumentError(absl::StrFormat("expected %s, found %s", wanted, Brief(ctx, t, 80)));
}

}  // namespace

TermCodec::TermCodec(Context& ctx)
    : input(ctx.Sym("input")),
      bound(ctx.Sym("bound")),
      nth(ctx.Sym("nth")),
      none(ctx.Sym("none")),
      lambda(ctx.Sym("lambda")),
      tuple(ctx.Sym("tuple")),
      ctx_(ctx),
      seq_(ctx.Sym("seq")),
      optional_(ctx.Sym("optional")),
      unknown_(ctx.Sym("_")),
      num_outputs_(ctx.Keyword("num-outputs")),
      num_captures_(ctx.Keyword("num-captures")),
      random_id_(ctx.Keyword("random-id")) {}

// ---- leaves and types

// A tensor type is one or two words (dtype, dims), every other type one.
void TermCodec::AppendType(const Type& type, std::vector<Term>& out) {
  switch (type.kind()) {
    case Type::Kind::kUnknown:
      out.push_back(unknown_);
      return;
    case Type::Kind::kTensor: {
      out.push_back(type.dtype() == DType::kUndefined ? unknown_ : ctx_.Sym(DTypeName(type.dtype())));
      if (!type.has_shape()) return;
      std::vector<Term> dims;
      for (const Dim& d : type.shape()) {
        dims.push_back(d.known() ? ctx_.Integer(d.value()) : d.named() ? ctx_.Sym(d.ToString()) : unknown_);
      }
      out.push_back(ctx_.Tuple(dims));
      return;
    }
    case Type::Kind::kSequence:
    case Type::Kind::kOptional: {
      std::vector<Term> words{type.kind() == Type::Kind::kSequence ? seq_ : optional_};
      AppendType(type.element(), words);
      out.push_back(ctx_.Tuple(words));
      return;
    }
  }
}

absl::StatusOr<Type> TermCodec::ReadTypeWords(std::span<const Term> words) const {
  // Types nest a few levels at most; wrappers are peeled off from outside and put back from inside.
  std::vector<Term> wrappers;
  std::span<const Term> w = words;
  while (w.size() == 1 && ctx_.IsTuple(w[0]) && !w[0].is_nil() && (ctx_.Rator(w[0]) == seq_ || ctx_.Rator(w[0]) == optional_)) {
    wrappers.push_back(ctx_.Rator(w[0]));
    w = ctx_.Rands(w[0]);
    constexpr size_t kDeepest = 100;  // as for the types of a model's file
    if (wrappers.size() > kDeepest) return absl::InvalidArgumentError("a type nests more than 100 deep");
  }
  if (w.empty() || w.size() > 2 || !ctx_.IsSymbol(w[0])) {
    return absl::InvalidArgumentError("expected a type: an element type and perhaps dims");
  }
  Type type;
  const auto dtype = ParseDType(ctx_.Text(w[0]));
  if (!dtype && w[0] != unknown_) return Bad(ctx_, w[0], "an element type");
  if (w.size() == 2) {
    if (!ctx_.IsTuple(w[1])) return Bad(ctx_, w[1], "a list of dims");
    Shape shape;
    for (Term d : ctx_.Children(w[1])) {
      if (d == unknown_) {
        shape.push_back(Dim::Fresh());
      } else if (ctx_.kind(d) == Kind::kInteger && ctx_.IntegerValue(d) >= 0) {
        shape.push_back(ctx_.IntegerValue(d));
      } else if (ctx_.IsSymbol(d)) {
        shape.push_back(Dim::Named(ctx_.Text(d)));
      } else {
        return Bad(ctx_, d, "a dimension");
      }
    }
    type = Type::Tensor(dtype.value_or(DType::kUndefined), std::move(shape));
  } else if (dtype) {
    type = Type::Tensor(*dtype);
  }
  for (size_t i = wrappers.size(); i-- > 0;) {
    type = wrappers[i] == seq_ ? Type::Sequence(type) : Type::Optional(type);
  }
  return type;
}

Term TermCodec::Input(std::string_view name, const Type& type) {
  std::vector<Term> words{input, ctx_.String(name)};
  AppendType(type, words);
  return ctx_.Tuple(words);
}

Term TermCodec::Bound(int index, const Type& type) {
  std::vector<Term> words{bound, ctx_.Integer(index)};
  AppendType(type, words);
  return ctx_.Tuple(words);
}

absl::StatusOr<Type> TermCodec::LeafType(Term leaf) const {
  auto c = ctx_.Children(leaf);
  if (c.size() < 3) return Bad(ctx_, leaf, "a leaf with a type");
  return ReadTypeWords(c.subspan(2));
}

absl::StatusOr<std::string> TermCodec::InputName(Term t) const {
  auto c = ctx_.Children(t);
  if (c.size() < 2 || ctx_.kind(c[1]) != Kind::kString) return Bad(ctx_, t, "(input \"name\" type)");
  return std::string(ctx_.Text(c[1]));
}

absl::StatusOr<int> TermCodec::BoundIndex(Term t) const {
  auto c = ctx_.Children(t);
  if (c.size() < 2 || ctx_.kind(c[1]) != Kind::kInteger || ctx_.IntegerValue(c[1]) < 0 || ctx_.IntegerValue(c[1]) > kMaxOutputs) {
    return Bad(ctx_, t, "(bound index type)");
  }
  return static_cast<int>(ctx_.IntegerValue(c[1]));
}

Term TermCodec::Nth(int i, Term app) { return ctx_.Tuple({nth, ctx_.Integer(i), app}); }

bool TermCodec::IsApp(Term t) const {
  if (!ctx_.IsTuple(t) || t.is_nil()) return false;
  const Term head = ctx_.HeadSymbol(t);
  return !head.is_nil() && head != nth && head != input && head != bound && head != lambda && head != tuple && !ctx_.IsKeyword(head);
}

// ---- attributes

Term TermCodec::Attr(const AttrValue& v, bool known_kind) {
  auto list = [&](const auto& items, const char* word, auto make) {
    std::vector<Term> out;
    if (items.empty() && !known_kind) out.push_back(ctx_.Sym(word));
    for (const auto& i : items) out.push_back(make(i));
    return ctx_.Tuple(out);
  };
  auto marked = [&](const auto& items, const char* word, auto make) {
    std::vector<Term> out{ctx_.Sym(word)};
    for (const auto& i : items) out.push_back(make(i));
    return ctx_.Tuple(out);
  };
  switch (KindOf(v)) {
    case AttrKind::kInt:
      return ctx_.Integer(std::get<int64_t>(v));
    case AttrKind::kFloat:
      return ctx_.Real(std::get<float>(v));
    case AttrKind::kString:
      return ctx_.String(std::get<std::string>(v));
    case AttrKind::kTensor:
      return TensorTerm(ctx_, std::get<Tensor>(v));
    case AttrKind::kGraph:
      return Lambda(*std::get<GraphPtr>(v), {});
    case AttrKind::kType: {
      std::vector<Term> words{ctx_.Sym("type")};
      AppendType(std::get<Type>(v), words);
      return ctx_.Tuple(words);
    }
    case AttrKind::kInts:
      return list(std::get<Ints>(v), "ints", [&](int64_t i) { return ctx_.Integer(i); });
    case AttrKind::kFloats:
      return list(std::get<Floats>(v), "floats", [&](float f) { return ctx_.Real(f); });
    case AttrKind::kStrings:
      return list(std::get<Strings>(v), "strings", [&](const std::string& s) { return ctx_.String(s); });
    case AttrKind::kTensors:
      return marked(std::get<std::vector<Tensor>>(v), "tensors", [&](const Tensor& t) { return TensorTerm(ctx_, t); });
    case AttrKind::kGraphs:
      return marked(std::get<std::vector<GraphPtr>>(v), "graphs", [&](const GraphPtr& g) { return Lambda(*g, {}); });
    case AttrKind::kTypes:
      return marked(std::get<std::vector<Type>>(v), "types", [&](const Type& t) { return Attr(AttrValue(t), true); });
  }
  return Term();
}

absl::StatusOr<AttrValue> TermCodec::ReadAttr(Term t, const AttrKind* kind) {
  switch (ctx_.kind(t)) {
    case Kind::kInteger:
      if (kind != nullptr && *kind == AttrKind::kFloat) return AttrValue(static_cast<float>(ctx_.IntegerValue(t)));
      return AttrValue(ctx_.IntegerValue(t));
    case Kind::kReal:
      return AttrValue(static_cast<float>(ctx_.RealValue(t)));
    case Kind::kString:
      return AttrValue(std::string(ctx_.Text(t)));
    case Kind::kObject: {
      const Tensor* tensor = TensorOf(ctx_, t);
      if (tensor == nullptr) return Bad(ctx_, t, "a tensor");
      return AttrValue(*tensor);
    }
    case Kind::kTuple:
      break;
    default:
      return Bad(ctx_, t, "an attribute value");
  }
  auto c = ctx_.Children(t);
  std::string word;
  if (!c.empty() && ctx_.IsSymbol(c[0])) {
    word = std::string(ctx_.Text(c[0]));
    c = c.subspan(1);
  } else if (!c.empty()) {
    const Kind k = ctx_.kind(c[0]);
    word = k == Kind::kReal || (kind != nullptr && *kind == AttrKind::kFloats) ? "floats" : k == Kind::kString ? "strings" : "ints";
  } else if (kind != nullptr) {
    word = std::string(AttrKindName(*kind));
  } else {
    word = "ints";
  }
  auto all = [&](auto read, auto sample) -> absl::StatusOr<AttrValue> {
    std::vector<decltype(sample)> out;
    for (Term i : c) {
      auto v = read(i);
      if (!v.ok()) return v.status();
      out.push_back(*std::move(v));
    }
    return AttrValue(std::move(out));
  };
  if (word == "ints") {
    return all([&](Term i) -> absl::StatusOr<int64_t> {
      if (ctx_.kind(i) != Kind::kInteger) return Bad(ctx_, i, "an integer");
      return ctx_.IntegerValue(i);
    }, int64_t{});
  }
  if (word == "floats") {
    return all([&](Term i) -> absl::StatusOr<float> {
      if (ctx_.kind(i) == Kind::kInteger) return static_cast<float>(ctx_.IntegerValue(i));
      if (ctx_.kind(i) != Kind::kReal) return Bad(ctx_, i, "a number");
      return static_cast<float>(ctx_.RealValue(i));
    }, float{});
  }
  if (word == "strings") {
    return all([&](Term i) -> absl::StatusOr<std::string> {
      if (ctx_.kind(i) != Kind::kString) return Bad(ctx_, i, "a string");
      return std::string(ctx_.Text(i));
    }, std::string{});
  }
  if (word == "tensors") {
    return all([&](Term i) -> absl::StatusOr<Tensor> {
      const Tensor* tensor = TensorOf(ctx_, i);
      if (tensor == nullptr) return Bad(ctx_, i, "a tensor");
      return *tensor;
    }, Tensor{});
  }
  if (word == "graphs") return all([&](Term i) { return ReadLambda(i); }, GraphPtr{});
  if (word == "lambda") {
    auto g = ReadLambda(t);
    if (!g.ok()) return g.status();
    return AttrValue(*g);
  }
  if (word == "type") {
    auto type = ReadTypeWords(c);
    if (!type.ok()) return type.status();
    return AttrValue(*type);
  }
  if (word == "types") {
    return all([&](Term i) -> absl::StatusOr<Type> { return ReadTypeWords(ctx_.Rands(i)); }, Type{});
  }
  return Bad(ctx_, t, "an attribute value");
}

// ---- bodies

Term TermCodec::Lambda(const Graph& body, std::span<const Type> capture_types) {
  Graph copy = body;  // reading only, but the adapter can also append
  GraphAdapter adapter(copy, *this, capture_types);
  GraphBridge bridge(ctx_, adapter);
  std::vector<Term> params;
  for (VarId v : copy.inputs()) params.push_back(*adapter.LeafTerm(ctx_, v));
  std::vector<VarId> roots;
  for (const auto& o : copy.outputs()) roots.push_back(o.var);
  auto outputs = bridge.Etuplize(roots);
  return ctx_.Tuple({lambda, ctx_.Tuple(params), ctx_.Tuple(*outputs)});
}

absl::StatusOr<GraphPtr> TermCodec::ReadLambda(Term t) {
  auto c = ctx_.Children(t);
  if (c.size() != 3 || c[0] != lambda || !ctx_.IsTuple(c[1]) || !ctx_.IsTuple(c[2])) {
    return Bad(ctx_, t, "(lambda (parameter …) (output …))");
  }
  auto graph = std::make_shared<Graph>();
  graph->name = "body";
  const std::vector<Term> params(ctx_.Children(c[1]).begin(), ctx_.Children(c[1]).end());
  const std::vector<Term> roots(ctx_.Children(c[2]).begin(), ctx_.Children(c[2]).end());
  for (size_t i = 0; i < params.size(); ++i) {
    auto index = BoundIndex(params[i]);
    if (!index.ok()) return index.status();
    if (!IsBound(params[i]) || *index != static_cast<int>(i)) return Bad(ctx_, params[i], "parameters numbered in order");
    auto type = LeafType(params[i]);
    if (!type.ok()) return type.status();
    graph->AddInput(absl::StrFormat("p%d", i), *type);
  }
  GraphAdapter adapter(*graph, *this, std::span<const Type>());
  GraphBridge bridge(ctx_, adapter);
  auto values = bridge.Reify(roots);
  if (!values.ok()) return values.status();
  for (size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] == kNoVar) return Bad(ctx_, roots[i], "an output of a body");
    graph->AddOutput(absl::StrFormat("o%d", i), (*values)[i]);
  }
  return GraphPtr(graph);
}

// ---- heads

Term TermCodec::Head(const Op& op, std::span<const Type> capture_types) {
  std::vector<Term> out{ctx_.Sym(op.form())};
  for (const auto& [name, value] : op.attrs) {
    out.push_back(ctx_.Keyword(name));
    if (const auto* g = std::get_if<GraphPtr>(&value)) {
      out.push_back(Lambda(**g, capture_types));
    } else {
      out.push_back(Attr(value, op.schema != nullptr && op.schema->attr(name) != nullptr));
    }
  }
  const bool counted = op.schema != nullptr ? op.schema->variadic_outputs() : op.num_outputs != 1;
  if (counted) {
    out.push_back(num_outputs_);
    out.push_back(ctx_.Integer(op.num_outputs));
  }
  if (op.num_captures > 0) {
    out.push_back(num_captures_);
    out.push_back(ctx_.Integer(op.num_captures));
  }
  if (op.identity != 0) {
    out.push_back(random_id_);
    out.push_back(ctx_.Integer(static_cast<int64_t>(op.identity)));
  }
  return out.size() == 1 ? out[0] : ctx_.Tuple(out);
}

absl::StatusOr<std::shared_ptr<const Op>> TermCodec::OpOf(Term head) {
  if (auto it = ops_.find(head); it != ops_.end()) return it->second;
  const bool plain = ctx_.IsSymbol(head);
  if (!plain && (!ctx_.IsTuple(head) || head.is_nil() || !ctx_.IsSymbol(ctx_.Rator(head)))) return Bad(ctx_, head, "an operator");
  const std::string form(ctx_.Text(plain ? head : ctx_.Rator(head)));
  const OpSchema* schema = Registry::Get().FindForm(form);
  AttrMap attrs;
  int64_t outputs = 1, captures = 0, identity = 0;
  const std::vector<Term> rands(ctx_.Rands(head).begin(), ctx_.Rands(head).end());
  for (size_t i = 0; i < rands.size(); i += 2) {
    if (!ctx_.IsKeyword(rands[i]) || i + 1 == rands.size()) return Bad(ctx_, head, "an operator with keyword attributes");
    const Term key = rands[i], value = rands[i + 1];
    if (key == num_outputs_ || key == num_captures_ || key == random_id_) {
      if (ctx_.kind(value) != Kind::kInteger || ctx_.IntegerValue(value) < 0 ||
          (key != random_id_ && ctx_.IntegerValue(value) > kMaxOutputs)) {
        return Bad(ctx_, value, "a natural number");
      }
      (key == num_outputs_ ? outputs : key == num_captures_ ? captures : identity) = ctx_.IntegerValue(value);
      continue;
    }
    const std::string name(ctx_.Text(key).substr(1));
    const AttrSpec* spec = schema == nullptr ? nullptr : schema->attr(name);
    auto v = ReadAttr(value, spec == nullptr ? nullptr : &spec->kind);
    if (!v.ok()) {
      return absl::InvalidArgumentError(absl::StrFormat("%s, attribute %s: %s", form, name, std::string(v.status().message())));
    }
    attrs.emplace(name, *std::move(v));
  }
  Op op;
  if (schema != nullptr) {
    auto made = MakeOp(*schema, std::move(attrs), schema->variadic_outputs() ? static_cast<int>(outputs) : schema->max_outputs);
    if (!made.ok()) return made.status();
    op = *std::move(made);
  } else {
    const size_t colons = form.find("::");
    op = MakeOpaqueOp(colons == std::string::npos ? "" : form.substr(0, colons),
                      colons == std::string::npos ? form : form.substr(colons + 2), std::move(attrs), static_cast<int>(outputs));
  }
  op.num_captures = static_cast<int>(captures);
  op.identity = static_cast<uint64_t>(identity);
  if (identity != 0 && op.effect == Effect::kPure) op.effect = Effect::kRandom;
  // A body's parameters are its formals and the captures.
  for (const auto& [name, value] : op.attrs) {
    const auto* g = std::get_if<GraphPtr>(&value);
    if (g != nullptr && (*g)->inputs().size() < static_cast<size_t>(captures)) {
      return absl::InvalidArgumentError(absl::StrFormat("%s, attribute %s: fewer parameters than captures", form, name));
    }
  }
  auto ptr = std::make_shared<const Op>(std::move(op));
  ops_[head] = ptr;
  return ptr;
}

}  // namespace retuple
