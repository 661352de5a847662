// Data movement against slow references, and every index, axis and size out of range as an error.
#include <numeric>

#include "tests/kernels/core_test_util.h"

namespace retuple::testing {
namespace {

Tensor Iota(Dims dims) {
  Tensor t(DType::kF32, std::move(dims));
  std::iota(t.mutable_data<float>(), t.mutable_data<float>() + t.size(), 0.0f);
  return t;
}

// Coordinates of flat position i.
Dims At(const Dims& dims, int64_t i) {
  Dims c(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    c[d] = i % dims[d];
    i /= dims[d];
  }
  return c;
}
int64_t Flat(const Dims& dims, const Dims& c) {
  int64_t i = 0;
  for (size_t d = 0; d < dims.size(); ++d) i = i * dims[d] + c[d];
  return i;
}

Dims RandomDims(std::mt19937& rng, int rank, int most) {
  Dims d(rank);
  for (int64_t& n : d) n = 1 + static_cast<int64_t>(rng() % static_cast<unsigned>(most));
  return d;
}

TEST(Transpose, AgreesWithTheSlowOne) {
  std::mt19937 rng(5);
  for (int round = 0; round < 300; ++round) {
    const int rank = 1 + static_cast<int>(rng() % 5);
    const Tensor x = Iota(RandomDims(rng, rank, round % 3 == 0 ? 20 : 5));
    Ints perm(static_cast<size_t>(rank));
    std::iota(perm.begin(), perm.end(), int64_t{0});
    std::shuffle(perm.begin(), perm.end(), rng);
    Dims out(rank);
    for (int d = 0; d < rank; ++d) out[d] = x.dim(static_cast<int>(perm[static_cast<size_t>(d)]));
    const Tensor y = Eval1("Transpose", {{"perm", perm}}, {x});
    ASSERT_EQ(y.dims(), out);
    for (int64_t i = 0; i < y.size(); ++i) {
      const Dims c = At(out, i);
      Dims from(rank);
      for (int d = 0; d < rank; ++d) from[static_cast<size_t>(perm[static_cast<size_t>(d)])] = c[d];
      ASSERT_EQ(y.data<float>()[i], x.data<float>()[Flat(x.dims(), from)]);
    }
  }
  EXPECT_FALSE(Eval("Transpose", {{"perm", Ints{0, 0}}}, {Iota({2, 2})}).ok());
  EXPECT_FALSE(Eval("Transpose", {{"perm", Ints{0, 2}}}, {Iota({2, 2})}).ok());
  EXPECT_FALSE(Eval("Transpose", {{"perm", Ints{0}}}, {Iota({2, 2})}).ok());
}

TEST(Transpose, EveryElementSize) {
  const Dims d{3, 5};
  for (DType t : {DType::kI8, DType::kF16, DType::kI64, DType::kC128, DType::kString}) {
    Tensor x(t, d);
    if (t == DType::kString) {
      for (int64_t i = 0; i < 15; ++i) x.mutable_data<std::string>()[i] = std::string(40, static_cast<char>('a' + i));
    } else {
      for (size_t i = 0; i < x.bytes(); ++i) x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i);
    }
    const Tensor y = Eval1("Transpose", {}, {x});
    EXPECT_EQ(Eval1("Transpose", {}, {y}), x);
  }
}

// Python's slice on one axis.
std::vector<int64_t> PySlice(int64_t n, int64_t start, int64_t end, int64_t step) {
  std::vector<int64_t> out;
  auto clamp = [&](int64_t v, int64_t low, int64_t high) { return std::min(std::max(v, low), high); };
  if (start < 0) start += n;
  if (end < 0) end += n;
  if (step > 0) {
    for (int64_t i = clamp(start, 0, n); i < clamp(end, 0, n); i += step) out.push_back(i);
  } else {
    for (int64_t i = clamp(start, -1, n - 1); i > clamp(end, -1, n - 1); i += step) out.push_back(i);
  }
  return out;
}

TEST(Slice, AgreesWithPython) {
  std::mt19937 rng(6);
  auto near = [&](int64_t n) { return static_cast<int64_t>(rng() % static_cast<uint64_t>(4 * n + 1)) - 2 * n; };
  for (int round = 0; round < 500; ++round) {
    const int rank = 1 + static_cast<int>(rng() % 4);
    const Tensor x = Iota(RandomDims(rng, rank, 6));
    std::vector<int64_t> starts, ends, steps, axes;
    std::vector<std::vector<int64_t>> picks(static_cast<size_t>(rank));
    Dims out = x.dims();
    for (int d = 0; d < rank; ++d) {
      picks[d].resize(static_cast<size_t>(x.dim(d)));
      std::iota(picks[d].begin(), picks[d].end(), int64_t{0});
      if (rng() % 3 == 0) continue;
      const int64_t step = rng() % 2 ? 1 : (rng() % 2 ? 2 : -1 - static_cast<int64_t>(rng() % 2));
      starts.push_back(near(x.dim(d)));
      ends.push_back(near(x.dim(d)));
      steps.push_back(step);
      axes.push_back(rng() % 2 ? d : d - rank);
      picks[d] = PySlice(x.dim(d), starts.back(), ends.back(), step);
      out[d] = static_cast<int64_t>(picks[d].size());
    }
    const Tensor y = Eval1("Slice", {}, {x, I64s(starts), I64s(ends), I64s(axes), I64s(steps)});
    ASSERT_EQ(y.dims(), out);
    for (int64_t i = 0; i < y.size(); ++i) {
      Dims c = At(out, i);
      for (int d = 0; d < rank; ++d) c[d] = picks[d][static_cast<size_t>(c[d])];
      ASSERT_EQ(y.data<float>()[i], x.data<float>()[Flat(x.dims(), c)]);
    }
  }
}

TEST(Slice, ExtremesAndErrors) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  const Tensor x = Iota({5});
  auto run = [&](int64_t s, int64_t e, int64_t step) {
    return Values<float>(Eval1("Slice", {}, {x, I64s({s}), I64s({e}), I64s({0}), I64s({step})}));
  };
  EXPECT_EQ(run(kMin, kMax, 1).size(), 5u);
  EXPECT_EQ(run(kMax, kMin, -1), (std::vector<float>{4, 3, 2, 1, 0}));
  EXPECT_EQ(run(0, kMax, kMax), (std::vector<float>{0}));
  EXPECT_EQ(run(-1, kMin, kMin), (std::vector<float>{4}));
  EXPECT_FALSE(Eval("Slice", {}, {x, I64s({0}), I64s({1}), I64s({0}), I64s({0})}).ok());
  EXPECT_FALSE(Eval("Slice", {}, {x, I64s({0}), I64s({1}), I64s({1})}).ok());
  EXPECT_FALSE(Eval("Slice", {}, {x, I64s({0, 0}), I64s({1, 1}), I64s({0, 0})}).ok());
  EXPECT_FALSE(Eval("Slice", {}, {x, I64s({0}), I64s({1, 2})}).ok());
}

