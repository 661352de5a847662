#include "tools/compare.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "ir_bridge/dtype.h"
#include "kernels/executor.h"

namespace retuple {
namespace {

class Lcg {
 public:
  explicit Lcg(uint64_t seed) : state_(seed * 2654435761u + 12345u) {}
  uint32_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }
  double Uniform() { return static_cast<double>(Next()) / 2147483648.0 * 2.0 - 1.0; }

 private:
  uint64_t state_;
};

absl::StatusOr<Tensor> RandomTensor(DType dtype, Dims dims, Lcg& random) {
  auto n = CheckedNumElements(dims);
  if (!n || *n > (int64_t{1} << 31)) return absl::InvalidArgumentError("the input is too large to make up");
  Tensor t(dtype, std::move(dims));
  for (int64_t i = 0; i < *n; ++i) {
    switch (dtype) {
      case DType::kF32:
        t.mutable_data<float>()[i] = static_cast<float>(random.Uniform());
        break;
      case DType::kF64:
        t.mutable_data<double>()[i] = random.Uniform();
        break;
      case DType::kF16:
        t.mutable_data<uint16_t>()[i] = FloatToF16(static_cast<float>(random.Uniform()));
        break;
      case DType::kBF16:
        t.mutable_data<uint16_t>()[i] = FloatToBF16(static_cast<float>(random.Uniform()));
        break;
      case DType::kString:
        t.mutable_data<std::string>()[i] = std::string(1, static_cast<char>('a' + random.Next() % 26));
        break;
      case DType::kI64:
      case DType::kU64:
        t.mutable_data<int64_t>()[i] = random.Next() & 1;
        break;
      case DType::kI32:
      case DType::kU32:
        t.mutable_data<int32_t>()[i] = random.Next() & 1;
        break;
      case DType::kI16:
      case DType::kU16:
        t.mutable_data<int16_t>()[i] = random.Next() & 1;
        break;
      case DType::kI8:
      case DType::kU8:
      case DType::kBool:
        t.mutable_data<int8_t>()[i] = random.Next() & 1;
        break;
      default:
        return absl::InvalidArgumentError(absl::StrFormat("cannot make up values of type %s", std::string(DTypeName(dtype))));
    }
  }
  return t;
}

}  // namespace

absl::StatusOr<std::vector<Value>> RandomInputs(const Graph& graph, const InputOptions& options) {
  std::vector<Value> out;
  Lcg random(options.seed);
  for (VarId v : graph.inputs()) {
    const std::string& name = graph.var_name(v);
    if (auto it = options.values.find(name); it != options.values.end()) {
      out.emplace_back(it->second);
      continue;
    }
    if (graph.defaults().contains(v)) {
      out.emplace_back();
      continue;
    }
    const Type& type = graph.type(v);
    if (type.kind() == Type::Kind::kOptional) {
      out.push_back(Value::None());
      continue;
    }
    const Type& tensor = type.kind() == Type::Kind::kSequence ? type.element() : type;
    if (!tensor.is_tensor()) return absl::InvalidArgumentError(absl::StrFormat("input \"%s\" of type %s cannot be made up", name, type.ToString()));
    Dims dims;
    if (auto it = options.shapes.find(name); it != options.shapes.end()) {
      dims.assign(it->second.begin(), it->second.end());
    } else if (tensor.has_shape()) {
      for (const Dim& d : tensor.shape()) {
        auto named = options.dims.find(d.ToString());
        dims.push_back(d.known() ? d.value() : named != options.dims.end() ? named->second : 1);
      }
    }
    auto t = RandomTensor(tensor.dtype(), std::move(dims), random);
    if (!t.ok()) return absl::InvalidArgumentError(absl::StrFormat("input \"%s\": %s", name, std::string(t.status().message())));
    out.push_back(type.kind() == Type::Kind::kSequence ? Value::Sequence({Value(*t)}) : Value(*t));
  }
  return out;
}

