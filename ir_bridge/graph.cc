#include "ir_bridge/graph.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/internal/hash.h"
#include "ir_bridge/internal/structure.h"

namespace retuple {
namespace {

const std::string& EmptyString() {
  static const std::string* s = new std::string;
  return *s;
}
const Type& UnknownType() {
  static const Type* t = new Type;
  return *t;
}

template <typename T>
void SetAt(std::vector<T>& v, size_t i, T value) {
  if (v.size() <= i) v.resize(i + 1);
  v[i] = std::move(value);
}

// Calls f(body) for every subgraph that the op carries.
template <typename F>
void ForEachBody(const Op& op, F f) {
  for (const auto& [name, value] : op.attrs) {
    if (const auto* g = std::get_if<GraphPtr>(&value)) {
      if (*g) f(**g);
    } else if (const auto* list = std::get_if<std::vector<GraphPtr>>(&value)) {
      for (const GraphPtr& g : *list) {
        if (g) f(*g);
      }
    }
  }
}

// The strongest effect of an op or of what its bodies do.
Effect EffectOf(const OpSchema& schema, const Op& op) {
  Effect effect = schema.effect;
  ForEachBody(op, [&](const Graph& body) {
    for (ApplyId a : body.LiveApplies())
      effect = std::max(effect, body.op_of(body.apply(a)).effect);
  });
  return effect;
}

size_t CountNodesMemo(const Graph& g, absl::flat_hash_map<const Graph*, size_t>& memo) {
  if (auto it = memo.find(&g); it != memo.end()) return it->second;
  size_t n = 0;
  for (ApplyId a : g.LiveApplies()) {
    ++n;
    ForEachBody(g.op_of(g.apply(a)), [&](const Graph& body) { n += CountNodesMemo(body, memo); });
  }
  memo[&g] = n;
  return n;
}

// Bodies repeat the constants of the outer graph in the same storage: each storage counts once.
size_t CountParametersOnce(const Graph& g, absl::flat_hash_set<const void*>& seen) {
  size_t n = 0;
  auto visit = [&](VarId v) {
    if (v == kNoVar || g.var(v).kind != Variable::Kind::kConstant) return;
    const Tensor& t = g.constant(v);
    if (seen.insert(t.data()).second) n += static_cast<size_t>(t.size());
  };
  absl::flat_hash_set<const void*> bodies;
  for (ApplyId a : g.LiveApplies()) {
    const Apply& apply = g.apply(a);
    for (VarId v : apply.inputs) visit(v);
    ForEachBody(g.op_of(apply), [&](const Graph& body) {
      if (seen.insert(&body).second) n += CountParametersOnce(body, seen);
    });
  }
  for (const GraphOutput& o : g.outputs()) visit(o.var);
  return n;
}

}  // namespace

std::string Op::form() const { return schema ? schema->form : OpaqueForm(domain, name); }

bool operator==(const Op& a, const Op& b) {
  return a.schema == b.schema && a.identity == b.identity && a.num_outputs == b.num_outputs &&
         a.num_captures == b.num_captures && a.effect == b.effect && a.name == b.name &&
         a.domain == b.domain && AttrMapEqual(a.attrs, b.attrs);
}

uint64_t Op::Hash() const {
  uint64_t h = internal::HashString(
      schema ? std::string_view(schema->form) : std::string_view(name), schema ? 1 : 2);
  h = internal::HashCombine(
      h, static_cast<uint64_t>(num_outputs) << 32 | static_cast<uint32_t>(num_captures));
  if (identity != 0) h = internal::HashCombine(h, identity);
  return attrs.empty() ? h : internal::HashCombine(h, AttrMapHash(attrs));
}

absl::StatusOr<Op> MakeOp(const OpSchema& schema, AttrMap attrs, int num_outputs) {
  for (const auto& [name, value] : attrs) {
    const AttrSpec* spec = schema.attr(name);
    if (spec == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: unknown attribute '%s'", schema.form, name));
    }
    if (KindOf(value) != spec->kind) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: attribute '%s' is of kind %s, expected %s", schema.form, name,
          std::string(AttrKindName(KindOf(value))), std::string(AttrKindName(spec->kind))));
    }
  }
  if (schema.variadic_outputs() && num_outputs < 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: negative number of outputs %d", schema.form, num_outputs));
  }
  for (const AttrSpec& spec : schema.attrs) {
    if (attrs.contains(spec.name)) continue;
    if (spec.default_value) {
      attrs.emplace(spec.name, *spec.default_value);
    } else if (spec.required) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: required attribute '%s' is missing", schema.form, spec.name));
    }
  }
  Op op;
  op.schema = &schema;
  op.domain = schema.domain;
  op.name = schema.name;
  op.attrs = std::move(attrs);
  op.num_outputs = schema.variadic_outputs() ? num_outputs : schema.max_outputs;
  op.effect = EffectOf(schema, op);
  return op;
}

Op MakeOpaqueOp(std::string domain, std::string name, AttrMap attrs, int num_outputs) {
  Op op;
  op.domain = std::move(domain);
  op.name = std::move(name);
  op.attrs = std::move(attrs);
  op.num_outputs = std::max(num_outputs, 0);
  return op;
}

int64_t ModelInfo::OpsetOf(std::string_view onnx_domain) const {
  auto plain = [](std::string_view d) { return d == "ai.onnx" ? std::string_view() : d; };
  for (const OpsetImport& o : opsets) {
    if (plain(o.domain) == plain(onnx_domain)) return o.version;
  }
  return -1;
}

