#include "ir_bridge/attribute.h"

#include <bit>

#include "absl/strings/str_format.h"
#include "ir_bridge/graph.h"
#include "ir_bridge/internal/attr_value.h"
#include "ir_bridge/internal/hash.h"
#include "ir_bridge/internal/structure.h"

namespace retuple {
namespace internal {

bool SameValue(int64_t a, int64_t b) { return a == b; }
bool SameValue(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}
bool SameValue(const std::string& a, const std::string& b) { return a == b; }
bool SameValue(const Tensor& a, const Tensor& b) { return a == b; }
bool SameValue(const GraphPtr& a, const GraphPtr& b) {
  return a == b || (a && b && GraphsEqual(*a, *b, NamesMatter::kNo));
}
bool SameValue(const Type& a, const Type& b) { return a == b; }

uint64_t HashValue(int64_t v) { return HashCombine(1, static_cast<uint64_t>(v)); }
uint64_t HashValue(float v) { return HashCombine(2, std::bit_cast<uint32_t>(v)); }
uint64_t HashValue(const std::string& v) { return HashString(v, 3); }
uint64_t HashValue(const Tensor& v) { return v.ContentHash(); }
uint64_t HashValue(const GraphPtr& v) { return v ? HashGraph(*v, NamesMatter::kNo) : 4; }
uint64_t HashValue(const Type& v) {  // symbols aside: they need not have stable numbers
  uint64_t h = HashCombine(static_cast<uint64_t>(v.kind()), static_cast<uint64_t>(v.dtype()));
  if (v.has_shape()) {
    for (const Dim& d : v.shape()) {
      h = HashCombine(h, d.known() ? static_cast<uint64_t>(d.value()) : ~uint64_t{0});
    }
  }
  if (v.kind() == Type::Kind::kSequence || v.kind() == Type::Kind::kOptional) {
    h = HashCombine(h, HashValue(v.element()));
  }
  return h;
}

std::string ValueToString(int64_t v) { return std::to_string(v); }
std::string ValueToString(float v) {
  for (int precision = 6; precision < 9; ++precision) {  // the shortest text that reads back
    std::string s = absl::StrFormat("%.*g", precision, v);
    if (std::strtof(s.c_str(), nullptr) == v) return s;
  }
  return absl::StrFormat("%.9g", v);
}
std::string ValueToString(const std::string& v) { return "\"" + v + "\""; }
std::string ValueToString(const Tensor& v) { return v.ToString(); }
std::string ValueToString(const GraphPtr& v) {
  return v ? absl::StrFormat("graph(%d nodes)", v->CountNodes()) : "graph()";
}
std::string ValueToString(const Type& v) { return v.ToString(); }

}  // namespace internal

std::string_view AttrKindName(AttrKind k) {
  static constexpr std::string_view kNames[] = {"int",     "float",   "string", "tensor",
                                                "graph",   "type",    "ints",   "floats",
                                                "strings", "tensors", "graphs", "types"};
  return kNames[static_cast<size_t>(k)];
}

bool AttrEqual(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) { return internal::SameValue(x, std::get<std::decay_t<decltype(x)>>(b)); },
      a);
}

uint64_t AttrHash(const AttrValue& v) {
  return std::visit(
      [&](const auto& x) { return internal::HashCombine(v.index(), internal::HashValue(x)); }, v);
}

std::string AttrToString(const AttrValue& v) {
  return std::visit([](const auto& x) { return internal::ValueToString(x); }, v);
}

bool AttrMapEqual(const AttrMap& a, const AttrMap& b) {
  if (a.size() != b.size()) return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (i->first != j->first || !AttrEqual(i->second, j->second)) return false;
  }
  return true;
}

uint64_t AttrMapHash(const AttrMap& m) {
  uint64_t h = m.size();
  for (const auto& [name, value] : m) {
    h = internal::HashCombine(internal::HashString(name, h), AttrHash(value));
  }
  return h;
}

}  // namespace retuple
