#include "etuple/term.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "absl/container/inlined_vector.h"

namespace retuple {
namespace {

// 64-bit mixing by a 128-bit product, as in wyhash. Not seeded: the same input hashes alike on every run.
uint64_t Mix(uint64_t a, uint64_t b) {
  __uint128_t p = static_cast<__uint128_t>(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD1B54A32D192ED03u);
  return static_cast<uint64_t>(p) ^ static_cast<uint64_t>(p >> 64);
}

template <typename Word>
uint64_t Load(const char* p) {
  Word w;
  std::memcpy(&w, p, sizeof(w));
  return w;
}

uint64_t HashBytes(std::string_view s, uint64_t seed) {
  const char* p = s.data();
  const size_t n = s.size();
  uint64_t h = Mix(seed, n + 1);
  if (n >= 8) {
    for (size_t i = 0; i + 8 < n; i += 8) h = Mix(h, Load<uint64_t>(p + i));
    return Mix(h, Load<uint64_t>(p + n - 8));  // overlaps what came before
  }
  if (n >= 4) return Mix(h, Load<uint32_t>(p) | Load<uint32_t>(p + n - 4) << 32);
  if (n == 0) return Mix(h, 0);
  return Mix(h, Load<uint8_t>(p) | Load<uint8_t>(p + n / 2) << 8 | Load<uint8_t>(p + n - 1) << 16);
}

uint64_t HashNumber(Kind kind, uint64_t bits) { return Mix(bits, static_cast<uint64_t>(kind) + 77); }
uint64_t TupleSeed(size_t children) { return Mix(children, 0x7157); }

double OneNan(double v) { return std::isnan(v) ? std::numeric_limits<double>::quiet_NaN() : v; }

// Entries a bucket of the intern table holds on the mean before the table doubles: few of the 12 places overflow.
constexpr size_t kMeanFill = 8;

uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  uint64_t s = a + b;
  return s < a ? ~uint64_t{0} : s;
}

}  // namespace

std::string_view KindName(Kind k) {
  static constexpr std::string_view kNames[] = {"tuple", "symbol", "integer", "real", "string", "object", "variable"};
  return kNames[static_cast<int>(k)];
}

// Child arrays come from 64 KiB blocks, with a free list for each small length; texts and objects live in vectors.
struct Context::Storage {
  static constexpr uint32_t kSmall = 32;
  static constexpr size_t kBlock = 16384;  // terms

  std::vector<std::unique_ptr<Term[]>> blocks;
  size_t used = kBlock;
  std::array<std::vector<Term*>, kSmall + 1> free_children;
  size_t large_terms = 0;
  std::deque<std::string> texts;  // a deque: Text() hands out views
  std::vector<uint32_t> free_texts;
  std::vector<ObjectPtr> objects;
  std::vector<uint32_t> free_objects;

  Term* Allocate(uint32_t n) {
    if (n > kSmall) {
      large_terms += n;
      return new Term[n];
    }
    if (!free_children[n].empty()) {
      Term* p = free_children[n].back();
      free_children[n].pop_back();
      return p;
    }
    if (used + n > kBlock) {
      blocks.push_back(std::make_unique<Term[]>(kBlock));
      used = 0;
    }
    Term* p = blocks.back().get() + used;
    used += n;
    return p;
  }
  void Free(const Term* p, uint32_t n) {
    if (n == 0) return;
    if (n > kSmall) {
      large_terms -= n;
      delete[] p;
    } else {
      free_children[n].push_back(const_cast<Term*>(p));
    }
  }
};

Context::Context() : storage_(std::make_unique<Storage>()) {
  chunks_.push_back(std::make_unique<Node[]>(size_t{1} << kChunkBits));
  Node& nil = chunks_[0][0];
  nil.children = nullptr;
  nil.hash = Mix(1, 2);
  nil.size = 1;
  nil.count = 0;
  nil.depth = 0;
  nil.kind = Kind::kTuple;
  nil.ground = true;
  nil.flag = false;
  nil.live = true;
  next_id_ = 1;
  table_.resize(64);
}

