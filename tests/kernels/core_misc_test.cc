// Casts, text of numbers, quantisation, sequences, strings, random draws.
#include "kernels/core/number_text.h"
#include "kernels/core/philox.h"
#include "tests/kernels/core_test_util.h"

namespace retuple::testing {
namespace {

AttrMap To(DType t) { return {{"to", static_cast<int64_t>(t)}}; }

TEST(NumberText, ShortestDecimals) {
  const std::vector<std::pair<float, std::string>> kCases = {
      {0.6048455f, "0.6048455"}, {1.0f, "1.0"}, {-2.5f, "-2.5"},      {1e-7f, "1e-07"},
      {1e20f, "1e+20"},          {0.0f, "0.0"}, {100000.0f, "100000.0"}, {3.4028235e38f, "3.4028235e+38"},
  };
  for (const auto& [x, text] : kCases) EXPECT_EQ(internal::FormatFloat(x), text);
  EXPECT_EQ(internal::FormatFloat(0.1), "0.1");
  EXPECT_EQ(internal::FormatFloat(std::nanf("")), "NaN");
  EXPECT_EQ(internal::FormatFloat(-INFINITY), "-INF");
}

TEST(NumberText, RoundTrips) {
  std::mt19937 rng(7);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t bits = rng();
    float x, back;
    std::memcpy(&x, &bits, 4);
    if (std::isnan(x)) continue;
    ASSERT_TRUE(internal::ParseFloat(internal::FormatFloat(x), &back)) << x;
    ASSERT_EQ(back, x) << internal::FormatFloat(x);
  }
}

TEST(Cast, Strings) {
  const Tensor s = Vec<std::string>({"1.5", "-INF", "+3", "nan", " 1e-3 ", "1e999", "1e-999"});
  const Tensor f = Eval1("Cast", To(DType::kF32), {s});
  EXPECT_EQ(f.At(0), 1.5);
  EXPECT_EQ(f.At(1), -INFINITY);
  EXPECT_EQ(f.At(2), 3);
  EXPECT_TRUE(std::isnan(f.At(3)));
  EXPECT_FLOAT_EQ(static_cast<float>(f.At(4)), 1e-3f);
  EXPECT_EQ(f.At(5), INFINITY);
  EXPECT_EQ(f.At(6), 0);
  EXPECT_EQ(Values<int64_t>(Eval1("Cast", To(DType::kI64), {Vec<std::string>({"-7", "+8", "2.9"})})),
            (std::vector<int64_t>{-7, 8, 2}));
  for (const char* bad : {"", "x", "1.5x", "+-1", "--1", "0x10"}) {
    EXPECT_FALSE(Eval("Cast", To(DType::kF32), {Vec<std::string>({bad})}).ok()) << bad;
    EXPECT_FALSE(Eval("Cast", To(DType::kI32), {Vec<std::string>({bad})}).ok()) << bad;
  }
  EXPECT_EQ(Eval1("Cast", To(DType::kString), {I64s({-12})}).strings()[0], "-12");
  EXPECT_EQ(Eval1("Cast", To(DType::kString), {Vec<float>({0.25f})}).strings()[0], "0.25");
}

TEST(Cast, FloatsToIntegersSaturate) {
  const Tensor x = Vec<float>({1e20f, -1e20f, NAN, -1.9f, 300.7f, 2147483648.0f});
  EXPECT_EQ(Values<int32_t>(Eval1("Cast", To(DType::kI32), {x})),
            (std::vector<int32_t>{2147483647, -2147483647 - 1, 0, -1, 300, 2147483647}));
  EXPECT_EQ(Values<uint8_t>(Eval1("Cast", To(DType::kU8), {x})), (std::vector<uint8_t>{255, 0, 0, 0, 255, 255}));
  EXPECT_EQ(Values<int64_t>(Eval1("Cast", To(DType::kI64), {Vec<double>({1e30, -1e30, 9.2e18})})),
            (std::vector<int64_t>{INT64_MAX, INT64_MIN, 9200000000000000000}));
  EXPECT_EQ(Values<uint64_t>(Eval1("Cast", To(DType::kU64), {Vec<double>({1e30, -1, 1.5e19})})),
            (std::vector<uint64_t>{UINT64_MAX, 0, 15000000000000000000u}));
  EXPECT_EQ(Values<int32_t>(Eval1("Cast", To(DType::kI32), {Vec<bool>({true, false})})), (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(Eval1("Cast", To(DType::kBool), {x}).IntAt(2), 1);
  EXPECT_FALSE(Eval("Cast", {{"to", int64_t{99}}}, {x}).ok());
}

// Every pair of numeric types agrees on small whole numbers.
TEST(Cast, AllPairs) {
  const std::vector<DType> kTypes = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI8, DType::kI16,
                                     DType::kI32, DType::kI64, DType::kU8,  DType::kU16,  DType::kU32, DType::kU64,
                                     DType::kString};
  for (DType a : kTypes) {
    const Tensor x = Eval1("Cast", To(a), {I64s({0, 1, 100})});
    for (DType b : kTypes) {
      const Tensor y = Eval1("Cast", To(b), {x});
      ASSERT_EQ(y.dtype(), b);
      EXPECT_EQ(Values<int64_t>(Eval1("Cast", To(DType::kI64), {y})), (std::vector<int64_t>{0, 1, 100}));
    }
  }
}

TEST(Quantize, RoundsHalfToEvenAndSaturates) {
  const Tensor x = Vec<float>({0.5f, 1.5f, 2.5f, 1000, -1000, NAN});
  const Tensor y = Eval1("QuantizeLinear", {}, {x, Floats({}, {1}), Make<uint8_t>({}, {10})});
  EXPECT_EQ(Values<uint8_t>(y), (std::vector<uint8_t>{10, 12, 12, 255, 0, 10}));
  EXPECT_EQ(Values<float>(Eval1("DequantizeLinear", {}, {y, Floats({}, {0.5f}), Make<uint8_t>({}, {10})})),
            (std::vector<float>{0, 1, 1, 122.5f, -5, 0}));
  EXPECT_FALSE(Eval("QuantizeLinear", {}, {Floats({2, 2}, {1, 2, 3, 4}), Vec<float>({1, 2, 3})}).ok());
}

TEST(Sequence, Operations) {
  const Tensor a = Vec<float>({1}), b = Vec<float>({2, 3});
  auto s = Eval("SequenceConstruct", {}, {a, b});
  ASSERT_TRUE(s.ok());
  const Value seq = (*s)[0];
  EXPECT_EQ(Eval1("SequenceLength", {}, {seq}).IntAt(0), 2);
  EXPECT_EQ(Eval1("SequenceAt", {}, {seq, Tensor::ScalarI64(-1)}), b);
  EXPECT_EQ(Eval1("ConcatFromSequence", {{"axis", int64_t{0}}}, {seq}), Vec<float>({1, 2, 3}));
  for (int64_t bad : {int64_t{2}, int64_t{-3}, INT64_MIN}) {
    EXPECT_FALSE(Eval("SequenceAt", {}, {seq, Tensor::ScalarI64(bad)}).ok());
    EXPECT_FALSE(Eval("SequenceErase", {}, {seq, Tensor::ScalarI64(bad)}).ok());
  }
  EXPECT_FALSE(Eval("SequenceInsert", {}, {seq, a, Tensor::ScalarI64(3)}).ok());
  EXPECT_FALSE(Eval("SequenceInsert", {}, {seq, I64s({1})}).ok());
  EXPECT_FALSE(Eval("ConcatFromSequence", {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}}, {seq}).ok());
  EXPECT_FALSE(Eval("SequenceLength", {}, {a}).ok());
  EXPECT_FALSE(Eval("OptionalGetElement", {}, {Value::None()}).ok());
  EXPECT_FALSE(Eval("SplitToSequence", {}, {b, Tensor::ScalarI64(0)}).ok());
}

TEST(Strings, NormalizerHandlesUtf8) {
  const AttrMap upper = {{"case_change_action", std::string("UPPER")}, {"stopwords", Strings{"ÉTÉ"}}};
  const Tensor y = Eval1("StringNormalizer", upper, {Vec<std::string>({"straße", "été", "\xff\xc3", "жук"})});
  ASSERT_EQ(y.size(), 3);
  EXPECT_EQ(y.strings()[0], "STRAßE");
  EXPECT_EQ(y.strings()[1], "\xff\xc3");
  EXPECT_EQ(y.strings()[2], "ЖУК");
}

TEST(Philox, KnownAnswer) {
  // Random123's kat_vectors: philox4x32-10 of zero counter and key.
  EXPECT_EQ(internal::Philox(0).Block(0),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Random, IsDeterministicAndHasItsMoments) {
  const AttrMap attrs = {{"shape", Ints{100000}}, {"seed", 3.0f}, {"mean", 1.0f}, {"scale", 2.0f}};
  const Tensor a = Eval1("RandomNormal", attrs, {});
  EXPECT_EQ(a, Eval1("RandomNormal", attrs, {}));
  double sum = 0, square = 0;
  for (int64_t i = 0; i < a.size(); ++i) sum += a.At(i), square += a.At(i) * a.At(i);
  const double mean = sum / 100000;
  EXPECT_NEAR(mean, 1, 0.03);
  EXPECT_NEAR(square / 100000 - mean * mean, 4, 0.1);
  EXPECT_FALSE(Eval("RandomNormal", {{"shape", Ints{-1}}}, {}).ok());
  const Tensor m = Eval1("Multinomial", {{"sample_size", int64_t{1000}}, {"seed", 1.0f}}, {Floats({1, 3}, {-INFINITY, 0, 0})});
  for (int64_t i = 0; i < m.size(); ++i) EXPECT_NE(m.IntAt(i), 0);
}

TEST(Dropout, TrainingScalesWhatItKeeps) {
  Tensor x(DType::kF32, {10000});
  std::fill(x.mutable_data<float>(), x.mutable_data<float>() + x.size(), 1.0f);
  auto r = Eval("Dropout", {{"seed", int64_t{5}}}, {x, Floats({}, {0.25f}), Make<bool>({}, {true})}, 2);
  ASSERT_TRUE(r.ok()) << r.status();
  int64_t kept = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    const bool keep = (*r)[1].tensor.IntAt(i) != 0;
    kept += keep;
    ASSERT_FLOAT_EQ((*r)[0].tensor.data<float>()[i], keep ? 1 / 0.75f : 0.0f);
  }
  EXPECT_NEAR(static_cast<double>(kept), 7500, 200);
  EXPECT_FALSE(Eval("Dropout", {}, {x, Floats({}, {1.0f}), Make<bool>({}, {true})}, 2).ok());
}

TEST(Unique, NotSortedAndNaN) {
  auto r = Eval("Unique", {{"sorted", int64_t{0}}}, {Vec<float>({2, NAN, 2, 1, NAN})}, 4);
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ((*r)[0].tensor.size(), 3);
  EXPECT_EQ(Values<int64_t>((*r)[2].tensor), (std::vector<int64_t>{0, 1, 0, 2, 1}));
  EXPECT_EQ(Values<int64_t>((*r)[3].tensor), (std::vector<int64_t>{2, 2, 1}));
}

}  // namespace
}  // namespace retuple::testing
