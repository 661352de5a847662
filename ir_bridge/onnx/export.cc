// Graph → ONNX file.
//
// All constants become initialisers of the main graph, each storage once; a body refers to them, and to its captures,
// by the outer name. Interior values keep their name where they have one; names are made unique over all scopes.
#include <fcntl.h>
#include <onnx/checker.h>
#include <unistd.h>

#include <filesystem>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/onnx/model_io.h"
#include "ir_bridge/onnx/proto_io.h"

namespace retuple {
namespace {

// The checker of libonnx 1.12 knows no later opset and IR.
constexpr int64_t kCheckerOpset = 17;
constexpr int64_t kCheckerIr = 8;

bool SameSpec(const AttrSpec& spec, const AttrValue& v) {
  return spec.default_value.has_value() && AttrEqual(*spec.default_value, v);
}

struct ConstantKey {
  const void* data;
  DType dtype;
  Dims dims;
  std::string name;  // distinguishes constants without elements, which share no storage
  friend bool operator<(const ConstantKey& a, const ConstantKey& b) {
    return std::tie(a.data, a.dtype, a.dims, a.name) < std::tie(b.data, b.dtype, b.dims, b.name);
  }
};

class Exporter {
 public:
  Exporter(const Graph& main, onnx::ModelProto& model) : main_(main), model_(model) {}
  absl::Status Run();

 private:
  absl::Status WriteGraph(const Graph& g, onnx::GraphProto* out, std::vector<std::string> input_names,
                          size_t formals, bool is_main);
  absl::Status WriteNode(const Graph& g, ApplyId a, std::vector<std::string>& names,
                         const std::vector<uint8_t>& used, onnx::GraphProto* out);
  absl::Status WriteAttribute(const Op& op, const std::string& name, const AttrValue& v,
                              const std::vector<std::string>& captures, onnx::NodeProto* node);
  absl::Status WriteBody(const Op& op, const Graph& body, const std::vector<std::string>& captures,
                         onnx::GraphProto* out);
  std::string Unique(const std::string& wanted);
  std::string ConstantName(const Graph& g, VarId v);

