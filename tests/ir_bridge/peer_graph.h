// A graph for the tests of the peers' suites. In its texts an input, or another term that has a name, is one word, so that graphs, patterns and
// results read alike:
//
//   PeerGraph g({"x", "y"});
//   const VarId z = g.Build("(Add x y)");        // nodes of a real graph
//   g.Print(g.Etuple(z)) == "(Add x y)"
#ifndef RETUPLE_TESTS_IR_BRIDGE_PEER_GRAPH_H_
#define RETUPLE_TESTS_IR_BRIDGE_PEER_GRAPH_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "ir_bridge/graph_adapter.h"
#include "ir_bridge/tensor_object.h"
#include "unify/substitution.h"

namespace retuple::testing {

class PeerGraph {
 public:
  // Inputs of type f32 (2), and of type f32 (2 2).
  explicit PeerGraph(std::initializer_list<const char*> vectors, std::initializer_list<const char*> matrices = {}) {
    graph.info.opsets = {{"", 17}};
    for (const char* n : vectors) Input(n, Type::Tensor(DType::kF32, {2}));
    for (const char* n : matrices) Input(n, Type::Tensor(DType::kF32, {2, 2}));
  }
  VarId Input(const std::string& name, const Type& type) {
    const VarId v = graph.AddInput(name, type);
    Name(name, *adapter.LeafTerm(ctx, v));
    return v;
  }
  // From now on the word stands for the term.
  void Name(const std::string& word, Term t) {
    leaf_.emplace(ctx.Sym(word), t);
    name_.emplace(t, ctx.Sym(word));
  }

  Term Read(const std::string& text) {
    auto t = ReadTerm(ctx, text, {.object_reader = ReadTensorObject});
    EXPECT_TRUE(t.ok()) << text << ": " << t.status();
    return Replaced(t.ok() ? *t : Term(), leaf_);
  }
  std::string Print(Term t) { return PrintTerm(ctx, Replaced(t, name_), {.let = false}); }

  // The value that `text` stands for; its applications are new nodes at every call.
  VarId Build(const std::string& text) {
    GraphBridge maker(ctx, adapter);
    const Term t = Read(text);
    auto v = maker.Reify(std::span<const Term>(&t, 1));
    EXPECT_TRUE(v.ok()) << text << ": " << v.status();
    return v.ok() ? (*v)[0] : kNoVar;
  }
  // A new node: output `i` of `head` applied to `args`.
  VarId Apply(const std::string& head, std::vector<VarId> args, int i = 0) {
    auto op = adapter.CreateFromHead(Read(head), args);
    EXPECT_TRUE(op.ok()) << head << ": " << op.status();
    return op.ok() ? adapter.Result(*op, i) : kNoVar;
  }
  VarId Sibling(VarId v, int i) const { return graph.output(graph.var(v).producer, i); }  // another output of its node
  std::vector<VarId> Operands(VarId v) const {
    const auto& in = graph.apply(graph.var(v).producer).inputs;
    return {in.begin(), in.end()};
  }

  std::vector<Term> Etuples(const std::vector<VarId>& roots) { return *bridge.Etuplize(roots); }
  Term Etuple(VarId v) { return Etuples({v})[0]; }
  absl::StatusOr<std::vector<VarId>> Values(const std::vector<Term>& roots) { return bridge.Reify(roots); }
  VarId Value(Term t) {
    auto v = Values({t});
    EXPECT_TRUE(v.ok()) << v.status();
    return v.ok() ? (*v)[0] : kNoVar;
  }
  // The graph at `v` as it is now, read by a bridge that has seen nothing before.
  std::string Show(VarId v) {
    GraphBridge reader(ctx, adapter);
    return Print((*reader.Etuplize(std::span<const VarId>(&v, 1)))[0]);
  }

  // "no", or the values of the variables of both sides in order of occurrence: "a=x b=(Neg y)".
  std::string Unified(Term a, Term b) {
    Substitution s;
    if (!Unify(ctx, a, b, s)) return "no";
    std::string out;
    for (Term v : Variables(ctx, ctx.Tuple({a, b}))) {
      if (s.IsBound(v)) out += (out.empty() ? "" : " ") + std::string(ctx.Text(v)) + "=" + Print(Reify(ctx, v, s));
    }
    return out;
  }

  Context ctx;
  TermCodec codec{ctx};
  Graph graph;
  GraphAdapter adapter{graph, codec};
  GraphBridge bridge{ctx, adapter};

 private:
  // `t` with the atoms or leaves in `map` replaced.
  Term Replaced(Term t, const absl::flat_hash_map<Term, Term>& map) {
    absl::flat_hash_map<Term, Term> done(map.begin(), map.end());
    for (Term u : PostOrder(ctx, t)) {
      if (done.contains(u)) continue;
      std::vector<Term> children;
      for (Term c : ctx.Children(u)) children.push_back(done.at(c));
      done.emplace(u, children.empty() ? u : ctx.Tuple(children));
    }
    return done.at(t);
  }

  absl::flat_hash_map<Term, Term> leaf_, name_;
};

}  // namespace retuple::testing

#endif  // RETUPLE_TESTS_IR_BRIDGE_PEER_GRAPH_H_
