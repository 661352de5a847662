#include "tools/npy.h"

#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace retuple {
namespace {

struct Code {
  DType dtype;
  const char* text;
};
constexpr Code kCodes[] = {{DType::kF32, "<f4"}, {DType::kF64, "<f8"}, {DType::kF16, "<f2"}, {DType::kI8, "|i1"}, {DType::kU8, "|u1"},
                           {DType::kI16, "<i2"}, {DType::kU16, "<u2"}, {DType::kI32, "<i4"}, {DType::kU32, "<u4"}, {DType::kI64, "<i8"},
                           {DType::kU64, "<u8"}, {DType::kBool, "|b1"}, {DType::kC64, "<c8"}, {DType::kC128, "<c16"}};

absl::Status Bad(const char* what) { return absl::InvalidArgumentError(absl::StrFormat(".npy file: %s", what)); }

// The text after `'key':` in the header's dictionary.
std::string_view Field(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size());
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return {};
  rest.remove_prefix(colon + 1);
  while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  return rest;
}

}  // namespace

absl::StatusOr<Tensor> ReadNpy(std::string_view b) {
  if (b.size() < 12 || b.substr(0, 6) != std::string_view("\x93NUMPY", 6)) return Bad("it does not begin with the magic string");
  const int major = static_cast<unsigned char>(b[6]);
  size_t length = 0, start = 0;
  if (major == 1) {
    length = static_cast<unsigned char>(b[8]) | static_cast<size_t>(static_cast<unsigned char>(b[9])) << 8;
    start = 10;
  } else if (major == 2 || major == 3) {
    uint32_t n;
    std::memcpy(&n, b.data() + 8, 4);
    length = n;
    start = 12;
  } else {
    return Bad("unknown format version");
  }
  if (length > b.size() - start) return Bad("it ends inside the header");
  const std::string_view header = b.substr(start, length);
  const std::string_view data = b.substr(start + length);
  std::string_view descr = Field(header, "'descr'");
  if (descr.size() < 4 || descr[0] != '\'') return Bad("no element type");
  descr = descr.substr(1, descr.find('\'', 1) - 1);
  DType dtype = DType::kUndefined;
  for (const Code& c : kCodes) {
    if (descr == c.text) dtype = c.dtype;
  }
  if (dtype == DType::kUndefined) return absl::InvalidArgumentError(absl::StrFormat(".npy file: element type %s is not supported", std::string(descr)));
  if (Field(header, "'fortran_order'").substr(0, 5) != "False") return Bad("Fortran order is not supported");
  std::string_view shape = Field(header, "'shape'");
  const size_t close = shape.find(')');
  if (shape.empty() || shape[0] != '(' || close == std::string_view::npos) return Bad("no shape");
  shape = shape.substr(1, close - 1);
  Dims dims;
  while (!shape.empty()) {
    std::string word(shape.substr(0, shape.find(',')));
    shape.remove_prefix(std::min(shape.size(), word.size() + 1));
    if (word.find_first_not_of(' ') == std::string::npos) continue;
    int64_t d;
    if (!absl::SimpleAtoi(word, &d) || d < 0) return Bad("a dimension is not a natural number");
    dims.push_back(d);
  }
  auto n = CheckedNumElements(dims);
  if (!n || *n > (int64_t{1} << 40) || data.size() != static_cast<size_t>(*n) * DTypeSize(dtype)) return Bad("data and shape do not fit together");
  Tensor t(dtype, dims);
  if (!data.empty()) std::memcpy(t.mutable_data(), data.data(), data.size());
  return t;
}

absl::StatusOr<std::string> WriteNpy(const Tensor& t) {
  const char* code = nullptr;
  for (const Code& c : kCodes) {
    if (c.dtype == t.dtype()) code = c.text;
  }
  if (code == nullptr) {
    return absl::UnimplementedError(absl::StrFormat("NumPy has no element type %s", std::string(DTypeName(t.dtype()))));
  }
  std::string shape;
  for (int64_t d : t.dims()) shape += absl::StrFormat("%d, ", d);
  std::string header = absl::StrFormat("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", code, shape);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(t.data<char>(), t.bytes());
  return out;
}

}  // namespace retuple