Context::~Context() {
  if (storage_->large_terms == 0) return;
  for (uint32_t id = 1; id < next_id_; ++id) {
    const Node& n = node(Term(id));
    if (n.live && n.kind == Kind::kTuple && n.count > Storage::kSmall) delete[] n.children;
  }
}

// Bit i is set where entry i of the bucket has this tag.
uint32_t Context::Candidates(const Bucket& b, uint8_t tag) {
  static_assert(sizeof(Bucket) == 64);
  const uint32_t used = (1u << b.count) - 1;
#if defined(__SSE2__)
  const __m128i tags = _mm_load_si128(reinterpret_cast<const __m128i*>(&b));
  const __m128i same = _mm_cmpeq_epi8(tags, _mm_set1_epi8(static_cast<char>(tag)));
  return static_cast<uint32_t>(_mm_movemask_epi8(same)) & used;
#else
  uint32_t same = 0;
  for (uint32_t i = 0; i < Bucket::kCapacity; ++i) same |= static_cast<uint32_t>(b.tags[i] == tag) << i;
  return same & used;
#endif
}

Term Context::Candidate(uint64_t hash) const {
  const Bucket& b = table_[hash & (table_.size() - 1)];
  const uint32_t m = Candidates(b, TagOf(hash));
  return m == 0 ? Term() : b.terms[std::countr_zero(m)];
}

template <typename Same>
Term Context::Find(uint64_t hash, Same same, Bucket** place) {
  const size_t mask = table_.size() - 1;
  const uint8_t tag = TagOf(hash);
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Bucket& bucket = table_[i];
    for (uint32_t m = Candidates(bucket, tag); m != 0; m &= m - 1) {
      const Term t = bucket.terms[std::countr_zero(m)];
      const Node& n = node(t);
      if (n.hash == hash && same(n)) return t;
    }
    if (bucket.count < Bucket::kCapacity) {
      *place = &bucket;
      return Term();
    }
  }
}

void Context::Rehash(size_t buckets) {
  constexpr uint32_t kAhead = 16;
  table_.clear();
  table_.resize(buckets);
  const size_t mask = buckets - 1;
  for (uint32_t id = 1; id < next_id_; ++id) {
    if (id + kAhead < next_id_) __builtin_prefetch(&table_[node(Term(id + kAhead)).hash & mask], 1);
    const Node& n = node(Term(id));
    if (!n.live) continue;
    size_t i = n.hash & mask;
    while (table_[i].count == Bucket::kCapacity) i = (i + 1) & mask;
    Bucket& bucket = table_[i];
    bucket.tags[bucket.count] = TagOf(n.hash);
    bucket.terms[bucket.count++] = Term(id);
  }
}

Term Context::NewNode(const Node& n, Bucket* place) {
  uint32_t id;
  if (!free_ids_.empty()) {
    id = free_ids_.back();
    free_ids_.pop_back();
  } else {
    id = next_id_++;
    if ((id >> kChunkBits) >= chunks_.size()) {
      chunks_.push_back(std::make_unique_for_overwrite<Node[]>(size_t{1} << kChunkBits));
    }
  }
  node(Term(id)) = n;
  place->tags[place->count] = TagOf(n.hash);
  place->terms[place->count++] = Term(id);
  if (++table_used_ > table_.size() * kMeanFill) Rehash(table_.size() * 2);
  return Term(id);
}

