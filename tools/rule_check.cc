#include "tools/rule_check.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "ir_bridge/graph_adapter.h"
#include "ir_bridge/tensor_object.h"
#include "kernels/executor.h"
#include "rewrite/apply.h"
#include "tools/compare.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

// 64-bit linear congruential generator: the same instances on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 6364136223846793005u + 99991u) {}
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>((Next() >> 33) % n); }
  double Uniform(double lo, double hi) { return lo + (hi - lo) * (static_cast<double>(Next() >> 11) / 9007199254740992.0); }

 private:
  uint64_t Next() { return state_ = state_ * 6364136223846793005u + 1442695040888963407u; }
  uint64_t state_;
};

// One instance of a rule: its left side with all variables replaced, and the inputs that occur in it.
class RuleChecker {
 public:
  RuleChecker(RuleSession& session, const RuleCheckOptions& options)
      : session_(session), ctx_(session.ctx), options_(options), random_(options.seed), in_(ctx_.Sym("in")), const_(ctx_.Sym("const")),
        as_(ctx_.Sym("as")) {}

  RuleCheckResult Check(const Rule& rule);

 private:
  // Evaluates one instance. Ok(false): it does not apply (reason in *why).
  absl::StatusOr<bool> Evaluate(const Rule& rule, const Substitution& bindings, DType literal, std::string* why);
  absl::StatusOr<Term> Value(Term spec, DType dtype_override, DType* first_dtype);
  Tensor RandomTensor(DType dtype, Dims dims, double lo, double hi);
  Term Instance(Term pattern, const Substitution& given, DType literal);
  Term InstanceOnce(Term pattern, Substitution& bindings, DType literal);
  bool IsNamed(Term pattern, Term v) const;
  void BindDefaults(Term lhs, Substitution& bindings);
  absl::StatusOr<bool> RunTest(const Rule& rule, Term test, DType dtype, std::string* why);
  bool Search(const Rule& rule, Substitution& bindings, DType dtype);
  absl::Status Compare(const Rule& rule, Term left, Term right, bool special);

  RuleSession& session_;
  Context& ctx_;
  const RuleCheckOptions& options_;
  Random random_;
  const Term in_, const_, as_;
  std::map<std::string, std::pair<double, double>> ranges_;  // of inputs by name
  int next_input_ = 0;
};

Tensor RuleChecker::RandomTensor(DType dtype, Dims dims, double lo, double hi) {
  Tensor t(dtype, std::move(dims));
  for (int64_t i = 0; i < t.size(); ++i) {
    const double v = random_.Uniform(lo, hi);
    const Tensor one = Tensor::ScalarLike(dtype, IsFloat(dtype) ? v : std::floor(v));
    std::memcpy(t.mutable_data<char>() + static_cast<size_t>(i) * DTypeSize(dtype), one.data(), DTypeSize(dtype));
  }
  return t;
}

// (in DTYPE DIMS [LO HI]), (const …), or a term that stands for itself. An override replaces f32.
absl::StatusOr<Term> RuleChecker::Value(Term spec, DType dtype_override, DType* first_dtype) {
  auto c = ctx_.Children(spec);
  if (c.empty() || (c[0] != in_ && c[0] != const_)) {
    if (const Tensor* t = TensorOf(ctx_, spec)) {
      if (t->dtype() == DType::kF32 && dtype_override != DType::kF32) {
        Tensor wide(dtype_override, t->dims());
        for (int64_t i = 0; i < t->size(); ++i) {
          const Tensor one = Tensor::ScalarLike(dtype_override, t->At(i));
          std::memcpy(wide.mutable_data<char>() + static_cast<size_t>(i) * DTypeSize(dtype_override), one.data(), DTypeSize(dtype_override));
        }
        return TensorTerm(ctx_, wide);
      }
    }
    return spec;
  }
  if ((c.size() != 3 && c.size() != 5) || !ctx_.IsSymbol(c[1]) || !ctx_.IsTuple(c[2])) {
    return absl::InvalidArgumentError("a random value is (in DTYPE (DIM …) [LOW HIGH]) or (const …)");
  }
  auto dtype = ParseDType(ctx_.Text(c[1]));
  if (!dtype || *dtype == DType::kString) return absl::InvalidArgumentError("unknown element type in :test");
  if (*dtype == DType::kF32) *dtype = dtype_override;
  if (*first_dtype == DType::kUndefined) *first_dtype = *dtype;
  Dims dims;
  Shape shape;
  for (Term d : ctx_.Children(c[2])) {
    if (ctx_.kind(d) != Kind::kInteger || ctx_.IntegerValue(d) < 0) return absl::InvalidArgumentError("dims in :test are numbers");
    dims.push_back(ctx_.IntegerValue(d));
    shape.push_back(ctx_.IntegerValue(d));
  }
  double lo = IsFloat(*dtype) ? -2 : *dtype == DType::kBool ? 0 : -3, hi = 2;
  if (c.size() == 5) {
    auto number = [&](Term t) { return ctx_.kind(t) == Kind::kInteger ? static_cast<double>(ctx_.IntegerValue(t)) : ctx_.RealValue(t); };
    lo = number(c[3]);
    hi = number(c[4]);
  }
  if (c[0] == const_) return TensorTerm(ctx_, RandomTensor(*dtype, dims, lo, hi));
  const std::string name = absl::StrFormat("r%d", next_input_++);
  ranges_[name] = {lo, hi};
  return session_.codec.Input(name, Type::Tensor(*dtype, shape));
}

