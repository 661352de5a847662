#include "unify/internal/answer.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "etuple/printer.h"

namespace retuple::internal {
namespace {

using Pairs = std::vector<std::pair<Value, Value>>;

class Reifier {
 public:
  Reifier(Store& store, Value value) : store_(store), ctx_(store.context()) {
    answer_.value = store_.ToTerm(value, [this](Value v, bool rest) {
      auto [it, added] = index_.try_emplace(v.index(), static_cast<uint32_t>(variables_.size()));
      if (added) variables_.push_back(v);
      return Name(it->second, rest);
    });
  }

  Answer Take() {
    bool constrained = false;
    for (Value v : variables_) constrained = constrained || !store_.Constraints(v).IsUnset();
    if (constrained) Constraints();
    return std::move(answer_);
  }

 private:
  struct Absence {
    Value what, in;
  };

  Term Name(uint32_t i, bool rest) {
    const std::string name = "_" + std::to_string(i);
    return rest ? ctx_.RestVariable(name) : ctx_.Variable(name);
  }
  Term Named(Value v) {
    return store_.ToTerm(v, [this](Value u, bool rest) { return Name(index_.at(u.index()), rest); });
  }
  uint32_t KindsOfVar(Value var) {
    const Value a = store_.Constraints(var);
    return a.IsUnset() ? uint32_t{kAnyKind} : store_.heap().attr(a).type;
  }
  bool Relevant(Value v) {
    bool all = true;
    store_.ToTerm(v, [&](Value u, bool) {
      all = all && index_.contains(u.index());
      return Term();
    });
    return all;
  }

  // True if the kinds say that the two can never be equal.
  bool Disjoint(Value var, Value v) {
    v = store_.Walk(v);
    const uint32_t other = v.IsVar() ? KindsOfVar(v) : v.IsAtom() ? KindOf(ctx_, v.term()) : uint32_t{kTupleKind};
    return (KindsOfVar(var) & other) == 0;
  }
  bool Occurs(Value what, Value in) {
    if (Same(what, in)) return true;
    std::vector<Value> stack = {in};
    Visited visited;
    while (!stack.empty()) {
      const Value v = store_.Walk(stack.back());
      stack.pop_back();
      if (Same(what, v)) return true;
      if (!v.IsPair() || visited.Again(v)) continue;
      stack.push_back(store_.heap().pair(v).car);
      stack.push_back(store_.heap().pair(v).cdr);
    }
    return false;
  }
  bool Same(Value a, Value b) {
    const Pairs p = {{a, b}};
    return store_.Implies({}, p);
  }

