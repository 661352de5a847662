#include "ir_bridge/schema.h"

#include <algorithm>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "ir_bridge/attrs/nn.h"
#include "ir_bridge/graph.h"

namespace retuple {
namespace {

TEST(RegistryTest, ResolvesFormsByVersion) {
  const struct {
    const char* name;
    int version;
    const char* form;
  } cases[] = {
      {"Add", 1, "Add-1"},
      {"Add", 6, "Add-1"},
      {"Add", 7, "Add"},
      {"Add", 23, "Add"},
      {"Squeeze", 12, "Squeeze-1"},
      {"Squeeze", 13, "Squeeze"},
      {"ReduceSum", 12, "ReduceSum-1"},
      {"ReduceSum", 13, "ReduceSum"},
      {"ReduceMean", 17, "ReduceMean-1"},
      {"ReduceMean", 18, "ReduceMean"},
      {"BatchNormalization", 8, "BatchNormalization-7"},
      {"Clip", 10, "Clip-1"},
      {"Resize", 9, ""},
      {"Resize", 10, "Resize-10"},
      {"Nonsense", 13, ""},
      {"Gelu", 19, ""},
      {"Gelu", 20, "Gelu"},
      {"Softmax", 12, "Softmax-1"},
  };
  for (const auto& c : cases) {
    const OpSchema* s = Registry::Get().Resolve("", c.name, c.version);
    EXPECT_EQ(s ? s->form : "", c.form) << c.name << " " << c.version;
    EXPECT_EQ(Registry::Get().Resolve("ai.onnx", c.name, c.version), s);
  }
  EXPECT_NE(Registry::Get().Resolve("ai.onnx.preview.training", "Adam", 1), nullptr);
  EXPECT_EQ(Registry::Get().FindForm("ai.onnx.preview.training::Adam")->name, "Adam");
}

TEST(RegistryTest, EveryFormIsSound) {
  std::set<std::string> forms;
  for (const OpSchema* s : Registry::Get().All()) {
    EXPECT_TRUE(forms.insert(s->form).second) << s->form;
    EXPECT_EQ(Registry::Get().FindForm(s->form), s);
    EXPECT_NE(s->infer, nullptr) << s->form;
    EXPECT_LE(s->min_inputs, s->max_inputs) << s->form;
    EXPECT_LE(s->min_outputs, s->max_outputs) << s->form;
    EXPECT_GE(s->max_outputs, 1) << s->form;
    EXPECT_LT(s->default_output, s->max_outputs) << s->form;
    EXPECT_TRUE(std::is_sorted(s->attrs.begin(), s->attrs.end(),
                               [](const auto& a, const auto& b) { return a.name < b.name; }));
    for (const AttrSpec& a : s->attrs) {
      EXPECT_EQ(s->attr(a.name), &a);
      if (a.default_value) EXPECT_EQ(KindOf(*a.default_value), a.kind) << s->form << " " << a.name;
    }
    // The suffix of an older form is its first version.
    if (const size_t dash = s->form.rfind('-'); dash != std::string::npos && s->domain.empty()) {
      EXPECT_EQ(s->form.substr(dash + 1), std::to_string(s->since.front())) << s->form;
    }
    for (int since : s->since) EXPECT_EQ(Registry::Get().Resolve(s->domain, s->name, since), s);
  }
  EXPECT_GT(forms.size(), 230u);
}

TEST(RegistryTest, Properties) {
  auto form = [](const char* f) { return Registry::Get().FindForm(f); };
  EXPECT_TRUE(form("Add")->commutative && form("Add")->associative);
  EXPECT_EQ(form("Mul")->unit, 1.0);
  EXPECT_EQ(form("Mul")->zero, 0.0);
  EXPECT_FALSE(form("Sub")->commutative);
  EXPECT_FALSE(form("Add-1")->commutative);
  EXPECT_EQ(form("RandomNormal")->effect, Effect::kRandom);
  EXPECT_EQ(form("Bernoulli")->effect, Effect::kRandom);
  EXPECT_EQ(form("Dropout")->effect, Effect::kPure);
  EXPECT_TRUE(form("MaxPool")->multi_output());
  EXPECT_TRUE(form("If")->variadic_outputs());
  EXPECT_FALSE(form("SplitToSequence")->multi_output());
}

TEST(RegistryTest, AddRefusesDuplicates) {
  Registry r;
  OpSchema s;
  s.domain = "com.acme";
  s.name = "Foo";
  s.since = {1, 3};
  EXPECT_TRUE(r.Add(s).ok());
  EXPECT_EQ(r.FindForm("com.acme::Foo")->since.size(), 2u);
  EXPECT_EQ(r.Add(s).code(), absl::StatusCode::kAlreadyExists);
  s.form = "com.acme::Foo-3";
  s.since = {3};
  EXPECT_EQ(r.Add(s).code(), absl::StatusCode::kAlreadyExists);
  s.since = {2};
  EXPECT_TRUE(r.Add(s).ok());
  EXPECT_EQ(r.Resolve("com.acme", "Foo", 2)->form, "com.acme::Foo-3");
  EXPECT_EQ(r.Resolve("com.acme", "Foo", 9)->form, "com.acme::Foo");
  EXPECT_EQ(r.All().size(), 2u);
}

TEST(MakeOpTest, FillsDefaultsAndRefusesWhatItDoesNotKnow) {
  const OpSchema& conv = *Registry::Get().FindForm("Conv");
  auto op = MakeOp(conv, {{"pads", Ints{1, 1, 1, 1}}});
  ASSERT_TRUE(op.ok());
  EXPECT_EQ(AttrOr<int64_t>(op->attrs, "group", 0), 1);
  EXPECT_EQ(AttrOr<std::string>(op->attrs, "auto_pad", ""), "NOTSET");
  EXPECT_EQ(op->attrs.size(), 3u);
  const struct {
    const char* form;
    AttrMap attrs;
    const char* message;
  } cases[] = {
      {"Conv", {{"padz", Ints{}}}, "unknown attribute 'padz'"},
      {"Conv", {{"group", 1.0f}}, "attribute 'group' is of kind float, expected int"},
      {"Concat", {}, "required attribute 'axis' is missing"},
      {"Relu", {{"consumed_inputs", Ints{0}}}, "unknown attribute 'consumed_inputs'"},
  };
  for (const auto& c : cases) {
    auto bad = MakeOp(*Registry::Get().FindForm(c.form), c.attrs);
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(bad.status().message()).find(c.message), std::string::npos)
        << bad.status();
  }
}

TEST(MakeOpTest, OutputsFollowTheSchema) {
  auto count = [](const char* form, int n) {
    return MakeOp(*Registry::Get().FindForm(form), {}, n)->num_outputs;
  };
  EXPECT_EQ(count("Split", 4), 4);
  EXPECT_EQ(count("Relu", 4), 1);
  EXPECT_EQ(count("Dropout", 1), 2);
  EXPECT_EQ(MakeOpaqueOp("com.acme", "Foo", {}, 3).num_outputs, 3);
  EXPECT_EQ(MakeOpaqueOp("com.acme", "Foo", {}, 3).form(), "com.acme::Foo");
}

TEST(AttrStructTest, OneDefinitionForAll) {
  using attrs::LrnAttrs;
  const auto specs = AttrSpecsOf<LrnAttrs>();
  ASSERT_EQ(specs.size(), 4u);
  EXPECT_EQ(specs[0].name, "alpha");
  EXPECT_FALSE(specs[0].required);
  EXPECT_EQ(specs[3].name, "size");
  EXPECT_TRUE(specs[3].required);
  auto a = ReadAttrs<LrnAttrs>({{"size", int64_t{5}}, {"beta", 0.5f}});
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->size.value, 5);
  EXPECT_EQ(a->beta, 0.5f);
  EXPECT_EQ(a->bias, 1.0f);
  EXPECT_EQ(AttrsToString(*a), ":alpha 0.0001 :beta 0.5 :bias 1 :size 5");
  auto b = ReadAttrs<LrnAttrs>(WriteAttrs(*a));
  ASSERT_TRUE(b.ok());
  EXPECT_TRUE(AttrsEqual(*a, *b));
  EXPECT_EQ(AttrsHash(*a), AttrsHash(*b));
  b->size.value = 6;
  EXPECT_FALSE(AttrsEqual(*a, *b));
  EXPECT_NE(AttrsHash(*a), AttrsHash(*b));
  EXPECT_FALSE(ReadAttrs<LrnAttrs>({}).ok());
  EXPECT_FALSE(ReadAttrs<LrnAttrs>({{"size", 1.0f}}).ok());
  EXPECT_FALSE(ReadAttrs<LrnAttrs>({{"size", int64_t{1}}, {"x", int64_t{1}}}).ok());
}

}  // namespace
}  // namespace retuple