// The left side with variables replaced, `as` removed, and numbers in operand position made scalars of type `literal`.
Term RuleChecker::Instance(Term pattern, const Substitution& given, DType literal) {
  // What `as` names is known once its pattern is built; a name may be used before that in reading order.
  Substitution bindings = given;
  for (;;) {
    const size_t before = bindings.size();
    const Term t = InstanceOnce(pattern, bindings, literal);
    if (bindings.size() == before) return t;
  }
}

Term RuleChecker::InstanceOnce(Term pattern, Substitution& bindings, DType literal) {
  absl::flat_hash_map<Term, Term> done;
  for (Term t : PostOrder(ctx_, pattern)) {
    if (ctx_.IsVariable(t)) {
      done[t] = bindings.Walk(t);
    } else if (!ctx_.IsTuple(t) || t.is_nil()) {
      done[t] = t;
    } else if (ctx_.Rator(t) == as_) {
      const Term name = ctx_.Children(t)[1];
      done[t] = bindings.IsBound(name) ? bindings.Walk(name) : done[ctx_.Children(t)[2]];
      if (!bindings.IsBound(name) && ctx_.IsGround(done[t])) bindings.Bind(name, done[t]);
    } else {
      const bool app = session_.codec.IsApp(t) && !ctx_.HeadSymbol(t).is_nil();
      std::vector<Term> out;
      auto children = ctx_.Children(t);
      for (size_t i = 0; i < children.size(); ++i) {
        const Term c = children[i];
        const bool keyword_part = !ctx_.Positional(t).empty() && i >= ctx_.Positional(t).size();
        if (ctx_.IsRest(c)) {
          auto items = ctx_.Children(done[c]);
          out.insert(out.end(), items.begin(), items.end());
        } else if (app && i > 0 && !keyword_part && (ctx_.kind(c) == Kind::kInteger || ctx_.kind(c) == Kind::kReal)) {
          const double v = ctx_.kind(c) == Kind::kInteger ? static_cast<double>(ctx_.IntegerValue(c)) : ctx_.RealValue(c);
          out.push_back(TensorTerm(ctx_, Tensor::ScalarLike(literal, v)));
        } else {
          out.push_back(done[c]);
        }
      }
      done[t] = ctx_.Tuple(out);
    }
  }
  return done[pattern];
}

// True if an `as` of the pattern binds `v`.
bool RuleChecker::IsNamed(Term pattern, Term v) const {
  for (Term t : PostOrder(ctx_, pattern)) {
    auto c = ctx_.Children(t);
    if (c.size() == 3 && c[0] == as_ && c[1] == v) return true;
  }
  return false;
}

