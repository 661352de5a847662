// Helpers for tests of the executor and the dense kernels.
#ifndef RETUPLE_TESTS_KERNELS_DENSE_TEST_UTIL_H_
#define RETUPLE_TESTS_KERNELS_DENSE_TEST_UTIL_H_

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/executor.h"

namespace retuple::testing {

inline Op MakeTestOp(std::string_view form, AttrMap attrs = {}, int num_outputs = 1) {
  const OpSchema* s = Registry::Get().FindForm(form);
  EXPECT_NE(s, nullptr) << form;
  absl::StatusOr<Op> op = MakeOp(*s, std::move(attrs), num_outputs);
  EXPECT_TRUE(op.ok()) << op.status();
  return *std::move(op);
}

inline Tensor F32(Dims dims, std::vector<float> v) {
  Tensor t(DType::kF32, std::move(dims));
  std::copy(v.begin(), v.end(), t.mutable_data<float>());
  return t;
}

inline Tensor RandomF32(Dims dims, std::mt19937& rng, float lo = -1, float hi = 1) {
  Tensor t(DType::kF32, std::move(dims));
  std::uniform_real_distribution<float> d(lo, hi);
  for (int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] = d(rng);
  return t;
}

inline std::vector<float> Floats(const Tensor& t) {
  return {t.data<float>(), t.data<float>() + t.size()};
}

// Evaluates an op with one used output; an undefined tensor stands for an absent input.
inline absl::StatusOr<Tensor> Eval(const Op& op, const std::vector<Tensor>& inputs) {
  std::vector<Value> v;
  for (const Tensor& t : inputs) v.push_back(t.defined() ? Value(t) : Value());
  absl::StatusOr<std::vector<Value>> out = EvaluateOp(op, v);
  if (!out.ok()) return out.status();
  return (*out)[0].tensor;
}

// |a − b| <= abs + rel · |b| everywhere.
inline void ExpectNear(const Tensor& a, const Tensor& b, double abs, double rel,
                       const std::string& what) {
  ASSERT_EQ(a.dtype(), b.dtype()) << what;
  ASSERT_EQ(a.dims(), b.dims()) << what;
  for (int64_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a.At(i), b.At(i), abs + rel * std::abs(b.At(i))) << what << " at " << i;
  }
}

}  // namespace retuple::testing

#endif  // RETUPLE_TESTS_KERNELS_DENSE_TEST_UTIL_H_
