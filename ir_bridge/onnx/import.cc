// ONNX file → Graph.
//
// One GraphBuilder a GraphProto: it sorts the nodes (files in the wild are not sorted), resolves names through the
// enclosing scopes, and turns every body into a closed graph: what a body uses of an outer scope becomes extra
// inputs of the body and extra operands of the node (constants are repeated inside instead, sharing storage).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/onnx/model_io.h"
#include "ir_bridge/onnx/proto_io.h"

namespace retuple {
namespace {

using internal::TensorSource;

std::string NodeLabel(const onnx::NodeProto& n) {
  std::string where = !n.name().empty() ? n.name() : n.output_size() > 0 ? n.output(0) : std::string("?");
  return absl::StrFormat("node \"%s\" (%s)", where, n.op_type());
}

absl::Status InNode(const onnx::NodeProto& n, const absl::Status& s) {
  return absl::Status(s.code(), absl::StrFormat("%s: %s", NodeLabel(n), std::string(s.message())));
}

// Bodies in the order of attribute names, so that captures are listed alike however a file orders attributes.
template <typename Visit>
void ForEachBody(const onnx::NodeProto& n, Visit visit) {
  std::vector<const onnx::AttributeProto*> attributes;
  for (const auto& a : n.attribute()) {
    if (a.has_g() || a.graphs_size() > 0) attributes.push_back(&a);
  }
  std::sort(attributes.begin(), attributes.end(), [](auto* a, auto* b) { return a->name() < b->name(); });
  for (const auto* a : attributes) {
    if (a->has_g()) visit(a->g());
    for (const auto& g : a->graphs()) visit(g);
  }
}

// The names that a graph uses and does not define, in order of first use. Nesting is bounded by protobuf.
class FreeNames {
 public:
  const std::vector<std::string>& Of(const onnx::GraphProto& g) {
    auto it = cache_.find(&g);
    if (it != cache_.end()) return it->second;
    absl::flat_hash_set<std::string> defined;
    for (const auto& i : g.input()) defined.insert(i.name());
    for (const auto& i : g.initializer()) defined.insert(i.name());
    for (const auto& i : g.sparse_initializer()) defined.insert(i.values().name());
    for (const auto& n : g.node()) {
      for (const auto& o : n.output()) defined.insert(o);
    }
    std::vector<std::string> free;
    absl::flat_hash_set<std::string> seen;
    auto use = [&](const std::string& name) {
      if (!name.empty() && !defined.contains(name) && seen.insert(name).second) free.push_back(name);
    };
    for (const auto& n : g.node()) {
      for (const auto& i : n.input()) use(i);
      ForEachBody(n, [&](const onnx::GraphProto& body) {
        for (const auto& name : Of(body)) use(name);
      });
    }
    for (const auto& o : g.output()) use(o.name());
    return cache_[&g] = std::move(free);
  }

 private:
  std::map<const onnx::GraphProto*, std::vector<std::string>> cache_;
};

// The opset up to which the registry knows every operator's form. Beyond it an operator that does not fit its last known form, or is known to have
// changed its meaning, is kept as an opaque one.
constexpr int64_t kKnownOpset = 18;
bool ChangedLater(const std::string& op, int64_t opset) {
  return opset >= 20 && (op == "DFT" || op == "GridSample");
}

struct ImportState {
  const onnx::ModelProto& model;
  const ImportOptions& options;
  TensorSource tensors;
  FreeNames free_names;
  std::map<std::string, int64_t> opsets;
  std::set<std::string> functions;  // "domain::name" of model-local functions
  std::set<std::string> effectful;
  uint64_t next_identity = 1;
  int64_t nodes = 0;
};

class GraphBuilder {
 public:
  GraphBuilder(ImportState& state, const onnx::GraphProto& proto) : state_(state), proto_(proto) {}

  // Builds the main graph, or a body with `captures` as further inputs and `constants` of outer scopes.
  absl::StatusOr<std::unique_ptr<Graph>> Build(
      bool is_main, const std::vector<std::pair<std::string, Type>>& captures,
      const std::vector<std::pair<std::string, Tensor>>& constants);

