// Matrix products, softmax, recurrent cells and Einsum against their definitions; hostile inputs.
#include "absl/strings/str_format.h"
#include "tests/kernels/dense_test_util.h"

namespace retuple {
namespace {

using testing::Eval;
using testing::ExpectNear;
using testing::F32;
using testing::MakeTestOp;
using testing::RandomF32;

Tensor DirectProduct(const Tensor& a, const Tensor& b, int64_t m, int64_t n, int64_t k) {
  Tensor y(DType::kF32, {m, n});
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double s = 0;
      for (int64_t p = 0; p < k; ++p) s += a.At(i * k + p) * b.At(p * n + j);
      y.mutable_data<float>()[i * n + j] = static_cast<float>(s);
    }
  }
  return y;
}

TEST(MatMulTest, AllSizesAndConstantWeights) {
  std::mt19937 rng(1);
  for (int64_t m : {1, 2, 7, 8, 9, 33, 50}) {
    for (int64_t n : {1, 15, 16, 17, 48, 49, 100}) {
      for (int64_t k : {0, 1, 3, 64, 257, 300}) {
        const Tensor a = RandomF32({m, k}, rng), b = RandomF32({k, n}, rng);
        const Tensor want = DirectProduct(a, b, m, n, k);
        const std::string what = absl::StrFormat("%d %d %d", m, n, k);
        ExpectNear(*Eval(MakeTestOp("MatMul"), {a, b}), want, 1e-4, 1e-5, what);
        Graph g;
        const VarId x = g.AddInput("x", Type::Unknown());
        const std::vector<VarId> in{x, g.AddConstant(b)};
        g.AddOutput("y", g.output(g.AddApply(g.InternOp(MakeTestOp("MatMul")), in), 0));
        auto plan = Plan::Compile(g);
        ASSERT_TRUE(plan.ok());
        ExpectNear((*(*plan)->Run(std::vector<Value>{a}))[0].tensor, want, 1e-4, 1e-5, what);
      }
    }
  }
}

TEST(MatMulTest, BatchesBroadcast) {
  std::mt19937 rng(2);
  const Tensor a = RandomF32({2, 1, 3, 4}, rng), b = RandomF32({5, 4, 6}, rng);
  const Tensor y = *Eval(MakeTestOp("MatMul"), {a, b});
  ASSERT_EQ(y.dims(), (Dims{2, 5, 3, 6}));
  for (int64_t i = 0; i < 10; ++i) {
    for (int64_t r = 0; r < 3; ++r) {
      for (int64_t c = 0; c < 6; ++c) {
        double s = 0;
        for (int64_t p = 0; p < 4; ++p)
          s += a.At((i / 5 * 3 + r) * 4 + p) * b.At((i % 5 * 4 + p) * 6 + c);
        EXPECT_NEAR(y.At((i * 3 + r) * 6 + c), s, 1e-5);
      }
    }
  }
  EXPECT_EQ(Eval(MakeTestOp("MatMul"), {RandomF32({4}, rng), b})->dims(), (Dims{5, 6}));
  EXPECT_EQ(Eval(MakeTestOp("MatMul"), {RandomF32({2, 3, 4}, rng), RandomF32({4}, rng)})->dims(),
            (Dims{2, 3}));
  EXPECT_EQ(Eval(MakeTestOp("MatMul"), {RandomF32({4}, rng), RandomF32({4}, rng)})->dims(), Dims{});
  EXPECT_EQ(Eval(MakeTestOp("MatMul"), {RandomF32({0, 4}, rng), RandomF32({4, 3}, rng)})->dims(),
            (Dims{0, 3}));
  EXPECT_FALSE(Eval(MakeTestOp("MatMul"), {F32({}, {1}), F32({}, {1})}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("MatMul"), {RandomF32({3, 4}, rng), RandomF32({3, 4}, rng)}).ok());
  EXPECT_FALSE(
      Eval(MakeTestOp("MatMul"), {RandomF32({2, 3, 4}, rng), RandomF32({3, 4, 4}, rng)}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("MatMul"), {RandomF32({3, 4}, rng), Tensor::ScalarI64(3)}).ok());
}

