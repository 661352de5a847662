// Etuplize and reify, written once against the adapter concept.
//
//   Graph graph; TermCodec codec(ctx); GraphAdapter adapter(graph, codec);
//   Bridge bridge(ctx, adapter);
//   std::vector<Term> terms = *bridge.Etuplize(roots);
//   … rewrite …
//   std::vector<VarId> values = *bridge.Reify(terms);
//
// The pair (application, output index) is the term `(nth i app)` for an application that is a tuple, else the application itself; all outputs of one
// application reify to one op. A subterm that came from a value reifies to that very value (the `evaled_obj` of etuples, as a side
// table). An op that may not be merged is a leaf of its own. Both directions keep an explicit stack and are linear in the distinct nodes.
#ifndef RETUPLE_IR_BRIDGE_BRIDGE_H_
#define RETUPLE_IR_BRIDGE_BRIDGE_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "etuple/printer.h"
#include "etuple/term.h"
#include "ir_bridge/adapter.h"

namespace retuple {

namespace internal {

// A map from handles: a vector when the handle is an index, a hash table otherwise.
template <typename K, typename V>
class HandleMap {
 public:
  const V* Find(const K& k) const {
    if constexpr (std::is_unsigned_v<K>) {
      return k < dense_.size() && dense_[k].has_value() ? &*dense_[k] : nullptr;
    } else {
      auto it = sparse_.find(k);
      return it == sparse_.end() ? nullptr : &it->second;
    }
  }
  void Set(const K& k, V v) {
    if constexpr (std::is_unsigned_v<K>) {
      if (k >= dense_.size()) dense_.resize(std::max<size_t>(size_t{k} + 1, dense_.size() * 2));
      dense_[k] = std::move(v);
    } else {
      sparse_[k] = std::move(v);
    }
  }

 private:
  std::vector<std::optional<V>> dense_;
  absl::flat_hash_map<K, V> sparse_;
};

// An op or a value of a foreign IR as an atom: equal when the adapter says that heads are equal, or the very same value.
template <typename A>
class ForeignHead : public Object {
 public:
  ForeignHead(A& ir, typename A::Op op) : ir_(ir), op_(op), name_(ir.Name(op)) {}
  uint64_t Hash() const override { return std::hash<std::string>()(name_); }
  bool Equals(const Object& o) const override {
    auto* other = dynamic_cast<const ForeignHead*>(&o);
    return other != nullptr && &other->ir_ == &ir_ && ir_.SameHead(op_, other->op_);
  }
  std::string ToString(bool) const override { return name_; }
  typename A::Op op() const { return op_; }

 private:
  A& ir_;
  typename A::Op op_;
  std::string name_;
};

template <typename A>
class ForeignValue : public Object {
 public:
  ForeignValue(typename A::Value v, uint64_t id) : value_(v), id_(id) {}
  uint64_t Hash() const override { return id_ * 0x9E3779B97F4A7C15u; }
  bool Equals(const Object& o) const override {
    auto* other = dynamic_cast<const ForeignValue*>(&o);
    return other != nullptr && other->value_ == value_;
  }
  std::string ToString(bool) const override { return "value " + std::to_string(id_); }
  typename A::Value value() const { return value_; }

 private:
  typename A::Value value_;
  uint64_t id_;
};

}  // namespace internal

template <IrAdapter A>
class Bridge {
 public:
  using Value = typename A::Value;
  using IrOp = typename A::Op;

  Bridge(Context& ctx, A& ir) : ctx_(ctx), ir_(ir), nth_(ctx.Sym("nth")), tuple_(ctx.Sym("tuple")), none_(ctx.Sym("none")) {}

  // Terms of `roots`, in order.
  absl::StatusOr<std::vector<Term>> Etuplize(std::span<const Value> roots);
  // Values of `roots`; new ops are made through the adapter. InvalidArgument for a term that is no value (an application of several
  // outputs without nth, a head that the IR does not know).
  absl::StatusOr<std::vector<Value>> Reify(std::span<const Term> roots);

  // The term of a value that was etuplized.
  std::optional<Term> TermOf(Value v) const {
    const Term* t = terms_.Find(v);
    return t == nullptr ? std::nullopt : std::optional<Term>(*t);
  }
  // The value that a term came from or was reified to.
  std::optional<Value> ValueOf(Term t) const {
    const Value* v = values_.Find(t.id());
    return v == nullptr ? std::nullopt : std::optional<Value>(*v);
  }