 private:
  absl::Status Define(const std::string& name, VarId v) {
    if (!vars_.emplace(name, v).second) {
      return absl::InvalidArgumentError(absl::StrFormat("the name \"%s\" is defined twice", name));
    }
    return absl::OkStatus();
  }
  absl::Status AddInitializers(bool is_main);
  absl::StatusOr<std::vector<int>> SortNodes();
  std::string DescribeCycle(const std::vector<std::vector<int>>& needs, int start) const;
  absl::Status AddNode(const onnx::NodeProto& n);
  absl::Status AddConstantNode(const onnx::NodeProto& n, bool* done);
  absl::StatusOr<AttrValue> ReadAttribute(const onnx::AttributeProto& a,
                                          const std::vector<std::pair<std::string, Type>>& captures,
                                          const std::vector<std::pair<std::string, Tensor>>& constants);

  ImportState& state_;
  const onnx::GraphProto& proto_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  absl::flat_hash_map<std::string, VarId> vars_;
  absl::flat_hash_map<std::string, const onnx::TypeProto*> declared_;
};

absl::Status GraphBuilder::AddInitializers(bool is_main) {
  absl::flat_hash_map<std::string, VarId> inputs;
  for (VarId v : graph_->inputs()) inputs.emplace(graph_->var_name(v), v);
  // Before IR 4 every initialiser is listed among the inputs and *is* constant; those inputs were left out.
  auto add = [&](const std::string& name, absl::StatusOr<Tensor> t) -> absl::Status {
    if (!t.ok()) return t.status();
    if (auto it = inputs.find(name); it != inputs.end()) {
      if (!is_main) {
        return absl::InvalidArgumentError(absl::StrFormat("\"%s\" is both input and initialiser of a body", name));
      }
      graph_->set_default(it->second, *std::move(t));
      return absl::OkStatus();
    }
    if (name.empty()) return absl::InvalidArgumentError("an initialiser has no name");
    return Define(name, graph_->AddConstant(*std::move(t), name));
  };
  for (const auto& t : proto_.initializer()) {
    if (auto s = add(t.name(), state_.tensors.Read(t)); !s.ok()) return s;
  }
  for (const auto& t : proto_.sparse_initializer()) {
    if (auto s = add(t.values().name(), state_.tensors.ReadSparse(t)); !s.ok()) return s;
  }
  return absl::OkStatus();
}

std::string GraphBuilder::DescribeCycle(const std::vector<std::vector<int>>& needs, int start) const {
  // Every node that is left needs another that is left, so following the first such edge meets itself again.
  std::vector<int> path;
  std::map<int, size_t> at;
  int n = start;
  while (at.emplace(n, path.size()).second) {
    path.push_back(n);
    n = needs[n][0];
  }
  std::string out;
  for (size_t i = at[n]; i < path.size() && i < at[n] + 8; ++i) {
    out += absl::StrFormat("%s needs ", NodeLabel(proto_.node(path[i])));
  }
  return out + NodeLabel(proto_.node(n));
}

// Producers first; otherwise the order of the file.
absl::StatusOr<std::vector<int>> GraphBuilder::SortNodes() {
  const int count = proto_.node_size();
  absl::flat_hash_map<std::string, int> producer;
  for (int i = 0; i < count; ++i) {
    for (const auto& o : proto_.node(i).output()) {
      if (o.empty()) continue;
      if (!producer.emplace(o, i).second || vars_.contains(o)) {
        return InNode(proto_.node(i), absl::InvalidArgumentError(absl::StrFormat("the name \"%s\" is defined twice", o)));
      }
    }
  }
  std::vector<std::vector<int>> needs(count);
  for (int i = 0; i < count; ++i) {
    auto need = [&](const std::string& name) {
      auto it = producer.find(name);
      if (it != producer.end()) needs[i].push_back(it->second);
    };
    for (const auto& name : proto_.node(i).input()) need(name);
    ForEachBody(proto_.node(i), [&](const onnx::GraphProto& body) {
      for (const auto& name : state_.free_names.Of(body)) need(name);
    });
  }
  std::vector<int> order;
  order.reserve(count);
  std::vector<uint8_t> mark(count, 0);  // 1: on the stack, 2: done
  std::vector<std::pair<int, size_t>> stack;
  for (int root = 0; root < count; ++root) {
    if (mark[root] == 2) continue;
    stack.emplace_back(root, 0);
    mark[root] = 1;
    while (!stack.empty()) {
      auto& [n, next] = stack.back();
      if (next < needs[n].size()) {
        int m = needs[n][next++];
        if (mark[m] == 1) {
          for (int k = 0; k < count; ++k) {
            // Keep only edges inside what is unfinished, so that the description walks a cycle.
            std::erase_if(needs[k], [&](int j) { return mark[j] != 1; });
          }
          return absl::InvalidArgumentError("the graph has a cycle: " + DescribeCycle(needs, m));
        }
        if (mark[m] == 0) {
          mark[m] = 1;
          stack.emplace_back(m, 0);
        }
      } else {
        mark[n] = 2;
        order.push_back(n);
        stack.pop_back();
      }
    }
  }
  return order;
}

absl::StatusOr<AttrValue> GraphBuilder::ReadAttribute(
    const onnx::AttributeProto& a, const std::vector<std::pair<std::string, Type>>& captures,
    const std::vector<std::pair<std::string, Tensor>>& constants) {
  auto body = [&](const onnx::GraphProto& g) -> absl::StatusOr<GraphPtr> {
    auto built = GraphBuilder(state_, g).Build(false, captures, constants);
    if (!built.ok()) return built.status();
    return GraphPtr(std::move(*built));
  };
  using P = onnx::AttributeProto;
  P::AttributeType type = a.type();
  if (type == P::UNDEFINED) {  // IR 1: the kind is what is present
    type = a.has_f() ? P::FLOAT : a.has_i() ? P::INT : a.has_s() ? P::STRING : a.has_t() ? P::TENSOR
         : a.has_g() ? P::GRAPH : a.floats_size() ? P::FLOATS : a.ints_size() ? P::INTS
         : a.strings_size() ? P::STRINGS : P::UNDEFINED;
  }
  switch (type) {
    case P::FLOAT:
      return AttrValue(a.f());
    case P::INT:
      return AttrValue(static_cast<int64_t>(a.i()));
    case P::STRING:
      return AttrValue(a.s());
    case P::TENSOR: {
      auto t = state_.tensors.Read(a.t());
      if (!t.ok()) return t.status();
      return AttrValue(*std::move(t));
    }
    case P::SPARSE_TENSOR: {
      auto t = state_.tensors.ReadSparse(a.sparse_tensor());
      if (!t.ok()) return t.status();
      return AttrValue(*std::move(t));
    }
    case P::GRAPH: {
      auto g = body(a.g());
      if (!g.ok()) return g.status();
      return AttrValue(*g);
    }
    case P::TYPE_PROTO:
      return AttrValue(internal::ReadType(a.tp()));
    case P::FLOATS:
      return AttrValue(Floats(a.floats().begin(), a.floats().end()));
    case P::INTS:
      return AttrValue(Ints(a.ints().begin(), a.ints().end()));
    case P::STRINGS:
      return AttrValue(Strings(a.strings().begin(), a.strings().end()));
    case P::TENSORS: {
      std::vector<Tensor> out;
      for (const auto& p : a.tensors()) {
        auto t = state_.tensors.Read(p);
        if (!t.ok()) return t.status();
        out.push_back(*std::move(t));
      }
      return AttrValue(std::move(out));
    }
    case P::GRAPHS: {
      std::vector<GraphPtr> out;
      for (const auto& p : a.graphs()) {
        auto g = body(p);
        if (!g.ok()) return g.status();
        out.push_back(*g);
      }
      return AttrValue(std::move(out));
    }
    case P::TYPE_PROTOS: {
      std::vector<Type> out;
      for (const auto& p : a.type_protos()) out.push_back(internal::ReadType(p));
      return AttrValue(std::move(out));
    }
    default:
      return absl::InvalidArgumentError(absl::StrFormat("attribute \"%s\" has no known kind", a.name()));
  }
}

// A Constant node is a constant of the graph, whatever attribute spells its value.
absl::Status GraphBuilder::AddConstantNode(const onnx::NodeProto& n, bool* done) {
  *done = false;
  if (n.attribute_size() != 1 || n.output_size() != 1 || n.input_size() != 0 || n.output(0).empty()) {
    return absl::InvalidArgumentError("a Constant has no input, one output and one attribute");
  }
  const auto& a = n.attribute(0);
  auto value = ReadAttribute(a, {}, {});
  if (!value.ok()) return value.status();
  Tensor t;
  if (const Tensor* v = std::get_if<Tensor>(&*value)) {
    t = *v;
  } else if (const int64_t* i = std::get_if<int64_t>(&*value)) {
    t = Tensor::ScalarI64(*i);
  } else if (const float* f = std::get_if<float>(&*value)) {
    t = Tensor::ScalarF32(*f);
  } else if (const Ints* is = std::get_if<Ints>(&*value)) {
    t = Tensor::VectorI64(*is);
  } else if (const Floats* fs = std::get_if<Floats>(&*value)) {
    t = Tensor(DType::kF32, {static_cast<int64_t>(fs->size())});
    std::copy(fs->begin(), fs->end(), t.mutable_data<float>());
  } else if (const std::string* s = std::get_if<std::string>(&*value)) {
    t = Tensor(DType::kString, Dims{});
    *t.mutable_data<std::string>() = *s;
  } else if (const Strings* ss = std::get_if<Strings>(&*value)) {
    t = Tensor(DType::kString, {static_cast<int64_t>(ss->size())});
    std::copy(ss->begin(), ss->end(), t.mutable_data<std::string>());
  } else {
    return absl::InvalidArgumentError(absl::StrFormat("attribute \"%s\" is not a value", a.name()));
  }
  *done = true;
  return Define(n.output(0), graph_->AddConstant(std::move(t), n.output(0)));
}

absl::Status GraphBuilder::AddNode(const onnx::NodeProto& n) {
  ++state_.nodes;
  const std::string domain = n.domain() == "ai.onnx" ? std::string() : n.domain();
  if (domain.empty() && n.op_type() == "Constant") {
    bool done = false;
    auto s = AddConstantNode(n, &done);
    if (!s.ok() || done) return s;
  }
  auto opset = state_.opsets.find(domain);
  if (opset == state_.opsets.end()) {
    return absl::InvalidArgumentError(absl::StrFormat("the model imports no opset of domain \"%s\"", domain));
  }
  const bool local_function = state_.functions.contains(OpaqueForm(domain, n.op_type()));
  const OpSchema* schema =
      local_function || (domain.empty() && ChangedLater(n.op_type(), opset->second)) ? nullptr
                     : Registry::Get().Resolve(domain, n.op_type(), static_cast<int>(std::min<int64_t>(opset->second, 1 << 20)));

  // What the bodies capture: constants are repeated inside, the rest become operands.
  std::vector<VarId> captured;
  std::vector<std::pair<std::string, Type>> captures;
  std::vector<std::pair<std::string, Tensor>> constants;
  std::set<std::string> seen;
  absl::Status missing;
  ForEachBody(n, [&](const onnx::GraphProto& body) {
    for (const auto& name : state_.free_names.Of(body)) {
      if (!seen.insert(name).second) continue;
      auto it = vars_.find(name);
      if (it == vars_.end()) {
        if (missing.ok()) {
          missing = absl::InvalidArgumentError(
              absl::StrFormat("a body uses \"%s\", which no enclosing graph defines", name));
        }
        continue;
      }
      if (graph_->var(it->second).kind == Variable::Kind::kConstant) {
        constants.emplace_back(name, graph_->constant(it->second));
      } else {
        captured.push_back(it->second);
        captures.emplace_back(name, graph_->type(it->second));
      }
    }
  });
  if (!missing.ok()) return missing;

  AttrMap attrs;
  for (const auto& a : n.attribute()) {
    if (a.name() == "consumed_inputs" && domain.empty()) continue;  // a hint of opset 1 without meaning
    if (!a.ref_attr_name().empty()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("attribute \"%s\" refers to a function's attribute outside a function", a.name()));
    }
    auto value = ReadAttribute(a, captures, constants);
    if (!value.ok()) return value.status();
    if (!attrs.emplace(a.name(), *std::move(value)).second) {
      return absl::InvalidArgumentError(absl::StrFormat("attribute \"%s\" is given twice", a.name()));
    }
  }

