#include "ir_bridge/tensor_object.h"

#include <charconv>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace retuple {
namespace {

constexpr int64_t kReadable = 16;

// Types whose elements print as numbers and read back exactly.
bool PrintsAsNumbers(DType t) {
  return t == DType::kF32 || t == DType::kF64 || (IsInteger(t) && t != DType::kU64 && t != DType::kU4 && t != DType::kI4) ||
         t == DType::kBool;
}

template <typename T>
void Append(std::string& out, T v) {
  char buffer[40];
  auto r = std::to_chars(buffer, buffer + sizeof buffer, v);
  out += ' ';
  out.append(buffer, r.ptr);
}

std::string PackStrings(const Tensor& t) {
  std::string bytes;
  for (const std::string& s : t.strings()) {
    const uint64_t n = s.size();
    bytes.append(reinterpret_cast<const char*>(&n), 8);
    bytes += s;
  }
  return bytes;
}

absl::Status Bad(std::string_view text, const char* what) {
  return absl::InvalidArgumentError(absl::StrFormat("tensor #<%s…: %s", std::string(text.substr(0, 40)), what));
}

}  // namespace

TensorObject::TensorObject(Tensor t) : tensor_(std::move(t)), hash_(tensor_.ContentHash()) {
  if (tensor_.dtype() != DType::kString && !IsComplex(tensor_.dtype())) uniform_ = tensor_.UniformValue();
}

bool TensorObject::Equals(const Object& o) const {
  const auto* other = dynamic_cast<const TensorObject*>(&o);
  return other != nullptr && other->hash_ == hash_ && other->tensor_ == tensor_;
}

std::string TensorObject::ToString(bool brief) const {
  std::string out(DTypeName(tensor_.dtype()));
  out += '[';
  for (int i = 0; i < tensor_.rank(); ++i) out += (i ? "," : "") + std::to_string(tensor_.dim(i));
  out += ']';
  if (tensor_.size() <= kReadable && PrintsAsNumbers(tensor_.dtype())) {
    for (int64_t i = 0; i < tensor_.size(); ++i) {
      if (tensor_.dtype() == DType::kF32) {
        Append(out, tensor_.data<float>()[i]);
      } else if (tensor_.dtype() == DType::kF64) {
        Append(out, tensor_.data<double>()[i]);
      } else {
        Append(out, tensor_.IntAt(i));
      }
    }
    return out;
  }
  if (brief) return out;
  std::string encoded;
  if (tensor_.dtype() == DType::kString) {
    encoded = absl::Base64Escape(PackStrings(tensor_));
  } else {
    encoded = absl::Base64Escape(absl::string_view(tensor_.data<char>(), tensor_.bytes()));
  }
  return out + " base64:" + encoded;
}

absl::StatusOr<ObjectPtr> ReadTensorObject(std::string_view text) {
  const size_t open = text.find('['), close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return Bad(text, "expected dtype[dims]");
  }
  auto dtype = ParseDType(text.substr(0, open));
  if (!dtype) return Bad(text, "unknown element type");
  Dims dims;
  std::string_view inside = text.substr(open + 1, close - open - 1);
  if (!inside.empty()) {
    for (absl::string_view part : absl::StrSplit(absl::string_view(inside.data(), inside.size()), ',')) {
      int64_t d;
      if (!absl::SimpleAtoi(part, &d) || d < 0) return Bad(text, "a dimension is not a natural number");
      dims.push_back(d);
    }
  }
  auto count = CheckedNumElements(dims);
  if (!count || *count > (int64_t{1} << 40)) return Bad(text, "too many elements");
  std::string_view rest = text.substr(close + 1);
  constexpr std::string_view kBase64 = " base64:";
  if (rest.substr(0, kBase64.size()) == kBase64) {
    rest.remove_prefix(kBase64.size());
    std::string bytes;
    if (!absl::Base64Unescape(absl::string_view(rest.data(), rest.size()), &bytes)) return Bad(text, "bad base64");
    if (*dtype == DType::kString) {
      if (*count > static_cast<int64_t>(bytes.size() / 8)) return Bad(text, "too few strings");
      Tensor t(*dtype, dims);
      size_t at = 0;
      for (int64_t i = 0; i < *count; ++i) {
        uint64_t n;
        if (bytes.size() - at < 8) return Bad(text, "strings end early");
        std::memcpy(&n, bytes.data() + at, 8);
        at += 8;
        if (n > bytes.size() - at) return Bad(text, "strings end early");
        t.mutable_data<std::string>()[i] = bytes.substr(at, n);
        at += n;
      }
      return ObjectPtr(std::make_shared<TensorObject>(std::move(t)));
    }
    if (bytes.size() != static_cast<size_t>(*count) * DTypeSize(*dtype)) return Bad(text, "data of the wrong length");
    Tensor t(*dtype, dims);
    if (!bytes.empty()) std::memcpy(t.mutable_data(), bytes.data(), bytes.size());
    return ObjectPtr(std::make_shared<TensorObject>(std::move(t)));
  }
  if (*count > kReadable || !PrintsAsNumbers(*dtype)) return Bad(text, "expected base64 data");
  Tensor t(*dtype, dims);
  int64_t i = 0;
  while (!rest.empty()) {
    if (rest[0] != ' ') return Bad(text, "expected a space");
    rest.remove_prefix(1);
    std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    if (i == *count) return Bad(text, "too many elements");
    auto parse = [&](auto& v) {
      auto [end, ec] = std::from_chars(word.data(), word.data() + word.size(), v);
      return ec == std::errc() && end == word.data() + word.size();
    };
    bool ok = false;
    switch (*dtype) {
      case DType::kF32:
        ok = parse(t.mutable_data<float>()[i]);
        break;
      case DType::kF64:
        ok = parse(t.mutable_data<double>()[i]);
        break;
      case DType::kI64:
        ok = parse(t.mutable_data<int64_t>()[i]);
        break;
      case DType::kI32:
        ok = parse(t.mutable_data<int32_t>()[i]);
        break;
      case DType::kU32:
        ok = parse(t.mutable_data<uint32_t>()[i]);
        break;
      case DType::kI16:
        ok = parse(t.mutable_data<int16_t>()[i]);
        break;
      case DType::kU16:
        ok = parse(t.mutable_data<uint16_t>()[i]);
        break;
      case DType::kI8:
        ok = parse(t.mutable_data<int8_t>()[i]);
        break;
      case DType::kU8:
        ok = parse(t.mutable_data<uint8_t>()[i]);
        break;
      default: {
        int v = 0;
        ok = parse(v) && (v == 0 || v == 1);
        t.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(v);
      }
    }
    if (!ok) return Bad(text, "an element is no number of its type");
    ++i;
  }
  if (i != *count) return Bad(text, "too few elements");
  return ObjectPtr(std::make_shared<TensorObject>(std::move(t)));
}

Term TensorTerm(Context& ctx, Tensor t) { return ctx.Obj(std::make_shared<TensorObject>(std::move(t))); }

const Tensor* TensorOf(const Context& ctx, Term t) {
  if (ctx.kind(t) != Kind::kObject) return nullptr;
  const auto* o = dynamic_cast<const TensorObject*>(ctx.ObjectValue(t).get());
  return o == nullptr ? nullptr : &o->tensor();
}

}  // namespace retuple
