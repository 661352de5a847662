// Element-wise operators: fast f32 functions against the C library, broadcasting against a slow one, edge values.
#include "kernels/core/fast_math.h"
#include "tests/kernels/core_test_util.h"

namespace retuple::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Units in the last place of `want` between got and want.
double Ulps(float got, double want) {
  const float w = static_cast<float>(want);
  if (got == w || (std::isnan(got) && std::isnan(w))) return 0;
  const float unit = std::max(std::fabs(std::nextafterf(w, kInf) - w), std::numeric_limits<float>::min());
  return std::fabs(static_cast<double>(got) - want) / unit;
}

struct FastCase {
  const char* name;
  float (*fast)(float);
  double (*exact)(double);
  double low, high, max_ulps;
};

const FastCase kFast[] = {
    {"exp", internal::FastExp, [](double x) { return std::exp(x); }, -87, 88.7, 2},
    {"log", internal::FastLog, [](double x) { return std::log(x); }, 1e-30, 1e30, 3},
    {"log near 1", internal::FastLog, [](double x) { return std::log(x); }, 0.5, 2, 3},
    {"tanh", internal::FastTanh, [](double x) { return std::tanh(x); }, -10, 10, 3},
    {"tanh near 0", internal::FastTanh, [](double x) { return std::tanh(x); }, -0.01, 0.01, 2},
    {"sigmoid", internal::FastSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 4},
    {"erf", internal::FastErf, [](double x) { return std::erf(x); }, -5, 5, 4},
    {"erf near 0", internal::FastErf, [](double x) { return std::erf(x); }, -1e-3, 1e-3, 2},
    {"softplus", internal::FastSoftplus, [](double x) { return std::log1p(std::exp(x)); }, -80, 80, 6},
};

TEST(FastMath, IsWithinAFewUlps) {
  std::mt19937 rng(1);
  for (const FastCase& c : kFast) {
    std::uniform_real_distribution<double> d(c.low, c.high);
    double worst = 0, at = 0;
    for (int i = 0; i < 200000; ++i) {
      const float x = static_cast<float>(d(rng));
      const double u = Ulps(c.fast(x), c.exact(static_cast<double>(x)));
      if (u > worst) worst = u, at = x;
    }
    EXPECT_LE(worst, c.max_ulps) << c.name << " at " << at;
  }
}

TEST(FastMath, EdgeValues) {
  using namespace internal;
  EXPECT_EQ(FastExp(kInf), kInf);
  EXPECT_EQ(FastExp(-kInf), 0.0f);
  EXPECT_EQ(FastExp(1000.0f), kInf);
  EXPECT_EQ(FastExp(0.0f), 1.0f);
  EXPECT_TRUE(std::isnan(FastExp(kNaN)));
  EXPECT_EQ(FastLog(0.0f), -kInf);
  EXPECT_EQ(FastLog(-0.0f), -kInf);
  EXPECT_EQ(FastLog(kInf), kInf);
  EXPECT_EQ(FastLog(1.0f), 0.0f);
  EXPECT_TRUE(std::isnan(FastLog(-1.0f)));
  EXPECT_TRUE(std::isnan(FastLog(kNaN)));
  for (auto f : {FastTanh, FastErf}) {
    EXPECT_EQ(f(kInf), 1.0f);
    EXPECT_EQ(f(-kInf), -1.0f);
    EXPECT_EQ(f(0.0f), 0.0f);
    EXPECT_TRUE(std::signbit(f(-0.0f)));
    EXPECT_TRUE(std::isnan(f(kNaN)));
  }
  EXPECT_EQ(FastSigmoid(kInf), 1.0f);
  EXPECT_EQ(FastSigmoid(-kInf), 0.0f);
  EXPECT_EQ(FastSoftplus(kInf), kInf);
  EXPECT_EQ(FastSoftplus(-kInf), 0.0f);
  EXPECT_TRUE(std::isnan(FastSoftplus(kNaN)));
}

struct UnaryCase {
  const char* form;
  double (*f)(double);
};

