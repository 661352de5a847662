// Expression tuples: hash-consed immutable terms.
//
// A Term is a 4-byte handle into a Context. Two terms of one Context are equal exactly if their handles are
// (hash-consing: Ershov 1958; Filliâtre & Conchon 2006), so equality and hash are O(1) and a term is a DAG in which each
// distinct subterm exists once. A tuple's child 0 is its rator, the rest are its rands; `()` is nil.
//
//   Context ctx;
//   Term x = ctx.Variable("x");
//   Term t = ctx.Tuple({ctx.Sym("Add"), x, ctx.Integer(0)});      // (Add ?x 0)
//   ctx.Rator(t) == ctx.Sym("Add"); ctx.Rands(t).size() == 2;
//
// Kinds: Symbol (`Add`, and keywords `:axis`), Integer, Real, String, Object (an opaque payload: a tensor, a foreign
// operation), Variable (a logic variable, `?x`, or the rest variable `..?x`), Tuple.
//
// Every walk over terms must visit a shared node once and use an explicit stack: a chain a million deep and a DAG that
// stands for 2^100 nodes are ordinary inputs. A node caches its hash, depth, tree size and groundness.
#ifndef RETUPLE_ETUPLE_TERM_H_
#define RETUPLE_ETUPLE_TERM_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace retuple {

class Term {
 public:
  constexpr Term() = default;  // nil
  constexpr explicit Term(uint32_t id) : id_(id) {}
  constexpr uint32_t id() const { return id_; }
  constexpr bool is_nil() const { return id_ == 0; }
  friend constexpr bool operator==(Term, Term) = default;
  // Order of creation: deterministic, unlike an order by address.
  friend constexpr auto operator<=>(Term a, Term b) { return a.id_ <=> b.id_; }
  template <typename H>
  friend H AbslHashValue(H h, Term t) {
    return H::combine(std::move(h), t.id_);
  }

 private:
  uint32_t id_ = 0;
};

enum class Kind : uint8_t { kTuple, kSymbol, kInteger, kReal, kString, kObject, kVariable };
std::string_view KindName(Kind k);

// An opaque payload. Equal objects are one atom; the Context keeps the first.
class Object {
 public:
  virtual ~Object() = default;
  virtual uint64_t Hash() const = 0;
  virtual bool Equals(const Object& o) const = 0;
  // How it prints inside `#<…>`; no newline, no '>'. `brief` may leave content out; else an ObjectReader gives it back.
  virtual std::string ToString(bool brief) const = 0;
  // The number that all elements of a constant are equal to, if it has one: a literal in a pattern matches by it.
  virtual std::optional<double> UniformValue() const { return std::nullopt; }
};
using ObjectPtr = std::shared_ptr<const Object>;

