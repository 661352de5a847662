// From an element type at run time to a C++ type at compile time.
//
//   return Dispatch<kFloats | kInts>(ctx.op(), x.dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
//     const T* p = x.data<T>();
//     ...
//   });
//
// The set of types is a template argument, so that only what an operator serves is instantiated; another type
// is Unimplemented and names operator and type. bool is stored as a byte and dispatched as uint8_t under kBool:
// a file may hold bytes other than 0 and 1. f16 and bf16 compute in float (ComputeType). Data movement that
// only copies dispatches on the element size instead (DispatchBySize).
#ifndef RETUPLE_KERNELS_DISPATCH_H_
#define RETUPLE_KERNELS_DISPATCH_H_

#include <cstdint>
#include <string>
#include <type_traits>

#include <Eigen/Core>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/dtype.h"
#include "ir_bridge/graph.h"

namespace retuple {

template <typename T>
struct TypeTag {
  using type = T;
};

using Half = Eigen::half;
using BFloat16 = Eigen::bfloat16;

template <typename T>
inline constexpr bool kIs16BitFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
// The type in which an element is computed with.
template <typename T>
using ComputeType = std::conditional_t<kIs16BitFloat<T>, float, T>;
template <typename T>
inline constexpr bool kIsFloatLike = std::is_floating_point_v<T> || kIs16BitFloat<T>;

// Sets of element types, as bits by DType number.
using TypeSet = uint32_t;
constexpr TypeSet Bit(DType t) { return TypeSet{1} << static_cast<int>(t); }
inline constexpr TypeSet kF32F64 = Bit(DType::kF32) | Bit(DType::kF64);
inline constexpr TypeSet kFloats = kF32F64 | Bit(DType::kF16) | Bit(DType::kBF16);
inline constexpr TypeSet kSigned =
    Bit(DType::kI8) | Bit(DType::kI16) | Bit(DType::kI32) | Bit(DType::kI64);
inline constexpr TypeSet kUnsigned =
    Bit(DType::kU8) | Bit(DType::kU16) | Bit(DType::kU32) | Bit(DType::kU64);
inline constexpr TypeSet kInts = kSigned | kUnsigned;
inline constexpr TypeSet kNumeric = kFloats | kInts;
inline constexpr TypeSet kBools = Bit(DType::kBool);
inline constexpr TypeSet kStringsOnly = Bit(DType::kString);

inline absl::Status UnservedType(const Op& op, DType t) {
  return absl::UnimplementedError(
      absl::StrFormat("%s: element type %s is not served", op.form(), std::string(DTypeName(t))));
}

// Calls f(TypeTag<T>{}) for the C++ type T of `t`, if it is in kSet.
template <TypeSet kSet, typename F>
absl::Status Dispatch(const Op& op, DType t, F&& f) {
#define RETUPLE_DISPATCH_CASE(dtype, T)                                  \
  case dtype:                                                            \
    if constexpr ((kSet & Bit(dtype)) != 0) return f(TypeTag<T>{});      \
    break;
  switch (t) {
    RETUPLE_DISPATCH_CASE(DType::kF32, float)
    RETUPLE_DISPATCH_CASE(DType::kF64, double)
    RETUPLE_DISPATCH_CASE(DType::kF16, Half)
    RETUPLE_DISPATCH_CASE(DType::kBF16, BFloat16)
    RETUPLE_DISPATCH_CASE(DType::kI8, int8_t)
    RETUPLE_DISPATCH_CASE(DType::kI16, int16_t)
    RETUPLE_DISPATCH_CASE(DType::kI32, int32_t)
    RETUPLE_DISPATCH_CASE(DType::kI64, int64_t)
    RETUPLE_DISPATCH_CASE(DType::kU8, uint8_t)
    RETUPLE_DISPATCH_CASE(DType::kU16, uint16_t)
    RETUPLE_DISPATCH_CASE(DType::kU32, uint32_t)
    RETUPLE_DISPATCH_CASE(DType::kU64, uint64_t)
    RETUPLE_DISPATCH_CASE(DType::kBool, uint8_t)
    RETUPLE_DISPATCH_CASE(DType::kString, std::string)
    default:
      break;
  }
#undef RETUPLE_DISPATCH_CASE
  return UnservedType(op, t);
}

// Sixteen bytes moved as one element (c128).
struct Bytes16 {
  uint64_t lo, hi;
};

// Calls f(TypeTag<E>{}) with a type E that has the size of an element of `t`, or std::string. All dtypes.
template <typename F>
absl::Status DispatchBySize(const Op& op, DType t, F&& f) {
  if (t == DType::kString) return f(TypeTag<std::string>{});
  switch (DTypeSize(t)) {
    case 1:
      return f(TypeTag<uint8_t>{});
    case 2:
      return f(TypeTag<uint16_t>{});
    case 4:
      return f(TypeTag<uint32_t>{});
    case 8:
      return f(TypeTag<uint64_t>{});
    case 16:
      return f(TypeTag<Bytes16>{});
    default:
      return UnservedType(op, t);
  }
}

}  // namespace retuple

#endif  // RETUPLE_KERNELS_DISPATCH_H_
