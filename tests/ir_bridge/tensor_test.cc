#include "ir_bridge/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "gtest/gtest.h"
#include "ir_bridge/attribute.h"

namespace retuple {
namespace {

TEST(DTypeTest, TableIsConsistent) {
  EXPECT_EQ(AllDTypes().size(), 22u);
  for (DType t : AllDTypes()) EXPECT_EQ(ParseDType(DTypeName(t)), t);
  EXPECT_EQ(ParseDType("float"), std::nullopt);
  EXPECT_EQ(ParseDType("undefined"), std::nullopt);
  EXPECT_EQ(DTypeName(static_cast<DType>(200)), "undefined");
  EXPECT_EQ(DTypeSize(DType::kC128), 16u);
  EXPECT_TRUE(IsFloat(DType::kF8E5M2));
  EXPECT_FALSE(IsInteger(DType::kBool));
  EXPECT_TRUE(IsSignedInteger(DType::kI4));
}

TEST(DTypeTest, HalfRoundTrips) {
  for (uint32_t b = 0; b < 0x10000; ++b) {
    const auto bits = static_cast<uint16_t>(b);
    const float f = F16ToFloat(bits), g = BF16ToFloat(bits);
    if (!std::isnan(f)) EXPECT_EQ(FloatToF16(f), bits);
    if (!std::isnan(g)) EXPECT_EQ(FloatToBF16(g), bits);
    if (std::isnan(f)) EXPECT_TRUE(std::isnan(F16ToFloat(FloatToF16(f))));
    if (std::isnan(g)) EXPECT_TRUE(std::isnan(BF16ToFloat(FloatToBF16(g))));
  }
}

TEST(DTypeTest, HalfRoundsToNearestEven) {
  const struct {
    float in;
    float want;
  } cases[] = {
      {2049, 2048}, {2051, 2052},      {2049.01f, 2050},    {65519, 65504}, {65520, INFINITY},
      {1e-8f, 0},   {3e-8f, 0x1p-24f}, {-65520, -INFINITY}, {0x1p-25f, 0},  {0x1.8p-24f, 0x1p-23f},
  };
  for (const auto& c : cases) EXPECT_EQ(F16ToFloat(FloatToF16(c.in)), c.want) << c.in;
  EXPECT_EQ(FloatToBF16(1.00390625f), 0x3f80);  // a tie goes to the even mantissa
  EXPECT_EQ(FloatToBF16(1.01171875f), 0x3f82);
}

TEST(TensorTest, ElementCounts) {
  using V = std::vector<int64_t>;
  EXPECT_EQ(CheckedNumElements(V{}), 1);
  EXPECT_EQ(CheckedNumElements(V{2, 3}), 6);
  EXPECT_EQ(CheckedNumElements(V{2, -1}), std::nullopt);
  EXPECT_EQ(CheckedNumElements(V{int64_t{1} << 32, int64_t{1} << 32}), std::nullopt);
  EXPECT_EQ(CheckedNumElements(V{int64_t{1} << 32, int64_t{1} << 32, 0}), 0);
}

TEST(TensorTest, Basics) {
  const Tensor v = Tensor::VectorI64(std::vector<int64_t>{1, 2, 3});
  EXPECT_EQ(v.ToString(), "i64[3]{1, 2, 3}");
  EXPECT_EQ(v.ToString(2), "i64[3]{1, 2, …}");
  EXPECT_EQ(v.type().ToString(), "i64[3]");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(v.data()) % 64, 0u);
  EXPECT_TRUE(v.sole_owner());
  const Tensor copy = v;
  EXPECT_FALSE(v.sole_owner());
  EXPECT_TRUE(copy.SameStorage(v));
  EXPECT_EQ(copy, v);
  EXPECT_EQ(v.Reshaped({3, 1}).ToString(), "i64[3,1]{1, 2, 3}");
  EXPECT_NE(v.Reshaped({3, 1}), v);
  EXPECT_FALSE(Tensor().defined());
  Tensor s(DType::kString, {2});
  s.mutable_data<std::string>()[0] = "a";
  EXPECT_EQ(s.ToString(), "string[2]{\"a\", \"\"}");
}

TEST(TensorTest, ViewKeepsMemory) {
  auto memory = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const Tensor t = Tensor::View(DType::kF32, {2, 2}, memory->data(), memory);
  EXPECT_EQ(t.ToString(), "f32[2,2]{1, 2, 3, 4}");
  EXPECT_FALSE(t.sole_owner());
  memory.reset();
  EXPECT_EQ(t.At(3), 4);
}

TEST(TensorTest, ScalarLikeAndBack) {
  for (DType t : AllDTypes()) {
    if (t == DType::kString) continue;
    for (double v : {0.0, 1.0, 3.0}) {
      const Tensor s = Tensor::ScalarLike(t, v);
      ASSERT_TRUE(s.defined()) << DTypeName(t);
      EXPECT_EQ(s.At(0), t == DType::kBool ? v != 0 : v) << DTypeName(t);
    }
  }
  EXPECT_EQ(Tensor::ScalarLike(DType::kI8, 300).IntAt(0), 127);
  EXPECT_EQ(Tensor::ScalarLike(DType::kU8, -3).IntAt(0), 0);
  EXPECT_EQ(Tensor::ScalarLike(DType::kI64, NAN).IntAt(0), 0);
  EXPECT_EQ(Tensor::ScalarLike(DType::kF8E4M3FN, 1e9).At(0), 448);
  EXPECT_EQ(Tensor::ScalarLike(DType::kF8E5M2, -0.5).At(0), -0.5);
  EXPECT_FALSE(Tensor::ScalarLike(DType::kString, 1).defined());
}

TEST(TensorTest, UniformValue) {
  auto f32 = [](std::vector<float> v) {
    Tensor t(DType::kF32, {static_cast<int64_t>(v.size())});
    std::copy(v.begin(), v.end(), t.mutable_data<float>());
    return t;
  };
  EXPECT_EQ(f32({2, 2, 2}).UniformValue(), 2.0);
  EXPECT_EQ(f32({2, 3}).UniformValue(), std::nullopt);
  EXPECT_EQ(f32({}).UniformValue(), std::nullopt);
  EXPECT_EQ(f32({0.0f, -0.0f}).UniformValue(), 0.0);
  EXPECT_EQ(f32({NAN, NAN}).UniformValue(), std::nullopt);
  EXPECT_EQ(f32({INFINITY}).UniformValue(), INFINITY);
  EXPECT_EQ(Tensor::ScalarI64((int64_t{1} << 53) + 1).UniformValue(), std::nullopt);
  EXPECT_EQ(Tensor::Scalar<bool>(DType::kBool, true).UniformValue(), 1.0);
}

TEST(TensorTest, HashFollowsContent) {
  const Tensor a = Tensor::ScalarF32(1), b = Tensor::ScalarF32(1), c = Tensor::ScalarF32(2);
  EXPECT_EQ(a.ContentHash(), b.ContentHash());
  EXPECT_NE(a.ContentHash(), c.ContentHash());
  EXPECT_NE(a.ContentHash(), a.Reshaped({1}).ContentHash());
  Tensor big(DType::kU8, {1000});
  std::memset(big.mutable_data(), 7, 1000);
  Tensor same(DType::kU8, {1000});
  std::memset(same.mutable_data(), 7, 1000);
  EXPECT_EQ(big.ContentHash(), same.ContentHash());
  for (int i : {0, 31, 500, 999}) {
    same.mutable_data<uint8_t>()[i] ^= 1;
    EXPECT_NE(big.ContentHash(), same.ContentHash()) << i;
    same.mutable_data<uint8_t>()[i] ^= 1;
  }
}

TEST(AttributeTest, EqualityIsByBitsAndContent) {
  EXPECT_TRUE(AttrEqual(AttrValue(NAN), AttrValue(NAN)));
  EXPECT_FALSE(AttrEqual(AttrValue(0.0f), AttrValue(-0.0f)));
  EXPECT_FALSE(AttrEqual(AttrValue(int64_t{1}), AttrValue(1.0f)));
  EXPECT_TRUE(AttrEqual(AttrValue(Tensor::ScalarF32(1)), AttrValue(Tensor::ScalarF32(1))));
  EXPECT_EQ(AttrHash(AttrValue(Ints{1, 2})), AttrHash(AttrValue(Ints{1, 2})));
  EXPECT_NE(AttrHash(AttrValue(Ints{1, 2})), AttrHash(AttrValue(Ints{2, 1})));
  EXPECT_EQ(AttrToString(AttrValue(Ints{1, 2})), "(1 2)");
  EXPECT_EQ(AttrToString(AttrValue(0.1f)), "0.1");
  EXPECT_EQ(AttrToString(AttrValue(std::string("a"))), "\"a\"");
}

}  // namespace
}  // namespace retuple