  void Constraints() {
    Heap& heap = store_.heap();
    std::vector<Pairs> disequalities;
    std::vector<Absence> absences;
    std::vector<std::pair<uint32_t, Term>> types;
    std::vector<Term> waiting;
    for (Value v : variables_) {
      const Value attr = store_.Constraints(v);
      if (attr.IsUnset()) continue;
      const AttrCell a = heap.attr(attr);
      if (a.type != kAnyKind) types.emplace_back(a.type, KindGoal(ctx_, a.type, Named(v)));
      for (Value l = a.disequalities; l.IsPair(); l = heap.pair(l).cdr) {
        Pairs needs;
        if (!store_.Violation(heap.pair(l).car, &needs)) continue;
        bool relevant = true;
        for (const auto& [x, t] : needs) relevant = relevant && Relevant(x) && Relevant(t);
        if (relevant) disequalities.push_back(std::move(needs));
      }
      for (Value l = a.absent; l.IsPair(); l = heap.pair(l).cdr) {
        if (Relevant(heap.pair(l).car)) absences.push_back({heap.pair(l).car, v});
      }
      for (Value l = a.goals; l.IsPair(); l = heap.pair(l).cdr) {
        const PairCell goal = heap.pair(heap.pair(l).car);
        if (!Relevant(goal.cdr)) continue;
        const Term args = Named(goal.cdr);
        std::vector<Term> t = {ctx_.Sym(store_.constraint(goal.car.index()).name)};
        t.insert(t.end(), ctx_.Children(args).begin(), ctx_.Children(args).end());
        waiting.push_back(ctx_.Tuple(t));
      }
    }
    // An absence from a variable of an atomic type is the disequality that came with it; one that the occurs check sees to says nothing.
    std::vector<Absence> proper;
    for (const Absence& a : absences) {
      if ((KindsOfVar(a.in) & kTupleKind) != 0) proper.push_back(a);
    }
    std::erase_if(disequalities, [&](const Pairs& d) {
      for (const auto& [x, t] : d) {
        if (Disjoint(x, t)) return true;
      }
      for (const Absence& a : proper) {
        const Pairs as_disequality = {{a.what, a.in}};
        if (store_.Implies(d, as_disequality)) return true;
      }
      return false;
    });
    std::erase_if(proper, [&](const Absence& a) { return Occurs(a.in, a.what); });
    DropSubsumed(disequalities, [&](const Pairs& d, const Pairs& by) { return store_.Implies(d, by); });
    DropSubsumed(proper, [&](const Absence& a, const Absence& by) { return Same(a.in, by.in) && Occurs(by.what, a.what); });

    std::vector<Term> not_equal, absent;
    for (const Pairs& d : disequalities) not_equal.push_back(Disequality(d));
    for (const Absence& a : proper) absent.push_back(ctx_.Tuple({ctx_.Sym("absento"), Named(a.what), Named(a.in)}));
    Emit(std::move(not_equal));
    // symbolo, numbero, stringo in this order, then what has no goal of its own.
    for (uint32_t kinds : {uint32_t{kSymbols}, uint32_t{kNumbers}, uint32_t{kStringKind}, uint32_t{0}}) {
      std::vector<Term> of_kind;
      for (const auto& [k, goal] : types) {
        const bool own = k == kSymbols || k == kNumbers || k == kStringKind;
        if (own ? k == kinds : kinds == 0) of_kind.push_back(goal);
      }
      Emit(std::move(of_kind));
    }
    Emit(std::move(absent));
    Emit(std::move(waiting));
  }

  Term Disequality(const Pairs& pairs) {
    struct Side {
      std::string text;
      Term x, t;
    };
    std::vector<Side> sides;
    for (const auto& [a, b] : pairs) {
      Term x = Named(a), t = Named(b);
      std::string xs = PrintTerm(ctx_, x), ts = PrintPlain(ctx_, t);
      if (ctx_.IsVariable(t) && ts < xs) {
        std::swap(x, t);
        std::swap(xs, ts);
      }
      sides.push_back({xs + " " + ts, x, t});
    }
    std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) { return a.text < b.text; });
    const Term op = ctx_.Sym("=/=");
    if (sides.size() == 1) return ctx_.Tuple({op, sides[0].x, sides[0].t});
    std::vector<Term> xs, ts;
    for (const Side& s : sides) {
      xs.push_back(s.x);
      ts.push_back(s.t);
    }
    return ctx_.Tuple({op, ctx_.Tuple(xs), ctx_.Tuple(ts)});
  }

  template <typename C, typename Subsumed>
  void DropSubsumed(std::vector<C>& all, Subsumed subsumed) {
    std::vector<C> kept;
    for (size_t i = 0; i < all.size(); ++i) {
      bool drop = false;
      for (size_t j = i + 1; j < all.size() && !drop; ++j) drop = subsumed(all[i], all[j]);
      for (size_t j = 0; j < kept.size() && !drop; ++j) drop = subsumed(all[i], kept[j]);
      if (!drop) kept.push_back(all[i]);
    }
    all = std::move(kept);
  }

  void Emit(std::vector<Term> goals) {
    std::vector<std::pair<std::string, Term>> sorted;
    for (Term g : goals) sorted.emplace_back(PrintPlain(ctx_, g), g);
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [text, g] : sorted) {
      if (answer_.constraints.empty() || answer_.constraints.back() != g) answer_.constraints.push_back(g);
    }
  }

  Store& store_;
  Context& ctx_;
  std::vector<Value> variables_;
  absl::flat_hash_map<uint32_t, uint32_t> index_;
  Answer answer_;
};

}  // namespace

Answer MakeAnswer(Store& store, Value value) { return Reifier(store, value).Take(); }

}  // namespace retuple::internal
