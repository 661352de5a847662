// Reductions against a slow reference in double, over random shapes and axes.
#include <map>

#include "tests/kernels/core_test_util.h"

namespace retuple::testing {
namespace {

// Groups the elements of x by result.
std::vector<std::vector<double>> Groups(const Tensor& x, const std::vector<bool>& reduced) {
  std::vector<std::vector<double>> groups;
  int64_t results = 1;
  for (int d = 0; d < x.rank(); ++d) results *= reduced[d] ? 1 : x.dim(d);
  groups.resize(static_cast<size_t>(results));
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t rest = i, at = 0, stride = 1;
    for (int d = x.rank() - 1; d >= 0; --d) {
      const int64_t c = rest % x.dim(d);
      rest /= x.dim(d);
      if (reduced[d]) continue;
      at += c * stride;
      stride *= x.dim(d);
    }
    groups[static_cast<size_t>(at)].push_back(x.At(i));
  }
  return groups;
}

using Fold = double (*)(const std::vector<double>&);
double Total(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x;
  return s;
}
const std::map<std::string, Fold> kFolds = {
    {"ReduceSum", Total},
    {"ReduceMean", [](const std::vector<double>& v) { return Total(v) / static_cast<double>(v.size()); }},
    {"ReduceMax", [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }},
    {"ReduceMin", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }},
    {"ReduceProd",
     [](const std::vector<double>& v) {
       double p = 1;
       for (double x : v) p *= x;
       return p;
     }},
    {"ReduceL1",
     [](const std::vector<double>& v) {
       double s = 0;
       for (double x : v) s += std::fabs(x);
       return s;
     }},
    {"ReduceL2",
     [](const std::vector<double>& v) {
       double s = 0;
       for (double x : v) s += x * x;
       return std::sqrt(s);
     }},
    {"ReduceSumSquare",
     [](const std::vector<double>& v) {
       double s = 0;
       for (double x : v) s += x * x;
       return s;
     }},
    {"ReduceLogSum", [](const std::vector<double>& v) { return std::log(Total(v)); }},
    {"ReduceLogSumExp",
     [](const std::vector<double>& v) {
       double s = 0;
       for (double x : v) s += std::exp(x);
       return std::log(s);
     }},
};

TEST(Reduce, AgreesWithTheSlowOne) {
  std::mt19937 rng(4);
  for (const auto& [name, fold] : kFolds) {
    for (int round = 0; round < 60; ++round) {
      const int rank = 1 + static_cast<int>(rng() % 5);
      Dims dims(rank);
      for (int64_t& d : dims) d = 1 + static_cast<int64_t>(rng() % 7);
      if (round % 10 == 0) dims[rng() % static_cast<size_t>(rank)] = 600;  // more than a block
      const Tensor x = RandomFloats(rng, dims, 0.5f, 1.4f);
      std::vector<bool> reduced(static_cast<size_t>(rank));
      std::vector<int64_t> axes;
      for (int d = 0; d < rank; ++d) {
        if (rng() % 2) {
          reduced[static_cast<size_t>(d)] = true;
          axes.push_back(rng() % 2 ? d : d - rank);
        }
      }
      if (axes.empty()) reduced.assign(static_cast<size_t>(rank), true);
      const bool keep = rng() % 2;
      Dims out;
      for (int d = 0; d < rank; ++d) {
        if (!reduced[static_cast<size_t>(d)]) {
          out.push_back(dims[d]);
        } else if (keep) {
          out.push_back(1);
        }
      }
      Tensor want(DType::kF32, out);
      int64_t i = 0;
      for (const auto& g : Groups(x, reduced)) want.mutable_data<float>()[i++] = static_cast<float>(fold(g));
      SCOPED_TRACE(name);
      const AttrMap keepdims = {{"keepdims", int64_t{keep}}};
      ExpectNear(Eval1(name, keepdims, {x, I64s(axes)}), want, 1e-5, 1e-5);
      AttrMap old = keepdims;
      if (!axes.empty()) old["axes"] = Ints(axes);
      ExpectNear(Eval1(name + "-1", old, {x}), want, 1e-5, 1e-5);
    }
  }
}

TEST(Reduce, LongSumsStayAccurate) {
  const int64_t n = 1 << 22;
  Tensor x(DType::kF32, {n});
  std::fill(x.mutable_data<float>(), x.mutable_data<float>() + n, 0.1f);
  const double want = static_cast<double>(0.1f) * static_cast<double>(n);
  EXPECT_NEAR(Eval1("ReduceSum", {{"keepdims", int64_t{0}}}, {x}).At(0), want, want * 1e-6);
  // Along a leading axis.
  const Tensor y = x.Reshaped({n / 4, 4});
  EXPECT_NEAR(Eval1("ReduceSum", {{"keepdims", int64_t{0}}}, {y, I64s({0})}).At(3), want / 4, want * 2e-6);
}

