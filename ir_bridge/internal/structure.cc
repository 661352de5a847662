// Both comparisons number the live values of a graph bottom-up by what they are made of. Two graphs
// are equal when their outputs get equal numbers from one shared numbering, which is linear and
// does not care whether equal subexpressions are shared or repeated.
#include "ir_bridge/internal/structure.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "ir_bridge/internal/attr_value.h"
#include "ir_bridge/internal/hash.h"

namespace retuple::internal {
namespace {

constexpr uint32_t kAbsent = 0;

// Dims that no name tells apart count as equal: reading one file twice gives two sets of fresh
// symbols.
bool SameInterfaceType(const Type& a, const Type& b) {
  if (a.kind() != b.kind() || a.dtype() != b.dtype() || a.rank() != b.rank()) return false;
  if (a.has_shape()) {
    for (int i = 0; i < a.rank(); ++i) {
      const Dim x = a.shape()[static_cast<size_t>(i)], y = b.shape()[static_cast<size_t>(i)];
      if (x.known() != y.known() || (x.known() && x != y)) return false;
      if (x.named() != y.named() || (x.named() && x != y)) return false;
    }
  }
  if (a.kind() == Type::Kind::kSequence || a.kind() == Type::Kind::kOptional) {
    return SameInterfaceType(a.element(), b.element());
  }
  return true;
}

// What a value is made of: kind, then input index, constant class, or (op class, output, operands
// …).
using Key = absl::InlinedVector<uint32_t, 6>;

class Numbering {
 public:
  // The numbers of the outputs of `g`.
  std::vector<uint32_t> Outputs(const Graph& g) {
    std::vector<uint32_t> number(g.num_vars(), kAbsent);
    std::vector<uint32_t> op_class(g.num_ops(), ~0u);
    for (uint32_t i = 0; i < g.inputs().size(); ++i) number[g.inputs()[i]] = Find(Key{1, i});
    auto of = [&](VarId v) {
      if (v == kNoVar) return kAbsent;
      if (number[v] == kAbsent && g.var(v).kind == Variable::Kind::kConstant) {
        number[v] = Find(Key{2, ConstantClass(g.constant(v))});
      }
      return number[v];
    };
    for (ApplyId a : g.LiveApplies()) {
      const Apply& apply = g.apply(a);
      uint32_t& cls = op_class[apply.op];
      if (cls == ~0u) cls = OpClass(g.op(apply.op));
      Key key{3, cls, 0};
      for (VarId v : apply.inputs) key.push_back(of(v));
      const int n = g.op(apply.op).num_outputs;
      for (int i = 0; i < n; ++i) {
        key[2] = static_cast<uint32_t>(i);
        number[g.output(a, i)] = Find(key);
      }
    }
    std::vector<uint32_t> out;
    for (const GraphOutput& o : g.outputs()) out.push_back(of(o.var));
    return out;
  }

 private:
  uint32_t Find(const Key& key) {
    return numbers_.try_emplace(key, static_cast<uint32_t>(numbers_.size() + 1)).first->second;
  }
  uint32_t OpClass(const Op& op) {
    auto& bucket = op_buckets_[op.Hash()];
    for (const auto& [other, cls] : bucket) {
      if (*other == op) return cls;
    }
    bucket.emplace_back(&op, op_classes_);
    return op_classes_++;
  }
  uint32_t ConstantClass(const Tensor& t) {
    auto& bucket = constant_buckets_[t.ContentHash()];
    for (const auto& [other, cls] : bucket) {
      if (*other == t) return cls;
    }
    bucket.emplace_back(&t, constant_classes_);
    return constant_classes_++;
  }
  absl::flat_hash_map<Key, uint32_t> numbers_;
  absl::flat_hash_map<uint64_t, std::vector<std::pair<const Op*, uint32_t>>> op_buckets_;
  absl::flat_hash_map<uint64_t, std::vector<std::pair<const Tensor*, uint32_t>>> constant_buckets_;
  uint32_t op_classes_ = 0, constant_classes_ = 0;
};

}  // namespace

bool GraphsEqual(const Graph& a, const Graph& b, NamesMatter names) {
  if (&a == &b) return true;
  if (a.inputs().size() != b.inputs().size() || a.outputs().size() != b.outputs().size())
    return false;
  for (size_t i = 0; i < a.inputs().size() && names == NamesMatter::kYes; ++i) {
    const VarId x = a.inputs()[i], y = b.inputs()[i];
    if (a.var_name(x) != b.var_name(y) || !SameInterfaceType(a.type(x), b.type(y))) return false;
    auto dx = a.defaults().find(x);
    auto dy = b.defaults().find(y);
    if ((dx == a.defaults().end()) != (dy == b.defaults().end())) return false;
    if (dx != a.defaults().end() && !(dx->second == dy->second)) return false;
  }
  for (size_t i = 0; i < a.outputs().size() && names == NamesMatter::kYes; ++i) {
    if (a.outputs()[i].name != b.outputs()[i].name) return false;
  }
  Numbering numbering;
  return numbering.Outputs(a) == numbering.Outputs(b);
}

uint64_t HashGraph(const Graph& g, NamesMatter names) {
  std::vector<uint64_t> hash(g.num_vars(), 0);
  std::vector<uint64_t> op_hash(g.num_ops(), 0);
  uint64_t total = HashCombine(g.inputs().size(), g.outputs().size());
  for (size_t i = 0; i < g.inputs().size(); ++i) {
    hash[g.inputs()[i]] = HashCombine(1, i);
    if (names == NamesMatter::kYes) total = HashString(g.var_name(g.inputs()[i]), total);
  }
  auto of = [&](VarId v) {
    if (v == kNoVar) return uint64_t{0};
    if (hash[v] == 0 && g.var(v).kind == Variable::Kind::kConstant) {
      hash[v] = HashCombine(2, g.constant(v).ContentHash());
    }
    return hash[v];
  };
  for (ApplyId a : g.LiveApplies()) {
    const Apply& apply = g.apply(a);
    if (op_hash[apply.op] == 0) op_hash[apply.op] = g.op(apply.op).Hash();
    uint64_t h = op_hash[apply.op];
    for (VarId v : apply.inputs) h = HashCombine(h, of(v));
    const int n = g.op(apply.op).num_outputs;
    for (int i = 0; i < n; ++i) hash[g.output(a, i)] = HashCombine(h, static_cast<uint64_t>(i));
  }
  for (const GraphOutput& o : g.outputs()) {
    total = HashCombine(total, of(o.var));
    if (names == NamesMatter::kYes) total = HashString(o.name, total);
  }
  return total;
}

}  // namespace retuple::internal