 private:
  bool IsTuple(IrOp op) {
    if constexpr (requires { ir_.IsTuple(op); }) {
      return ir_.IsTuple(op);
    } else {
      return ir_.NumResults(op) > 1;
    }
  }
  // The term of a leaf or of an op done before; false when the op must be visited first.
  bool Known(Value v, Term* out);
  Term LeafOf(Value v);
  Term HeadOf(IrOp op);
  void Finish(IrOp op);
  absl::StatusOr<IrOp> Make(Term app, std::span<const Value> args);
  bool IsSelection(Term t) const {
    auto c = ctx_.Children(t);
    return c.size() == 3 && c[0] == nth_ && ctx_.kind(c[1]) == Kind::kInteger;
  }
  // `t` by the law (nth i (tuple x0 … xn)) = xi, as often as it applies at the root.
  Term Selected(Term t) const {
    while (IsSelection(t)) {
      auto c = ctx_.Children(ctx_.Children(t)[2]);
      const int64_t i = ctx_.IntegerValue(ctx_.Children(t)[1]);
      if (c.empty() || c[0] != tuple_ || i < 0 || static_cast<size_t>(i) + 1 >= c.size()) break;
      t = c[static_cast<size_t>(i) + 1];
    }
    return t;
  }
  // The value of a term that needs no op to be made; nullopt when `app` must be made first (then set).
  absl::StatusOr<std::optional<Value>> Ready(Term t, Term* app);