  std::vector<VarId> inputs;
  for (const auto& name : n.input()) {
    if (name.empty()) {
      inputs.push_back(kNoVar);
      continue;
    }
    auto it = vars_.find(name);
    if (it == vars_.end()) {
      return absl::InvalidArgumentError(absl::StrFormat("input \"%s\" is defined nowhere", name));
    }
    inputs.push_back(it->second);
  }
  while (!inputs.empty() && inputs.back() == kNoVar) inputs.pop_back();
  if (!captured.empty() && schema != nullptr && schema->max_inputs != kVariadic) {
    // Captures follow the operands: an absent optional one is spelled out before them.
    while (static_cast<int>(inputs.size()) < schema->min_inputs) inputs.push_back(kNoVar);
  }

  if (schema != nullptr && domain.empty() && opset->second > kKnownOpset) {
    const int in = static_cast<int>(inputs.size());
    const bool fits = in >= schema->min_inputs && in <= schema->max_inputs && n.output_size() <= schema->max_outputs &&
                      MakeOp(*schema, attrs, schema->variadic_outputs() ? n.output_size() : schema->max_outputs).ok();
    if (!fits) schema = nullptr;
  }
  Op op;
  if (schema != nullptr) {
    const int in = static_cast<int>(inputs.size()), out = n.output_size();
    if (in < schema->min_inputs || in > schema->max_inputs) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%d inputs, %s takes %d to %s", in, schema->form, schema->min_inputs,
          schema->max_inputs == kVariadic ? std::string("any number") : absl::StrFormat("%d", schema->max_inputs)));
    }
    for (int i = 0; i < std::min(in, schema->min_inputs); ++i) {
      const size_t k = static_cast<size_t>(i);
      if (inputs[k] == kNoVar && !(k < schema->input_optional.size() && schema->input_optional[k])) {
        return absl::InvalidArgumentError(absl::StrFormat("input %d of %s may not be left out", i, schema->form));
      }
    }
    if (out > schema->max_outputs || out < 1) {
      return absl::InvalidArgumentError(absl::StrFormat("%d outputs, %s has at most %d", out, schema->form,
                                                        schema->max_outputs));
    }
    auto made = MakeOp(*schema, std::move(attrs), schema->variadic_outputs() ? out : schema->max_outputs);
    if (!made.ok()) return made.status();
    op = *std::move(made);
    if (schema->form == "Dropout" && inputs.size() > 2 && inputs[2] != kNoVar) {
      // Training mode draws random numbers, unless the mode is constant false.
      const bool constant = graph_->var(inputs[2]).kind == Variable::Kind::kConstant;
      const bool off = constant && graph_->constant(inputs[2]).UniformValue() == 0.0;
      if (!off) op.effect = Effect::kRandom;
    }
  } else {
    op = MakeOpaqueOp(domain, n.op_type(), std::move(attrs), n.output_size());
    if (state_.effectful.contains(op.form())) op.effect = Effect::kEffectful;
  }
  op.num_captures = static_cast<int>(captured.size());
  if (op.effect != Effect::kPure) op.identity = state_.next_identity++;
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  const ApplyId apply = graph_->AddApply(graph_->InternOp(std::move(op)), inputs, n.name());
  for (int i = 0; i < n.output_size(); ++i) {
    if (n.output(i).empty()) continue;
    const VarId v = graph_->output(apply, i);
    if (auto s = Define(n.output(i), v); !s.ok()) return s;
    graph_->set_var_name(v, n.output(i));
    if (auto it = declared_.find(n.output(i)); it != declared_.end()) graph_->set_type(v, internal::ReadType(*it->second));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Graph>> GraphBuilder::Build(
    bool is_main, const std::vector<std::pair<std::string, Type>>& captures,
    const std::vector<std::pair<std::string, Tensor>>& constants) {
  graph_->name = proto_.name();
  graph_->doc = proto_.doc_string();
  for (const auto& v : proto_.value_info()) declared_.emplace(v.name(), &v.type());
  for (const auto& v : proto_.output()) {
    if (v.has_type()) declared_.emplace(v.name(), &v.type());
  }
  absl::flat_hash_set<std::string> initializers;
  for (const auto& t : proto_.initializer()) initializers.insert(t.name());
  for (const auto& t : proto_.sparse_initializer()) initializers.insert(t.values().name());
  const bool constant_initializers = state_.model.ir_version() < 4 || state_.options.initializers_are_constants;
  for (const auto& i : proto_.input()) {
    if (i.name().empty()) return absl::InvalidArgumentError("a graph input has no name");
    if (constant_initializers && initializers.contains(i.name())) continue;
    const VarId v = graph_->AddInput(i.name(), internal::ReadType(i.type()));
    if (auto s = Define(i.name(), v); !s.ok()) return s;
  }
  absl::flat_hash_set<std::string> own;
  for (const auto& name : state_.free_names.Of(proto_)) own.insert(name);
  for (const auto& [name, type] : captures) {
    const VarId v = graph_->AddInput(name, type);
    // A capture of a sibling body may share its name with a value of this one; then it is simply not used here.
    if (own.contains(name)) vars_.emplace(name, v);
  }
  for (const auto& [name, tensor] : constants) {
    if (own.contains(name)) vars_.emplace(name, graph_->AddConstant(tensor, name));
  }
  if (auto s = AddInitializers(is_main); !s.ok()) return s;
  auto order = SortNodes();
  if (!order.ok()) return order.status();
  for (int i : *order) {
    if (auto s = AddNode(proto_.node(i)); !s.ok()) return InNode(proto_.node(i), s);
  }
  absl::flat_hash_set<std::string> outputs;
  for (const auto& o : proto_.output()) {
    auto it = vars_.find(o.name());
    if (it == vars_.end()) {
      return absl::InvalidArgumentError(absl::StrFormat("output \"%s\" is defined nowhere", o.name()));
    }
    if (is_main && !outputs.insert(o.name()).second) {
      return absl::InvalidArgumentError(absl::StrFormat("output \"%s\" is listed twice", o.name()));
    }
    graph_->AddOutput(o.name(), it->second, o.has_type() ? internal::ReadType(o.type()) : Type::Unknown());
  }
  return std::move(graph_);
}

absl::StatusOr<std::unique_ptr<Graph>> ImportModel(std::shared_ptr<onnx::ModelProto> model,
                                                   const std::string& folder, const ImportOptions& options) {
  if (!model->has_graph()) return absl::InvalidArgumentError("the model has no graph");
  if (!model->has_ir_version() || model->ir_version() < 1) {
    return absl::InvalidArgumentError("the model has no valid ir_version");
  }
  ImportState state{*model, options, TensorSource(model, folder), {}, {}, {}, {}, 1, 0};
  state.effectful.insert(options.effectful_ops.begin(), options.effectful_ops.end());
  ModelInfo info;
  info.ir_version = model->ir_version();
  for (const auto& o : model->opset_import()) {
    const std::string domain = o.domain() == "ai.onnx" ? std::string() : o.domain();
    if (o.version() < 1) {
      return absl::InvalidArgumentError(absl::StrFormat("opset version %d of domain \"%s\"", o.version(), domain));
    }
    if (!state.opsets.emplace(domain, o.version()).second) {
      return absl::InvalidArgumentError(absl::StrFormat("opset of domain \"%s\" is imported twice", domain));
    }
    info.opsets.push_back({domain, o.version()});
  }
  if (state.opsets.empty()) {  // before IR 3 a model names no opset and means the first
    state.opsets.emplace("", 1);
    info.opsets.push_back({"", 1});
  }
  for (const auto& f : model->functions()) {
    info.functions.push_back(f.SerializeAsString());
    state.functions.insert(OpaqueForm(f.domain() == "ai.onnx" ? std::string() : f.domain(), f.name()));
  }
  info.producer_name = model->producer_name();
  info.producer_version = model->producer_version();
  info.domain = model->domain();
  info.doc = model->doc_string();
  info.model_version = model->model_version();
  for (const auto& p : model->metadata_props()) info.metadata.emplace_back(p.key(), p.value());
  auto graph = GraphBuilder(state, model->graph()).Build(true, {}, {});
  if (!graph.ok()) return graph.status();
  info.source_nodes = state.nodes;
  (*graph)->info = std::move(info);
  return graph;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Graph>> ImportOnnx(std::string_view bytes, const std::string& folder,
                                                  const ImportOptions& options) {
  auto model = std::make_shared<onnx::ModelProto>();
  if (auto s = internal::ParseMessage(bytes, model.get(), "ONNX model"); !s.ok()) return s;
  return ImportModel(std::move(model), folder, options);
}

absl::StatusOr<std::unique_ptr<Graph>> ImportOnnxFile(const std::string& path, const ImportOptions& options) {
  auto model = std::make_shared<onnx::ModelProto>();
  {
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
      if (fd >= 0) close(fd);
      return absl::NotFoundError(absl::StrFormat("cannot open %s", path));
    }
    if (!S_ISREG(st.st_mode)) {
      close(fd);
      return absl::InvalidArgumentError(absl::StrFormat("%s is not a regular file", path));
    }
    const size_t size = static_cast<size_t>(st.st_size);
    void* base = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (base == MAP_FAILED) return absl::InternalError(absl::StrFormat("cannot map %s", path));
    auto s = internal::ParseMessage({static_cast<const char*>(base), size}, model.get(), path);
    if (base != nullptr) munmap(base, size);
    if (!s.ok()) return s;
  }
  std::string folder = std::filesystem::path(path).parent_path().string();
  auto graph = ImportModel(std::move(model), folder.empty() ? "." : folder, options);
  if (!graph.ok()) {
    return absl::Status(graph.status().code(),
                        absl::StrFormat("%s: %s", path, std::string(graph.status().message())));
  }
  return graph;
}

}  // namespace retuple
