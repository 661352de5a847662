#include "ir_bridge/graph_term.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "ir_bridge/graph_adapter.h"
#include "ir_bridge/tensor_object.h"

namespace retuple {
namespace {

absl::Status Bad(const Context& ctx, Term t, const char* wanted) {
  return absl::InvalidArgumentError(absl::StrFormat("expected %s, found %s", wanted, Brief(ctx, t, 80)));
}

// Reads the keyword arguments of a `graph` form.
class GraphReader {
 public:
  GraphReader(TermCodec& codec, Term t) : ctx_(codec.ctx()), codec_(codec), term_(t) {}

  absl::StatusOr<std::unique_ptr<Graph>> Read() {
    auto c = ctx_.Children(term_);
    if (c.size() < 2 || c[0] != ctx_.Sym("graph") || ctx_.kind(c[1]) != Kind::kString) return Bad(ctx_, term_, "(graph \"name\" …)");
    graph_->name = std::string(ctx_.Text(c[1]));
    for (auto step : {&GraphReader::ReadInfo, &GraphReader::ReadInputs, &GraphReader::ReadDefaults, &GraphReader::ReadOutputs}) {
      if (auto s = (this->*step)(); !s.ok()) return s;
    }
    return std::move(graph_);
  }

 private:
  std::vector<Term> List(const char* key) {
    auto v = ctx_.KeywordValue(term_, ctx_.Keyword(key));
    if (!v || !ctx_.IsTuple(*v)) return {};
    auto c = ctx_.Children(*v);
    return {c.begin(), c.end()};
  }
  std::string Text(const char* key) {
    auto v = ctx_.KeywordValue(term_, ctx_.Keyword(key));
    return v && ctx_.kind(*v) == Kind::kString ? std::string(ctx_.Text(*v)) : std::string();
  }
  absl::Status ReadInfo() {
    ModelInfo& info = graph_->info;
    auto integer = [&](const char* key, int64_t fallback) {
      auto v = ctx_.KeywordValue(term_, ctx_.Keyword(key));
      return v && ctx_.kind(*v) == Kind::kInteger ? ctx_.IntegerValue(*v) : fallback;
    };
    info.ir_version = integer("ir", 8);
    info.model_version = integer("version", 0);
    graph_->doc = Text("doc");
    info.doc = Text("model-doc");
    info.domain = Text("domain");
    for (Term t : List("opsets")) {
      auto c = ctx_.Children(t);
      if (c.size() != 2 || ctx_.kind(c[0]) != Kind::kString || ctx_.kind(c[1]) != Kind::kInteger) return Bad(ctx_, t, "(\"domain\" version)");
      info.opsets.push_back({std::string(ctx_.Text(c[0])), ctx_.IntegerValue(c[1])});
    }
    auto pair = [&](Term t, std::string* a, std::string* b) -> absl::Status {
      auto c = ctx_.Children(t);
      if (c.size() != 2 || ctx_.kind(c[0]) != Kind::kString || ctx_.kind(c[1]) != Kind::kString) return Bad(ctx_, t, "(\"key\" \"value\")");
      *a = std::string(ctx_.Text(c[0]));
      *b = std::string(ctx_.Text(c[1]));
      return absl::OkStatus();
    };
    for (Term t : List("metadata")) {
      std::string k, v;
      if (auto s = pair(t, &k, &v); !s.ok()) return s;
      info.metadata.emplace_back(k, v);
    }
    if (auto p = ctx_.KeywordValue(term_, ctx_.Keyword("producer"))) {
      if (auto s = pair(*p, &info.producer_name, &info.producer_version); !s.ok()) return s;
    }
    for (Term t : List("functions")) {
      std::string bytes;
      if (ctx_.kind(t) != Kind::kString || !absl::Base64Unescape(std::string(ctx_.Text(t)), &bytes)) return Bad(ctx_, t, "base64 text");
      info.functions.push_back(bytes);
    }
    return absl::OkStatus();
  }
  absl::Status ReadInputs() {
    for (Term t : List("inputs")) {
      if (!codec_.IsInput(t)) return Bad(ctx_, t, "(input \"name\" type)");
      auto name = codec_.InputName(t);
      if (!name.ok()) return name.status();
      auto type = codec_.LeafType(t);
      if (!type.ok()) return type.status();
      graph_->AddInput(*name, *type);
    }
    return absl::OkStatus();
  }
  absl::Status ReadDefaults() {
    for (Term t : List("defaults")) {
      auto c = ctx_.Children(t);
      const Tensor* tensor = c.size() == 2 ? TensorOf(ctx_, c[1]) : nullptr;
      if (tensor == nullptr || ctx_.kind(c[0]) != Kind::kString) return Bad(ctx_, t, "(\"input\" tensor)");
      bool found = false;
      for (VarId v : graph_->inputs()) {
        if (graph_->var_name(v) == ctx_.Text(c[0])) {
          graph_->set_default(v, *tensor);
          found = true;
        }
      }
      if (!found) return Bad(ctx_, c[0], "the name of an input");
    }
    return absl::OkStatus();
  }
  absl::Status ReadOutputs() {
    std::vector<Term> roots;
    std::vector<std::pair<std::string, Type>> outputs;
    for (Term t : List("outputs")) {
      auto c = ctx_.Children(t);
      if (c.size() < 2 || ctx_.kind(c[0]) != Kind::kString) return Bad(ctx_, t, "(\"name\" value)");
      Type type;
      if (c.size() > 2) {
        auto declared = codec_.LeafType(t);
        if (!declared.ok()) return declared.status();
        type = *declared;
      }
      outputs.emplace_back(std::string(ctx_.Text(c[0])), type);
      roots.push_back(c[1]);
    }
    GraphAdapter adapter(*graph_, codec_);
    GraphBridge bridge(ctx_, adapter);
    auto values = bridge.Reify(roots);
    if (!values.ok()) return values.status();
    for (size_t i = 0; i < values->size(); ++i) {
      if ((*values)[i] == kNoVar) return Bad(ctx_, roots[i], "a value");
      graph_->AddOutput(outputs[i].first, (*values)[i], outputs[i].second);
    }
    return absl::OkStatus();
  }

