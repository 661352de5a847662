#include "ir_bridge/dtype.h"

#include <array>
#include <bit>
#include <cstring>

namespace retuple {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  uint8_t size;
  enum Class : uint8_t { kOther, kFloating, kSigned, kUnsigned, kComplex } cls;
};

// The one table of element types, indexed by the number of the enumerator.
constexpr std::array<Entry, 23> kTable = {{
    {DType::kUndefined, "undefined", 0, Entry::kOther},
    {DType::kF32, "f32", 4, Entry::kFloating},
    {DType::kU8, "u8", 1, Entry::kUnsigned},
    {DType::kI8, "i8", 1, Entry::kSigned},
    {DType::kU16, "u16", 2, Entry::kUnsigned},
    {DType::kI16, "i16", 2, Entry::kSigned},
    {DType::kI32, "i32", 4, Entry::kSigned},
    {DType::kI64, "i64", 8, Entry::kSigned},
    {DType::kString, "string", 0, Entry::kOther},
    {DType::kBool, "bool", 1, Entry::kOther},
    {DType::kF16, "f16", 2, Entry::kFloating},
    {DType::kF64, "f64", 8, Entry::kFloating},
    {DType::kU32, "u32", 4, Entry::kUnsigned},
    {DType::kU64, "u64", 8, Entry::kUnsigned},
    {DType::kC64, "c64", 8, Entry::kComplex},
    {DType::kC128, "c128", 16, Entry::kComplex},
    {DType::kBF16, "bf16", 2, Entry::kFloating},
    {DType::kF8E4M3FN, "f8e4m3fn", 1, Entry::kFloating},
    {DType::kF8E4M3FNUZ, "f8e4m3fnuz", 1, Entry::kFloating},
    {DType::kF8E5M2, "f8e5m2", 1, Entry::kFloating},
    {DType::kF8E5M2FNUZ, "f8e5m2fnuz", 1, Entry::kFloating},
    {DType::kU4, "u4", 1, Entry::kUnsigned},
    {DType::kI4, "i4", 1, Entry::kSigned},
}};

constexpr auto kDefined = [] {
  std::array<DType, kTable.size() - 1> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = kTable[i + 1].dtype;
  return all;
}();

// An undefined number (a cast of untrusted input) reads as kUndefined.
const Entry& EntryOf(DType t) {
  const auto i = static_cast<size_t>(t);
  return kTable[i < kTable.size() ? i : 0];
}

}  // namespace

std::string_view DTypeName(DType t) { return EntryOf(t).name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (DType t : kDefined) {
    if (DTypeName(t) == name) return t;
  }
  return std::nullopt;
}

size_t DTypeSize(DType t) { return EntryOf(t).size; }
bool IsFloat(DType t) { return EntryOf(t).cls == Entry::kFloating; }
bool IsInteger(DType t) {
  return EntryOf(t).cls == Entry::kSigned || EntryOf(t).cls == Entry::kUnsigned;
}
bool IsSignedInteger(DType t) { return EntryOf(t).cls == Entry::kSigned; }
bool IsComplex(DType t) { return EntryOf(t).cls == Entry::kComplex; }
std::span<const DType> AllDTypes() { return kDefined; }

float F16ToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

uint16_t FloatToF16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN stays NaN, quiet
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // 65520 and above round to infinity
  if (magnitude <
      0x38800000u) {  // below 2^-14: adding 0.5 leaves the subnormal in the low bits, rounded
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float BF16ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t FloatToBF16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace retuple
