#include "ir_bridge/type.h"

#include <algorithm>

namespace retuple {

Type Type::Sequence(Type element) {
  return Type(Kind::kSequence, DType::kUndefined, std::nullopt,
              std::make_shared<const Type>(std::move(element)));
}

Type Type::Optional(Type element) {
  return Type(Kind::kOptional, DType::kUndefined, std::nullopt,
              std::make_shared<const Type>(std::move(element)));
}

bool Type::is_static() const {
  return shape_ &&
         std::all_of(shape_->begin(), shape_->end(), [](const Dim& d) { return d.known(); });
}

std::string ShapeToString(const Shape& s) {
  std::string out = "[";
  for (size_t i = 0; i < s.size(); ++i) {
    if (i > 0) out += ',';
    out += s[i].ToString();
  }
  return out + "]";
}

std::string Type::ToString() const {
  switch (kind_) {
    case Kind::kUnknown:
      return "?";
    case Kind::kTensor: {
      std::string out(DTypeName(dtype_));
      return shape_ ? out + ShapeToString(*shape_) : out;
    }
    case Kind::kSequence:
      return "seq(" + element_->ToString() + ")";
    case Kind::kOptional:
      return "optional(" + element_->ToString() + ")";
  }
  return "?";
}

bool operator==(const Type& a, const Type& b) {
  if (a.kind_ != b.kind_ || a.dtype_ != b.dtype_ || a.shape_ != b.shape_) return false;
  if (a.element_ == b.element_) return true;
  return a.element_ && b.element_ && *a.element_ == *b.element_;
}

}  // namespace retuple