TEST(Views, ShapesAndErrors) {
  const Tensor x = Iota({2, 3, 4});
  EXPECT_EQ(Eval1("Reshape", {}, {x, I64s({0, -1})}).dims(), (Dims{2, 12}));
  EXPECT_EQ(Eval1("Reshape", {{"allowzero", int64_t{1}}}, {Iota({0, 3}), I64s({3, 0})}).dims(), (Dims{3, 0}));
  for (const std::vector<int64_t>& bad : std::vector<std::vector<int64_t>>{
           {-1, -1}, {5, -1}, {7}, {-2, 12}, {1, 1, 1, 0}, {int64_t{1} << 62, 4}, {int64_t{1} << 62, 4, -1}}) {
    EXPECT_FALSE(Eval("Reshape", {}, {x, I64s(bad)}).ok());
  }
  EXPECT_EQ(Eval1("Flatten", {{"axis", int64_t{-1}}}, {x}).dims(), (Dims{6, 4}));
  EXPECT_EQ(Eval1("Flatten", {{"axis", int64_t{3}}}, {x}).dims(), (Dims{24, 1}));
  EXPECT_FALSE(Eval("Flatten", {{"axis", int64_t{4}}}, {x}).ok());
  EXPECT_EQ(Eval1("Squeeze", {}, {Iota({1, 2, 1})}).dims(), (Dims{2}));
  EXPECT_FALSE(Eval("Squeeze", {}, {x, I64s({0})}).ok());
  EXPECT_EQ(Eval1("Unsqueeze", {}, {x, I64s({-1, 0})}).dims(), (Dims{1, 2, 3, 4, 1}));
  EXPECT_FALSE(Eval("Unsqueeze", {}, {x, I64s({0, 0})}).ok());
  EXPECT_FALSE(Eval("Unsqueeze", {}, {x, I64s({9})}).ok());
}