const UnaryCase kUnary[] = {
    {"Abs", [](double x) { return std::fabs(x); }},
    {"Acos", [](double x) { return std::acos(x); }},
    {"Asinh", [](double x) { return std::asinh(x); }},
    {"Atan", [](double x) { return std::atan(x); }},
    {"Ceil", [](double x) { return std::ceil(x); }},
    {"Cos", [](double x) { return std::cos(x); }},
    {"Erf", [](double x) { return std::erf(x); }},
    {"Exp", [](double x) { return std::exp(x); }},
    {"Floor", [](double x) { return std::floor(x); }},
    {"HardSwish", [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
    {"Log", [](double x) { return std::log(x); }},
    {"Neg", [](double x) { return -x; }},
    {"Reciprocal", [](double x) { return 1 / x; }},
    {"Relu", [](double x) { return x < 0 ? 0 : x; }},
    {"Round", [](double x) { return std::nearbyint(x); }},
    {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"Sin", [](double x) { return std::sin(x); }},
    {"Softplus", [](double x) { return std::log1p(std::exp(x)); }},
    {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }},
    {"Sqrt", [](double x) { return std::sqrt(x); }},
    {"Tanh", [](double x) { return std::tanh(x); }},
};

template <typename T>
void CheckUnary(double rtol) {
  std::mt19937 rng(2);
  std::uniform_real_distribution<double> d(-3, 3);
  for (const UnaryCase& c : kUnary) {
    std::vector<T> x;
    for (int i = 0; i < 1003; ++i) x.push_back(static_cast<T>(d(rng)));
    for (double v : {0.5, 1.5, 2.5, -0.5, 0.0, -0.0}) x.push_back(static_cast<T>(v));
    std::vector<T> want;
    for (T v : x) want.push_back(static_cast<T>(c.f(static_cast<double>(v))));
    SCOPED_TRACE(c.form);
    ExpectNear(Eval1(c.form, {}, {Vec<T>(x)}), Vec<T>(want), rtol, rtol * 0.1);
  }
}

TEST(Unary, F32) { CheckUnary<float>(2e-6); }
TEST(Unary, F64) { CheckUnary<double>(1e-14); }
TEST(Unary, F16) { CheckUnary<Half>(2e-3); }
TEST(Unary, BF16) { CheckUnary<BFloat16>(2e-2); }

TEST(Unary, IntegersWrap) {
  constexpr int32_t kLow = std::numeric_limits<int32_t>::lowest();
  EXPECT_EQ(Values<int32_t>(Eval1("Abs", {}, {Vec<int32_t>({kLow, -3, 4})})), (std::vector<int32_t>{kLow, 3, 4}));
  EXPECT_EQ(Values<int32_t>(Eval1("Neg", {}, {Vec<int32_t>({kLow, -3, 4})})), (std::vector<int32_t>{kLow, 3, -4}));
  EXPECT_EQ(Values<int32_t>(Eval1("Sign", {}, {Vec<int32_t>({kLow, 0, 4})})), (std::vector<int32_t>{-1, 0, 1}));
}

TEST(Unary, NaNPasses) {
  for (const char* form : {"Relu", "Sign", "Sigmoid", "Tanh", "Erf", "Clip", "HardSigmoid", "LeakyRelu", "Elu",
                           "Softplus", "Mish", "HardSwish", "Selu", "Celu", "ThresholdedRelu", "Shrink"}) {
    const Tensor y = Eval1(form, {}, {Vec<float>({kNaN, 1.0f})});
    EXPECT_TRUE(y.defined() && std::isnan(y.At(0))) << form;
  }
}

// ---- binary

// Reference: walk the output's coordinates.
template <typename F>
Tensor SlowBroadcast(const Tensor& a, const Tensor& b, const Dims& out, F f) {
  Tensor y(DType::kF32, out);
  const int rank = static_cast<int>(out.size());
  for (int64_t i = 0; i < y.size(); ++i) {
    auto element = [&](const Tensor& t) {
      int64_t rest = i, at = 0, stride = 1;
      for (int d = rank - 1; d >= 0; --d) {
        const int64_t c = rest % out[d];
        rest /= out[d];
        const int axis = d - (rank - t.rank());
        if (axis < 0) continue;
        if (t.dim(axis) != 1) at += c * stride;
        stride *= t.dim(axis);
      }
      return t.data<float>()[at];
    };
    y.mutable_data<float>()[i] = f(element(a), element(b));
  }
  return y;
}

TEST(Broadcast, AgreesWithTheSlowOne) {
  std::mt19937 rng(3);
  for (int round = 0; round < 400; ++round) {
    const int rank = static_cast<int>(rng() % 6);
    Dims out(rank), da(rank), db(rank);
    for (int d = 0; d < rank; ++d) {
      out[d] = 1 + static_cast<int64_t>(rng() % 5);
      const int kind = static_cast<int>(rng() % 4);
      da[d] = kind == 1 ? 1 : out[d];
      db[d] = kind == 2 ? 1 : out[d];
      out[d] = std::max(da[d], db[d]);
    }
    // Leading ones may be left out.
    while (!da.empty() && da[0] == 1 && rng() % 2) da.erase(da.begin());
    if (da.size() == out.size()) {
      while (!db.empty() && db[0] == 1 && rng() % 2) db.erase(db.begin());
    }
    const Tensor a = RandomFloats(rng, da), b = RandomFloats(rng, db, 0.5f, 2);
    const size_t n = std::max(da.size(), db.size());
    const Dims common(out.end() - static_cast<std::ptrdiff_t>(n), out.end());
    ExpectNear(Eval1("Sub", {}, {a, b}), SlowBroadcast(a, b, common, [](float x, float y) { return x - y; }));
    ExpectNear(Eval1("Div", {}, {a, b}), SlowBroadcast(a, b, common, [](float x, float y) { return x / y; }));
    ExpectNear(Eval1("Max", {}, {a, b}), SlowBroadcast(a, b, common, [](float x, float y) { return std::max(x, y); }));
    if (common == Dims(a.dims())) {
      ExpectNear(Eval1("PRelu", {}, {a, b}),
                 SlowBroadcast(a, b, common, [](float x, float y) { return x < 0 ? x * y : x; }));
    }
  }
}

TEST(Broadcast, RefusesWhatDoesNotFit) {
  auto r = Eval("Add", {}, {Floats({2, 3}, {1, 2, 3, 4, 5, 6}), Floats({2}, {1, 2})});
  EXPECT_EQ(r.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(r.status().message()).find("Add"), std::string::npos);
  r = Eval("Add", {}, {Floats({1}, {1}), Vec<double>({1})});
  EXPECT_EQ(r.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Broadcast, EmptyOperands) {
  EXPECT_EQ(Eval1("Add", {}, {Floats({0, 3}, {}), Floats({3}, {1, 2, 3})}).dims(), (Dims{0, 3}));
  EXPECT_EQ(Eval1("Mul", {}, {Floats({2, 0}, {}), Floats({1, 1}, {3})}).dims(), (Dims{2, 0}));
}

TEST(Arithmetic, IntegersAreDefinedEverywhere) {
  constexpr int32_t kLow = std::numeric_limits<int32_t>::lowest();
  constexpr int64_t kLow64 = std::numeric_limits<int64_t>::lowest();
  EXPECT_EQ(Values<int32_t>(Eval1("Div", {}, {Vec<int32_t>({7, -7, 5, kLow}), Vec<int32_t>({2, 2, 0, -1})})),
            (std::vector<int32_t>{3, -3, 0, kLow}));
  EXPECT_EQ(Values<int64_t>(Eval1("Div", {}, {I64s({kLow64, 1}), I64s({-1, 0})})), (std::vector<int64_t>{kLow64, 0}));
  EXPECT_EQ(Values<int64_t>(Eval1("Mod", {}, {I64s({-7, 7, kLow64, 3}), I64s({3, -3, -1, 0})})),
            (std::vector<int64_t>{2, -2, 0, 0}));
  EXPECT_EQ(Values<int64_t>(Eval1("Mod", {{"fmod", int64_t{1}}}, {I64s({-7, 7}), I64s({3, -3})})),
            (std::vector<int64_t>{-1, 1}));
  EXPECT_EQ(Values<int32_t>(Eval1("Mul", {}, {Vec<int32_t>({kLow}), Vec<int32_t>({-1})})),
            (std::vector<int32_t>{kLow}));
  EXPECT_EQ(Values<uint16_t>(Eval1("Mul", {}, {Vec<uint16_t>({65535}), Vec<uint16_t>({65535})})),
            (std::vector<uint16_t>{1}));
  EXPECT_EQ(Values<uint8_t>(Eval1("BitShift", {{"direction", std::string("LEFT")}},
                                  {Vec<uint8_t>({16, 1, 1}), Vec<uint8_t>({4, 8, 200})})),
            (std::vector<uint8_t>{0, 0, 0}));
}

TEST(Pow, MixedTypesAndSpecialExponents) {
  EXPECT_EQ(Values<int32_t>(Eval1("Pow", {}, {Vec<int32_t>({2, 3, -1, 0}), I64s({10, 2, -3, -1})})),
            (std::vector<int32_t>{1024, 9, -1, 0}));
  EXPECT_EQ(Values<int64_t>(Eval1("Pow", {}, {I64s({4, 9}), Vec<float>({0.5f, 0.5f})})), (std::vector<int64_t>{2, 3}));
  for (float e : {2.0f, 0.5f, 3.0f, -1.0f, 1.0f, 1.7f, 0.0f}) {
    std::vector<float> x = {0.0f, 1.0f, 2.5f, 1e10f, kInf}, want;
    for (float v : x) want.push_back(std::pow(v, e));
    ExpectNear(Eval1("Pow", {}, {Vec<float>(x), Floats({}, {e})}), Vec<float>(want));
  }
  EXPECT_EQ(Eval1("Pow", {}, {Vec<float>({-kInf}), Floats({}, {0.5f})}).At(0), kInf);
  EXPECT_FALSE(std::signbit(Eval1("Pow", {}, {Vec<float>({-0.0f}), Floats({}, {0.5f})}).At(0)));
}

TEST(Compare, NaNAndBoolBytes) {
  EXPECT_EQ(Eval1("Equal", {}, {Vec<float>({kNaN}), Vec<float>({kNaN})}).IntAt(0), 0);
  EXPECT_EQ(Eval1("LessOrEqual", {}, {Vec<float>({kNaN}), Vec<float>({1})}).IntAt(0), 0);
  Tensor odd(DType::kBool, {2});
  odd.mutable_data<uint8_t>()[0] = 1;
  odd.mutable_data<uint8_t>()[1] = 7;  // any byte but 0 is true
  EXPECT_EQ(Eval1("Equal", {}, {odd, Vec<bool>({true, true})}).IntAt(1), 1);
  EXPECT_EQ(Eval1("Not", {}, {odd}).IntAt(1), 0);
  EXPECT_EQ(Eval1("Xor", {}, {odd, Vec<bool>({true, true})}).IntAt(1), 0);
}

TEST(Legacy, AxisAndBroadcast) {
  const Tensor a = Floats({2, 3, 2}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const Tensor b = Floats({3}, {1, 2, 3});
  const Tensor y = Eval1("Add-1", {{"axis", int64_t{1}}, {"broadcast", int64_t{1}}}, {a, b});
  EXPECT_EQ(Values<float>(y), (std::vector<float>{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}));
  EXPECT_FALSE(Eval("Add-1", {}, {a, b}).ok());
  EXPECT_FALSE(Eval("Add-1", {{"axis", int64_t{2}}, {"broadcast", int64_t{1}}}, {a, b}).ok());
  EXPECT_FALSE(Eval("Add-1", {{"axis", int64_t{9}}, {"broadcast", int64_t{1}}}, {a, b}).ok());
}

TEST(Variadic, FoldsAllOperands) {
  const Tensor a = Floats({2, 1}, {1, 2}), b = Floats({3}, {10, 20, 30}), c = Floats({}, {100});
  EXPECT_EQ(Values<float>(Eval1("Sum", {}, {a, b, c})), (std::vector<float>{111, 121, 131, 112, 122, 132}));
  EXPECT_EQ(Values<float>(Eval1("Mean", {}, {b, b, b})), (std::vector<float>{10, 20, 30}));
  EXPECT_EQ(Values<float>(Eval1("Max", {}, {a, c})), (std::vector<float>{100, 100}));
}

TEST(Where, BroadcastsThreeWays) {
  const Tensor c = Make<bool>({2, 1}, {true, false});
  EXPECT_EQ(Values<float>(Eval1("Where", {}, {c, Floats({3}, {1, 2, 3}), Floats({}, {9})})),
            (std::vector<float>{1, 2, 3, 9, 9, 9}));
  const Tensor s = Eval1("Where", {}, {Vec<bool>({true, false}), Vec<std::string>({"a", "b"}), Vec<std::string>({"c", "d"})});
  EXPECT_EQ(s.strings()[1], "d");
}

TEST(Clip, NaNBoundsAndOrder) {
  const Tensor x = Vec<float>({-5, 0, 5});
  EXPECT_EQ(Values<float>(Eval1("Clip", {}, {x, Floats({}, {-1}), Floats({}, {1})})), (std::vector<float>{-1, 0, 1}));
  // min above max: max wins, as in NumPy.
  EXPECT_EQ(Values<float>(Eval1("Clip", {}, {x, Floats({}, {3}), Floats({}, {1})})), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(Values<float>(Eval1("Clip", {}, {x, Value(), Floats({}, {1})})), (std::vector<float>{-5, 0, 1}));
  EXPECT_FALSE(Eval("Clip", {}, {x, Vec<float>({1, 2})}).ok());
}

}  // namespace
}  // namespace retuple::testing