  Context& ctx_;
  TermCodec& codec_;
  Term term_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
};

}  // namespace

absl::StatusOr<Term> GraphToTerm(Graph& graph, TermCodec& codec) {
  Context& ctx = codec.ctx();
  GraphAdapter adapter(graph, codec);
  GraphBridge bridge(ctx, adapter);
  std::vector<VarId> roots;
  for (const auto& o : graph.outputs()) roots.push_back(o.var);
  auto values = bridge.Etuplize(roots);
  if (!values.ok()) return values.status();
  std::vector<Term> words{ctx.Sym("graph"), ctx.String(graph.name)};
  auto add = [&](const char* key, Term value) {
    words.push_back(ctx.Keyword(key));
    words.push_back(value);
  };
  auto text = [&](const char* key, const std::string& s) {
    if (!s.empty()) add(key, ctx.String(s));
  };
  const ModelInfo& info = graph.info;
  std::vector<Term> inputs, outputs, defaults, opsets, metadata, functions;
  for (VarId v : graph.inputs()) inputs.push_back(codec.Input(graph.var_name(v), graph.type(v)));
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    // The declared type follows the value in the words of an input's type.
    const Term typed = codec.Input(graph.outputs()[i].name, graph.outputs()[i].type);
    std::vector<Term> output{ctx.String(graph.outputs()[i].name), (*values)[i]};
    if (!graph.outputs()[i].type.is_unknown()) {
      auto type = ctx.Children(typed).subspan(2);
      output.insert(output.end(), type.begin(), type.end());
    }
    outputs.push_back(ctx.Tuple(output));
  }
  for (const auto& [v, t] : graph.defaults()) defaults.push_back(ctx.Tuple({ctx.String(graph.var_name(v)), TensorTerm(ctx, t)}));
  for (const auto& o : info.opsets) opsets.push_back(ctx.Tuple({ctx.String(o.domain), ctx.Integer(o.version)}));
  for (const auto& [k, v] : info.metadata) metadata.push_back(ctx.Tuple({ctx.String(k), ctx.String(v)}));
  for (const auto& f : info.functions) functions.push_back(ctx.String(absl::Base64Escape(f)));
  add("inputs", ctx.Tuple(inputs));
  add("outputs", ctx.Tuple(outputs));
  if (!defaults.empty()) add("defaults", ctx.Tuple(defaults));
  add("ir", ctx.Integer(info.ir_version));
  add("opsets", ctx.Tuple(opsets));
  if (!metadata.empty()) add("metadata", ctx.Tuple(metadata));
  if (!functions.empty()) add("functions", ctx.Tuple(functions));
  if (!info.producer_name.empty() || !info.producer_version.empty()) {
    add("producer", ctx.Tuple({ctx.String(info.producer_name), ctx.String(info.producer_version)}));
  }
  text("doc", graph.doc);
  text("model-doc", info.doc);
  text("domain", info.domain);
  if (info.model_version != 0) add("version", ctx.Integer(info.model_version));
  return ctx.Tuple(words);
}

absl::StatusOr<std::unique_ptr<Graph>> TermToGraph(TermCodec& codec, Term t) { return GraphReader(codec, t).Read(); }

}  // namespace retuple
