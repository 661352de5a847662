// Equality, hash and text of each alternative of AttrValue; AttrEqual and friends, and the
// reflection of attribute structs (internal/attr_struct.h), are built on these.
#ifndef RETUPLE_IR_BRIDGE_INTERNAL_ATTR_VALUE_H_
#define RETUPLE_IR_BRIDGE_INTERNAL_ATTR_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir_bridge/attribute.h"
#include "ir_bridge/internal/hash.h"

namespace retuple::internal {

bool SameValue(int64_t a, int64_t b);
bool SameValue(float a, float b);  // by bits
bool SameValue(const std::string& a, const std::string& b);
bool SameValue(const Tensor& a, const Tensor& b);
bool SameValue(const GraphPtr& a, const GraphPtr& b);
bool SameValue(const Type& a, const Type& b);
template <typename T>
bool SameValue(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameValue(a[i], b[i])) return false;
  }
  return true;
}
template <typename T>
bool SameValue(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || SameValue(*a, *b));
}

uint64_t HashValue(int64_t v);
uint64_t HashValue(float v);
uint64_t HashValue(const std::string& v);
uint64_t HashValue(const Tensor& v);
uint64_t HashValue(const GraphPtr& v);
uint64_t HashValue(const Type& v);
template <typename T>
uint64_t HashValue(const std::vector<T>& v) {
  uint64_t h = v.size();
  for (const T& x : v) h = HashCombine(h, HashValue(x));
  return h;
}
template <typename T>
uint64_t HashValue(const std::optional<T>& v) {
  return v ? HashValue(*v) : 0x5eed;
}

std::string ValueToString(int64_t v);
std::string ValueToString(float v);
std::string ValueToString(const std::string& v);
std::string ValueToString(const Tensor& v);
std::string ValueToString(const GraphPtr& v);
std::string ValueToString(const Type& v);
template <typename T>
std::string ValueToString(const std::vector<T>& v) {
  std::string out = "(";
  for (size_t i = 0; i < v.size(); ++i) {
    if (i > 0) out += ' ';
    out += ValueToString(v[i]);
  }
  return out + ")";
}

}  // namespace retuple::internal

#endif  // RETUPLE_IR_BRIDGE_INTERNAL_ATTR_VALUE_H_