TEST(GemmTest, TransposesScalesAndBroadcasts) {
  std::mt19937 rng(3);
  const int64_t m = 5, n = 19, k = 11;
  for (int64_t ta : {0, 1}) {
    for (int64_t tb : {0, 1}) {
      for (float alpha : {1.0f, 0.5f}) {
        for (const Dims& c_dims : {Dims{m, n}, Dims{n}, Dims{1, n}, Dims{m, 1}, Dims{}, Dims{1}}) {
          const Tensor a = RandomF32(ta ? Dims{k, m} : Dims{m, k}, rng),
                       b = RandomF32(tb ? Dims{n, k} : Dims{k, n}, rng);
          const Tensor c = RandomF32(c_dims, rng);
          const AttrMap attrs{
              {"alpha", alpha}, {"beta", 2 * alpha}, {"transA", ta}, {"transB", tb}};
          auto y = Eval(MakeTestOp("Gemm", attrs), {a, b, c});
          ASSERT_TRUE(y.ok()) << y.status();
          const int64_t cols = c_dims.empty() ? 1 : c_dims.back(),
                        rows = c_dims.size() == 2 ? c_dims[0] : 1;
          for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < n; ++j) {
              double s = 0;
              for (int64_t p = 0; p < k; ++p)
                s += a.At(ta ? p * m + i : i * k + p) * b.At(tb ? j * k + p : p * n + j);
              s = alpha * s + 2 * alpha * c.At((rows == 1 ? 0 : i * cols) + (cols == 1 ? 0 : j));
              ASSERT_NEAR(y->At(i * n + j), s, 1e-4);
            }
          }
        }
      }
    }
  }
  EXPECT_FALSE(Eval(MakeTestOp("Gemm"), {F32({2}, {1, 2}), F32({2}, {1, 2})}).ok());
  EXPECT_FALSE(
      Eval(MakeTestOp("Gemm"), {F32({1, 2}, {1, 2}), F32({2, 1}, {1, 2}), F32({3}, {1, 2, 3})})
          .ok());
}

TEST(MatMulTest, IntegersWrapAndBytesAreExact) {
  Tensor a(DType::kI32, {1, 2}), b(DType::kI32, {2, 1});
  a.mutable_data<int32_t>()[0] = 1 << 30;
  a.mutable_data<int32_t>()[1] = -3;
  b.mutable_data<int32_t>()[0] = 4;
  b.mutable_data<int32_t>()[1] = 7;
  EXPECT_EQ(Eval(MakeTestOp("MatMul"), {a, b})->IntAt(0), -21);
  Tensor u(DType::kU8, {3, 70}), v(DType::kI8, {70, 20});
  std::mt19937 rng(4);
  for (int64_t i = 0; i < u.size(); ++i) u.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(rng());
  for (int64_t i = 0; i < v.size(); ++i) v.mutable_data<int8_t>()[i] = static_cast<int8_t>(rng());
  const Tensor zero = Tensor::Scalar<uint8_t>(DType::kU8, 7);
  const Tensor y = *Eval(MakeTestOp("MatMulInteger"), {u, v, zero});
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 20; ++j) {
      int64_t s = 0;
      for (int64_t p = 0; p < 70; ++p) s += (u.IntAt(i * 70 + p) - 7) * v.IntAt(p * 20 + j);
      EXPECT_EQ(y.IntAt(i * 20 + j), s);
    }
  }
}

