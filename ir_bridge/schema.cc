#include "ir_bridge/schema.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/graph.h"
#include "ir_bridge/infer.h"
#include "ir_bridge/internal/register_schemas.h"

namespace retuple {
namespace {

std::string_view PlainDomain(std::string_view d) { return d == "ai.onnx" ? std::string_view() : d; }

const Type& UnknownType() {
  static const Type* t = new Type;
  return *t;
}

}  // namespace

const AttrSpec* OpSchema::attr(std::string_view attr_name) const {
  auto it = std::lower_bound(attrs.begin(), attrs.end(), attr_name,
                             [](const AttrSpec& a, std::string_view n) { return a.name < n; });
  return it != attrs.end() && it->name == attr_name ? &*it : nullptr;
}

std::string OpaqueForm(std::string_view domain, std::string_view name) {
  domain = PlainDomain(domain);
  return domain.empty() ? std::string(name) : std::string(domain) + "::" + std::string(name);
}

struct Registry::Impl {
  struct Version {
    int since;
    const OpSchema* schema;
  };
  std::vector<std::unique_ptr<OpSchema>> owned;
  std::vector<const OpSchema*> all;
  absl::flat_hash_map<std::string, const OpSchema*> forms;
  // By OpaqueForm(domain, name), ascending.
  absl::flat_hash_map<std::string, std::vector<Version>> versions;
};

Registry::Registry() : impl_(std::make_unique<Impl>()) {}
Registry::~Registry() = default;

const Registry& Registry::Get() {
  static const Registry* registry = [] {
    auto* r = new Registry;
    internal::RegisterAllSchemas(*r);
    return r;
  }();
  return *registry;
}

absl::Status Registry::Add(OpSchema schema) {
  schema.domain = std::string(PlainDomain(schema.domain));
  if (schema.form.empty()) schema.form = OpaqueForm(schema.domain, schema.name);
  if (impl_->forms.contains(schema.form)) {
    return absl::AlreadyExistsError(absl::StrFormat("operator form %s is registered", schema.form));
  }
  std::sort(schema.since.begin(), schema.since.end());
  std::sort(schema.attrs.begin(), schema.attrs.end(),
            [](const AttrSpec& a, const AttrSpec& b) { return a.name < b.name; });
  if (schema.since.empty()) schema.since.push_back(1);
  auto& versions = impl_->versions[OpaqueForm(schema.domain, schema.name)];
  for (int since : schema.since) {
    for (const auto& v : versions) {
      if (v.since == since) {
        return absl::AlreadyExistsError(absl::StrFormat(
            "%s: version %d of the operator is taken by %s", schema.form, since, v.schema->form));
      }
    }
  }
  auto owned = std::make_unique<OpSchema>(std::move(schema));
  const OpSchema* s = owned.get();
  impl_->owned.push_back(std::move(owned));
  impl_->forms[s->form] = s;
  for (int since : s->since) versions.push_back({since, s});
  std::sort(versions.begin(), versions.end(),
            [](const Impl::Version& a, const Impl::Version& b) { return a.since < b.since; });
  auto before = [](const OpSchema* a, const OpSchema* b) {
    return std::tie(a->domain, a->name, a->since.front()) <
           std::tie(b->domain, b->name, b->since.front());
  };
  impl_->all.insert(std::upper_bound(impl_->all.begin(), impl_->all.end(), s, before), s);
  return absl::OkStatus();
}

const OpSchema* Registry::Resolve(std::string_view domain, std::string_view name,
                                  int version) const {
  auto it = impl_->versions.find(OpaqueForm(domain, name));
  if (it == impl_->versions.end()) return nullptr;
  const OpSchema* found = nullptr;
  for (const auto& v : it->second) {
    if (v.since <= version) found = v.schema;
  }
  return found;
}

const OpSchema* Registry::FindForm(std::string_view form) const {
  auto it = impl_->forms.find(std::string(form));
  return it == impl_->forms.end() ? nullptr : it->second;
}

std::span<const OpSchema* const> Registry::All() const { return impl_->all; }

InferContext::InferContext(const Op& op, std::span<const ValueInfo* const> inputs)
    : op_(op), inputs_(inputs), outputs_(static_cast<size_t>(std::max(op.num_outputs, 0))) {}

const AttrMap& InferContext::attrs() const { return op_.attrs; }

const Type& InferContext::type(int i) const {
  const ValueInfo* v = input(i);
  return v ? v->type : UnknownType();
}

const Shape* InferContext::shape(int i) const {
  const Type& t = type(i);
  return t.has_shape() ? &t.shape() : nullptr;
}

const Tensor* InferContext::constant(int i) const {
  const ValueInfo* v = input(i);
  return v ? v->constant : nullptr;
}

std::optional<std::vector<Dim>> InferContext::elements(int i) const {
  const ValueInfo* v = input(i);
  if (v == nullptr) return std::nullopt;
  if (v->elements) return v->elements;
  return v->constant ? ElementsOf(*v->constant) : std::nullopt;
}

std::optional<std::vector<int64_t>> InferContext::ints(int i) const {
  const auto dims = elements(i);
  if (!dims) return std::nullopt;
  std::vector<int64_t> out;
  out.reserve(dims->size());
  for (const Dim& d : *dims) {
    if (!d.known()) return std::nullopt;
    out.push_back(d.value());
  }
  return out;
}

void InferContext::set_type(int i, Type t) {
  if (i < num_outputs()) outputs_[static_cast<size_t>(i)].type = std::move(t);
}

void InferContext::set_elements(int i, std::vector<Dim> e) {
  if (i < num_outputs()) outputs_[static_cast<size_t>(i)].elements = std::move(e);
}

absl::StatusOr<std::vector<ValueInfo>> InferContext::InferSubgraph(
    std::string_view name, std::span<const ValueInfo* const> inputs) {
  const GraphPtr* body = FindAttr<GraphPtr>(op_.attrs, name);
  if (body == nullptr || *body == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: subgraph attribute '%s' is missing", op_.form(), std::string(name)));
  }
  return InferBody(**body, inputs);
}

}  // namespace retuple