TEST(ConcatSplit, RoundTrip) {
  const Tensor x = Iota({3, 7, 2});
  auto parts = Eval("Split", {{"axis", int64_t{1}}}, {x, I64s({2, 0, 5})}, 3);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ((*parts)[1].tensor.dims(), (Dims{3, 0, 2}));
  EXPECT_EQ(Eval1("Concat", {{"axis", int64_t{-2}}}, *parts), x);
  auto uneven = Eval("Split", {{"axis", int64_t{1}}, {"num_outputs", int64_t{3}}}, {x}, 3);
  ASSERT_TRUE(uneven.ok()) << uneven.status();
  EXPECT_EQ((*uneven)[2].tensor.dims(), (Dims{3, 1, 2}));
  EXPECT_FALSE(Eval("Split", {{"axis", int64_t{1}}}, {x, I64s({2, 2})}, 2).ok());
  EXPECT_FALSE(Eval("Split", {{"axis", int64_t{1}}}, {x, I64s({-2, 9})}, 2).ok());
  EXPECT_FALSE(Eval("Split", {{"axis", int64_t{1}}}, {x}, 2).ok());
  EXPECT_FALSE(Eval("Concat", {{"axis", int64_t{0}}}, {x, Iota({3, 7, 3})}).ok());
  EXPECT_FALSE(Eval("Concat", {{"axis", int64_t{3}}}, {x, x}).ok());
}

TEST(Gather, ValuesAndErrors) {
  const Tensor x = Iota({3, 2});
  EXPECT_EQ(Values<float>(Eval1("Gather", {}, {x, I64s({-1, 0})})), (std::vector<float>{4, 5, 0, 1}));
  EXPECT_EQ(Eval1("Gather", {{"axis", int64_t{1}}}, {x, Tensor::ScalarI64(1)}).dims(), (Dims{3}));
  for (int64_t bad : {int64_t{3}, int64_t{-4}, std::numeric_limits<int64_t>::min()}) {
    EXPECT_FALSE(Eval("Gather", {}, {x, I64s({bad})}).ok());
    EXPECT_FALSE(Eval("GatherElements", {}, {x, Make<int64_t>({1, 1}, {bad})}).ok());
    EXPECT_FALSE(Eval("GatherND", {}, {x, I64s({bad})}).ok());
    EXPECT_FALSE(Eval("ScatterND", {}, {x, Make<int64_t>({1, 1}, {bad}), Iota({1, 2})}).ok());
    EXPECT_FALSE(Eval("ScatterElements", {}, {x, Make<int64_t>({1, 1}, {bad}), Iota({1, 1})}).ok());
  }
  EXPECT_EQ(Values<float>(Eval1("GatherElements", {{"axis", int64_t{0}}}, {x, Make<int64_t>({2, 2}, {0, 1, 2, -1})})),
            (std::vector<float>{0, 3, 4, 5}));
  EXPECT_FALSE(Eval("GatherElements", {}, {x, Make<int64_t>({1, 3}, {0, 0, 0})}).ok());
  EXPECT_EQ(Values<float>(Eval1("GatherND", {}, {x, Make<int64_t>({2, 2}, {0, 1, -1, -2})})), (std::vector<float>{1, 4}));
  EXPECT_EQ(Values<float>(Eval1("GatherND", {{"batch_dims", int64_t{1}}}, {x, Make<int64_t>({3, 1}, {1, 0, 1})})),
            (std::vector<float>{1, 2, 5}));
  EXPECT_FALSE(Eval("GatherND", {}, {x, Make<int64_t>({1, 3}, {0, 0, 0})}).ok());
  EXPECT_FALSE(Eval("GatherND", {{"batch_dims", int64_t{1}}}, {x, Make<int64_t>({2, 1}, {0, 0})}).ok());
}

TEST(Scatter, Reductions) {
  const Tensor x = Vec<float>({1, 2, 3});
  const Tensor at = I64s({1, 1}), up = Vec<float>({10, 4});
  auto run = [&](const char* how) {
    return Values<float>(Eval1("ScatterElements", {{"reduction", std::string(how)}}, {x, at, up}));
  };
  EXPECT_EQ(run("none"), (std::vector<float>{1, 4, 3}));
  EXPECT_EQ(run("add"), (std::vector<float>{1, 16, 3}));
  EXPECT_EQ(run("mul"), (std::vector<float>{1, 80, 3}));
  EXPECT_EQ(run("max"), (std::vector<float>{1, 10, 3}));
  EXPECT_EQ(run("min"), (std::vector<float>{1, 2, 3}));
  EXPECT_FALSE(Eval("ScatterElements", {{"reduction", std::string("sub")}}, {x, at, up}).ok());
  EXPECT_FALSE(Eval("ScatterElements", {}, {x, at, Vec<float>({1})}).ok());
}