class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // ---- building; O(1) a node, O(children) for a tuple
  Term Nil() const { return Term(); }
  Term Sym(std::string_view name);  // a keyword if it begins with a colon
  Term Keyword(std::string_view name);  // without the colon
  Term Integer(int64_t v);
  Term Real(double v);  // NaNs are one atom; -0.0 and 0.0 are two
  Term String(std::string_view v);
  Term Obj(ObjectPtr object);
  Term Variable(std::string_view name);      // ?name
  Term RestVariable(std::string_view name);  // ..?name: stands for any number of children, last but for keywords
  // A variable that no other term holds: ?name~k.
  Term FreshVariable(std::string_view name);
  // Children in order; keyword arguments `:k v` after them are sorted by key, later duplicates dropped.
  Term Tuple(std::span<const Term> children);
  Term Tuple(std::initializer_list<Term> children) {
    return Tuple(std::span<const Term>(children.begin(), children.size()));
  }
  // (head . tail). Pre: tail is nil or a tuple.
  Term Cons(Term head, Term tail);

  // ---- reading
  Kind kind(Term t) const { return node(t).kind; }
  bool IsTuple(Term t) const { return node(t).kind == Kind::kTuple; }
  bool IsSymbol(Term t) const { return node(t).kind == Kind::kSymbol; }
  bool IsVariable(Term t) const { return node(t).kind == Kind::kVariable; }
  bool IsRest(Term t) const { return node(t).kind == Kind::kVariable && node(t).flag; }
  bool IsKeyword(Term t) const { return node(t).kind == Kind::kSymbol && node(t).flag; }
  // Empty for atoms and nil.
  std::span<const Term> Children(Term t) const {
    const Node& n = node(t);
    if (n.kind != Kind::kTuple) return {};
    return {n.children, n.count};
  }
  // Pre: a non-empty tuple (Rator, Car). Rands are empty for nil and atoms.
  Term Rator(Term t) const { return node(t).children[0]; }
  Term Car(Term t) const { return node(t).children[0]; }
  std::span<const Term> Rands(Term t) const {
    auto c = Children(t);
    return c.empty() ? c : c.subspan(1);
  }
  Term Cdr(Term t);  // pre: a non-empty tuple
  // The operator symbol of an application: its rator if a symbol, the rator of its rator if that is a tuple with attributes
  // (`((Conv :group 1) x w)` → Conv), else nil.
  Term HeadSymbol(Term t) const;
  // Value of keyword `key` among the children of `t`; nullopt if absent.
  std::optional<Term> KeywordValue(Term t, Term key) const;
  // Children before the first keyword.
  std::span<const Term> Positional(Term t) const;

  // Text of a symbol (with its colon), string, or variable (without ?).
  std::string_view Text(Term t) const;
  int64_t IntegerValue(Term t) const { return node(t).integer; }
  double RealValue(Term t) const { return node(t).real; }
  const ObjectPtr& ObjectValue(Term t) const;

  uint64_t Hash(Term t) const { return node(t).hash; }
  bool IsGround(Term t) const { return node(t).ground; }
  // 0 for atoms and nil; 1 + the deepest child else. Saturates.
  uint32_t Depth(Term t) const { return node(t).depth; }
  // Nodes of the tree that the term stands for; saturates at 2^64 - 1.
  uint64_t TreeSize(Term t) const { return node(t).size; }
  // Distinct nodes reachable from the roots.
  size_t DagSize(std::span<const Term> roots) const;

  // ---- hashes ahead of terms
  // What Hash() of the term would be, and a request for the cache line that interning it will probe: for readers of large texts.
  static uint64_t HashText(Kind kind, bool flag, std::string_view text);  // flag: keyword symbol, rest variable
  static bool IsKeywordText(std::string_view name) { return name.size() > 1 && name[0] == ':'; }
  static uint64_t HashInteger(int64_t v);
  static uint64_t HashReal(double v);
  static uint64_t HashTuple(std::span<const uint64_t> children);
  // The symbol, string or variable of that text. Pre: hash == HashText(kind, flag, text).
  Term TextAtom(Kind kind, bool flag, std::string_view text, uint64_t hash);
  // The tuple of children whose keywords are in order, as those of a tuple are. Pre: at least one, hash == HashTuple of their hashes.
  Term CanonicalTuple(std::span<const Term> children, uint64_t hash) { return InternTuple(children, hash); }
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&table_[hash & (table_.size() - 1)], 1); }
  // For who interns tuples of known hashes one after the other, before each: asks for the memory of those some places on.
  void PrefetchTuples(std::span<const uint64_t> hashes, size_t at) const {
    constexpr size_t kBucket = 24, kNode = 16, kChildren = 8;
    if (at + kBucket < hashes.size()) Prefetch(hashes[at + kBucket]);
    if (at + kNode < hashes.size()) {
      const Term t = Candidate(hashes[at + kNode]);
      if (!t.is_nil()) __builtin_prefetch(&node(t));
    }
    if (at + kChildren < hashes.size()) {
      const Term t = Candidate(hashes[at + kChildren]);
      if (!t.is_nil() && node(t).kind == Kind::kTuple) __builtin_prefetch(node(t).children);
    }
  }

  // ---- memory
  // Live nodes, and bytes they take.
  size_t num_nodes() const;
  size_t bytes() const;
  // Frees every node that no root reaches; handles of freed nodes are reused. The caller's other handles, and tables keyed
  // by them, become invalid. O(nodes).
  void Collect(std::span<const Term> roots);
  // One past the largest id in use: the size for a side table indexed by id.
  uint32_t id_limit() const { return next_id_; }

 private:
  struct Node {
    union {
      const Term* children;
      int64_t integer;
      double real;
      uint32_t text;  // index into texts_ or objects_
    };
    uint64_t hash;
    uint64_t size;
    uint32_t count;
    uint32_t depth;
    Kind kind;
    bool ground;
    bool flag;  // keyword symbol, or rest variable
    bool live;
  };
  static constexpr uint32_t kChunkBits = 14;
  const Node& node(Term t) const {
    return chunks_[t.id() >> kChunkBits][t.id() & ((1u << kChunkBits) - 1)];
  }
  Node& node(Term t) { return chunks_[t.id() >> kChunkBits][t.id() & ((1u << kChunkBits) - 1)]; }

  Term TextAtom(Kind kind, bool flag, std::string_view text) { return TextAtom(kind, flag, text, HashText(kind, flag, text)); }
  Term NumberAtom(Kind kind, uint64_t bits);
  Term InternTuple(std::span<const Term> children);
  Term InternTuple(std::span<const Term> children, uint64_t hash);
  // The intern table: buckets of one cache line, a byte of the hash beside each handle (as in F14: Bronson & Shi 2019). A probe
  // of a new term reads one line, and its branches (no tag alike, bucket not full) are nearly always foreseen.
  struct alignas(64) Bucket {
    static constexpr uint32_t kCapacity = 12;
    uint8_t tags[kCapacity];
    uint32_t count;
    Term terms[kCapacity];
  };
  static uint8_t TagOf(uint64_t hash) { return static_cast<uint8_t>(hash >> 56); }
  static uint32_t Candidates(const Bucket& b, uint8_t tag);
  // A term that may have the hash, or nil: the first of its tag in its bucket.
  Term Candidate(uint64_t hash) const;
  // The term with `hash` for which `same(node)` holds, or nil and the bucket where it belongs.
  template <typename Same>
  Term Find(uint64_t hash, Same same, Bucket** place);
  Term NewNode(const Node& n, Bucket* place);
  void Rehash(size_t buckets);

  std::vector<std::unique_ptr<Node[]>> chunks_;
  uint32_t next_id_ = 0;
  std::vector<uint32_t> free_ids_;
  std::vector<Bucket> table_;  // a power of two; a full bucket spills into the next
  size_t table_used_ = 0;
  struct Storage;
  std::unique_ptr<Storage> storage_;
  uint64_t fresh_ = 0;
};

// Visits each distinct node reachable from `roots` once, children before parents.
//   for (Term t : PostOrder(ctx, roots)) …
std::vector<Term> PostOrder(const Context& ctx, std::span<const Term> roots);
inline std::vector<Term> PostOrder(const Context& ctx, Term root) { return PostOrder(ctx, std::span<const Term>(&root, 1)); }

// Distinct variables of `t` in order of first occurrence.
std::vector<Term> Variables(const Context& ctx, Term t);

}  // namespace retuple

#endif  // RETUPLE_ETUPLE_TERM_H_
