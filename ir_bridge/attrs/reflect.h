// Attribute structs: plain structs whose members are the attributes of an operator form, adapted to
// Boost.Hana.
//
// A member is of an alternative of AttrValue (its initialiser is the schema's default), a
// std::optional of one (no default), or a Required of one. From that one definition follow the
// schema's attribute list, conversion from and to an AttrMap, equality, hash and text:
//
//   struct LrnAttrs { float alpha = 1e-4f; Required<int64_t> size; };
//   BOOST_HANA_ADAPT_STRUCT(retuple::attrs::LrnAttrs, alpha, size);      // at global scope
//   auto a = ReadAttrs<LrnAttrs>(op.attrs);                              // a->size, a->alpha
//
// Hana is costly to compile: include this where attributes are declared or read, never from a core
// header.
#ifndef RETUPLE_IR_BRIDGE_ATTRS_REFLECT_H_
#define RETUPLE_IR_BRIDGE_ATTRS_REFLECT_H_

#include <algorithm>
#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/attribute.h"
#include "ir_bridge/internal/attr_value.h"
#include "ir_bridge/schema.h"

namespace retuple {

// An attribute that every application must give.
template <typename T>
struct Required {
  T value{};
  operator const T&() const { return value; }
};

namespace internal {

template <typename T>
struct Member {  // a plain value with a default
  using Value = T;
  static constexpr bool kRequired = false;
  static std::optional<AttrValue> Default(const T& v) { return AttrValue(v); }
  static const T* Get(const T& m) { return &m; }
};
template <typename T>
struct Member<std::optional<T>> {
  using Value = T;
  static constexpr bool kRequired = false;
  static std::optional<AttrValue> Default(const std::optional<T>&) { return std::nullopt; }
  static const T* Get(const std::optional<T>& m) { return m ? &*m : nullptr; }
};
template <typename T>
struct Member<Required<T>> {
  using Value = T;
  static constexpr bool kRequired = true;
  static std::optional<AttrValue> Default(const Required<T>&) { return std::nullopt; }
  static const T* Get(const Required<T>& m) { return &m.value; }
};

template <typename T, size_t I = 0>
constexpr AttrKind KindOfType() {
  if constexpr (std::is_same_v<std::variant_alternative_t<I, AttrValue>, T>) {
    return static_cast<AttrKind>(I);
  } else {
    return KindOfType<T, I + 1>();
  }
}

// Calls f(name, member) for every member of a struct S or const S, in order of declaration.
template <typename S, typename F>
void ForEachMember(S& s, F f) {
  namespace hana = boost::hana;
  hana::for_each(hana::accessors<std::remove_const_t<S>>(), [&](const auto& pair) {
    f(hana::to<const char*>(hana::first(pair)), hana::second(pair)(s));
  });
}

template <typename M>
using MemberOf = Member<std::remove_cv_t<std::remove_reference_t<M>>>;

}  // namespace internal

// The schema's attribute list of S, sorted by name.
template <typename S>
std::vector<AttrSpec> AttrSpecsOf() {
  std::vector<AttrSpec> specs;
  const S defaults{};
  internal::ForEachMember(defaults, [&](const char* name, const auto& member) {
    using M = internal::MemberOf<decltype(member)>;
    specs.push_back(
        {name, internal::KindOfType<typename M::Value>(), M::Default(member), M::kRequired});
  });
  std::sort(specs.begin(), specs.end(),
            [](const AttrSpec& a, const AttrSpec& b) { return a.name < b.name; });
  return specs;
}

// The struct that the map describes; absent attributes have their defaults. InvalidArgument on an
// unknown name, a wrong kind, or a required attribute that is missing.
template <typename S>
absl::StatusOr<S> ReadAttrs(const AttrMap& map) {
  S s{};
  absl::Status status;
  size_t used = 0;
  internal::ForEachMember(std::as_const(s), [&](const char* name, const auto& member) {
    using M = internal::MemberOf<decltype(member)>;
    using Stored = std::remove_cv_t<std::remove_reference_t<decltype(member)>>;
    auto it = map.find(std::string_view(name));
    if (it == map.end()) {
      if (M::kRequired && status.ok()) {
        status =
            absl::InvalidArgumentError(absl::StrFormat("required attribute '%s' is missing", name));
      }
      return;
    }
    ++used;
    if (const auto* value = std::get_if<typename M::Value>(&it->second)) {
      const_cast<Stored&>(member) =
          Stored{*value};  // s is ours; accessors of a const object are const
    } else if (status.ok()) {
      status = absl::InvalidArgumentError(absl::StrFormat(
          "attribute '%s' is of kind %s", name, std::string(AttrKindName(KindOf(it->second)))));
    }
  });
  if (!status.ok()) return status;
  if (used != map.size()) {
    for (const auto& entry : map) {
      const std::string& name = entry.first;  // clang 14 cannot capture a structured binding
      bool known = false;
      internal::ForEachMember(std::as_const(s),
                              [&](const char* n, const auto&) { known |= name == n; });
      if (!known) {
        return absl::InvalidArgumentError(absl::StrFormat("unknown attribute '%s'", name));
      }
    }
  }
  return s;
}

template <typename S>
AttrMap WriteAttrs(const S& s) {
  AttrMap map;
  internal::ForEachMember(s, [&](const char* name, const auto& member) {
    if (const auto* value = internal::MemberOf<decltype(member)>::Get(member))
      map.emplace(name, *value);
  });
  return map;
}

template <typename S>
bool AttrsEqual(const S& a, const S& b) {
  return AttrMapEqual(WriteAttrs(a), WriteAttrs(b));
}

template <typename S>
uint64_t AttrsHash(const S& s) {
  uint64_t h = 0;
  internal::ForEachMember(s, [&](const char* name, const auto& member) {
    const auto* value = internal::MemberOf<decltype(member)>::Get(member);
    h = internal::HashCombine(h, value ? internal::HashValue(*value) : 0);
  });
  return h;
}

// ":alpha 0.1 :size 5", in order of declaration, absent attributes left out.
template <typename S>
std::string AttrsToString(const S& s) {
  std::string out;
  internal::ForEachMember(s, [&](const char* name, const auto& member) {
    const auto* value = internal::MemberOf<decltype(member)>::Get(member);
    if (value == nullptr) return;
    if (!out.empty()) out += ' ';
    out += ':';
    out += name;
    out += ' ';
    out += internal::ValueToString(*value);
  });
  return out;
}

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_ATTRS_REFLECT_H_