  Context& ctx_;
  A& ir_;
  const Term nth_, tuple_, none_;
  internal::HandleMap<Value, Term> terms_;
  internal::HandleMap<IrOp, Term> apps_;
  internal::HandleMap<uint32_t, Value> values_;  // by term id
  internal::HandleMap<uint32_t, IrOp> ops_;      // by term id of the application
  absl::flat_hash_map<Term, IrOp> exemplars_;    // by head
  uint64_t next_leaf_ = 0;
};

template <IrAdapter A>
Term Bridge<A>::LeafOf(Value v) {
  if constexpr (requires { ir_.LeafTerm(ctx_, v); }) {
    if (std::optional<Term> t = ir_.LeafTerm(ctx_, v)) return *t;
  }
  return ctx_.Obj(std::make_shared<internal::ForeignValue<A>>(v, next_leaf_++));
}

template <IrAdapter A>
Term Bridge<A>::HeadOf(IrOp op) {
  if constexpr (requires { ir_.HeadTerm(ctx_, op); }) {
    return ir_.HeadTerm(ctx_, op);
  } else {
    return ctx_.Obj(std::make_shared<internal::ForeignHead<A>>(ir_, op));
  }
}

template <IrAdapter A>
bool Bridge<A>::Known(Value v, Term* out) {
  if constexpr (requires { ir_.NoValue(); }) {
    if (v == ir_.NoValue()) {
      *out = none_;
      return true;
    }
  }
  if (const Term* t = terms_.Find(v)) {
    *out = *t;
    return true;
  }
  const IrOp op = ir_.DefiningOp(v);
  if (op == IrOp{} || ir_.EffectOf(op) == AdapterEffect::kOpaque) {
    *out = LeafOf(v);
  } else if (const Term* app = apps_.Find(op)) {
    *out = IsTuple(op) ? ctx_.Tuple({nth_, ctx_.Integer(ir_.ResultIndex(v)), *app}) : *app;
  } else {
    return false;
  }
  terms_.Set(v, *out);
  if (values_.Find(out->id()) == nullptr) values_.Set(out->id(), v);
  return true;
}

template <IrAdapter A>
void Bridge<A>::Finish(IrOp op) {
  const Term head = HeadOf(op);
  exemplars_.try_emplace(head, op);
  absl::InlinedVector<Term, 6> children{head};
  for (Value v : ir_.Operands(op)) {
    Term t;
    Known(v, &t);
    children.push_back(t);
  }
  const Term app = ctx_.Tuple(children);
  apps_.Set(op, app);
  if (ops_.Find(app.id()) == nullptr) ops_.Set(app.id(), op);
}

template <IrAdapter A>
absl::StatusOr<std::vector<Term>> Bridge<A>::Etuplize(std::span<const Value> roots) {
  struct Frame {
    IrOp op;
    uint32_t next;
  };
  std::vector<Frame> stack;
  std::vector<Term> out;
  for (Value root : roots) {
    Term t;
    if (!Known(root, &t)) stack.push_back({ir_.DefiningOp(root), 0});
    while (!stack.empty()) {
      Frame& f = stack.back();
      uint32_t k = 0;
      IrOp need{};
      for (Value v : ir_.Operands(f.op)) {
        if (k++ < f.next) continue;
        if (Term ignored; !Known(v, &ignored)) {
          need = ir_.DefiningOp(v);
          break;
        }
        ++f.next;
      }
      if (!(need == IrOp{})) {
        stack.push_back({need, 0});
        continue;
      }
      Finish(f.op);
      stack.pop_back();
    }
    Known(root, &t);
    out.push_back(t);
  }
  return out;
}

template <IrAdapter A>
absl::StatusOr<std::optional<typename A::Value>> Bridge<A>::Ready(Term t, Term* app) {
  using Result = std::optional<Value>;
  t = Selected(t);
  if (const Value* v = values_.Find(t.id())) return Result(*v);
  if constexpr (requires { ir_.NoValue(); }) {
    if (t == none_) return Result(ir_.NoValue());
  }
  if constexpr (requires { ir_.LeafValue(t); }) {
    if (ir_.IsLeaf(t)) {
      auto v = ir_.LeafValue(t);
      if (!v.ok()) return v.status();
      values_.Set(t.id(), *v);
      return Result(*v);
    }
  }
  if (!ctx_.IsTuple(t) || t.is_nil()) {
    return absl::InvalidArgumentError("no value of the IR: " + Brief(ctx_, t, 100));
  }
  auto c = ctx_.Children(t);
  const bool selection = IsSelection(t);
  *app = selection ? c[2] : t;
  if (ctx_.IsTuple(*app) && !app->is_nil() && ctx_.Rator(*app) == tuple_) {
    return absl::InvalidArgumentError((selection ? "no such element: " : "a tuple is no value: ") + Brief(ctx_, t, 100));
  }
  const IrOp* op = ops_.Find(app->id());
  if (op == nullptr) return Result();
  const bool tuple = IsTuple(*op);
  if (tuple != selection) {
    return absl::InvalidArgumentError((tuple ? "an application of several outputs needs (nth i …): "
                                             : "nth of an application of one output: ") +
                                      Brief(ctx_, t, 100));
  }
  const int64_t i = selection ? ctx_.IntegerValue(c[1]) : 0;
  if (i < 0 || i >= ir_.NumResults(*op)) {
    return absl::InvalidArgumentError("no such output: " + Brief(ctx_, t, 100));
  }
  const Value v = ir_.Result(*op, static_cast<int>(i));
  values_.Set(t.id(), v);
  return Result(v);
}

template <IrAdapter A>
absl::StatusOr<typename A::Op> Bridge<A>::Make(Term app, std::span<const Value> args) {
  const Term head = ctx_.Rator(app);
  if (auto it = exemplars_.find(head); it != exemplars_.end()) return ir_.Clone(it->second, args);
  if constexpr (requires { ir_.CreateFromHead(head, args); }) {
    return ir_.CreateFromHead(head, args);
  } else {
    if (!ctx_.IsSymbol(head)) return absl::InvalidArgumentError("no operator: " + Brief(ctx_, head, 100));
    return ir_.Create(ctx_.Text(head), args);
  }
}

template <IrAdapter A>
absl::StatusOr<std::vector<typename A::Value>> Bridge<A>::Reify(std::span<const Term> roots) {
  struct Frame {
    Term app;
    uint32_t next;
  };
  std::vector<Frame> stack;
  std::vector<Value> out;
  absl::InlinedVector<Value, 6> args;
  for (Term root : roots) {
    for (;;) {
      Term app;
      auto ready = Ready(root, &app);
      if (!ready.ok()) return ready.status();
      if (ready->has_value()) {
        out.push_back(**ready);
        break;
      }
      stack.push_back({app, 1});
      while (!stack.empty()) {
        Frame& f = stack.back();
        auto children = ctx_.Children(f.app);
        if (children.empty()) return absl::InvalidArgumentError("no value of the IR: ()");
        Term need;
        bool descend = false;
        while (f.next < children.size()) {
          auto operand = Ready(children[f.next], &need);
          if (!operand.ok()) return operand.status();
          if (!operand->has_value()) {
            descend = true;
            break;
          }
          ++f.next;
        }
        if (descend) {
          stack.push_back({need, 1});
          continue;
        }
        args.clear();
        for (Term c : children.subspan(1)) args.push_back(**Ready(c, &need));
        auto op = Make(f.app, args);
        if (!op.ok()) return op.status();
        ops_.Set(f.app.id(), *op);
        stack.pop_back();
      }
    }
  }
  return out;
}

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_BRIDGE_H_
