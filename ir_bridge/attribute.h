// Attributes of an operator: a value of one of ONNX's attribute kinds, and the sorted map from name to value.
#ifndef RETUPLE_IR_BRIDGE_ATTRIBUTE_H_
#define RETUPLE_IR_BRIDGE_ATTRIBUTE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "ir_bridge/tensor.h"
#include "ir_bridge/type.h"

namespace retuple {

class Graph;
using GraphPtr = std::shared_ptr<const Graph>;

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

enum class AttrKind : uint8_t {  // index into AttrValue
  kInt,
  kFloat,
  kString,
  kTensor,
  kGraph,
  kType,
  kInts,
  kFloats,
  kStrings,
  kTensors,
  kGraphs,
  kTypes,
};

using AttrValue =
    std::variant<int64_t, float, std::string, Tensor, GraphPtr, Type, Ints, Floats, Strings,
                 std::vector<Tensor>, std::vector<GraphPtr>, std::vector<Type>>;

inline AttrKind KindOf(const AttrValue& v) { return static_cast<AttrKind>(v.index()); }
std::string_view AttrKindName(AttrKind k);  // "int", "float", "ints", …

// Graphs compare by structure (names of interior values aside), tensors by content, floats by bits.
bool AttrEqual(const AttrValue& a, const AttrValue& b);
uint64_t AttrHash(const AttrValue& v);
std::string AttrToString(const AttrValue& v);

// Sorted by name, so that iteration order is canonical.
using AttrMap = boost::container::flat_map<std::string, AttrValue, std::less<>>;

bool AttrMapEqual(const AttrMap& a, const AttrMap& b);
uint64_t AttrMapHash(const AttrMap& m);

// The attribute `name` of kind T, or null when absent or of another kind.
template <typename T>
const T* FindAttr(const AttrMap& m, std::string_view name) {
  auto it = m.find(name);
  return it == m.end() ? nullptr : std::get_if<T>(&it->second);
}
template <typename T>
T AttrOr(const AttrMap& m, std::string_view name, T fallback) {
  const T* v = FindAttr<T>(m, name);
  return v ? *v : std::move(fallback);
}

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_ATTRIBUTE_H_
