#include "unify/library.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "etuple/reader.h"
#include "unify/arithmetic.h"
#include "unify/assoc_comm.h"

namespace retuple {
namespace {

// Names of the library stand here without their prefix. A name with a `/` is the library's own.
constexpr char kText[] = R"(
; ---- lists
(defrel (caro ?l ?a) (fresh (?d) (== ?l (?a ..?d))))
(defrel (cdro ?l ?d) (fresh (?a) (== ?l (?a ..?d))))
(defrel (conso ?a ?d ?l) (== ?l (?a ..?d)))
(defrel (heado ?a ?l) (fresh (?d) (== ?l (?a ..?d))))
(defrel (tailo ?d ?l) (fresh (?a) (== ?l (?a ..?d))))
(defrel (nullo ?l) (== ?l ()))
(defrel (itero ?l)
  (conde ((== ?l ()))
         ((fresh (?a ?d) (== ?l (?a ..?d)) (itero ?d)))))
(defrel (membero ?x ?l)
  (fresh (?a ?d) (== ?l (?a ..?d)) (conde ((== ?x ?a)) ((membero ?x ?d)))))
(defrel (appendo ?l ?s ?o)
  (conde ((== ?l ()) (== ?s ?o))
         ((fresh (?a ?d ?r) (== ?l (?a ..?d)) (== ?o (?a ..?r)) (appendo ?d ?s ?r)))))
; the first ?x of the list is taken out; a list without ?x stays
(defrel (rembero ?x ?l ?o)
  (conde ((== ?l ()) (== ?o ()))
         ((fresh (?d) (== ?l (?x ..?d)) (== ?o ?d)))
         ((fresh (?a ?d ?r) (== ?l (?a ..?d)) (=/= ?a ?x) (== ?o (?a ..?r)) (rembero ?x ?d ?r)))))
(defrel (eq_length ?l ?m)
  (conde ((== ?l ()) (== ?m ()))
         ((fresh (?a ?b ?d ?e) (== ?l (?a ..?d)) (== ?m (?b ..?e)) (eq_length ?d ?e)))))

; what both lists have leaves first; then the elements of the one whose length is known are chosen one by one
(defrel (permuteo ?l ?m)
  (fresh (?l1 ?m1)
    (cancel ?l ?m ?l1 ?m1)
    (conda ((list/known ?l1) (permute/choose ?l1 ?m1))
           ((list/known ?m1) (permute/choose ?m1 ?l1))
           (succeed (itero ?l1) (permute/choose ?l1 ?m1)))))
(defrel (permute/choose ?l ?m)
  (conde ((== ?l ()) (== ?m ()))
         ((fresh (?a ?d ?r) (== ?m (?a ..?d)) (permute/select ?a ?l ?r) (permute/choose ?r ?d)))))
(defrel (permute/select ?a ?l ?r)
  (fresh (?x ?d)
    (== ?l (?x ..?d))
    (conde ((== ?a ?x) (== ?r ?d))
           ((fresh (?e) (== ?r (?x ..?e)) (permute/select ?a ?d ?e))))))

; ---- relations over lists and terms
(defrel (mapo ?rel ?l ?m)
  (conde ((== ?l ()) (== ?m ()))
         ((fresh (?a ?d ?b ?e) (== ?l (?a ..?d)) (== ?m (?b ..?e)) (call ?rel ?a ?b) (mapo ?rel ?d ?e)))))
; at least one pair is related, the others are equal
(defrel (map_anyo ?rel ?l ?m)
  (fresh (?a ?d ?b ?e)
    (== ?l (?a ..?d)) (== ?m (?b ..?e))
    (conde ((call ?rel ?a ?b) (map/resto ?rel ?d ?e))
           ((== ?a ?b) (map_anyo ?rel ?d ?e)))))
(defrel (map/resto ?rel ?l ?m)
  (conde ((== ?l ()) (== ?m ()))
         ((fresh (?a ?d ?b ?e)
            (== ?l (?a ..?d)) (== ?m (?b ..?e))
            (conde ((call ?rel ?a ?b) (map/resto ?rel ?d ?e))
                   ((== ?a ?b) (map/resto ?rel ?d ?e)))))))
; forward the fixed point comes first, then what was on the way; backward the smallest comes first
(defrel (reduceo ?rel ?t ?u)
  (fresh (?m)
    (conda ((variable ?t) (conde ((== ?m ?u)) ((reduceo ?rel ?m ?u))) (call ?rel ?t ?m))
           (succeed (call ?rel ?t ?m) (in-order ((reduceo ?rel ?m ?u)) ((== ?m ?u)))))))
(defrel (walko ?rel ?t ?u)
  (conde ((call ?rel ?t ?u))
         ((== ?t ()) (== ?u ()))
         ((map_anyo (walko ?rel) ?t ?u))))
(defrel (walk_termo ?rel ?rator ?t ?u)
  (conde ((call ?rel ?t ?u))
         ((fresh (?f ?as ?g ?bs)
            (== ?t (?f ..?as)) (== ?u (?g ..?bs)) (call ?rator ?f ?g)
            (map_anyo (walk_termo ?rel ?rator) ?as ?bs)))))
(defrel (applyo ?f ?as ?t) (== ?t (?f ..?as)))
; an argument is found by name; where no arguments are known it comes first
(defrel (keywordo ?key ?value ?all ?others)
  (conda ((variable ?all) (== ?all (?key ?value ..?others)))
         (succeed (keyword/find ?key ?value ?all ?others))))
(defrel (keyword/find ?key ?value ?all ?others)
  (fresh (?k ?v ?d)
    (== ?all (?k ?v ..?d))
    (conde ((== ?k ?key) (== ?v ?value) (== ?others ?d))
           ((=/= ?k ?key) (fresh (?e) (== ?others (?k ?v ..?e)) (keywordo ?key ?value ?d ?e))))))

; ---- operands rewritten by a relation, anywhere in a term
(defrel (term_walko ?rator ?rands ?t ?u) (walk/term ?rator ?rands == walk/bound ?t ?u))
(defrel (walk/term ?rator ?rands ?format ?inner ?t ?u)
  (conde ((== ?t ?u))
         ((walk/step ?rator ?rands ?format ?inner ?t ?u))))
; inside a term nothing is gained by inventing what two variables may be
(defrel (walk/bound ?rator ?rands ?format ?t ?u)
  (conda ((variable ?t) (variable ?u) fail)
         (succeed (walk/step ?rator ?rands ?format walk/bound ?t ?u))))
(defrel (walk/free ?rator ?rands ?format ?t ?u) (walk/step ?rator ?rands ?format walk/free ?t ?u))
(defrel (walk/step ?rator ?rands ?format ?inner ?t ?u)
  (fresh (?a ?b ?c ?d)
    (ground_order (?t ?u) (?a ?b))
    (call ?format ?a ?c)
    (conde ((=/= ?a ?c) (== ?c ?b))
           ((walk/apply ?rator ?rands ?c ?b))
           ((map_anyo (?inner ?rator ?rands ?format) ?c ?d)
            (conde ((== ?d ?b)) ((walk/apply ?rator ?rands ?d ?b)))))))
(defrel (walk/apply ?rator ?rands ?t ?u)
  (fresh (?a ?b ?f ?as ?bs ?a1 ?a2 ?b1 ?b2)
    (ground_order (?t ?u) (?a ?b))
    (== ?a (?f ..?as)) (== ?b (?f ..?bs)) (call ?rator ?f)
    (== ?as (?a1 ..?a2)) (== ?bs (?b1 ..?b2))
    (call ?rands ?f ?as ?bs)))
)";

constexpr char kAssocComm[] = R"(
; ---- commutative and associative operators
(defrel (eq_comm ?t ?u) (ac/equal #t #f commutative ac/permute == ?t ?u))
(defrel (eq_assoc ?t ?u) (ac/equal #f #t associative (ac/regroup ()) == ?t ?u))
(defrel (eq_assoc_n ?n ?t ?u) (walk/term associative (ac/regroup ?n) == walk/bound ?t ?u))
(defrel (eq_assoccomm ?t ?u) (ac/equal #t #t ac/any ac/both assoc_flatten ?t ?u))
(defrel (ac/equal ?comm ?assoc ?rator ?rands ?format ?t ?u)
  (fresh (?r)
    (compare ?comm ?assoc ?t ?u ?r)
    (conde ((== ?r equal))
           ((== ?r open) (walk/term ?rator ?rands ?format walk/bound ?t ?u))
           ((== ?r free) (walk/term ?rator ?rands ?format walk/free ?t ?u)))))
(defrel (ac/any ?f) succeed)
(defrel (ac/permute ?f ?as ?bs) (permuteo ?as ?bs) (=/= ?as ?bs))
(defrel (ac/regroup ?n ?f ?as ?bs) (eq_assoc_args ?f ?n #t ?as ?bs))
(defrel (eq_assoc_args ?f ?n ?no_ident ?as ?bs)
  (fresh (?a ?b ?l ?r)
    (ground_order (?as ?bs) (?a ?b)) (itero ?a)
    (assoc-args ?f ?n ?no_ident ?a ?b ?l ?r) (== ?l ?r)))
(defrel (ac/both ?f ?as ?bs)
  (fresh (?cs)
    (conde ((commutative ?f) (ac/permute ?f ?as ?cs)) ((== ?as ?cs)))
    (conde ((associative ?f) (ac/regroup () ?f ?cs ?bs)) ((== ?cs ?bs) (=/= ?as ?bs)))))
)";

bool IsOwn(std::string_view name) { return name.find('/') != std::string_view::npos; }

// Relations in C++: with / or - or without a use outside they are the library's own.
struct Native {
  const char* name;
  uint32_t arity;
};
constexpr Native kPublicNatives[] = {{"addo", 3}, {"subo", 3}, {"mulo", 3}, {"divo", 3}, {"modo", 3}, {"lto", 2},
                                     {"leo", 2},  {"gto", 2},  {"geo", 2},  {"assoc_flatten", 2}, {"ground_order", 2},
                                     {"literalo", 2}};
constexpr const char* kOwnNatives[] = {"compare", "assoc-args", "cancel", "variable", "list/known"};
constexpr const char* kFacts[] = {"commutative", "associative"};

std::vector<LibraryRelation> Names() {
  Context ctx;
  std::vector<LibraryRelation> out;
  for (const char* text : {kText, kAssocComm}) {
    const auto forms = ReadForms(ctx, text);
    for (const Form& f : *forms) {
      const Term head = ctx.Children(f.term)[1];
      const std::string name(ctx.Text(ctx.Rator(head)));
      if (!IsOwn(name)) out.push_back({name, static_cast<uint32_t>(ctx.Rands(head).size()), false});
    }
  }
  for (const Native& n : kPublicNatives) out.push_back({n.name, n.arity, false});
  for (const char* name : kFacts) out.push_back({name, 1, true});
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

}  // namespace

std::span<const LibraryRelation> LibraryRelations() {
  static const std::vector<LibraryRelation> all = Names();
  return all;
}

const LibraryRelation* FindLibrary(std::string_view name) {
  auto all = LibraryRelations();
  const auto it = std::lower_bound(all.begin(), all.end(), name, [](const LibraryRelation& r, std::string_view n) { return r.name < n; });
  return it != all.end() && it->name == name ? &*it : nullptr;
}

absl::Status DefineLibrary(Context& ctx, Program& program) {
  const std::string prefix = kLibraryPrefix;
  if (auto s = AddArithmetic(ctx, program, prefix); !s.ok()) return s;
  if (auto s = AddAssocComm(ctx, program, prefix); !s.ok()) return s;
  auto s = program.AddGoal(prefix + "list/known", 1, [](Context& c, std::span<const Term> args) -> absl::StatusOr<std::vector<Term>> {
    auto children = c.Children(args[0]);
    const bool known = c.IsTuple(args[0]) && (children.empty() || !c.IsRest(children.back()));
    return known ? std::vector<Term>{c.Tuple(args)} : std::vector<Term>();
  });
  if (!s.ok()) return s;
  s = program.AddGoal(prefix + "literalo", 2, [](Context& c, std::span<const Term> args) -> absl::StatusOr<std::vector<Term>> {
    const Term t = args[0], number = args[1];
    if (c.IsVariable(t)) return std::vector<Term>{c.Tuple({number, number})};
    bool same = t == number;
    if (!same && c.kind(t) == Kind::kObject) {
      const std::optional<double> uniform = c.ObjectValue(t)->UniformValue();
      const double value = c.kind(number) == Kind::kInteger ? static_cast<double>(c.IntegerValue(number))
                           : c.kind(number) == Kind::kReal  ? c.RealValue(number)
                                                            : std::nan("");
      same = uniform.has_value() && *uniform == value;
    }
    return same ? std::vector<Term>{c.Tuple(args)} : std::vector<Term>();
  });
  if (!s.ok()) return s;
  // Names of the library get the prefix; what is left are goals of the language, and the facts, which are the program's.
  absl::flat_hash_map<Term, Term> renamed;
  auto rename = [&](std::string_view name) { renamed[ctx.Sym(name)] = ctx.Sym(prefix + std::string(name)); };
  for (const LibraryRelation& r : LibraryRelations()) {
    if (!r.facts) rename(r.name);
  }
  for (const char* name : kOwnNatives) rename(name);
  auto define = [&](const char* text) -> absl::Status {
    auto forms = ReadForms(ctx, text);
    if (!forms.ok()) return forms.status();
    for (const Form& f : *forms) rename(ctx.Text(ctx.Rator(ctx.Children(f.term)[1])));
    for (const Form& f : *forms) {
      absl::flat_hash_map<Term, Term> done;
      for (Term t : PostOrder(ctx, f.term)) {
        const auto it = renamed.find(t);
        std::vector<Term> children;
        for (Term c : ctx.Children(t)) children.push_back(done.at(c));
        done[t] = it != renamed.end() ? it->second : children.empty() ? t : ctx.Tuple(children);
      }
      if (auto defined = program.Define(done.at(f.term)); !defined.ok()) return defined;
    }
    return absl::OkStatus();
  };
  if (auto defined = define(kText); !defined.ok()) return defined;
  // A program whose own `commutative` is something else does without these.
  for (const char* name : kFacts) {
    const LibraryRelation* facts = FindLibrary(name);
    if (!program.HasRelation(name, facts->arity) && !program.DeclareFacts(name, facts->arity).ok()) return absl::OkStatus();
  }
  return define(kAssocComm);
}

}  // namespace retuple
