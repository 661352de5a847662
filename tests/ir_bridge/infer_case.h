// Inference cases as text. A value is
//
//   f32[N,3,224]        a tensor type; `?` is a fresh dim; `f32` has no rank; `?` alone is unknown
//   i64[2]{N,-1}        with carried elements
//   f32[2]={1,2.5}      a constant
//   seq(f32[?]), optional(i64)
//   -                   absent
//
// and attributes are `axis=1;pads=0,1,0,1`, their kinds taken from the schema. All of it is plain
// text, because tables of nested initialisers take minutes to compile. InferText gives the outputs
// in the same spelling, joined by "; ", or "error: …".
#ifndef RETUPLE_TESTS_IR_BRIDGE_INFER_CASE_H_
#define RETUPLE_TESTS_IR_BRIDGE_INFER_CASE_H_

#include <cstdlib>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "ir_bridge/graph.h"
#include "ir_bridge/infer.h"

namespace retuple {

inline std::vector<std::string> SplitCommas(std::string_view s) {
  std::vector<std::string> out;
  while (!s.empty()) {
    const size_t comma = s.find(',');
    out.emplace_back(s.substr(0, comma));
    s = comma == std::string_view::npos ? std::string_view() : s.substr(comma + 1);
  }
  return out;
}

inline Dim ParseDim(const std::string& s) {
  if (s == "?") return Dim::Fresh();
  char* end;
  const int64_t n = std::strtoll(s.c_str(), &end, 10);
  return *end == '\0' ? Dim(n) : Dim::Named(s);
}

inline Type ParseType(std::string_view s) {
  if (s == "?") return Type();
  if (s.starts_with("seq(")) return Type::Sequence(ParseType(s.substr(4, s.size() - 5)));
  if (s.starts_with("optional(")) return Type::Optional(ParseType(s.substr(9, s.size() - 10)));
  const size_t bracket = s.find('[');
  const DType dtype = ParseDType(s.substr(0, bracket)).value();
  if (bracket == std::string_view::npos) return Type::Tensor(dtype);
  Shape shape;
  for (const std::string& d : SplitCommas(s.substr(bracket + 1, s.size() - bracket - 2))) {
    shape.push_back(ParseDim(d));
  }
  return Type::Tensor(dtype, shape);
}

// Keeps the tensors that infos point to.
class Infos {
 public:
  const ValueInfo* Parse(std::string_view s) {
    if (s == "-") return nullptr;
    const size_t brace = s.find('{');
    std::string_view type = s.substr(0, brace);
    const bool constant = type.ends_with("=");
    if (constant) type.remove_suffix(1);
    ValueInfo& info = infos_.emplace_back();
    info.type = ParseType(type);
    if (brace == std::string_view::npos) return &info;
    const auto words = SplitCommas(s.substr(brace + 1, s.size() - brace - 2));
    if (!constant) {
      info.elements.emplace();
      for (const std::string& w : words) info.elements->push_back(ParseDim(w));
      return &info;
    }
    Dims dims;
    for (const Dim& d : info.type.shape()) dims.push_back(d.value());
    Tensor& t = tensors_.emplace_back(info.type.dtype(), dims);
    EXPECT_EQ(t.size(), static_cast<int64_t>(words.size())) << s;
    for (size_t i = 0; i < words.size(); ++i) {
      const Tensor one = Tensor::ScalarLike(t.dtype(), std::strtod(words[i].c_str(), nullptr));
      std::memcpy(t.mutable_data<char>() + i * DTypeSize(t.dtype()), one.data(),
                  DTypeSize(t.dtype()));
    }
    info = InfoOf(t);
    return &info;
  }

 private:
  std::deque<ValueInfo> infos_;
  std::deque<Tensor> tensors_;
};

inline std::string InfoText(const ValueInfo& info) {
  std::string s = info.type.ToString();
  if (info.elements) {
    s += "{";
    for (size_t i = 0; i < info.elements->size(); ++i) {
      s += (i > 0 ? "," : "") + (*info.elements)[i].ToString();
    }
    s += "}";
  }
  return s;
}

inline AttrMap ParseAttrs(const OpSchema& schema, std::string_view text) {
  AttrMap attrs;
  while (!text.empty()) {
    const size_t end = text.find(';'), equals = text.find('=');
    const std::string name(text.substr(0, equals));
    const std::string value(text.substr(equals + 1, end - equals - 1));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const AttrSpec* spec = schema.attr(name);
    if (spec == nullptr) {
      ADD_FAILURE() << schema.form << " has no attribute " << name;
      continue;
    }
    const auto words = SplitCommas(value);
    switch (spec->kind) {
      case AttrKind::kInt:
        attrs[name] = int64_t{std::strtoll(value.c_str(), nullptr, 10)};
        break;
      case AttrKind::kFloat:
        attrs[name] = std::strtof(value.c_str(), nullptr);
        break;
      case AttrKind::kString:
        attrs[name] = value;
        break;
      case AttrKind::kStrings:
        attrs[name] = words;
        break;
      case AttrKind::kType:
        attrs[name] = ParseType(value);
        break;
      case AttrKind::kFloats: {
        Floats v;
        for (const auto& w : words) v.push_back(std::strtof(w.c_str(), nullptr));
        attrs[name] = v;
        break;
      }
      default: {
        Ints v;
        for (const auto& w : words) v.push_back(std::strtoll(w.c_str(), nullptr, 10));
        if (spec->kind == AttrKind::kTensor) {
          attrs[name] = Tensor::VectorI64(v);
        } else {
          attrs[name] = v;
        }
      }
    }
  }
  return attrs;
}

inline std::string InferText(const OpSchema& schema, std::string_view attrs,
                             std::string_view inputs, int num_outputs = 1) {
  auto op = MakeOp(schema, ParseAttrs(schema, attrs), num_outputs);
  if (!op.ok()) return "error: " + std::string(op.status().message());
  Infos parser;
  std::vector<const ValueInfo*> infos;
  while (!inputs.empty()) {
    const size_t space = inputs.find(' ');
    infos.push_back(parser.Parse(inputs.substr(0, space)));
    inputs = space == std::string_view::npos ? std::string_view() : inputs.substr(space + 1);
  }
  auto outputs = InferOp(*op, infos);
  if (!outputs.ok()) return "error: " + std::string(outputs.status().message());
  std::string text;
  for (const ValueInfo& o : *outputs) text += (text.empty() ? "" : "; ") + InfoText(o);
  return text;
}

struct InferCase {
  const char* form;
  const char* attrs;
  const char* inputs;
  const char* want;  // "error" matches every error, "error: text" those that contain the text
  int num_outputs = 1;
};

inline void CheckCases(std::initializer_list<InferCase> cases) {
  for (const InferCase& c : cases) {
    const std::string label = std::string(c.form) + " " + c.attrs + " | " + c.inputs;
    const std::string want = c.want;
    const OpSchema* schema = Registry::Get().FindForm(c.form);
    ASSERT_NE(schema, nullptr) << label;
    const std::string got = InferText(*schema, c.attrs, c.inputs, c.num_outputs);
    if (want.starts_with("error")) {
      EXPECT_TRUE(got.starts_with("error: ")) << label << "\n  gave " << got;
      if (want.size() > 7)
        EXPECT_NE(got.find(want.substr(7)), std::string::npos) << label << "\n  gave " << got;
    } else {
      EXPECT_EQ(got, want) << label;
    }
  }
}

}  // namespace retuple

#endif  // RETUPLE_TESTS_IR_BRIDGE_INFER_CASE_H_