TEST(Pad, ModesAndErrors) {
  const Tensor x = Vec<float>({1, 2, 3});
  auto run = [&](const char* mode, int64_t a, int64_t b) {
    return Values<float>(Eval1("Pad", {{"mode", std::string(mode)}}, {x, I64s({a, b}), Floats({}, {9})}));
  };
  EXPECT_EQ(run("constant", 1, 2), (std::vector<float>{9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(run("edge", 2, 1), (std::vector<float>{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(run("reflect", 2, 2), (std::vector<float>{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(run("reflect", 0, 5), (std::vector<float>{1, 2, 3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(run("wrap", 2, 4), (std::vector<float>{2, 3, 1, 2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(run("constant", -1, 1), (std::vector<float>{2, 3, 9}));
  EXPECT_EQ(run("constant", -2, -1), (std::vector<float>{}));
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  for (const auto& bad : std::vector<std::vector<int64_t>>{{-2, -2}, {kMin, 0}, {kMax, kMax}, {kMax, 0}, {1}, {1, 1, 1}}) {
    EXPECT_FALSE(Eval("Pad", {}, {x, I64s(bad)}).ok());
  }
  EXPECT_FALSE(Eval("Pad", {{"mode", std::string("edge")}}, {Tensor(DType::kF32, {0}), I64s({1, 1})}).ok());
  EXPECT_EQ(Eval1("Pad", {}, {Iota({2, 2}), I64s({0, 3}), Value(), I64s({-1})}).dims(), (Dims{2, 5}));
}

TEST(Tile, ValuesAndErrors) {
  EXPECT_EQ(Values<float>(Eval1("Tile", {}, {Iota({2, 2}), I64s({2, 2})})),
            (std::vector<float>{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_FALSE(Eval("Tile", {}, {Iota({2}), I64s({-1})}).ok());
  EXPECT_FALSE(Eval("Tile", {}, {Iota({2}), I64s({1, 1})}).ok());
  EXPECT_FALSE(Eval("Tile", {}, {Iota({2}), I64s({std::numeric_limits<int64_t>::max()})}).ok());
  EXPECT_EQ(Eval1("Expand", {}, {Iota({3, 1}), I64s({2, 1, 4})}).dims(), (Dims{2, 3, 4}));
  EXPECT_FALSE(Eval("Expand", {}, {Iota({3}), I64s({2})}).ok());
  EXPECT_FALSE(Eval("Expand", {}, {Iota({1}), I64s({-1})}).ok());
  EXPECT_EQ(Eval("Expand", {}, {Iota({1}), I64s({int64_t{1} << 40, 1 << 20})}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(Selection, Errors) {
  const Tensor x = Iota({2, 3});
  EXPECT_FALSE(Eval("ReverseSequence", {}, {x, I64s({1, 2})}).ok());
  EXPECT_FALSE(Eval("ReverseSequence", {}, {x, I64s({1, 2, 3})}).ok());
  EXPECT_EQ(Values<float>(Eval1("ReverseSequence", {}, {x, I64s({1, 2, 0})})), (std::vector<float>{0, 4, 2, 3, 1, 5}));
  EXPECT_FALSE(Eval("Compress", {{"axis", int64_t{0}}}, {x, Vec<bool>({false, false, true})}).ok());
  EXPECT_FALSE(Eval("OneHot", {}, {I64s({0}), Tensor::ScalarI64(-1), Vec<float>({0, 1})}).ok());
  EXPECT_EQ(Values<float>(Eval1("OneHot", {}, {I64s({1, -1, 5}), Tensor::ScalarI64(2), Vec<float>({0, 1})})),
            (std::vector<float>{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(Eval1("NonZero", {}, {Floats({}, {3})}).dims(), (Dims{1, 1}));
  EXPECT_EQ(Eval1("Trilu", {}, {x, Tensor::ScalarI64(std::numeric_limits<int64_t>::min())}), x);
  EXPECT_EQ(Eval1("Trilu", {}, {x, Tensor::ScalarI64(std::numeric_limits<int64_t>::max())}).UniformValue(), 0.0);
  EXPECT_FALSE(Eval("TopK", {}, {x, I64s({4})}, 2).ok());
  EXPECT_FALSE(Eval("TopK", {}, {x, I64s({-1})}, 2).ok());
  EXPECT_FALSE(Eval("Range", {}, {Tensor::ScalarI64(0), Tensor::ScalarI64(1), Tensor::ScalarI64(0)}).ok());
  EXPECT_FALSE(Eval("ConstantOfShape", {}, {I64s({-1})}).ok());
}

TEST(SpaceDepth, Inverse) {
  const Tensor x = Iota({1, 8, 2, 3});
  const AttrMap b = {{"blocksize", int64_t{2}}};
  EXPECT_EQ(Eval1("SpaceToDepth", b, {Eval1("DepthToSpace", b, {x})}), x);
  EXPECT_FALSE(Eval("DepthToSpace", {{"blocksize", int64_t{3}}}, {x}).ok());
  EXPECT_FALSE(Eval("DepthToSpace", {{"blocksize", int64_t{0}}}, {x}).ok());
  EXPECT_FALSE(Eval("SpaceToDepth", {{"blocksize", int64_t{1} << 40}}, {x}).ok());
}

}  // namespace
}  // namespace retuple::testing
