// Helpers for tests of single operators: tensors from literals, evaluation, comparison with tolerance.
#ifndef RETUPLE_TESTS_KERNELS_CORE_TEST_UTIL_H_
#define RETUPLE_TESTS_KERNELS_CORE_TEST_UTIL_H_

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "ir_bridge/graph.h"
#include "kernels/executor.h"

namespace retuple::testing {

// 16-bit floats without Eigen, which the test programs do not see.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(double x) : bits(FloatToF16(static_cast<float>(x))) {}
  explicit operator double() const { return F16ToFloat(bits); }
};
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(double x) : bits(FloatToBF16(static_cast<float>(x))) {}
  explicit operator double() const { return BF16ToFloat(bits); }
};

template <typename T>
constexpr DType DTypeFor() {
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
  if constexpr (std::is_same_v<T, Half>) return DType::kF16;
  if constexpr (std::is_same_v<T, BFloat16>) return DType::kBF16;
  if constexpr (std::is_same_v<T, int8_t>) return DType::kI8;
  if constexpr (std::is_same_v<T, int16_t>) return DType::kI16;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kI32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kI64;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kU8;
  if constexpr (std::is_same_v<T, uint16_t>) return DType::kU16;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::kU32;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::kU64;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, std::string>) return DType::kString;
}

template <typename T>
Tensor Make(Dims dims, const std::vector<T>& values) {
  Tensor t(DTypeFor<T>(), std::move(dims));
  EXPECT_EQ(t.size(), static_cast<int64_t>(values.size()));
  if constexpr (std::is_same_v<T, bool>) {
    for (size_t i = 0; i < values.size(); ++i) t.mutable_data<uint8_t>()[i] = values[i];
  } else {
    std::copy(values.begin(), values.end(), t.mutable_data<T>());
  }
  return t;
}
template <typename T>
Tensor Vec(const std::vector<T>& values) {
  return Make<T>(Dims{static_cast<int64_t>(values.size())}, values);
}
inline Tensor I64s(const std::vector<int64_t>& v) { return Vec<int64_t>(v); }
inline Tensor Floats(Dims dims, const std::vector<float>& v) { return Make<float>(std::move(dims), v); }

inline Tensor RandomFloats(std::mt19937& rng, Dims dims, float low = -2, float high = 2) {
  Tensor t(DType::kF32, std::move(dims));
  std::uniform_real_distribution<float> d(low, high);
  for (int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] = d(rng);
  return t;
}

// Evaluates form `form` of the registry.
inline absl::StatusOr<std::vector<Value>> Eval(const std::string& form, AttrMap attrs,
                                               const std::vector<Value>& inputs, int outputs = 1) {
  const OpSchema* schema = Registry::Get().FindForm(form);
  if (schema == nullptr) return absl::NotFoundError("no form " + form);
  auto op = MakeOp(*schema, std::move(attrs), outputs);
  if (!op.ok()) return op.status();
  return EvaluateOp(*op, inputs);
}

// The first output, or an undefined tensor and a test failure.
inline Tensor Eval1(const std::string& form, AttrMap attrs, const std::vector<Value>& inputs, int outputs = 1) {
  auto r = Eval(form, std::move(attrs), inputs, outputs);
  EXPECT_TRUE(r.ok()) << form << ": " << r.status();
  if (!r.ok() || r->empty() || !(*r)[0].is_tensor()) return Tensor();
  return (*r)[0].tensor;
}

template <typename T>
std::vector<T> Values(const Tensor& t) {
  EXPECT_EQ(t.dtype(), DTypeFor<T>());
  return std::vector<T>(t.data<T>(), t.data<T>() + t.size());
}

inline void ExpectNear(const Tensor& got, const Tensor& want, double rtol = 1e-5, double atol = 1e-6) {
  ASSERT_EQ(got.dtype(), want.dtype());
  ASSERT_EQ(got.dims(), want.dims());
  for (int64_t i = 0; i < want.size(); ++i) {
    const double g = got.At(i), w = want.At(i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    ASSERT_LE(std::fabs(g - w), atol + rtol * std::fabs(w)) << "at " << i << ": " << g << " against " << w;
  }
}

}  // namespace retuple::testing

#endif  // RETUPLE_TESTS_KERNELS_CORE_TEST_UTIL_H_
