#include "ir_bridge/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/str_format.h"
#include "ir_bridge/internal/hash.h"

namespace retuple {
namespace {

constexpr size_t kAlignment = 64;

// The four 8-bit formats: exponent bits and bias, and which patterns are not finite.
struct Float8Format {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;   // all-ones exponent is infinity or NaN, as in IEEE
  bool unsigned_zero;  // 0x80 is the only NaN, there is no −0 and no infinity
};

Float8Format FormatOf(DType t) {
  switch (t) {
    case DType::kF8E4M3FNUZ:
      return {4, 3, 8, false, true};
    case DType::kF8E5M2:
      return {5, 2, 15, true, false};
    case DType::kF8E5M2FNUZ:
      return {5, 2, 16, false, true};
    default:
      return {4, 3, 7, false, false};
  }
}

double Float8ToDouble(DType t, uint8_t bits) {
  const Float8Format f = FormatOf(t);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (f.unsigned_zero && bits == 0x80) return nan;
  const double sign = (bits & 0x80) != 0 ? -1 : 1;
  const int exponent = (bits >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const int mantissa = bits & ((1 << f.mantissa_bits) - 1);
  if (f.has_infinity && exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : nan;
  }
  if (!f.has_infinity && !f.unsigned_zero && (bits & 0x7f) == 0x7f) return nan;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << f.mantissa_bits), exponent - f.bias - f.mantissa_bits);
}

// Nearest pattern, ties to the even one, beyond the largest number saturated. Slow: scalars only.
uint8_t DoubleToFloat8(DType t, double v) {
  const bool uz = FormatOf(t).unsigned_zero;
  if (std::isnan(v)) return uz ? 0x80 : 0x7f;
  uint8_t best = 0;
  double error = std::numeric_limits<double>::infinity();
  for (int b = 0; b < 0x80; ++b) {
    const double x = Float8ToDouble(t, static_cast<uint8_t>(b));
    if (!std::isfinite(x)) continue;
    const double e = std::abs(x - std::abs(v));
    if (e < error || (e == error && b % 2 == 0)) {
      best = static_cast<uint8_t>(b);
      error = e;
    }
    if (std::isinf(v)) best = static_cast<uint8_t>(b);
  }
  return std::signbit(v) && !(uz && best == 0) ? best | 0x80 : best;
}

template <typename T>
T SaturatingCast(double v) {
  if (std::isnan(v)) return 0;
  constexpr double lo = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double hi = static_cast<double>(std::numeric_limits<T>::max());
  if (v <= lo) return std::numeric_limits<T>::min();
  if (v >= hi) return std::numeric_limits<T>::max();
  return static_cast<T>(v);
}

bool IsFloat8(DType t) { return t >= DType::kF8E4M3FN && t <= DType::kF8E5M2FNUZ; }

}  // namespace