  const Graph& main_;
  onnx::ModelProto& model_;
  absl::flat_hash_set<std::string> taken_;
  std::map<std::string, int> next_suffix_;
  std::map<ConstantKey, std::string> constants_;
  std::vector<std::pair<std::string, Tensor>> initializers_;
};

std::string Exporter::Unique(const std::string& wanted) {
  if (!wanted.empty() && taken_.insert(wanted).second) return wanted;
  const std::string base = wanted.empty() ? "t" : wanted + "_";
  int& suffix = next_suffix_[base];
  for (;;) {
    std::string name = absl::StrFormat("%s%d", base, suffix++);
    if (taken_.insert(name).second) return name;
  }
}

std::string Exporter::ConstantName(const Graph& g, VarId v) {
  const Tensor& t = g.constant(v);
  ConstantKey key{t.data(), t.dtype(), t.dims(), t.size() == 0 ? g.var_name(v) : ""};
  auto [it, fresh] = constants_.try_emplace(key);
  if (fresh) {
    it->second = Unique(g.var_name(v).empty() ? "c" : g.var_name(v));
    initializers_.emplace_back(it->second, t);
  }
  return it->second;
}

absl::Status Exporter::WriteBody(const Op& op, const Graph& body, const std::vector<std::string>& captures,
                                 onnx::GraphProto* out) {
  const size_t formals = body.inputs().size() - static_cast<size_t>(op.num_captures);
  if (body.inputs().size() < static_cast<size_t>(op.num_captures)) {
    return absl::InternalError(absl::StrFormat("%s: a body has fewer inputs than captures", op.form()));
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < formals; ++i) names.push_back(Unique(body.var_name(body.inputs()[i])));
  names.insert(names.end(), captures.begin(), captures.end());
  return WriteGraph(body, out, std::move(names), formals, false);
}

absl::Status Exporter::WriteAttribute(const Op& op, const std::string& name, const AttrValue& v,
                                      const std::vector<std::string>& captures, onnx::NodeProto* node) {
  using P = onnx::AttributeProto;
  P* a = node->add_attribute();
  a->set_name(name);
  switch (KindOf(v)) {
    case AttrKind::kInt:
      a->set_type(P::INT);
      a->set_i(std::get<int64_t>(v));
      break;
    case AttrKind::kFloat:
      a->set_type(P::FLOAT);
      a->set_f(std::get<float>(v));
      break;
    case AttrKind::kString:
      a->set_type(P::STRING);
      a->set_s(std::get<std::string>(v));
      break;
    case AttrKind::kTensor:
      a->set_type(P::TENSOR);
      internal::WriteTensor(std::get<Tensor>(v), "", a->mutable_t());
      break;
    case AttrKind::kGraph:
      a->set_type(P::GRAPH);
      return WriteBody(op, *std::get<GraphPtr>(v), captures, a->mutable_g());
    case AttrKind::kType:
      a->set_type(P::TYPE_PROTO);
      internal::WriteType(std::get<Type>(v), a->mutable_tp());
      break;
    case AttrKind::kInts:
      a->set_type(P::INTS);
      for (int64_t i : std::get<Ints>(v)) a->add_ints(i);
      break;
    case AttrKind::kFloats:
      a->set_type(P::FLOATS);
      for (float f : std::get<Floats>(v)) a->add_floats(f);
      break;
    case AttrKind::kStrings:
      a->set_type(P::STRINGS);
      for (const auto& s : std::get<Strings>(v)) a->add_strings(s);
      break;
    case AttrKind::kTensors:
      a->set_type(P::TENSORS);
      for (const auto& t : std::get<std::vector<Tensor>>(v)) internal::WriteTensor(t, "", a->add_tensors());
      break;
    case AttrKind::kGraphs:
      a->set_type(P::GRAPHS);
      for (const auto& g : std::get<std::vector<GraphPtr>>(v)) {
        if (auto s = WriteBody(op, *g, captures, a->add_graphs()); !s.ok()) return s;
      }
      break;
    case AttrKind::kTypes:
      a->set_type(P::TYPE_PROTOS);
      for (const auto& t : std::get<std::vector<Type>>(v)) internal::WriteType(t, a->add_type_protos());
      break;
  }
  return absl::OkStatus();
}

absl::Status Exporter::WriteNode(const Graph& g, ApplyId id, std::vector<std::string>& names,
                                 const std::vector<uint8_t>& used, onnx::GraphProto* out) {
  const Apply& apply = g.apply(id);
  const Op& op = g.op_of(apply);
  const int64_t opset = main_.info.OpsetOf(op.domain);
  if (op.schema != nullptr) {
    const OpSchema* meant = opset < 0 ? nullptr : Registry::Get().Resolve(op.domain, op.name, static_cast<int>(opset));
    if (meant != op.schema) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "operator %s cannot be written in opset %d, where %s means %s", op.form(), opset, op.name,
          meant == nullptr ? std::string("nothing") : meant->form));
    }
  }
  auto name_of = [&](VarId v) -> std::string {
    if (v == kNoVar) return "";
    if (g.var(v).kind == Variable::Kind::kConstant) return ConstantName(g, v);
    return names[v];
  };
  onnx::NodeProto* node = out->add_node();
  node->set_op_type(op.name);
  node->set_domain(op.domain);
  if (!g.apply_name(id).empty()) node->set_name(g.apply_name(id));
  const size_t operands = apply.inputs.size() - static_cast<size_t>(op.num_captures);
  std::vector<std::string> captures;
  for (size_t i = 0; i < apply.inputs.size(); ++i) {
    if (i < operands) {
      node->add_input(name_of(apply.inputs[i]));
    } else {
      captures.push_back(name_of(apply.inputs[i]));
    }
  }
  while (node->input_size() > 0 && node->input(node->input_size() - 1).empty()) node->mutable_input()->RemoveLast();
  // Unused outputs are left out where the operator allows it: trailing ones, and by an empty name.
  int count = op.num_outputs;
  if (op.schema != nullptr && !op.schema->variadic_outputs()) {
    while (count > op.schema->min_outputs && !used[apply.first_output + static_cast<VarId>(count) - 1]) --count;
  }
  for (int i = 0; i < count; ++i) {
    const VarId v = apply.first_output + static_cast<VarId>(i);
    const bool optional = op.schema != nullptr && !op.schema->variadic_outputs() && i >= op.schema->min_outputs;
    if (!used[v] && optional) {
      node->add_output("");
    } else {
      if (names[v].empty()) names[v] = Unique(g.var_name(v));
      node->add_output(names[v]);
    }
  }
  for (const auto& [name, value] : op.attrs) {
    if (op.schema != nullptr) {
      const AttrSpec* spec = op.schema->attr(name);
      if (spec != nullptr && SameSpec(*spec, value)) continue;
    }
    if (auto s = WriteAttribute(op, name, value, captures, node); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Exporter::WriteGraph(const Graph& g, onnx::GraphProto* out, std::vector<std::string> input_names,
                                  size_t formals, bool is_main) {
  out->set_name(g.name.empty() ? (is_main ? "graph" : "body") : g.name);
  if (!g.doc.empty()) out->set_doc_string(g.doc);
  std::vector<std::string> names(g.num_vars());
  for (size_t i = 0; i < g.inputs().size(); ++i) names[g.inputs()[i]] = input_names[i];

  const std::vector<ApplyId> live = g.LiveApplies();
  std::vector<uint8_t> used(g.num_vars(), 0);
  for (ApplyId a : live) {
    for (VarId v : g.apply(a).inputs) {
      if (v != kNoVar) used[v] = 1;
    }
  }
  for (const auto& o : g.outputs()) used[o.var] = 1;

  // An output value takes the output's name, unless it has a name already (an input, or another output): then an
  // Identity makes the second name. An output that is a constant is a Constant node.
  std::vector<std::string> output_names;
  std::vector<std::pair<std::string, VarId>> identities;
  for (const auto& o : g.outputs()) {
    std::string name = is_main ? o.name : "";
    if (!is_main) {
      const bool fresh = g.var(o.var).kind == Variable::Kind::kOutput && names[o.var].empty();
      name = Unique(!o.name.empty() ? o.name : g.var_name(o.var));
      if (fresh) {
        names[o.var] = name;
      } else {
        identities.emplace_back(name, o.var);
      }
    } else if (g.var(o.var).kind == Variable::Kind::kInput && names[o.var] == name) {
      // An input that is itself the output.
    } else if (g.var(o.var).kind == Variable::Kind::kOutput && names[o.var].empty()) {
      names[o.var] = name;
    } else {
      identities.emplace_back(name, o.var);
    }
    output_names.push_back(name);
  }
  // Interior names are fixed before constants and generated names can take them.
  for (ApplyId a : live) {
    const Apply& apply = g.apply(a);
    for (int i = 0; i < g.op_of(apply).num_outputs; ++i) {
      const VarId v = apply.first_output + static_cast<VarId>(i);
      if (used[v] && names[v].empty() && !g.var_name(v).empty()) names[v] = Unique(g.var_name(v));
    }
  }
  for (ApplyId a : live) {
    if (auto s = WriteNode(g, a, names, used, out); !s.ok()) return s;
  }
  for (const auto& [name, v] : identities) {
    onnx::NodeProto* node = out->add_node();
    node->add_output(name);
    if (g.var(v).kind == Variable::Kind::kConstant) {
      node->set_op_type("Constant");
      auto* a = node->add_attribute();
      a->set_name("value");
      a->set_type(onnx::AttributeProto::TENSOR);
      internal::WriteTensor(g.constant(v), "", a->mutable_t());
    } else {
      node->set_op_type("Identity");
      node->add_input(names[v]);
    }
  }

  for (size_t i = 0; i < formals; ++i) {
    const VarId v = g.inputs()[i];
    auto* info = out->add_input();
    info->set_name(input_names[i]);
    if (!g.type(v).is_unknown()) internal::WriteType(g.type(v), info->mutable_type());
    if (auto it = g.defaults().find(v); it != g.defaults().end()) {
      initializers_.emplace_back(input_names[i], it->second);
    }
  }
  for (size_t i = 0; i < g.outputs().size(); ++i) {
    auto* info = out->add_output();
    info->set_name(output_names[i]);
    Type type = g.outputs()[i].type;
    if (type.is_unknown()) type = g.type(g.outputs()[i].var);
    if (type.is_unknown() && g.var(g.outputs()[i].var).kind == Variable::Kind::kConstant) {
      type = g.constant(g.outputs()[i].var).type();
    }
    if (!type.is_unknown()) internal::WriteType(type, info->mutable_type());
  }
  return absl::OkStatus();
}

absl::Status Exporter::Run() {
  const ModelInfo& info = main_.info;
  model_.set_ir_version(info.ir_version);
  for (const auto& o : info.opsets) {
    auto* import = model_.add_opset_import();
    import->set_domain(o.domain);
    import->set_version(o.version);
  }
  if (!info.producer_name.empty()) model_.set_producer_name(info.producer_name);
  if (!info.producer_version.empty()) model_.set_producer_version(info.producer_version);
  if (!info.domain.empty()) model_.set_domain(info.domain);
  if (!info.doc.empty()) model_.set_doc_string(info.doc);
  if (info.model_version != 0) model_.set_model_version(info.model_version);
  for (const auto& [key, value] : info.metadata) {
    auto* p = model_.add_metadata_props();
    p->set_key(key);
    p->set_value(value);
  }
  for (const auto& bytes : info.functions) {
    if (auto s = internal::ParseMessage(bytes, model_.add_functions(), "function"); !s.ok()) return s;
  }
  // The interface's names come first: nothing else may take them.
  std::vector<std::string> inputs;
  for (VarId v : main_.inputs()) {
    inputs.push_back(main_.var_name(v));
    if (main_.var_name(v).empty() || !taken_.insert(main_.var_name(v)).second) {
      return absl::InvalidArgumentError("the graph's inputs have no distinct names");
    }
  }
  std::set<std::string> outputs;
  for (const auto& o : main_.outputs()) {
    if (o.name.empty() || !outputs.insert(o.name).second) {
      return absl::InvalidArgumentError("the graph's outputs have no distinct names");
    }
    taken_.insert(o.name);
  }
  onnx::GraphProto* graph = model_.mutable_graph();
  if (auto s = WriteGraph(main_, graph, inputs, inputs.size(), true); !s.ok()) return s;
  for (const auto& [name, tensor] : initializers_) {
    internal::WriteTensor(tensor, name, graph->add_initializer());
    // Before IR 4 an initialiser has to be listed among the inputs.
    if (info.ir_version < 4) {
      auto* listed = graph->add_input();
      listed->set_name(name);
      internal::WriteType(tensor.type(), listed->mutable_type());
    }
  }
  return absl::OkStatus();
}

absl::Status Check(const onnx::ModelProto& model, const Graph& g) {
  if (g.info.ir_version > kCheckerIr || g.info.OpsetOf("") > kCheckerOpset) return absl::OkStatus();
  try {
    onnx::checker::check_model(model);
  } catch (const std::exception& e) {
    return absl::FailedPreconditionError(absl::StrFormat("the ONNX checker refuses the result: %s", e.what()));
  }
  return absl::OkStatus();
}

// Writes `path` by way of a temporary file in the same folder.
absl::Status WriteAtomically(const std::string& path, const std::function<bool(int)>& write) {
  const std::string temporary = absl::StrFormat("%s.tmp.%d", path, getpid());
  int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return absl::PermissionDeniedError(absl::StrFormat("cannot write %s: %s", path, strerror(errno)));
  bool ok = write(fd) && fsync(fd) == 0;
  std::string why = ok ? "" : strerror(errno);
  ok = close(fd) == 0 && ok;
  if (ok && rename(temporary.c_str(), path.c_str()) != 0) {
    ok = false;
    why = strerror(errno);
  }
  if (!ok) {
    unlink(temporary.c_str());
    return absl::InternalError(absl::StrFormat("cannot write %s: %s", path, why));
  }
  return absl::OkStatus();
}

bool WriteAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// Moves the large initialisers' bytes to `data_name` beside the model; returns what is to be written there.
std::vector<std::pair<int64_t, std::string>> MoveOut(onnx::ModelProto& model, const std::string& data_name) {
  std::vector<std::pair<int64_t, std::string>> chunks;
  int64_t offset = 0;
  for (auto& t : *model.mutable_graph()->mutable_initializer()) {
    if (!t.has_raw_data() || t.raw_data().size() < 1024) continue;
    offset = (offset + 4095) / 4096 * 4096;  // page alignment: a reader may map it
    const int64_t length = static_cast<int64_t>(t.raw_data().size());
    chunks.emplace_back(offset, std::move(*t.mutable_raw_data()));
    t.clear_raw_data();
    t.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [k, v] : {std::pair<std::string, std::string>{"location", data_name},
                               {"offset", std::to_string(offset)},
                               {"length", std::to_string(length)}}) {
      auto* e = t.add_external_data();
      e->set_key(k);
      e->set_value(v);
    }
    offset += length;
  }
  return chunks;
}

}  // namespace

