// Inference cases as text. A value is
//
//   f32[N,3,224]        a tensor type; `?` is a fresh dim; `f32` has no rank; `?` alone is unknown
//   i64[2]{N,-1}        with carried elements
//   f32[2]={1,2.5}      a constant
//   seq(f32[?]), optional(i64)
//   -                   absent
//
// InferText gives the outputs in the same spelling, joined by "; ", or "error: …".
#ifndef RETUPLE_TESTS_IR_BRIDGE_INFER_CASE_H_
#define RETUPLE_TESTS_IR_BRIDGE_INFER_CASE_H_

#include <cstdlib>
#include <deque>
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
      std::memcpy(t.mutable_data<char>() + i * DTypeSize(t.dtype()), one.data(), DTypeSize(t.dtype()));
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

inline std::string InferText(const std::string& form, AttrMap attrs, const std::vector<std::string>& inputs,
                             int num_outputs = 1) {
  const OpSchema* schema = Registry::Get().FindForm(form);
  if (schema == nullptr) return "no form " + form;
  auto op = MakeOp(*schema, std::move(attrs), num_outputs);
  if (!op.ok()) return "error: " + std::string(op.status().message());
  Infos parser;
  std::vector<const ValueInfo*> infos;
  for (const std::string& s : inputs) infos.push_back(parser.Parse(s));
  auto outputs = InferOp(*op, infos);
  if (!outputs.ok()) return "error: " + std::string(outputs.status().message());
  std::string text;
  for (const ValueInfo& o : *outputs) text += (text.empty() ? "" : "; ") + InfoText(o);
  return text;
}

struct InferCase {
  const char* form;
  AttrMap attrs;
  std::vector<std::string> inputs;
  std::string want;  // "error" matches every error, "error: text" those that contain the text
  int num_outputs = 1;
};

inline void CheckCases(const std::vector<InferCase>& cases) {
  for (const InferCase& c : cases) {
    std::string label = c.form;
    for (const auto& [name, value] : c.attrs) label += " :" + name + " " + AttrToString(value);
    for (const std::string& s : c.inputs) label += " " + s;
    const std::string got = InferText(c.form, c.attrs, c.inputs, c.num_outputs);
    if (c.want.starts_with("error")) {
      EXPECT_TRUE(got.starts_with("error: ")) << label << "\n  gave " << got;
      if (c.want.size() > 7) {
        EXPECT_NE(got.find(c.want.substr(7)), std::string::npos) << label << "\n  gave " << got;
      }
    } else {
      EXPECT_EQ(got, c.want) << label;
    }
  }
}

}  // namespace retuple

#endif  // RETUPLE_TESTS_IR_BRIDGE_INFER_CASE_H_