Term Context::TextAtom(Kind kind, bool flag, std::string_view text, uint64_t hash) {
  Bucket* place = nullptr;
  const auto same = [&](const Node& n) {
    return n.kind == kind && n.flag == flag && storage_->texts[n.text] == text;
  };
  if (Term t = Find(hash, same, &place); !t.is_nil()) return t;
  Node n{};
  if (storage_->free_texts.empty()) {
    n.text = static_cast<uint32_t>(storage_->texts.size());
    storage_->texts.emplace_back(text);
  } else {
    n.text = storage_->free_texts.back();
    storage_->free_texts.pop_back();
    storage_->texts[n.text] = std::string(text);
  }
  n.hash = hash;
  n.size = 1;
  n.kind = kind;
  n.ground = kind != Kind::kVariable;
  n.flag = flag;
  n.live = true;
  return NewNode(n, place);
}

Term Context::NumberAtom(Kind kind, uint64_t bits) {
  const uint64_t hash = HashNumber(kind, bits);
  Bucket* place = nullptr;
  const auto same = [&](const Node& n) {
    return n.kind == kind && static_cast<uint64_t>(n.integer) == bits;
  };
  if (Term t = Find(hash, same, &place); !t.is_nil()) return t;
  Node n{};
  n.integer = static_cast<int64_t>(bits);
  n.hash = hash;
  n.size = 1;
  n.kind = kind;
  n.ground = true;
  n.live = true;
  return NewNode(n, place);
}

uint64_t Context::HashText(Kind kind, bool flag, std::string_view text) {
  return HashBytes(text, static_cast<uint64_t>(kind) * 2 + flag);
}
uint64_t Context::HashInteger(int64_t v) { return HashNumber(Kind::kInteger, static_cast<uint64_t>(v)); }
uint64_t Context::HashReal(double v) { return HashNumber(Kind::kReal, std::bit_cast<uint64_t>(OneNan(v))); }
uint64_t Context::HashTuple(std::span<const uint64_t> children) {
  uint64_t hash = TupleSeed(children.size());
  for (uint64_t c : children) hash = Mix(hash, c);
  return hash;
}

Term Context::Sym(std::string_view name) {
  return TextAtom(Kind::kSymbol, IsKeywordText(name), name);
}
Term Context::Keyword(std::string_view name) {
  std::string s = ":";
  s += name;
  return TextAtom(Kind::kSymbol, true, s);
}
Term Context::Integer(int64_t v) { return NumberAtom(Kind::kInteger, static_cast<uint64_t>(v)); }
Term Context::Real(double v) {
  return NumberAtom(Kind::kReal, std::bit_cast<uint64_t>(OneNan(v)));
}
Term Context::String(std::string_view v) { return TextAtom(Kind::kString, false, v); }
Term Context::Variable(std::string_view name) { return TextAtom(Kind::kVariable, false, name); }
Term Context::RestVariable(std::string_view name) { return TextAtom(Kind::kVariable, true, name); }
Term Context::FreshVariable(std::string_view name) {
  for (;;) {
    const std::string candidate = std::string(name.substr(0, name.find('~'))) + "~" + std::to_string(fresh_++);
    const uint32_t before = next_id_;
    const size_t free_before = free_ids_.size();
    Term t = Variable(candidate);
    if (next_id_ != before || free_ids_.size() != free_before) return t;
  }
}

Term Context::Obj(ObjectPtr object) {
  const uint64_t hash = Mix(object->Hash(), 0xABCD);
  Bucket* place = nullptr;
  const auto same = [&](const Node& n) {
    return n.kind == Kind::kObject && storage_->objects[n.text]->Equals(*object);
  };
  if (Term t = Find(hash, same, &place); !t.is_nil()) return t;
  Node n{};
  if (storage_->free_objects.empty()) {
    n.text = static_cast<uint32_t>(storage_->objects.size());
    storage_->objects.push_back(std::move(object));
  } else {
    n.text = storage_->free_objects.back();
    storage_->free_objects.pop_back();
    storage_->objects[n.text] = std::move(object);
  }
  n.hash = hash;
  n.size = 1;
  n.kind = Kind::kObject;
  n.ground = true;
  n.live = true;
  return NewNode(n, place);
}