absl::StatusOr<std::string> ExportOnnx(const Graph& g, const ExportOptions& options) {
  onnx::ModelProto model;
  if (auto s = Exporter(g, model).Run(); !s.ok()) return s;
  if (model.ByteSizeLong() > size_t{INT32_MAX}) {
    return absl::ResourceExhaustedError("the model is larger than 2 GB: write it to a file with external data");
  }
  if (options.check) {
    if (auto s = Check(model, g); !s.ok()) return s;
  }
  std::string out;
  if (!model.SerializeToString(&out)) return absl::InternalError("cannot serialise the model");
  return out;
}

absl::Status ExportOnnxFile(const Graph& g, const std::string& path, const ExportOptions& options) {
  onnx::ModelProto model;
  if (auto s = Exporter(g, model).Run(); !s.ok()) return s;
  if (model.ByteSizeLong() >= std::min(options.external_threshold, size_t{INT32_MAX})) {
    const std::string data_name = std::filesystem::path(path).filename().string() + ".data";
    auto chunks = MoveOut(model, data_name);
    auto s = WriteAtomically(path + ".data", [&](int fd) {
      for (const auto& [offset, bytes] : chunks) {
        if (lseek(fd, offset, SEEK_SET) < 0 || !WriteAll(fd, bytes.data(), bytes.size())) return false;
      }
      return true;
    });
    if (!s.ok()) return s;
  } else if (options.check) {
    if (auto s = Check(model, g); !s.ok()) return s;
  }
  std::string bytes;
  if (!model.SerializeToString(&bytes)) return absl::InternalError("cannot serialise the model");
  return WriteAtomically(path, [&](int fd) { return WriteAll(fd, bytes.data(), bytes.size()); });
}

}  // namespace retuple