int64_t NumElements(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

std::optional<int64_t> CheckedNumElements(std::span<const int64_t> dims) {
  // A zero anywhere makes the product zero, whatever the other factors are.
  bool zero = false;
  for (int64_t d : dims) {
    if (d < 0) return std::nullopt;
    zero |= d == 0;
  }
  if (zero) return 0;
  int64_t n = 1;
  for (int64_t d : dims) {
    if (__builtin_mul_overflow(n, d, &n)) return std::nullopt;
  }
  return n;
}

Tensor::Tensor(DType dtype, Dims dims) : dtype_(dtype), dims_(std::move(dims)) {
  size_ = CheckedNumElements(dims_).value_or(0);
  writable_ = true;
  const auto n = static_cast<size_t>(size_);
  if (dtype_ == DType::kString) {
    auto strings = std::make_shared<std::vector<std::string>>(n);
    data_ = strings->data();
    keep_ = std::move(strings);
    return;
  }
  const size_t wanted = std::max<size_t>(n * DTypeSize(dtype_), 1);
  void* p = std::aligned_alloc(kAlignment, (wanted + kAlignment - 1) / kAlignment * kAlignment);
  if (p == nullptr) {  // no memory: an undefined tensor, which callers of large tensors test for
    *this = Tensor();
    return;
  }
  data_ = p;
  keep_ = std::shared_ptr<const void>(p, [](const void* q) { std::free(const_cast<void*>(q)); });
}

Tensor Tensor::View(DType dtype, Dims dims, const void* data, std::shared_ptr<const void> keep) {
  Tensor t;
  t.dtype_ = dtype;
  t.dims_ = std::move(dims);
  t.size_ = NumElements(t.dims_);
  t.data_ = data;
  t.keep_ = std::move(keep);
  return t;
}

Tensor Tensor::Reshaped(Dims dims) const {
  Tensor t = *this;
  t.dims_ = std::move(dims);
  return t;
}

Tensor Tensor::VectorI64(std::span<const int64_t> v) {
  Tensor t(DType::kI64, Dims{static_cast<int64_t>(v.size())});
  std::copy(v.begin(), v.end(), t.mutable_data<int64_t>());
  return t;
}

Tensor Tensor::ScalarLike(DType dtype, double v) {
  switch (dtype) {
    case DType::kF32:
      return Scalar<float>(dtype, static_cast<float>(v));
    case DType::kF64:
      return Scalar<double>(dtype, v);
    case DType::kF16:
      return Scalar<uint16_t>(dtype, FloatToF16(static_cast<float>(v)));
    case DType::kBF16:
      return Scalar<uint16_t>(dtype, FloatToBF16(static_cast<float>(v)));
    case DType::kBool:
      return Scalar<bool>(dtype, v != 0);
    case DType::kU8:
      return Scalar(dtype, SaturatingCast<uint8_t>(v));
    case DType::kI8:
      return Scalar(dtype, SaturatingCast<int8_t>(v));
    case DType::kU16:
      return Scalar(dtype, SaturatingCast<uint16_t>(v));
    case DType::kI16:
      return Scalar(dtype, SaturatingCast<int16_t>(v));
    case DType::kU32:
      return Scalar(dtype, SaturatingCast<uint32_t>(v));
    case DType::kI32:
      return Scalar(dtype, SaturatingCast<int32_t>(v));
    case DType::kU64:
      return Scalar(dtype, SaturatingCast<uint64_t>(v));
    case DType::kI64:
      return Scalar(dtype, SaturatingCast<int64_t>(v));
    case DType::kU4:
      return Scalar(dtype, static_cast<uint8_t>(std::clamp(std::trunc(v), 0.0, 15.0)));
    case DType::kI4:
      return Scalar(dtype, static_cast<int8_t>(std::clamp(std::trunc(v), -8.0, 7.0)));
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
      return Scalar(dtype, DoubleToFloat8(dtype, v));
    case DType::kC64: {
      Tensor t(dtype, Dims{});
      t.mutable_data<float>()[0] = static_cast<float>(v);
      t.mutable_data<float>()[1] = 0;
      return t;
    }
    case DType::kC128: {
      Tensor t(dtype, Dims{});
      t.mutable_data<double>()[0] = v;
      t.mutable_data<double>()[1] = 0;
      return t;
    }
    case DType::kString:
    case DType::kUndefined:
      break;
  }
  return Tensor();
}

Type Tensor::type() const { return Type::Tensor(dtype_, Shape(dims_.begin(), dims_.end())); }

double Tensor::At(int64_t i) const {
  switch (dtype_) {
    case DType::kF32:
      return data<float>()[i];
    case DType::kF64:
      return data<double>()[i];
    case DType::kF16:
      return F16ToFloat(data<uint16_t>()[i]);
    case DType::kBF16:
      return BF16ToFloat(data<uint16_t>()[i]);
    case DType::kC64:
      return data<float>()[2 * i];
    case DType::kC128:
      return data<double>()[2 * i];
    case DType::kU64:
      return static_cast<double>(data<uint64_t>()[i]);
    default:
      return IsFloat8(dtype_) ? Float8ToDouble(dtype_, data<uint8_t>()[i])
                              : static_cast<double>(IntAt(i));
  }
}

int64_t Tensor::IntAt(int64_t i) const {
  switch (dtype_) {
    case DType::kBool:
      return data<uint8_t>()[i] != 0;
    case DType::kU8:
    case DType::kU4:
      return data<uint8_t>()[i];
    case DType::kI8:
    case DType::kI4:
      return data<int8_t>()[i];
    case DType::kU16:
      return data<uint16_t>()[i];
    case DType::kI16:
      return data<int16_t>()[i];
    case DType::kU32:
      return data<uint32_t>()[i];
    case DType::kI32:
      return data<int32_t>()[i];
    case DType::kU64:
      return static_cast<int64_t>(data<uint64_t>()[i]);
    case DType::kI64:
      return data<int64_t>()[i];
    case DType::kUndefined:
    case DType::kString:
      return 0;
    default:
      return SaturatingCast<int64_t>(At(i));
  }
}

std::vector<int64_t> Tensor::ToInts() const {
  std::vector<int64_t> out(static_cast<size_t>(size_));
  for (int64_t i = 0; i < size_; ++i) out[static_cast<size_t>(i)] = IntAt(i);
  return out;
}

bool operator==(const Tensor& a, const Tensor& b) {
  if (a.dtype_ != b.dtype_ || a.dims_ != b.dims_) return false;
  if (a.data_ == b.data_ || a.size_ == 0) return true;
  if (a.dtype_ == DType::kString) {
    return std::equal(a.strings().begin(), a.strings().end(), b.strings().begin());
  }
  return std::memcmp(a.data_, b.data_, a.bytes()) == 0;
}

uint64_t Tensor::ContentHash() const {
  uint64_t h = internal::HashBytes(dims_.data(), dims_.size() * sizeof(int64_t),
                                   static_cast<uint64_t>(dtype_));
  if (size_ == 0) return h;
  if (dtype_ == DType::kString) {
    for (const std::string& s : strings()) h = internal::HashString(s, h);
    return h;
  }
  return internal::HashBytes(data_, bytes(), h);
}

std::optional<double> Tensor::UniformValue() const {
  if (size_ == 0 || dtype_ == DType::kString || dtype_ == DType::kUndefined || IsComplex(dtype_)) {
    return std::nullopt;
  }
  if (IsFloat(dtype_)) {
    const double first = At(0);
    for (int64_t i = 0; i < size_; ++i) {
      if (!(At(i) == first)) return std::nullopt;  // also when NaN
    }
    return first == 0 ? 0.0 : first;
  }
  const int64_t first = IntAt(0);
  for (int64_t i = 1; i < size_; ++i) {
    if (IntAt(i) != first) return std::nullopt;
  }
  const double value = At(0);
  // Beyond 2^53 a double may stand for several integers: then there is no one value to speak of.
  constexpr double kExact = 9007199254740992.0;
  if (value >= kExact || value <= -kExact) return std::nullopt;
  return value;
}

std::string Tensor::ToString(int limit) const {
  std::string out = type().ToString() + "{";
  const int64_t n = std::min<int64_t>(size_, std::max(limit, 0));
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) out += ", ";
    if (dtype_ == DType::kString) {
      out += "\"" + strings()[static_cast<size_t>(i)] + "\"";
    } else if (dtype_ == DType::kBool) {
      out += IntAt(i) != 0 ? "true" : "false";
    } else if (IsInteger(dtype_)) {
      out += dtype_ == DType::kU64 ? std::to_string(data<uint64_t>()[i]) : std::to_string(IntAt(i));
    } else if (IsComplex(dtype_)) {
      const double im =
          dtype_ == DType::kC64 ? data<float>()[2 * i + 1] : data<double>()[2 * i + 1];
      out += absl::StrFormat("%g%+gi", At(i), im);
    } else {
      out += absl::StrFormat("%g", At(i));
    }
  }
  if (n < size_) out += n > 0 ? ", …" : "…";
  return out + "}";
}

}  // namespace retuple