void Graph::Reserve(size_t applies, size_t vars) {
  applies_.reserve(applies_.size() + applies);
  vars_.reserve(vars_.size() + vars);
}

VarId Graph::AddInput(std::string input_name, Type type) {
  const auto v = static_cast<VarId>(vars_.size());
  vars_.push_back({Variable::Kind::kInput, kNoApply, static_cast<uint32_t>(inputs_.size())});
  inputs_.push_back(v);
  if (!input_name.empty()) set_var_name(v, std::move(input_name));
  if (!type.is_unknown()) set_type(v, std::move(type));
  return v;
}

VarId Graph::AddConstant(Tensor value, std::string constant_name) {
  const auto v = static_cast<VarId>(vars_.size());
  vars_.push_back({Variable::Kind::kConstant, kNoApply, static_cast<uint32_t>(constants_.size())});
  set_type(v, value.type());
  constants_.push_back(std::move(value));
  if (!constant_name.empty()) set_var_name(v, std::move(constant_name));
  return v;
}

OpId Graph::InternOp(Op op) {
  const uint64_t hash = op.Hash();
  if (op_table_.size() < 2 * (ops_.size() + 1)) {
    op_table_.assign(std::max<size_t>(16, 4 * (ops_.size() + 1)), kNoOp);
    // A power of two, so that the mask below reaches every slot.
    size_t size = 16;
    while (size < op_table_.size()) size *= 2;
    op_table_.assign(size, kNoOp);
    for (OpId o = 0; o < ops_.size(); ++o) {
      size_t i = op_hashes_[o] & (size - 1);
      while (op_table_[i] != kNoOp) i = (i + 1) & (size - 1);
      op_table_[i] = o;
    }
  }
  const size_t mask = op_table_.size() - 1;
  size_t i = hash & mask;
  for (; op_table_[i] != kNoOp; i = (i + 1) & mask) {
    const OpId o = op_table_[i];
    if (op_hashes_[o] == hash && *ops_[o] == op) return o;
  }
  const auto id = static_cast<OpId>(ops_.size());
  ops_.push_back(std::make_shared<const Op>(std::move(op)));
  op_hashes_.push_back(hash);
  op_table_[i] = id;
  return id;
}

ApplyId Graph::AddApply(OpId op, std::span<const VarId> inputs, std::string apply_name) {
  const auto id = static_cast<ApplyId>(applies_.size());
  while (!inputs.empty() && inputs.back() == kNoVar) inputs = inputs.first(inputs.size() - 1);
  const auto first = static_cast<VarId>(vars_.size());
  applies_.push_back({op, first, {inputs.begin(), inputs.end()}});
  const auto n = static_cast<uint32_t>(ops_[op]->num_outputs);
  for (uint32_t i = 0; i < n; ++i) vars_.push_back({Variable::Kind::kOutput, id, i});
  if (!apply_name.empty()) set_apply_name(id, std::move(apply_name));
  return id;
}

void Graph::AddOutput(std::string output_name, VarId v, Type type) {
  outputs_.push_back({std::move(output_name), v, std::move(type)});
}

void Graph::set_var_name(VarId v, std::string n) { SetAt(var_names_, v, std::move(n)); }
void Graph::set_type(VarId v, Type t) { SetAt(types_, v, std::move(t)); }
void Graph::set_apply_name(ApplyId a, std::string n) { SetAt(apply_names_, a, std::move(n)); }

const std::string& Graph::var_name(VarId v) const {
  return v < var_names_.size() ? var_names_[v] : EmptyString();
}
const std::string& Graph::apply_name(ApplyId a) const {
  return a < apply_names_.size() ? apply_names_[a] : EmptyString();
}
const Type& Graph::type(VarId v) const { return v < types_.size() ? types_[v] : UnknownType(); }

void Graph::Redirect(std::span<const VarId> first) {
  for (Apply& a : applies_) {
    for (VarId& v : a.inputs) {
      if (v != kNoVar) v = first[v];
    }
  }
  for (GraphOutput& o : outputs_) {
    if (o.var != kNoVar) o.var = first[o.var];
  }
}

std::vector<ApplyId> Graph::LiveApplies() const {
  std::vector<bool> needed(applies_.size());
  auto need = [&](VarId v) {
    if (v != kNoVar && vars_[v].kind == Variable::Kind::kOutput) needed[vars_[v].producer] = true;
  };
  for (const GraphOutput& o : outputs_) need(o.var);
  std::vector<ApplyId> live;
  for (size_t a = applies_.size(); a-- > 0;) {
    if (!needed[a]) continue;
    live.push_back(static_cast<ApplyId>(a));
    for (VarId v : applies_[a].inputs) need(v);
  }
  std::reverse(live.begin(), live.end());
  return live;
}

size_t Graph::CountNodes() const {
  absl::flat_hash_map<const Graph*, size_t> memo;
  return CountNodesMemo(*this, memo);
}

size_t Graph::CountParameters() const {
  absl::flat_hash_set<const void*> seen;
  return CountParametersOnce(*this, seen);
}

bool StructurallyEqual(const Graph& a, const Graph& b) {
  return internal::GraphsEqual(a, b, internal::NamesMatter::kYes);
}

uint64_t Graph::StructuralHash() const {
  return internal::HashGraph(*this, internal::NamesMatter::kYes);
}

}  // namespace retuple
