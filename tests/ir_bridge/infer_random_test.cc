// Every form on random operands and attributes: inference answers or refuses with InvalidArgument,
// never anything else.
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ir_bridge/graph.h"
#include "ir_bridge/infer.h"

namespace retuple {
namespace {

class Source {
 public:
  explicit Source(uint64_t seed) : rng_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(n)); }
  bool Chance(int percent) { return Below(100) < percent; }

  int64_t Number() {
    static constexpr int64_t kWild[] = {0,         1,         -1,        2,          -2,
                                        INT64_MAX, INT64_MIN, INT32_MAX, -INT32_MAX, 64};
    return Chance(30) ? kWild[Below(10)] : Below(6) - 1;
  }
  Dim AnyDim(bool size) {
    if (Chance(20)) return Dim::Named(std::string(1, static_cast<char>('A' + Below(4))));
    if (Chance(10)) return Dim::Fresh();
    const int64_t n = Number();
    return size && n < 0 ? Dim(3) : Dim(n);
  }
  Type AnyType(int depth = 0) {
    if (Chance(5)) return Type();
    if (depth < 2 && Chance(5)) return Type::Sequence(AnyType(depth + 1));
    if (depth < 2 && Chance(3)) return Type::Optional(AnyType(depth + 1));
    static constexpr DType kCommon[] = {DType::kF32, DType::kI64, DType::kBool, DType::kI32,
                                        DType::kString};
    const DType t = Chance(5) ? DType::kUndefined : kCommon[Chance(50) ? 0 : Below(5)];
    if (Chance(5)) return Type::Tensor(t);
    Shape s;
    for (int64_t i = Chance(40) ? 4 : Below(6); i > 0; --i) s.push_back(AnyDim(true));
    return Type::Tensor(t, s);
  }
  ValueInfo AnyInfo() {
    ValueInfo info;
    info.type = AnyType();
    if (Chance(30)) {  // a vector or scalar that carries its elements
      const bool scalar = Chance(30);
      const int64_t n = scalar ? 1 : Below(6);
      info.type =
          Type::Tensor(Chance(80) ? DType::kI64 : DType::kBool, scalar ? Shape{} : Shape{n});
      info.elements.emplace();
      for (int64_t i = 0; i < n; ++i) info.elements->push_back(AnyDim(false));
    }
    return info;
  }
  AttrValue Any(AttrKind kind) {
    static const char* kWords[] = {"NOTSET",     "SAME_UPPER", "VALID",     "none",
                                   "mean",       "ij,jk->ik",  "...i->...", "bidirectional",
                                   "not_larger", "FLOAT",      "",          "x"};
    switch (kind) {
      case AttrKind::kInt:
        return Number();
      case AttrKind::kFloat:
        return static_cast<float>(Number());
      case AttrKind::kString:
        return std::string(kWords[Below(12)]);
      case AttrKind::kTensor:
        return Tensor::VectorI64(std::vector<int64_t>(static_cast<size_t>(Below(3)), Number()));
      case AttrKind::kType:
        return AnyType();
      case AttrKind::kInts: {
        Ints v(static_cast<size_t>(Below(6)));
        for (int64_t& x : v) x = Number();
        return v;
      }
      case AttrKind::kFloats:
        return Floats(static_cast<size_t>(Below(5)), static_cast<float>(Number()));
      case AttrKind::kStrings:
        return Strings(static_cast<size_t>(Below(3)), "Tanh");
      case AttrKind::kGraph:
        return Body();
      default:
        return Ints{};
    }
  }
  GraphPtr Body() {
    auto g = std::make_shared<Graph>();
    std::vector<VarId> vars;
    for (int64_t i = Below(5); i >= 0; --i) vars.push_back(g->AddInput("", AnyType()));
    for (const char* form : {"Add", "Identity", "Shape"}) {
      const OpSchema& s = *Registry::Get().FindForm(form);
      std::vector<VarId> in;
      for (int i = 0; i < s.min_inputs; ++i)
        in.push_back(vars[static_cast<size_t>(Below(static_cast<int64_t>(vars.size())))]);
      vars.push_back(g->output(g->AddApply(g->InternOp(*MakeOp(s, {})), in), 0));
    }
    for (int64_t i = Below(4); i >= 0; --i) {
      g->AddOutput("", vars[static_cast<size_t>(Below(static_cast<int64_t>(vars.size())))]);
    }
    return g;
  }

 private:
  std::mt19937_64 rng_;
};

TEST(InferRandomTest, AnswersOrRefuses) {
  int answered = 0, total = 0;
  for (const OpSchema* schema : Registry::Get().All()) {
    for (uint64_t seed = 0; seed < 400; ++seed) {
      Source source(seed * 7919 + std::hash<std::string>()(schema->form));
      AttrMap attrs;
      for (const AttrSpec& a : schema->attrs) {
        if (a.required || source.Chance(40)) attrs.emplace(a.name, source.Any(a.kind));
      }
      auto op = MakeOp(*schema, attrs, static_cast<int>(source.Below(4)));
      ASSERT_TRUE(op.ok()) << op.status();
      op->num_captures = static_cast<int>(source.Below(3));
      std::vector<ValueInfo> infos(
          static_cast<size_t>(source.Below(std::min(schema->max_inputs, 6) + 2)));
      std::vector<const ValueInfo*> inputs;
      for (ValueInfo& i : infos) {
        i = source.AnyInfo();
        inputs.push_back(source.Chance(10) ? nullptr : &i);
      }
      const auto result = InferOp(*op, inputs);
      ++total;
      if (!result.ok()) {
        EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << result.status();
        continue;
      }
      ++answered;
      EXPECT_EQ(static_cast<int>(result->size()), op->num_outputs) << schema->form;
      for (const ValueInfo& o : *result) {
        if (o.elements && o.type.is_static()) {
          const int64_t n = o.type.rank() == 0 ? 1 : o.type.shape()[0].value();
          EXPECT_EQ(static_cast<int64_t>(o.elements->size()), n)
              << schema->form << " " << o.type.ToString();
        }
        EXPECT_FALSE(o.type.ToString().empty());
      }
    }
  }
  EXPECT_GT(answered, total / 10);
}

}  // namespace
}  // namespace retuple
