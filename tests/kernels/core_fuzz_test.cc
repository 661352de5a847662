// Every registered kernel on random operands: whatever the shapes, element types and values, the answer is a result or
// a Status, and a result has as many outputs as the operator. Run under the sanitizers this finds reads out of bounds
// and undefined arithmetic.
#include <cstdlib>

#include "tests/kernels/core_test_util.h"

namespace retuple::testing {
namespace {

class Fuzzer {
 public:
  explicit Fuzzer(uint32_t seed) : rng_(seed) {}

  int64_t Below(int64_t n) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(n)); }

  int64_t Int() {
    switch (Below(10)) {
      case 0:
        return std::numeric_limits<int64_t>::min();
      case 1:
        return std::numeric_limits<int64_t>::max();
      case 2:
        return 1000 + Below(3);
      default:
        return Below(9) - 4;
    }
  }

  Dims Shape() {
    Dims d(static_cast<size_t>(Below(5)));
    for (int64_t& n : d) n = Below(8) == 0 ? 0 : 1 + Below(3);
    return d;
  }

  DType ElementType() {
    static constexpr DType kTypes[] = {DType::kF32, DType::kF32, DType::kI64,    DType::kI32,  DType::kF16,
                                       DType::kF64, DType::kU8,  DType::kString, DType::kBool, DType::kI8,
                                       DType::kC64, DType::kBF16};
    return kTypes[Below(12)];
  }

  Tensor Random(DType t, Dims dims) {
    Tensor x(t, std::move(dims));
    for (int64_t i = 0; i < x.size(); ++i) {
      switch (t) {
        case DType::kString:
          x.mutable_data<std::string>()[i] = Below(2) ? "a" : "1.5";
          break;
        case DType::kI64:
          x.mutable_data<int64_t>()[i] = Int();
          break;
        case DType::kI32:
          x.mutable_data<int32_t>()[i] = static_cast<int32_t>(Int());
          break;
        case DType::kF32:
          x.mutable_data<float>()[i] = Float();
          break;
        case DType::kF64:
          x.mutable_data<double>()[i] = Float();
          break;
        default:
          for (size_t b = 0; b < DTypeSize(t); ++b) {
            x.mutable_data<uint8_t>()[static_cast<size_t>(i) * DTypeSize(t) + b] = static_cast<uint8_t>(rng_());
          }
      }
    }
    return x;
  }

  Value Operand(const Tensor* like) {
    if (Below(40) == 0) return Value();
    if (Below(60) == 0) return Value::None();
    if (Below(30) == 0) return Value::Sequence({Value(Random(DType::kF32, Shape())), Value(Random(DType::kF32, Shape()))});
    if (like != nullptr && Below(2)) {
      // Likely operands: the same type; indices, axes and shapes.
      if (Below(2)) return Value(Random(like->dtype(), Below(2) ? like->dims() : Shape()));
      return Value(Random(DType::kI64, Below(2) ? Dims{Below(4)} : Dims{}));
    }
    return Value(Random(ElementType(), Shape()));
  }

  AttrMap Attributes(const OpSchema& s) {
    AttrMap m;
    for (const AttrSpec& a : s.attrs) {
      const bool keep_default = a.default_value.has_value() || !a.required;
      if (keep_default && Below(3)) continue;
      switch (a.kind) {
        case AttrKind::kInt:
          m[a.name] = Below(3) ? Below(5) - 2 : Int();
          break;
        case AttrKind::kFloat:
          m[a.name] = Float();
          break;
        case AttrKind::kInts: {
          Ints v(static_cast<size_t>(Below(6)));
          for (int64_t& x : v) x = Below(4) ? Below(4) : Int();
          m[a.name] = v;
          break;
        }
        case AttrKind::kFloats:
          m[a.name] = std::vector<float>{Float(), Float()};
          break;
        case AttrKind::kString: {
          static const char* const kWords[] = {"add",  "constant", "reflect", "edge",   "SAME_UPPER", "VALID", "mean",
                                               "none", "linear",   "cubic",   "LOWER",  "LEFT",       "TF",    "CRD",
                                               "ij,jk->ik", "...i->i", "zeros", "bidirectional", "FLOAT", ""};
          m[a.name] = std::string(kWords[Below(20)]);
          break;
        }
        case AttrKind::kStrings:
          m[a.name] = Strings{"a", "b"};
          break;
        case AttrKind::kTensor:
          m[a.name] = Random(ElementType(), Below(2) ? Dims{1} : Shape());
          break;
        default:
          break;  // subgraphs and types: left out
      }
    }
    return m;
  }

  float Float() {
    static constexpr float kOdd[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 1e-40f, 0.5f, 40000.0f};
    return Below(4) ? static_cast<float>(Below(9) - 4) * 0.5f : kOdd[Below(10)];
  }

 private:
  std::mt19937 rng_;
};

TEST(Fuzz, EveryKernelAnswers) {
  const char* only = std::getenv("RETUPLE_FUZZ_FORM");
  const char* more = std::getenv("RETUPLE_FUZZ_ROUNDS");
  const int rounds = more ? std::atoi(more) : 150;
  int results = 0, errors = 0;
  for (const std::string& form : KernelRegistry::Get().Forms()) {
    if (only != nullptr && form != only) continue;
    const OpSchema* schema = Registry::Get().FindForm(form);
    if (schema == nullptr) {
      ADD_FAILURE() << "kernel without schema: " << form;
      continue;
    }
    uint32_t seed = 0;
    for (char c : form) seed = seed * 31 + static_cast<unsigned char>(c);
    Fuzzer fuzz(seed);
    for (int round = 0; round < rounds; ++round) {
      SCOPED_TRACE(form);
      const int outputs = schema->variadic_outputs() ? 1 + static_cast<int>(fuzz.Below(3)) : schema->max_outputs;
      auto op = MakeOp(*schema, fuzz.Attributes(*schema), outputs);
      if (!op.ok()) continue;
      const int most = std::min(schema->max_inputs, schema->min_inputs + 5);
      const int n = schema->min_inputs + static_cast<int>(fuzz.Below(std::max(1, most - schema->min_inputs + 1)));
      std::vector<Value> inputs;
      for (int i = 0; i < n; ++i) {
        inputs.push_back(fuzz.Operand(i > 0 && inputs[0].is_tensor() ? &inputs[0].tensor : nullptr));
      }
      if (only != nullptr) fprintf(stderr, "round %d\n", round);
      auto r = EvaluateOp(*op, inputs);
      if (!r.ok()) {
        ++errors;
        // Internal and unknown errors are bugs; a user's mistake is one of the others.
        EXPECT_NE(r.status().code(), absl::StatusCode::kInternal) << r.status();
        EXPECT_NE(r.status().code(), absl::StatusCode::kUnknown) << r.status();
        EXPECT_FALSE(r.status().message().empty());
        continue;
      }
      ++results;
      EXPECT_EQ(static_cast<int>(r->size()), op->num_outputs);
    }
  }
  RecordProperty("results", results);
  RecordProperty("errors", errors);
}

}  // namespace
}  // namespace retuple::testing
