#include "ir_bridge/dim.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace retuple {
namespace {

TEST(DimTest, NormalForms) {
  const Dim n = Dim::Named("N"), k = Dim::Named("K");
  const struct {
    Dim dim;
    const char* text;
  } cases[] = {
      {Dim(3) + 4, "7"},
      {Dim(7) * -2, "-14"},
      {n, "N"},
      {n + 0, "N"},
      {n * 1, "N"},
      {n * 0, "0"},
      {n + 1, "(N+1)"},
      {(n + 1) + 1, "(N+2)"},
      {(n + 1) - 1, "N"},
      {n - n, "0"},
      {n + n, "2*N"},
      {n * k * 2, "2*N*K"},
      {(n + 1) * k, "(N*K+K)"},
      {FloorDiv(n, k * 2), "floor(N/(2*K))"},
      {FloorDiv(n * k * 2, n), "2*K"},
      {FloorDiv(n * k + k, k), "(N+1)"},
      {FloorDiv(n * 4 + 3, 2), "(2*N+1)"},
      {FloorDiv(n - 1, 2) + 1, "floor((N+1)/2)"},
      {FloorDiv(n, n), "1"},
      {FloorDiv(7, 2), "3"},
      {FloorDiv(-7, 2), "-4"},
      {CeilDiv(7, 2), "4"},
      {CeilDiv(-7, 2), "-3"},
      {CeilDiv(n * 2 + 1, 2), "(N+1)"},
      {CeilDiv(n, 2), "ceil(N/2)"},
      {Dim::Fresh(), "?"},
  };
  for (const auto& c : cases) EXPECT_EQ(c.dim.ToString(), c.text);
}

TEST(DimTest, EqualComputationsAreEqual) {
  const Dim n = Dim::Named("N"), k = Dim::Named("K");
  EXPECT_EQ(n, Dim::Named("N"));
  EXPECT_NE(n, k);
  EXPECT_EQ(n * k, k * n);
  EXPECT_EQ((n + k) + 3, n + (k + 3));
  EXPECT_EQ((n + 1) * (n - 1), n * n - 1);
  EXPECT_EQ(FloorDiv(n, k), FloorDiv(n, k));
  EXPECT_NE(FloorDiv(n, k), CeilDiv(n, k));
  EXPECT_NE(Dim::Fresh(), Dim::Fresh());
  const Dim f = Dim::Fresh();
  EXPECT_EQ(f + 2, f + 1 + 1);
}

TEST(DimTest, Broadcasts) {
  const Dim n = Dim::Named("N"), k = Dim::Named("K"), m = Dim::Named("M");
  EXPECT_EQ(BroadcastSymbols(n, n), n);
  EXPECT_EQ(BroadcastSymbols(n, k), BroadcastSymbols(k, n));
  EXPECT_EQ(BroadcastSymbols(BroadcastSymbols(n, k), k), BroadcastSymbols(n, k));
  EXPECT_EQ(BroadcastSymbols(BroadcastSymbols(n, k), m),
            BroadcastSymbols(n, BroadcastSymbols(k, m)));
  EXPECT_NE(BroadcastSymbols(n, k), BroadcastSymbols(n, m));
  EXPECT_EQ(BroadcastSymbols(n, k).ToString(), "bc(N,K)");
  EXPECT_FALSE(BroadcastSymbols(n, k).named());
}

TEST(DimTest, Kinds) {
  const Dim n = Dim::Named("N");
  EXPECT_TRUE(Dim(3).known());
  EXPECT_TRUE(Dim(3).Is(3));
  EXPECT_FALSE(n.known());
  EXPECT_TRUE(n.named());
  EXPECT_FALSE((n + 1).named());
  EXPECT_FALSE(Dim::Fresh().named());
  EXPECT_TRUE(Dim::Named("").named());
}

// Whatever leaves int64 or divides by zero is a size that nobody knows.
TEST(DimTest, OverflowIsUnknown) {
  const Dim max = INT64_MAX, min = INT64_MIN, n = Dim::Named("N");
  for (Dim d : {max + 1, min - 1, max * 2, FloorDiv(min, -1), CeilDiv(min, -1), FloorDiv(5, 0),
                CeilDiv(n, 0), n * max + n * max, (n * max) * (n * max)}) {
    EXPECT_FALSE(d.known());
  }
  EXPECT_EQ((n * max) * (n * max), (n * max) * (n * max));
}

// A sum with many terms stops being expanded but still equals itself.
TEST(DimTest, LargeExpressions) {
  Dim sum = 0, product = 1;
  for (int i = 0; i < 40; ++i) {
    sum = sum + Dim::Named("x" + std::to_string(i));
    product = product * (Dim::Named("x" + std::to_string(i)) + 1);
  }
  EXPECT_FALSE(sum.known());
  EXPECT_EQ(sum + product, sum + product);
  EXPECT_FALSE(sum.ToString().empty());
  EXPECT_LT(product.ToString().size(), 10000u);
}

}  // namespace
}  // namespace retuple