// `..?a` in a head gets the attributes that the pattern does not name, with their defaults.
void RuleChecker::BindDefaults(Term lhs, Substitution& bindings) {
  for (Term t : PostOrder(ctx_, lhs)) {
    auto c = ctx_.Children(t);
    if (c.size() < 2 || !ctx_.IsSymbol(c[0]) || !ctx_.IsRest(c.back()) || bindings.IsBound(c.back())) continue;
    const OpSchema* schema = Registry::Get().FindForm(std::string(ctx_.Text(c[0])));
    std::vector<Term> words;
    if (schema != nullptr) {
      for (const AttrSpec& a : schema->attrs) {
        if (!a.default_value || ctx_.KeywordValue(t, ctx_.Keyword(a.name))) continue;
        words.push_back(ctx_.Keyword(a.name));
        words.push_back(session_.codec.Attr(*a.default_value, true));
      }
    }
    bindings.Bind(c.back(), ctx_.Tuple(words));
  }
}

absl::Status RuleChecker::Compare(const Rule& rule, Term left, Term right, bool special) {
  Graph graph;
  for (Term t : PostOrder(ctx_, left)) {
    if (!session_.codec.IsInput(t)) continue;
    auto name = session_.codec.InputName(t);
    auto type = session_.codec.LeafType(t);
    if (!name.ok() || !type.ok() || !type->is_static()) return absl::InvalidArgumentError("an input of a :test has known dims");
    graph.AddInput(*name, *type);
  }
  GraphAdapter adapter(graph, session_.codec);
  GraphBridge bridge(ctx_, adapter);
  // An application of several outputs is compared output by output.
  std::vector<Term> roots;
  for (Term side : {left, right}) {
    int outputs = 0;
    if (session_.codec.IsApp(side)) {
      auto op = session_.codec.OpOf(ctx_.Rator(side));
      if (op.ok() && (*op)->multi_output()) outputs = (*op)->num_outputs;
    }
    if (outputs == 0) roots.push_back(side);
    for (int i = 0; i < outputs; ++i) roots.push_back(session_.codec.Nth(i, side));
  }
  if (roots.size() % 2 != 0) return absl::InvalidArgumentError("the sides have different numbers of outputs");
  auto values = bridge.Reify(roots);
  if (!values.ok()) return values.status();
  for (size_t i = 0; i < values->size(); ++i) graph.AddOutput(absl::StrFormat("o%d", i), (*values)[i]);
  std::vector<retuple::Value> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const VarId v = graph.inputs()[i];
    Dims dims;
    for (const Dim& d : graph.type(v).shape()) dims.push_back(d.value());
    const auto range = ranges_.find(graph.var_name(v));
    const auto [lo, hi] = range == ranges_.end() ? std::pair<double, double>{-2, 2} : range->second;
    Tensor t = RandomTensor(graph.type(v).dtype(), dims, lo, hi);
    if (special && (t.dtype() == DType::kF32 || t.dtype() == DType::kF64)) {
      constexpr double kInf = std::numeric_limits<double>::infinity();
      const double specials[] = {kInf, -kInf, std::nan(""), -0.0, 0.0};
      for (int64_t k = 0; k < t.size(); k += 3) {
        const double s = specials[static_cast<size_t>(k / 3) % 5];
        if (t.dtype() == DType::kF32) {
          t.mutable_data<float>()[k] = static_cast<float>(s);
        } else {
          t.mutable_data<double>()[k] = s;
        }
      }
    }
    inputs.emplace_back(t);
  }
  auto plan = Plan::Compile(graph);
  if (!plan.ok()) return plan.status();
  auto out = (*plan)->Run(inputs);
  if (!out.ok()) return out.status();
  for (size_t i = 0; i < out->size() / 2; ++i) {
    const OutputDifference d = CompareValues("", (*out)[i], (*out)[out->size() / 2 + i]);
    const bool half = (*out)[i].is_tensor() && ((*out)[i].tensor.dtype() == DType::kF16 || (*out)[i].tensor.dtype() == DType::kBF16);
    const double tolerance = half ? 2e-2 : rule.valid == Validity::kExact ? 1e-6 : 1e-5;
    if (!d.mismatch.empty() || d.relative() > tolerance) {
      return absl::InternalError(absl::StrFormat("the sides differ%s: %s", special ? " on infinities, NaN or -0" : "",
                                                 d.mismatch.empty() ? absl::StrFormat("by %g of magnitude %g", d.largest_abs, d.magnitude) : d.mismatch));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> RuleChecker::Evaluate(const Rule& rule, const Substitution& bindings, DType literal, std::string* why) {
  const Term left = Instance(rule.lhs, bindings, literal);
  if (!session_.types.IsWellTyped(left)) {
    if (why != nullptr) *why = "the instance is ill-typed: " + session_.types.Describe(left);
    return false;
  }
  RuleContext rc{ctx_, nullptr};
  Bindings slots;
  Term right;
  const auto outcome = internal::ApplyRule(ctx_, rule, session_.functions, &session_.types, rc, left, slots, &right, why);
  if (outcome != internal::Outcome::kApplied) {
    if (outcome == internal::Outcome::kNoMatch && why != nullptr) *why = "the instance does not match";
    return false;
  }
  auto describe = [&](const absl::Status& s) {
    return absl::InternalError(absl::StrFormat("%s\n      left  %s\n      right %s", std::string(s.message()), Brief(ctx_, left, 600), Brief(ctx_, right, 600)));
  };
  if (auto s = Compare(rule, left, right, false); !s.ok()) return describe(s);
  if (rule.valid == Validity::kExact) {
    if (auto s = Compare(rule, left, right, true); !s.ok()) return describe(s);
  }
  return true;
}

absl::StatusOr<bool> RuleChecker::RunTest(const Rule& rule, Term test, DType dtype, std::string* why) {
  Substitution bindings;
  ranges_.clear();
  next_input_ = 0;
  DType first = DType::kUndefined;
  const std::vector<Term> items(ctx_.Children(test).begin(), ctx_.Children(test).end());
  for (Term b : items) {
    const Term var = ctx_.Children(b)[0];
    const Term spec = ctx_.Children(b)[1];
    absl::StatusOr<Term> v = spec;
    if (ctx_.IsRest(var)) {
      // A list: each element may be a random value.
      std::vector<Term> elements;
      const std::vector<Term> specs(ctx_.Children(spec).begin(), ctx_.Children(spec).end());
      for (Term e : specs) {
        auto one = Value(e, dtype, &first);
        if (!one.ok()) return one.status();
        elements.push_back(*one);
      }
      v = ctx_.Tuple(elements);
    } else {
      v = Value(spec, dtype, &first);
    }
    if (!v.ok()) return v.status();
    if (!bindings.IsBound(var)) bindings.Bind(var, *v);
  }
  BindDefaults(rule.lhs, bindings);
  for (Term v : Variables(ctx_, rule.lhs)) {
    if (bindings.IsBound(v) || IsNamed(rule.lhs, v)) continue;
    return absl::InvalidArgumentError(absl::StrFormat(":test does not bind %s%s", ctx_.IsRest(v) ? "..?" : "?", std::string(ctx_.Text(v))));
  }
  return Evaluate(rule, bindings, first == DType::kUndefined ? dtype : first, why);
}

// Random values for all variables of the left side: attributes from small pools, operands inputs or constants of small shapes.
bool RuleChecker::Search(const Rule& rule, Substitution& bindings, DType dtype) {
  static const std::vector<std::vector<int64_t>> kShapes = {{2, 3}, {3}, {}, {1}, {2, 3, 4}, {1, 3}, {2, 1}, {2, 3, 4, 4}, {4, 2}, {1, 1, 4}};
  ranges_.clear();
  next_input_ = 0;
  const uint32_t base = random_.Below(static_cast<uint32_t>(kShapes.size()));
  BindDefaults(rule.lhs, bindings);
  // Variables that are values of attributes or indices of nth get small integers.
  absl::flat_hash_set<Term> attribute;
  for (Term t : PostOrder(ctx_, rule.lhs)) {
    auto c = ctx_.Children(t);
    for (size_t i = 0; i + 1 < c.size(); ++i) {
      if (ctx_.IsKeyword(c[i])) attribute.insert(c[i + 1]);
    }
  }
  for (Term v : Variables(ctx_, rule.lhs)) {
    if (bindings.IsBound(v) || IsNamed(rule.lhs, v)) continue;
    if (attribute.contains(v)) {
      const int64_t small = static_cast<int64_t>(random_.Below(4));
      const int kind = static_cast<int>(random_.Below(3));
      bindings.Bind(v, kind == 0 ? ctx_.Integer(small) : kind == 1 ? ctx_.Real(0.25 * static_cast<double>(small)) : ctx_.Tuple({ctx_.Integer(1), ctx_.Integer(0)}));
      continue;
    }
    auto dims = kShapes[random_.Below(3) == 0 ? random_.Below(static_cast<uint32_t>(kShapes.size())) : base];
    std::vector<Term> d;
    for (int64_t i : dims) d.push_back(ctx_.Integer(i));
    const Term spec = ctx_.Tuple({random_.Below(3) == 0 ? const_ : in_, ctx_.Sym(DTypeName(dtype)), ctx_.Tuple(d)});
    DType ignored = dtype;
    auto value = Value(spec, dtype, &ignored);
    if (!value.ok()) return false;
    bindings.Bind(v, ctx_.IsRest(v) ? ctx_.Tuple({*value}) : *value);
  }
  return true;
}

RuleCheckResult RuleChecker::Check(const Rule& rule) {
  RuleCheckResult result{rule.name, rule.Where(), 0, ""};
  std::string why;
  if (!rule.tests.empty()) {
    for (const auto& [test, position] : rule.tests) {
      for (DType dtype : {DType::kF32, DType::kF64}) {
        // What depends on the opset is tried in a late one, then in an early one.
        session_.env.opset = 100;
        auto ok = RunTest(rule, test, dtype, &why);
        if (ok.ok() && !*ok) {
          session_.env.opset = 7;
          auto early = RunTest(rule, test, dtype, nullptr);
          if (!early.ok() || *early) ok = early;
        }
        if (!ok.ok()) {
          // The second element type is a variation: that a kernel does not serve it is no fault of the rule.
          if (dtype == DType::kF64 && absl::IsUnimplemented(ok.status())) continue;
          result.failure = absl::StrFormat(":test at %s (%s): %s", position.ToString(), std::string(DTypeName(dtype)), std::string(ok.status().message()));
          return result;
        }
        if (*ok) {
          ++result.evaluated;
        } else if (dtype == DType::kF32) {
          result.failure = absl::StrFormat(":test at %s does not fire: %s", position.ToString(), why);
          return result;
        }
      }
    }
    return result;
  }
  static constexpr DType kTypes[] = {DType::kF32, DType::kF32, DType::kF64, DType::kI64, DType::kBool};
  for (int i = 0; i < options_.search && result.evaluated < options_.want; ++i) {
    Substitution bindings;
    const DType dtype = kTypes[random_.Below(5)];
    if (!Search(rule, bindings, dtype)) continue;
    auto ok = Evaluate(rule, bindings, dtype, &why);
    if (!ok.ok()) {
      // An instance that the kernels refuse on both sides says nothing of the rule.
      if (std::string(ok.status().message()).find("the sides differ") == std::string::npos) continue;
      result.failure = std::string(ok.status().message());
      return result;
    }
    result.evaluated += *ok;
  }
  if (result.evaluated == 0) result.failure = "no instance was found to evaluate: give the rule a :test (last: " + why + ")";
  return result;
}

}  // namespace

bool RuleCheckReport::ok() const {
  for (const auto& r : results) {
    if (!r.failure.empty()) return false;
  }
  return true;
}

RuleCheckReport CheckRules(RuleSession& session, const RuleCheckOptions& options) {
  RuleCheckReport report;
  RuleChecker checker(session, options);
  for (const Rule& r : session.loader.rules().rules()) {
    if (r.backward) continue;
    report.results.push_back(checker.Check(r));
  }
  return report;
}

std::string RuleCheckText(const RuleCheckReport& report, bool verbose) {
  std::string out;
  int failed = 0, instances = 0;
  for (const auto& r : report.results) {
    instances += r.evaluated;
    if (!r.failure.empty()) {
      ++failed;
      out += absl::StrFormat("%s: %s\n", r.where, r.failure);
    } else if (verbose) {
      out += absl::StrFormat("%s: %d instances agree\n", r.where, r.evaluated);
    }
  }
  return out + absl::StrFormat("%d rules: %d instances agree, %d rules fail\n", report.results.size(), instances, failed);
}

}  // namespace retuple
