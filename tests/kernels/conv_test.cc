// Convolutions and poolings against the definition, over every method that the shape may choose;
// hostile inputs.
#include "tests/kernels/dense_test_util.h"

namespace retuple {
namespace {

using testing::Eval;
using testing::ExpectNear;
using testing::MakeTestOp;
using testing::RandomF32;

struct ConvCase {
  Dims x, w;  // 1 to 3 spatial axes
  Ints strides, dilations, pads;
  int64_t group = 1;
};

// The sum as it is defined, in f64.
Tensor DirectConv(const ConvCase& c, const Tensor& x, const Tensor& w, const Tensor& b) {
  const size_t r = c.x.size() - 2;
  Dims out{c.x[0], c.w[0]};
  for (size_t i = 0; i < r; ++i) {
    out.push_back((c.x[i + 2] + c.pads[i] + c.pads[r + i] - (c.w[i + 2] - 1) * c.dilations[i] - 1) /
                      c.strides[i] +
                  1);
  }
  Tensor y(DType::kF32, out);
  const int64_t cg = c.w[1], mg = c.w[0] / c.group;
  const auto at = [&](const Dims& d, size_t i) { return i + 2 < d.size() ? d[i + 2] : 1; };
  const int64_t kernel = NumElements(std::span(c.w).subspan(2)),
                pixels = NumElements(std::span(out).subspan(2));
  for (int64_t n = 0; n < out[0]; ++n) {
    for (int64_t m = 0; m < out[1]; ++m) {
      for (int64_t p = 0; p < pixels; ++p) {
        double sum = b.At(m);
        for (int64_t ci = 0; ci < cg; ++ci) {
          for (int64_t k = 0; k < kernel; ++k) {
            int64_t pp = p, kk = k, offset = 0, stride = 1;
            bool inside = true;
            for (size_t i = r; i-- > 0;) {
              const int64_t o = pp % at(out, i), t = kk % at(c.w, i);
              pp /= at(out, i);
              kk /= at(c.w, i);
              const int64_t pos = o * c.strides[i] - c.pads[i] + t * c.dilations[i];
              inside = inside && pos >= 0 && pos < at(c.x, i);
              offset += pos * stride;
              stride *= at(c.x, i);
            }
            if (!inside) continue;
            const int64_t channel = m / mg * cg + ci;
            sum +=
                x.At((n * c.x[1] + channel) * stride + offset) * w.At((m * cg + ci) * kernel + k);
          }
        }
        y.mutable_data<float>()[(n * out[1] + m) * pixels + p] = static_cast<float>(sum);
      }
    }
  }
  return y;
}

AttrMap Attrs(const ConvCase& c) {
  return {{"dilations", c.dilations}, {"group", c.group}, {"pads", c.pads}, {"strides", c.strides}};
}

TEST(ConvTest, EveryMethodAgreesWithTheDefinition) {
  const std::vector<ConvCase> cases = {
      {{1, 3, 9, 11}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{2, 3, 20, 17}, {16, 3, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
      {{1, 4, 12, 12}, {9, 4, 5, 3}, {2, 1}, {1, 2}, {0, 2, 3, 1}},
      {{1, 8, 13, 15}, {40, 8, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},  // pointwise
      {{2, 8, 13, 15}, {7, 8, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},   // direct
      {{1, 8, 13, 15}, {40, 8, 1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
      {{2, 24, 1, 1}, {40, 24, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},  // one pixel
      {{1, 24, 4, 4}, {40, 24, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},  // four pixels
      {{1, 300, 2, 2}, {33, 300, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
      {{2, 6, 14, 14}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 6},  // depthwise
      {{1, 6, 7, 7}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 6},
      {{1, 6, 40, 37}, {6, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 6},
      {{1, 6, 9, 33}, {6, 1, 5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, 6},
      {{1, 6, 19, 33}, {6, 1, 5, 5}, {2, 2}, {1, 1}, {2, 2, 2, 2}, 6},
      {{1, 6, 19, 33}, {12, 1, 3, 5}, {1, 3}, {2, 2}, {2, 2, 0, 1}, 6},
      {{1, 6, 5, 5}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 6},
      {{1, 6, 5, 5}, {6, 1, 5, 5}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 6},
      {{1, 3, 5, 5}, {3, 1, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 3},
      {{1, 8, 10, 10}, {16, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 2},  // groups
      {{1, 32, 28, 28}, {32, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},   // Winograd
      {{2, 40, 17, 30}, {33, 40, 3, 3}, {1, 1}, {1, 1}, {0, 1, 1, 0}},
      {{1, 64, 16, 70}, {24, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{1, 300, 20, 20}, {17, 300, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{1, 128, 56, 56}, {32, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 2},
      {{2, 5, 30}, {11, 5, 3}, {1}, {1}, {1, 1}},  // 1-D
      {{2, 5, 30}, {11, 5, 4}, {3}, {2}, {2, 1}},
      {{1, 5, 30}, {5, 1, 3}, {1}, {1}, {1, 1}, 5},
      {{1, 3, 6, 7, 8}, {4, 3, 2, 3, 3}, {1, 2, 1}, {1, 1, 2}, {1, 0, 1, 0, 1, 2}},  // 3-D
      {{1, 3, 6, 7, 8}, {4, 3, 1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}},
      {{1, 2, 6, 7, 8}, {2, 1, 3, 3, 3}, {2, 1, 2}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, 2},
      {{1, 3, 20, 20}, {8, 3, 3, 3}, {7, 5}, {1, 1}, {1, 1, 1, 1}},
      {{1, 3, 4, 4}, {8, 3, 7, 7}, {1, 1}, {1, 1}, {3, 3, 3, 3}},
      {{0, 3, 4, 4}, {8, 3, 3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
  };
  std::mt19937 rng(1);
  for (size_t i = 0; i < cases.size(); ++i) {
    const ConvCase& c = cases[i];
    const Tensor x = RandomF32(c.x, rng), w = RandomF32(c.w, rng), b = RandomF32({c.w[0]}, rng);
    auto got = Eval(MakeTestOp("Conv", Attrs(c)), {x, w, b});
    ASSERT_TRUE(got.ok()) << "case " << i << ": " << got.status();
    // Sums of up to 2700 products; Winograd transforms lose a digit or two of them.
    ExpectNear(*got, DirectConv(c, x, w, b), 1e-3, 1e-4, "case " + std::to_string(i));
  }
}

// A plan that sees one shape after another repacks what it must.
TEST(ConvTest, ShapesMayChangeFromRunToRun) {
  std::mt19937 rng(2);
  Graph g;
  const VarId x = g.AddInput("x", Type::Unknown());
  const Tensor w = RandomF32({40, 32, 3, 3}, rng);
  const AttrMap attrs{{"pads", Ints{1, 1, 1, 1}}};
  const VarId y = g.output(
      g.AddApply(g.InternOp(MakeTestOp("Conv", attrs)), std::vector<VarId>{x, g.AddConstant(w)}),
      0);
  g.AddOutput("y", y);
  auto plan = Plan::Compile(g);
  ASSERT_TRUE(plan.ok());
  for (int64_t size : {2, 28, 9, 1, 32, 2}) {
    const Tensor in = RandomF32({1, 32, size, size}, rng);
    auto got = (*plan)->Run(std::vector<Value>{in});
    ASSERT_TRUE(got.ok()) << got.status();
    ExpectNear((*got)[0].tensor, *Eval(MakeTestOp("Conv", attrs), {in, w}), 1e-4, 1e-4,
               "size " + std::to_string(size));
  }
}

// However many threads share the work, the bits are the same.
TEST(ConvTest, ThreadsDoNotChangeTheResult) {
  std::mt19937 rng(5);
  struct Case {
    Dims x, w;
    int64_t group;
  };
  const std::vector<Case> cases = {{{2, 16, 60, 61}, {24, 16, 3, 3}, 1},   // patches or flat
                                   {{1, 64, 40, 40}, {64, 64, 3, 3}, 1},   // Winograd
                                   {{1, 32, 50, 50}, {32, 1, 3, 3}, 32},   // depthwise
                                   {{1, 300, 2, 2}, {500, 300, 3, 3}, 1},  // rows
                                   {{1, 64, 70, 70}, {200, 64, 1, 1}, 1}};
  for (const Case& c : cases) {
    Graph g;
    const VarId x = g.AddInput("x", Type::Unknown());
    const Tensor w = RandomF32(c.w, rng);
    const int64_t pad = c.w[2] / 2;
    AttrMap attrs{{"group", c.group}, {"pads", Ints{pad, pad, pad, pad}}};
    const VarId conv = g.output(
        g.AddApply(g.InternOp(MakeTestOp("Conv", attrs)), std::vector<VarId>{x, g.AddConstant(w)}),
        0);
    attrs = {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{1, 1}}};
    g.AddOutput("conv", conv);
    if (c.x[2] > 2) {
      g.AddOutput("pool", g.output(g.AddApply(g.InternOp(MakeTestOp("MaxPool", attrs)),
                                              std::vector<VarId>{conv}),
                                   0));
    }
    const Tensor in = RandomF32(c.x, rng);
    std::vector<Value> first;
    for (int threads : {1, 2, 5}) {
      PlanOptions o;
      o.threads = threads;
      auto plan = Plan::Compile(g, o);
      ASSERT_TRUE(plan.ok()) << plan.status();
      for (int run = 0; run < 3; ++run) {
        auto out = (*plan)->Run(std::vector<Value>{in});
        ASSERT_TRUE(out.ok()) << out.status();
        if (first.empty()) first = *out;
        for (size_t i = 0; i < first.size(); ++i) {
          EXPECT_TRUE((*out)[i].tensor == first[i].tensor) << threads;
        }
      }
    }
  }
}

TEST(ConvTest, HostileAttributesAreErrors) {
  const Tensor x = testing::F32({1, 1, 4, 4}, std::vector<float>(16, 1)),
               w = testing::F32({1, 1, 2, 2}, {1, 1, 1, 1});
  const int64_t big = int64_t{1} << 62;
  const std::vector<AttrMap> attrs = {
      {{"strides", Ints{0, 1}}},      {{"strides", Ints{1}}},
      {{"dilations", Ints{-1, 1}}},   {{"dilations", Ints{big, big}}},
      {{"pads", Ints{-1, 0, 0, 0}}},  {{"pads", Ints{big, big, big, big}}},
      {{"pads", Ints{1, 1}}},         {{"group", int64_t{0}}},
      {{"group", int64_t{3}}},        {{"group", big}},
      {{"kernel_shape", Ints{3, 3}}}, {{"auto_pad", std::string("NEARLY")}},
      {{"dilations", Ints{4, 4}}},    {{"pads", Ints{1 << 30, 1 << 30, 1 << 30, 1 << 30}}},
  };
  for (size_t i = 0; i < attrs.size(); ++i) {
    EXPECT_FALSE(Eval(MakeTestOp("Conv", attrs[i]), {x, w}).ok()) << i;
  }
  EXPECT_FALSE(
      Eval(MakeTestOp("Conv"), {x, testing::F32({1, 2, 2, 2}, std::vector<float>(8))}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("Conv"), {x, w, testing::F32({2}, {1, 1})}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("Conv"), {testing::F32({4}, {1, 1, 1, 1}), w}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("ConvTranspose", {{"output_shape", Ints{-3, 4}}}), {x, w}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("ConvTranspose", {{"strides", Ints{big, big}}}), {x, w}).ok());
  EXPECT_FALSE(
      Eval(MakeTestOp("ConvTranspose", {{"strides", Ints{1 << 30, 1 << 30}}}), {x, w}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("MaxPool", {{"kernel_shape", Ints{9, 9}}}), {x}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("MaxPool", {{"kernel_shape", Ints{0, 1}}}), {x}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("AveragePool", {{"kernel_shape", Ints{2}}}), {x}).ok());
}

// ConvTranspose is the transpose of Conv: <Conv(x), y> = <x, ConvTranspose(y)>.
TEST(ConvTest, TransposeIsAdjoint) {
  const std::vector<ConvCase> cases = {
      {{1, 4, 9, 9}, {6, 4, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
      {{2, 4, 8, 10}, {6, 4, 2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
      {{1, 4, 12, 11}, {6, 2, 3, 3}, {1, 2}, {2, 1}, {2, 1, 1, 1}, 2},
      {{1, 3, 17}, {2, 3, 5}, {3}, {1}, {1, 1}},
      {{1, 2, 5, 6, 7}, {3, 2, 2, 3, 2}, {1, 1, 1}, {1, 1, 1}, {0, 1, 0, 0, 1, 0}},
  };
  std::mt19937 rng(3);
  for (const ConvCase& c : cases) {
    const Tensor x = RandomF32(c.x, rng), w = RandomF32(c.w, rng);
    const Tensor conv = *Eval(MakeTestOp("Conv", Attrs(c)), {x, w});
    const Tensor y = RandomF32(conv.dims(), rng);
    AttrMap attrs = Attrs(c);
    attrs["output_shape"] = Ints(c.x.begin() + 2, c.x.end());
    attrs.erase("pads");
    // Exactly the pads of the convolution: the output's size follows from them but for the
    // remainder of the stride.
    attrs = Attrs(c);
    Ints extra;
    for (size_t i = 0; i + 2 < c.x.size(); ++i) {
      const size_t r = c.x.size() - 2;
      extra.push_back(
          (c.x[i + 2] + c.pads[i] + c.pads[r + i] - (c.w[i + 2] - 1) * c.dilations[i] - 1) %
          c.strides[i]);
    }
    attrs["output_padding"] = extra;
    const Tensor back = *Eval(MakeTestOp("ConvTranspose", attrs), {y, w});
    ASSERT_EQ(back.dims(), x.dims());
    double left = 0, right = 0;
    for (int64_t i = 0; i < y.size(); ++i) left += y.At(i) * conv.At(i);
    for (int64_t i = 0; i < x.size(); ++i) right += x.At(i) * back.At(i);
    EXPECT_NEAR(left, right, 1e-3);
  }
}

TEST(PoolTest, MaxAndAverageAgreeWithTheDefinition) {
  std::mt19937 rng(4);
  for (int64_t kernel : {2, 3, 5}) {
    for (int64_t stride : {1, 2, 3}) {
      for (int64_t pad : {0, 1}) {
        for (int64_t ceil : {0, 1}) {
          const int64_t h = 13, w = 22;
          const Tensor x = RandomF32({1, 3, h, w}, rng);
          const AttrMap attrs{{"ceil_mode", ceil},
                              {"kernel_shape", Ints{kernel, kernel}},
                              {"pads", Ints(4, pad)},
                              {"strides", Ints{stride, stride}}};
          auto values = EvaluateOp(MakeTestOp("MaxPool", attrs), std::vector<Value>{x});
          ASSERT_TRUE(values.ok()) << values.status();
          const Tensor max = (*values)[0].tensor, indices = (*values)[1].tensor;
          auto average = Eval(MakeTestOp("AveragePool", attrs), {x});
          ASSERT_TRUE(average.ok()) << average.status();
          ASSERT_EQ(average->dims(), max.dims());
          const int64_t oh = max.dim(2), ow = max.dim(3);
          for (int64_t i = 0; i < max.size(); ++i) {
            const int64_t c = i / (oh * ow), r = i / ow % oh, q = i % ow;
            double best = -1e9, sum = 0;
            int64_t count = 0;
            for (int64_t a = 0; a < kernel; ++a) {
              for (int64_t b = 0; b < kernel; ++b) {
                const int64_t u = r * stride - pad + a, v = q * stride - pad + b;
                if (u < 0 || u >= h || v < 0 || v >= w) continue;
                const double e = x.At((c * h + u) * w + v);
                best = std::max(best, e);
                sum += e;
                ++count;
              }
            }
            ASSERT_EQ(max.At(i), best) << kernel << stride << pad << ceil;
            ASSERT_EQ(x.At(indices.IntAt(i)), best);
            ASSERT_NEAR(average->At(i), sum / static_cast<double>(count), 1e-6)
                << kernel << stride << pad << ceil;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace retuple