TEST(Reduce, EmptySetsAndNoop) {
  const Tensor none(DType::kF32, {2, 0});
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Values<float>(Eval1("ReduceSum", {{"keepdims", int64_t{0}}}, {none, I64s({1})})), (std::vector<float>{0, 0}));
  EXPECT_EQ(Values<float>(Eval1("ReduceProd", {{"keepdims", int64_t{0}}}, {none, I64s({1})})), (std::vector<float>{1, 1}));
  EXPECT_EQ(Values<float>(Eval1("ReduceMax", {{"keepdims", int64_t{0}}}, {none, I64s({1})})), (std::vector<float>{-inf, -inf}));
  EXPECT_EQ(Values<float>(Eval1("ReduceLogSumExp", {{"keepdims", int64_t{0}}}, {none, I64s({1})})),
            (std::vector<float>{-inf, -inf}));
  EXPECT_EQ(Eval1("ReduceSum", {}, {none, I64s({0})}).dims(), (Dims{1, 0}));
  const Tensor x = Floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(Values<float>(Eval1("ReduceSum", {{"noop_with_empty_axes", int64_t{1}}}, {x, I64s({})})),
            (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(Eval1("ReduceSum", {{"keepdims", int64_t{0}}}, {Floats({}, {5})}).At(0), 5);
}

TEST(Reduce, NaNAndInfinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  std::vector<float> v(100, 1.0f);
  v[37] = nan;
  EXPECT_TRUE(std::isnan(Eval1("ReduceMax", {}, {Vec<float>(v)}).At(0)));
  EXPECT_TRUE(std::isnan(Eval1("ReduceMin", {}, {Vec<float>(v)}).At(0)));
  EXPECT_EQ(Eval1("ReduceLogSumExp", {}, {Vec<float>({-inf, -inf})}).At(0), -inf);
  EXPECT_EQ(Eval1("ReduceLogSumExp", {}, {Vec<float>({inf, 1})}).At(0), inf);
  EXPECT_NEAR(Eval1("ReduceLogSumExp", {}, {Vec<float>({1000, 1000})}).At(0), 1000.6931, 1e-3);
}

TEST(Reduce, BadAxesAreErrors) {
  const Tensor x = Floats({2, 2}, {1, 2, 3, 4});
  EXPECT_FALSE(Eval("ReduceSum", {}, {x, I64s({2})}).ok());
  EXPECT_FALSE(Eval("ReduceSum", {}, {x, I64s({0, 0})}).ok());
  EXPECT_FALSE(Eval("ReduceSum", {}, {x, I64s({0, -2})}).ok());
  EXPECT_FALSE(Eval("ReduceMean-1", {{"axes", Ints{-3}}}, {x}).ok());
}

TEST(ArgMax, TiesAndNaN) {
  const Tensor x = Vec<float>({1, 3, 3, 2});
  const AttrMap last = {{"select_last_index", int64_t{1}}};
  EXPECT_EQ(Eval1("ArgMax", {}, {x}).IntAt(0), 1);
  EXPECT_EQ(Eval1("ArgMax", last, {x}).IntAt(0), 2);
  EXPECT_EQ(Eval1("ArgMin", {}, {x}).IntAt(0), 0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Eval1("ArgMax", {}, {Vec<float>({1, nan, 5, nan})}).IntAt(0), 1);
  EXPECT_EQ(Eval1("ArgMin", {}, {Vec<float>({1, nan, 5})}).IntAt(0), 1);
  const Tensor m = Eval1("ArgMax", {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}}, {Floats({2, 3}, {1, 5, 2, 4, 0, 2})});
  EXPECT_EQ(Values<int64_t>(m), (std::vector<int64_t>{1, 0, 0}));
  EXPECT_FALSE(Eval("ArgMax", {{"axis", int64_t{0}}}, {Floats({0, 3}, {})}).ok());
}

TEST(CumSum, AllModes) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  auto run = [&](int64_t axis, int64_t exclusive, int64_t reverse) {
    return Values<float>(Eval1("CumSum", {{"exclusive", exclusive}, {"reverse", reverse}}, {x, Tensor::ScalarI64(axis)}));
  };
  EXPECT_EQ(run(1, 0, 0), (std::vector<float>{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(run(1, 1, 0), (std::vector<float>{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(run(-1, 0, 1), (std::vector<float>{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(run(0, 1, 1), (std::vector<float>{4, 5, 6, 0, 0, 0}));
  EXPECT_FALSE(Eval("CumSum", {}, {x, Tensor::ScalarI64(2)}).ok());
}

}  // namespace
}  // namespace retuple::testing
