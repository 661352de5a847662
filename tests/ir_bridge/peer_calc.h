// An IR for the tests of peer suites whose nodes are computed as they are made: reify evaluates a term by C++ functions, and etuplize
// gives the term of a result. A value shows as text.
//
//   Calc calc(ctx);
//   calc.functions["add"] = …;
//   Bridge<Calc> bridge(ctx, calc);
//   calc.Text((*bridge.Reify(terms))[0]) == "3"          // terms: (add 1 2)
#ifndef RETUPLE_TESTS_IR_BRIDGE_PEER_CALC_H_
#define RETUPLE_TESTS_IR_BRIDGE_PEER_CALC_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "etuple/printer.h"
#include "ir_bridge/bridge.h"

namespace retuple::testing {

class Calc {
 public:
  using Value = uint32_t;
  using Op = uint32_t;  // 1 + index; 0 is none
  using Function = std::function<std::string(std::span<const std::string> args)>;

  explicit Calc(Context& ctx) : ctx_(ctx) {}

  std::map<std::string, Function> functions;  // by operator
  // What is called for an operator; none: it cannot be called.
  std::function<Function(Term head)> lookup = [this](Term head) {
    auto it = functions.find(PrintTerm(ctx_, head));
    return it == functions.end() ? Function() : it->second;
  };
  int calls = 0;
  const std::string& Text(Value v) const { return cells_[v].text; }

  // The verbs.
  Op DefiningOp(Value v) const { return cells_[v].op; }
  int ResultIndex(Value) const { return 0; }
  std::string_view Name(Op) const { return "calc"; }
  const std::vector<Value>& Operands(Op op) const { return nodes_[op - 1].args; }
  int NumResults(Op) const { return 1; }
  AdapterEffect EffectOf(Op) const { return AdapterEffect::kPure; }
  bool SameHead(Op a, Op b) const { return nodes_[a - 1].head == nodes_[b - 1].head; }
  absl::StatusOr<Op> Clone(Op op, std::span<const Value> args) { return CreateFromHead(nodes_[op - 1].head, args); }
  absl::StatusOr<Op> Create(std::string_view name, std::span<const Value> args) { return CreateFromHead(ctx_.Sym(name), args); }
  Value Result(Op op, int) const { return nodes_[op - 1].result; }
  Term HeadTerm(Context&, Op op) const { return nodes_[op - 1].head; }
  std::optional<Term> LeafTerm(Context&, Value v) const { return cells_[v].leaf; }
  bool IsLeaf(Term t) const { return !ctx_.IsTuple(t) || t.is_nil(); }
  absl::StatusOr<Value> LeafValue(Term t) {
    cells_.push_back({PrintTerm(ctx_, t), 0, t});
    return static_cast<Value>(cells_.size() - 1);
  }
  absl::StatusOr<Op> CreateFromHead(Term head, std::span<const Value> args) {
    const Function f = lookup(head);
    if (!f) return absl::InvalidArgumentError("cannot be called: " + PrintTerm(ctx_, head));
    std::vector<std::string> texts;
    for (Value v : args) texts.push_back(cells_[v].text);
    ++calls;
    cells_.push_back({f(texts), static_cast<Op>(nodes_.size() + 1), Term()});
    nodes_.push_back({head, {args.begin(), args.end()}, static_cast<Value>(cells_.size() - 1)});
    return static_cast<Op>(nodes_.size());
  }

 private:
  struct Cell {
    std::string text;
    Op op;
    Term leaf;
  };
  struct Node {
    Term head;
    std::vector<Value> args;
    Value result;
  };
  Context& ctx_;
  std::vector<Cell> cells_;
  std::vector<Node> nodes_;
};
static_assert(IrAdapter<Calc>);

inline std::string Sum(std::span<const std::string> args) {
  int64_t sum = 0;
  for (const std::string& a : args) sum += std::stoll(a);
  return std::to_string(sum);
}

}  // namespace retuple::testing

#endif  // RETUPLE_TESTS_IR_BRIDGE_PEER_CALC_H_