Term Context::InternTuple(std::span<const Term> children) {
  uint64_t hash = TupleSeed(children.size());
  for (Term c : children) hash = Mix(hash, node(c).hash);
  return InternTuple(children, hash);
}

Term Context::InternTuple(std::span<const Term> children, uint64_t hash) {
  Bucket* place = nullptr;
  const auto same = [&](const Node& n) {
    return n.kind == Kind::kTuple && n.count == children.size() &&
           std::equal(children.begin(), children.end(), n.children);
  };
  if (Term t = Find(hash, same, &place); !t.is_nil()) return t;
  Node n{};
  n.hash = hash;
  n.size = 1;
  n.count = static_cast<uint32_t>(children.size());
  n.kind = Kind::kTuple;
  n.ground = true;
  n.live = true;
  for (Term c : children) {
    const Node& k = node(c);
    n.size = SaturatingAdd(n.size, k.size);
    n.depth = std::max(n.depth, k.depth);
    n.ground = n.ground && k.ground;
  }
  if (n.depth != UINT32_MAX) ++n.depth;
  Term* copy = storage_->Allocate(n.count);
  std::copy(children.begin(), children.end(), copy);
  n.children = copy;
  return NewNode(n, place);
}

Term Context::Tuple(std::span<const Term> children) {
  if (children.empty()) return Nil();
  size_t first = 0;
  while (first < children.size() && !IsKeyword(children[first])) ++first;
  if (children.size() - first < 3) return InternTuple(children);
  // Keyword part: pairs, then perhaps one rest variable. Anything else stays as written.
  absl::InlinedVector<std::pair<Term, Term>, 12> pairs;
  size_t i = first;
  for (; i + 1 < children.size() && IsKeyword(children[i]); i += 2) pairs.emplace_back(children[i], children[i + 1]);
  const bool rest = i + 1 == children.size() && IsRest(children[i]);
  if (i != children.size() && !rest) return InternTuple(children);
  auto less = [this](const auto& a, const auto& b) { return Text(a.first) < Text(b.first); };
  bool sorted = true;
  for (size_t k = 1; k < pairs.size(); ++k) sorted = sorted && less(pairs[k - 1], pairs[k]);
  if (sorted) return InternTuple(children);
  std::stable_sort(pairs.begin(), pairs.end(), less);
  absl::InlinedVector<Term, 16> out(children.begin(), children.begin() + static_cast<ptrdiff_t>(first));
  for (size_t k = 0; k < pairs.size(); ++k) {
    if (k > 0 && pairs[k].first == pairs[k - 1].first) continue;
    out.push_back(pairs[k].first);
    out.push_back(pairs[k].second);
  }
  if (rest) out.push_back(children.back());
  return InternTuple(out);
}

Term Context::Cons(Term head, Term tail) {
  absl::InlinedVector<Term, 16> out{head};
  auto rest = Children(tail);
  out.insert(out.end(), rest.begin(), rest.end());
  return Tuple(out);
}

Term Context::Cdr(Term t) {
  // Copied first: interning may move nothing, but the span must not alias what is written.
  auto rands = Children(t).subspan(1);
  absl::InlinedVector<Term, 16> out(rands.begin(), rands.end());
  return Tuple(out);
}

Term Context::HeadSymbol(Term t) const {
  const Node& n = node(t);
  if (n.kind != Kind::kTuple || n.count == 0) return Term();
  Term r = n.children[0];
  const Node& m = node(r);
  if (m.kind == Kind::kSymbol) return r;
  if (m.kind == Kind::kTuple && m.count > 0 && node(m.children[0]).kind == Kind::kSymbol) return m.children[0];
  return Term();
}

std::optional<Term> Context::KeywordValue(Term t, Term key) const {
  auto c = Children(t);
  for (size_t i = 0; i + 1 < c.size(); ++i) {
    if (c[i] == key) return c[i + 1];
  }
  return std::nullopt;
}

