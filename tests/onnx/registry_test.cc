// Compares the registry with libonnx's own schemas, every operator and version of the default and
// training domains up to opset 17: which form serves a version, arities, names, attributes, kinds
// and defaults.
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif
#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#include <onnx/defs/schema.h>

#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "ir_bridge/graph.h"
#include "ir_bridge/schema.h"

namespace retuple {
namespace {

// Where a form differs from libonnx on purpose.
const std::set<std::string>& Exceptions() {
  static const auto* set = new std::set<std::string>{
      // A later version of the same form changed the default or optionality; the form has the later
      // one.
      "Concat-1 axis",      // opset 1: no default in the schema, 1 in the text
      "Split-1 axis",       // likewise 0
      "Clip-1 min 1",       // opset 1: no default
      "Clip-1 max 1",       //
      "GRU-1 direction 1",  // "foward"
      "Selu alpha 1",       // opset 1 rounds to four digits
      "Selu gamma 1",       //
      "Constant value 1",   // required while it was the only attribute
      "Constant value 9",
  };
  return *set;
}
bool Excepted(const std::string& what, int version) {
  return Exceptions().contains(what) || Exceptions().contains(what + " " + std::to_string(version));
}

AttrKind KindOf(onnx::AttributeProto::AttributeType t) {
  using A = onnx::AttributeProto;
  switch (t) {
    case A::INT:
      return AttrKind::kInt;
    case A::FLOAT:
      return AttrKind::kFloat;
    case A::STRING:
      return AttrKind::kString;
    case A::TENSOR:
      return AttrKind::kTensor;
    case A::GRAPH:
      return AttrKind::kGraph;
    case A::TYPE_PROTO:
      return AttrKind::kType;
    case A::INTS:
      return AttrKind::kInts;
    case A::FLOATS:
      return AttrKind::kFloats;
    case A::STRINGS:
      return AttrKind::kStrings;
    case A::TENSORS:
      return AttrKind::kTensors;
    case A::GRAPHS:
      return AttrKind::kGraphs;
    default:
      return AttrKind::kTypes;
  }
}

AttrValue ValueOf(const onnx::AttributeProto& a) {
  using A = onnx::AttributeProto;
  switch (a.type()) {
    case A::INT:
      return a.i();
    case A::FLOAT:
      return a.f();
    case A::STRING:
      return a.s();
    case A::INTS:
      return Ints(a.ints().begin(), a.ints().end());
    case A::FLOATS:
      return Floats(a.floats().begin(), a.floats().end());
    case A::STRINGS:
      return Strings(a.strings().begin(), a.strings().end());
    default:
      return int64_t{0};
  }
}

TEST(RegistryTest, AgreesWithLibonnx) {
  int compared = 0;
  std::set<std::string> forms;
  std::map<std::string, std::set<std::string>> attributes_seen;
  for (const onnx::OpSchema& s : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (s.domain() != "" && s.domain() != "ai.onnx.preview.training") continue;
    if (s.Deprecated() || s.since_version() > 17) continue;
    const std::string label = s.Name() + " since " + std::to_string(s.since_version());
    const OpSchema* ours = Registry::Get().Resolve(s.domain(), s.Name(), s.since_version());
    ASSERT_NE(ours, nullptr) << label;
    ++compared;
    forms.insert(ours->form);
    EXPECT_NE(std::find(ours->since.begin(), ours->since.end(), s.since_version()),
              ours->since.end())
        << label << " is not listed by " << ours->form;
    const bool last = ours->since.back() == s.since_version() ||
                      *std::prev(std::upper_bound(ours->since.begin(), ours->since.end(), 17)) ==
                          s.since_version();
    if (last) {
      auto bound = [](int n) { return n == std::numeric_limits<int>::max() ? kVariadic : n; };
      EXPECT_EQ(ours->min_inputs, s.min_input()) << label;
      if (ours->form != "Pad") EXPECT_EQ(ours->max_inputs, bound(s.max_input())) << label;
      EXPECT_EQ(ours->min_outputs, s.min_output()) << label;
      EXPECT_EQ(ours->max_outputs, bound(s.max_output())) << label;
      for (size_t i = 0; i < s.inputs().size(); ++i) {
        ASSERT_LT(i, ours->input_names.size()) << label;
        EXPECT_EQ(ours->input_names[i], s.inputs()[i].GetName()) << label;
      }
      for (size_t i = 0; i < s.outputs().size(); ++i) {
        ASSERT_LT(i, ours->output_names.size()) << label;
        if (ours->form != "Split-1")
          EXPECT_EQ(ours->output_names[i], s.outputs()[i].GetName()) << label;
      }
    }
    for (const auto& [name, a] : s.attributes()) {
      if (name == "consumed_inputs" || name == "sparse_value") continue;
      const std::string what = ours->form + " " + name;
      const AttrSpec* spec = ours->attr(name);
      ASSERT_NE(spec, nullptr) << label << " attribute " << name;
      attributes_seen[ours->form].insert(name);
      EXPECT_EQ(spec->kind, KindOf(a.type)) << label << " attribute " << name;
      if (Excepted(what, s.since_version())) continue;
      EXPECT_EQ(spec->required, a.required) << label << " attribute " << name;
      const bool has_default = a.default_value.type() != onnx::AttributeProto::UNDEFINED;
      ASSERT_EQ(spec->default_value.has_value(), has_default) << label << " attribute " << name;
      if (has_default) {
        EXPECT_TRUE(AttrEqual(*spec->default_value, ValueOf(a.default_value)))
            << label << " attribute " << name << ": " << AttrToString(*spec->default_value)
            << " against " << AttrToString(ValueOf(a.default_value));
      }
    }
  }
  EXPECT_GT(compared, 400);
  // What libonnx does not have must be of a later opset.
  const std::set<std::string> later = {"AveragePool dilations",
                                       "LpPool ceil_mode",
                                       "LpPool dilations",
                                       "Cast saturate",
                                       "Resize antialias",
                                       "Resize axes",
                                       "Resize keep_aspect_ratio_policy",
                                       "Split num_outputs",
                                       "QuantizeLinear block_size",
                                       "QuantizeLinear output_dtype",
                                       "QuantizeLinear saturate",
                                       "DequantizeLinear block_size"};
  for (const OpSchema* s : Registry::Get().All()) {
    if (!forms.contains(s->form)) {
      EXPECT_GT(s->since.front(), 17) << s->form;
      continue;
    }
    for (const AttrSpec& a : s->attrs) {
      EXPECT_TRUE(attributes_seen[s->form].contains(a.name) ||
                  later.contains(s->form + " " + a.name))
          << s->form << " has an attribute " << a.name;
    }
  }
}

}  // namespace
}  // namespace retuple
