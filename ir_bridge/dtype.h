// Element types of tensors.
//
// The numbers are those of ONNX's TensorProto.DataType, so that a cast is the identity at the file
// boundary. Everything that depends on the element type (size, name, dispatch) reads the one table in
// dtype.cc; `DispatchNumeric` in kernels/ is built on the same list.
#ifndef RETUPLE_IR_BRIDGE_DTYPE_H_
#define RETUPLE_IR_BRIDGE_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace retuple {

enum class DType : uint8_t {
  kUndefined = 0,
  kF32 = 1,
  kU8 = 2,
  kI8 = 3,
  kU16 = 4,
  kI16 = 5,
  kI32 = 6,
  kI64 = 7,
  kString = 8,
  kBool = 9,
  kF16 = 10,
  kF64 = 11,
  kU32 = 12,
  kU64 = 13,
  kC64 = 14,
  kC128 = 15,
  kBF16 = 16,
  kF8E4M3FN = 17,
  kF8E4M3FNUZ = 18,
  kF8E5M2 = 19,
  kF8E5M2FNUZ = 20,
  kU4 = 21,
  kI4 = 22,
};

// Short name as written in terms and messages: "f32", "i64", "bool", "string", …
std::string_view DTypeName(DType t);
// Inverse of DTypeName; nullopt for an unknown word.
std::optional<DType> ParseDType(std::string_view name);
// Bytes of one element in memory. Strings count as 0 (they live out of line); u4 and i4 are held
// unpacked, one element a byte.
size_t DTypeSize(DType t);
bool IsFloat(DType t);            // f16, bf16, f32, f64, 8-bit floats
bool IsInteger(DType t);          // signed and unsigned, not bool
bool IsSignedInteger(DType t);
bool IsComplex(DType t);
// All defined element types in numeric order.
std::span<const DType> AllDTypes();

// Storage conversions of the two 16-bit floats (round to nearest even), for code that must not see
// Eigen. `bits` is the IEEE binary16 or bfloat16 pattern.
float F16ToFloat(uint16_t bits);
uint16_t FloatToF16(float x);
float BF16ToFloat(uint16_t bits);
uint16_t FloatToBF16(float x);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_DTYPE_H_