TEST(SoftmaxTest, SumsToOneOnEveryAxisAndKeepsExtremes) {
  std::mt19937 rng(5);
  const Tensor x = RandomF32({3, 17, 5}, rng, -20, 20);
  for (int64_t axis : {-3, -2, -1, 0, 1, 2}) {
    const Tensor y = *Eval(MakeTestOp("Softmax", {{"axis", axis}}), {x});
    double total = 0;
    for (int64_t i = 0; i < y.size(); ++i) total += y.At(i);
    const int64_t n = x.dim(static_cast<int>(axis < 0 ? axis + 3 : axis));
    EXPECT_NEAR(total, static_cast<double>(x.size() / n), 1e-4);
    const Tensor l = *Eval(MakeTestOp("LogSoftmax", {{"axis", axis}}), {x});
    for (int64_t i = 0; i < y.size(); ++i) ASSERT_NEAR(std::exp(l.At(i)), y.At(i), 1e-5);
  }
  const float inf = INFINITY;
  const Tensor e = *Eval(MakeTestOp("Softmax"), {F32({2, 2}, {-inf, 0, 1000, -1000})});
  EXPECT_EQ(testing::Floats(e), (std::vector<float>{0, 1, 1, 0}));
  EXPECT_FALSE(Eval(MakeTestOp("Softmax", {{"axis", int64_t{3}}}), {x}).ok());
  EXPECT_EQ(Eval(MakeTestOp("Softmax"), {RandomF32({0, 3}, rng)})->dims(), (Dims{0, 3}));
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The plain equations, one sequence and one direction.
TEST(LstmTest, AgreesWithTheEquations) {
  std::mt19937 rng(6);
  const int64_t seq = 5, in = 7, hidden = 19;
  const Tensor x = RandomF32({seq, 1, in}, rng), w = RandomF32({1, 4 * hidden, in}, rng);
  const Tensor r = RandomF32({1, 4 * hidden, hidden}, rng), b = RandomF32({1, 8 * hidden}, rng);
  auto out =
      EvaluateOp(MakeTestOp("LSTM", {{"hidden_size", hidden}}), std::vector<Value>{x, w, r, b});
  ASSERT_TRUE(out.ok()) << out.status();
  std::vector<double> h(hidden, 0), c(hidden, 0);
  for (int64_t t = 0; t < seq; ++t) {
    std::vector<double> g(4 * hidden);
    for (int64_t i = 0; i < 4 * hidden; ++i) {
      g[i] = b.At(i) + b.At(4 * hidden + i);
      for (int64_t j = 0; j < in; ++j) g[i] += w.At(i * in + j) * x.At(t * in + j);
      for (int64_t j = 0; j < hidden; ++j) g[i] += r.At(i * hidden + j) * h[j];
    }
    for (int64_t i = 0; i < hidden; ++i) {
      c[i] = Sigmoid(g[2 * hidden + i]) * c[i] + Sigmoid(g[i]) * std::tanh(g[3 * hidden + i]);
      h[i] = Sigmoid(g[hidden + i]) * std::tanh(c[i]);
      ASSERT_NEAR((*out)[0].tensor.At(t * hidden + i), h[i], 1e-5);
    }
  }
  for (int64_t i = 0; i < hidden; ++i) {
    EXPECT_NEAR((*out)[1].tensor.At(i), h[i], 1e-5);
    EXPECT_NEAR((*out)[2].tensor.At(i), c[i], 1e-5);
  }
}

// A reversed run is a forward run on the reversed sequence; both together are the bidirectional
// one; a shorter sequence in a batch is a run of its own.
TEST(RecurrentTest, DirectionsAndLengths) {
  std::mt19937 rng(7);
  const int64_t seq = 4, in = 3, hidden = 5;
  for (const auto& [form, gates] :
       {std::pair<const char*, int64_t>{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}}) {
    const Tensor x = RandomF32({seq, 2, in}, rng), w = RandomF32({2, gates * hidden, in}, rng);
    const Tensor r = RandomF32({2, gates * hidden, hidden}, rng),
                 b = RandomF32({2, 2 * gates * hidden}, rng);
    Tensor lengths(DType::kI32, {2});
    lengths.mutable_data<int32_t>()[0] = 4;
    lengths.mutable_data<int32_t>()[1] = 2;
    auto both = EvaluateOp(
        MakeTestOp(form, {{"direction", std::string("bidirectional")}, {"hidden_size", hidden}}),
        std::vector<Value>{x, w, r, b, lengths});
    ASSERT_TRUE(both.ok()) << form << both.status();
    const Tensor y = (*both)[0].tensor;  // [seq, 2, batch, hidden]
    // Batch element 1, direction 1, alone.
    auto part = [&](const Tensor& t, int64_t rows) {
      Tensor p = RandomF32({1, rows, t.size() / 2 / rows}, rng);
      std::copy_n(t.data<float>() + t.size() / 2, p.size(), p.mutable_data<float>());
      return p;
    };
    Tensor short_x(DType::kF32, {2, 1, in});
    for (int64_t t = 0; t < 2; ++t)
      std::copy_n(x.data<float>() + (t * 2 + 1) * in, in, short_x.mutable_data<float>() + t * in);
    const Tensor b1 = part(b, 1).Reshaped({1, 2 * gates * hidden});
    auto alone = EvaluateOp(
        MakeTestOp(form, {{"direction", std::string("reverse")}, {"hidden_size", hidden}}),
        std::vector<Value>{short_x, part(w, gates * hidden), part(r, gates * hidden), b1});
    ASSERT_TRUE(alone.ok()) << form << alone.status();
    for (int64_t t = 0; t < seq; ++t) {
      for (int64_t i = 0; i < hidden; ++i) {
        const double want = t < 2 ? (*alone)[0].tensor.At(t * hidden + i) : 0.0;
        ASSERT_NEAR(y.At(((t * 2 + 1) * 2 + 1) * hidden + i), want, 1e-6) << form << t;
      }
    }
  }
}

TEST(RecurrentTest, MismatchesAreErrors) {
  std::mt19937 rng(8);
  const Tensor x = RandomF32({4, 2, 3}, rng), w = RandomF32({1, 20, 3}, rng),
               r = RandomF32({1, 20, 5}, rng);
  EXPECT_TRUE(Eval(MakeTestOp("LSTM", {{"hidden_size", int64_t{5}}}), {x, w, r}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("LSTM", {{"hidden_size", int64_t{6}}}), {x, w, r}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("LSTM"), {x, w, RandomF32({1, 20, 4}, rng)}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("LSTM"), {x, w, r, RandomF32({1, 39}, rng)}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("LSTM", {{"direction", std::string("sideways")}}), {x, w, r}).ok());
  EXPECT_FALSE(Eval(MakeTestOp("LSTM", {{"activations", Strings{"Sigmoid"}}}), {x, w, r}).ok());
  EXPECT_FALSE(
      Eval(MakeTestOp("LSTM", {{"activations", Strings{"Sigmoid", "Nope", "Tanh"}}}), {x, w, r})
          .ok());
  Tensor lengths(DType::kI32, {2});
  lengths.mutable_data<int32_t>()[0] = 9;
  lengths.mutable_data<int32_t>()[1] = -1;
  EXPECT_FALSE(Eval(MakeTestOp("LSTM"), {x, w, r, Tensor(), lengths}).ok());
  EXPECT_TRUE(Eval(MakeTestOp("LSTM"), {RandomF32({0, 2, 3}, rng), w, r}).ok());
}

TEST(EinsumTest, EquationsAndErrors) {
  std::mt19937 rng(9);
  const Tensor a = RandomF32({3, 4}, rng), b = RandomF32({4, 5}, rng);
  auto einsum = [](std::string e, std::vector<Tensor> x) {
    return Eval(MakeTestOp("Einsum", {{"equation", e}}), x);
  };
  ExpectNear(*einsum("ij,jk->ik", {a, b}), *Eval(MakeTestOp("MatMul"), {a, b}), 1e-5, 1e-5,
             "product");
  ExpectNear(*einsum("ij,jk", {a, b}), *Eval(MakeTestOp("MatMul"), {a, b}), 1e-5, 1e-5, "implicit");
  EXPECT_EQ(einsum("ij->ji", {a})->dims(), (Dims{4, 3}));
  EXPECT_EQ(einsum("ij,kl->", {a, b})->dims(), Dims{});
  EXPECT_EQ(einsum("...ij,...jk->...ik", {RandomF32({2, 3, 4}, rng), b})->dims(), (Dims{2, 3, 5}));
  EXPECT_EQ(einsum("ii->i", {RandomF32({3, 3}, rng)})->dims(), (Dims{3}));
  for (const char* e :
       {"ij,jk->il", "ij->ii", "ij", "i.j->i", "ij,jk,kl->il", "i?->i", "ij,jk->...ik->", ""}) {
    EXPECT_FALSE(einsum(e, {a, b}).ok()) << e;
  }
  EXPECT_FALSE(einsum("ij,ij->ij", {a, b}).ok());
}

}  // namespace
}  // namespace retuple