OutputDifference CompareValues(const std::string& name, const Value& a, const Value& b) {
  OutputDifference d;
  d.name = name;
  auto mismatch = [&](std::string what) {
    d.exact = false;
    d.mismatch = std::move(what);
    return d;
  };
  if (a.kind != b.kind) return mismatch("one is a tensor, the other is not");
  if (a.kind == Value::Kind::kSequence) {
    if (a.sequence->size() != b.sequence->size()) return mismatch("sequences of different lengths");
    for (size_t i = 0; i < a.sequence->size(); ++i) {
      OutputDifference e = CompareValues(name, (*a.sequence)[i], (*b.sequence)[i]);
      d.largest_abs = std::max(d.largest_abs, e.largest_abs);
      d.magnitude = std::max(d.magnitude, e.magnitude);
      d.exact = d.exact && e.exact;
      if (d.mismatch.empty()) d.mismatch = e.mismatch;
    }
    return d;
  }
  if (!a.is_tensor()) return d;
  const Tensor &x = a.tensor, &y = b.tensor;
  if (x.dtype() != y.dtype()) {
    return mismatch(absl::StrFormat("element types %s and %s", std::string(DTypeName(x.dtype())), std::string(DTypeName(y.dtype()))));
  }
  if (x.dims() != y.dims()) return mismatch(absl::StrFormat("shapes %s and %s", ShapeToString(x.type().shape()), ShapeToString(y.type().shape())));
  if (x.dtype() == DType::kString) {
    for (int64_t i = 0; i < x.size(); ++i) {
      if (x.strings()[static_cast<size_t>(i)] != y.strings()[static_cast<size_t>(i)]) return mismatch("strings differ");
    }
    return d;
  }
  if (IsComplex(x.dtype())) {
    if (!(x == y)) return mismatch("complex values differ");
    return d;
  }
  const bool inexact = IsFloat(x.dtype());
  for (int64_t i = 0; i < x.size(); ++i) {
    const double p = x.At(i), q = y.At(i);
    if (std::isnan(p) || std::isnan(q)) {
      if (std::isnan(p) != std::isnan(q)) return mismatch(absl::StrFormat("NaN at element %d of one side only", i));
      continue;
    }
    if (p == q) {
      if (std::isfinite(p)) d.magnitude = std::max(d.magnitude, std::abs(p));
      continue;
    }
    d.exact = false;
    if (std::isinf(p) || std::isinf(q)) return mismatch(absl::StrFormat("infinite at element %d of one side only", i));
    d.magnitude = std::max(d.magnitude, std::abs(p));
    d.largest_abs = std::max(d.largest_abs, std::abs(p - q));
  }
  if (!inexact && !d.exact && d.mismatch.empty()) d.mismatch = "integers differ";
  return d;
}

bool Comparison::Passes(double tolerance) const {
  for (const auto& o : outputs) {
    if (!o.mismatch.empty() || !(o.relative() <= tolerance)) return false;
  }
  return true;
}

absl::StatusOr<Comparison> CompareGraphs(const Graph& a, const Graph& b, const InputOptions& options, int threads) {
  if (a.inputs().size() != b.inputs().size() || a.outputs().size() != b.outputs().size()) {
    return absl::InvalidArgumentError(absl::StrFormat("%d inputs and %d outputs against %d and %d", a.inputs().size(), a.outputs().size(),
                                                      b.inputs().size(), b.outputs().size()));
  }
  for (size_t i = 0; i < a.inputs().size(); ++i) {
    if (a.var_name(a.inputs()[i]) != b.var_name(b.inputs()[i])) {
      return absl::InvalidArgumentError(absl::StrFormat("input %d is called \"%s\" and \"%s\"", i, a.var_name(a.inputs()[i]), b.var_name(b.inputs()[i])));
    }
  }
  auto inputs = RandomInputs(a, options);
  if (!inputs.ok()) return inputs.status();
  std::vector<Value> results[2];
  const Graph* graphs[2] = {&a, &b};
  for (int k = 0; k < 2; ++k) {
    auto plan = Plan::Compile(*graphs[k], {.threads = threads});
    auto out = plan.ok() ? (*plan)->Run(*inputs) : absl::StatusOr<std::vector<Value>>(plan.status());
    if (!out.ok()) {
      return absl::Status(out.status().code(), absl::StrFormat("%s model: %s", k == 0 ? "first" : "second", std::string(out.status().message())));
    }
    results[k] = *std::move(out);
  }
  Comparison c;
  for (size_t i = 0; i < a.outputs().size(); ++i) {
    if (a.outputs()[i].name != b.outputs()[i].name) {
      return absl::InvalidArgumentError(absl::StrFormat("output %d is called \"%s\" and \"%s\"", i, a.outputs()[i].name, b.outputs()[i].name));
    }
    c.outputs.push_back(CompareValues(a.outputs()[i].name, results[0][i], results[1][i]));
  }
  return c;
}

}  // namespace retuple