std::span<const Term> Context::Positional(Term t) const {
  auto c = Children(t);
  size_t n = 0;
  while (n < c.size() && !IsKeyword(c[n])) ++n;
  return c.subspan(0, n);
}

std::string_view Context::Text(Term t) const { return storage_->texts[node(t).text]; }
const ObjectPtr& Context::ObjectValue(Term t) const { return storage_->objects[node(t).text]; }

size_t Context::DagSize(std::span<const Term> roots) const { return PostOrder(*this, roots).size(); }

size_t Context::num_nodes() const { return next_id_ - free_ids_.size(); }

size_t Context::bytes() const {
  size_t text = 0;
  for (const auto& s : storage_->texts) text += s.capacity() + sizeof(s);
  return chunks_.size() * (sizeof(Node) << kChunkBits) + table_.size() * sizeof(Bucket) +
         storage_->blocks.size() * Storage::kBlock * sizeof(Term) + storage_->large_terms * sizeof(Term) + text;
}

void Context::Collect(std::span<const Term> roots) {
  std::vector<bool> mark(next_id_, false);
  mark[0] = true;
  std::vector<Term> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    Term t = stack.back();
    stack.pop_back();
    if (mark[t.id()]) continue;
    mark[t.id()] = true;
    for (Term c : Children(t)) {
      if (!mark[c.id()]) stack.push_back(c);
    }
  }
  // Ids are handed out lowest first again, so that what follows does not depend on what was freed when.
  free_ids_.clear();
  for (uint32_t id = next_id_; id-- > 1;) {
    if (mark[id]) continue;
    Node& n = node(Term(id));
    if (n.live) {
      switch (n.kind) {
        case Kind::kTuple:
          storage_->Free(n.children, n.count);
          break;
        case Kind::kObject:
          storage_->objects[n.text].reset();
          storage_->free_objects.push_back(n.text);
          break;
        case Kind::kSymbol:
        case Kind::kString:
        case Kind::kVariable:
          storage_->texts[n.text] = std::string();
          storage_->free_texts.push_back(n.text);
          break;
        default:
          break;
      }
      n.live = false;
    }
    free_ids_.push_back(id);
  }
  table_used_ = num_nodes() - 1;
  size_t buckets = 64;
  while (table_used_ > buckets * kMeanFill) buckets *= 2;
  Rehash(buckets);
}

std::vector<Term> PostOrder(const Context& ctx, std::span<const Term> roots) {
  std::vector<Term> order;
  std::vector<bool> seen(ctx.id_limit(), false);
  struct Frame {
    Term term;
    uint32_t next;
  };
  std::vector<Frame> stack;
  for (Term root : roots) {
    if (seen[root.id()]) continue;
    seen[root.id()] = true;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame& f = stack.back();
      auto children = ctx.Children(f.term);
      if (f.next == children.size()) {
        order.push_back(f.term);
        stack.pop_back();
        continue;
      }
      Term c = children[f.next++];
      if (seen[c.id()]) continue;
      seen[c.id()] = true;
      stack.push_back({c, 0});
    }
  }
  return order;
}

std::vector<Term> Variables(const Context& ctx, Term t) {
  // First occurrence in reading order: a pre-order walk that skips ground subterms and visits shared nodes once.
  std::vector<Term> out;
  if (ctx.IsGround(t)) return out;
  std::vector<bool> seen(ctx.id_limit(), false);
  std::vector<Term> stack{t};
  while (!stack.empty()) {
    Term u = stack.back();
    stack.pop_back();
    if (ctx.IsGround(u) || seen[u.id()]) continue;
    seen[u.id()] = true;
    if (ctx.IsVariable(u)) out.push_back(u);
    auto c = ctx.Children(u);
    for (size_t i = c.size(); i-- > 0;) stack.push_back(c[i]);
  }
  return out;
}

}  // namespace retuple
