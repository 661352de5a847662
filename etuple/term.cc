#include "etuple/term.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>

#include "absl/container/inlined_vector.h"

namespace retuple {
namespace {

// 64-bit mixing by a 128-bit product, as in wyhash. Not seeded: the same input hashes alike on every run.
uint64_t Mix(uint64_t a, uint64_t b) {
  __uint128_t p = static_cast<__uint128_t>(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD1B54A32D192ED03u);
  return static_cast<uint64_t>(p) ^ static_cast<uint64_t>(p >> 64);
}

uint64_t HashBytes(std::string_view s, uint64_t seed) {
  uint64_t h = Mix(seed, s.size() + 1);
  size_t i = 0;
  for (; i + 8 <= s.size(); i += 8) {
    uint64_t w;
    std::memcpy(&w, s.data() + i, 8);
    h = Mix(h, w);
  }
  uint64_t w = 0;
  if (i < s.size()) std::memcpy(&w, s.data() + i, s.size() - i);
  return Mix(h, w);
}

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
  table_.resize(1024);
}

Context::~Context() {
  if (storage_->large_terms == 0) return;
  for (uint32_t id = 1; id < next_id_; ++id) {
    const Node& n = node(Term(id));
    if (n.live && n.kind == Kind::kTuple && n.count > Storage::kSmall) delete[] n.children;
  }
}

template <typename Same>
Context::Slot* Context::FindSlot(uint64_t hash, Same same) {
  const size_t mask = table_.size() - 1;
  const uint32_t tag = TagOf(hash);
  for (size_t i = tag & mask;; i = (i + 1) & mask) {
    Slot& slot = table_[i];
    if (slot.term.is_nil()) return &slot;
    if (slot.tag != tag) continue;
    const Node& n = node(slot.term);
    if (n.hash == hash && same(n)) return &slot;
  }
}

void Context::Rehash(size_t slots) {
  std::vector<Slot> old = std::move(table_);
  table_.assign(slots, Slot());
  const size_t mask = slots - 1;
  for (const Slot& s : old) {
    if (s.term.is_nil()) continue;
    size_t i = s.tag & mask;
    while (!table_[i].term.is_nil()) i = (i + 1) & mask;
    table_[i] = s;
  }
}

Term Context::NewNode(const Node& n, Slot* slot) {
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
  *slot = {TagOf(n.hash), Term(id)};
  if (++table_used_ * 3 > table_.size() * 2) Rehash(table_.size() * 2);
  return Term(id);
}

Term Context::TextAtom(Kind kind, bool flag, std::string_view text) {
  const uint64_t hash = HashBytes(text, static_cast<uint64_t>(kind) * 2 + flag);
  Slot* slot = FindSlot(hash, [&](const Node& n) {
    return n.kind == kind && n.flag == flag && storage_->texts[n.text] == text;
  });
  if (!slot->term.is_nil()) return slot->term;
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
  return NewNode(n, slot);
}

Term Context::NumberAtom(Kind kind, uint64_t bits) {
  const uint64_t hash = Mix(bits, static_cast<uint64_t>(kind) + 77);
  Slot* slot = FindSlot(hash, [&](const Node& n) {
    return n.kind == kind && static_cast<uint64_t>(n.integer) == bits;
  });
  if (!slot->term.is_nil()) return slot->term;
  Node n{};
  n.integer = static_cast<int64_t>(bits);
  n.hash = hash;
  n.size = 1;
  n.kind = kind;
  n.ground = true;
  n.live = true;
  return NewNode(n, slot);
}

Term Context::Sym(std::string_view name) {
  return TextAtom(Kind::kSymbol, name.size() > 1 && name[0] == ':', name);
}
Term Context::Keyword(std::string_view name) {
  std::string s = ":";
  s += name;
  return TextAtom(Kind::kSymbol, true, s);
}
Term Context::Integer(int64_t v) { return NumberAtom(Kind::kInteger, static_cast<uint64_t>(v)); }
Term Context::Real(double v) {
  if (std::isnan(v)) v = std::numeric_limits<double>::quiet_NaN();
  return NumberAtom(Kind::kReal, std::bit_cast<uint64_t>(v));
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
  Slot* slot = FindSlot(hash, [&](const Node& n) {
    return n.kind == Kind::kObject && storage_->objects[n.text]->Equals(*object);
  });
  if (!slot->term.is_nil()) return slot->term;
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
  return NewNode(n, slot);
}

Term Context::InternTuple(std::span<const Term> children) {
  uint64_t hash = Mix(children.size(), 0x7157);
  for (Term c : children) hash = Mix(hash, node(c).hash);
  Slot* slot = FindSlot(hash, [&](const Node& n) {
    return n.kind == Kind::kTuple && n.count == children.size() &&
           std::equal(children.begin(), children.end(), n.children);
  });
  if (!slot->term.is_nil()) return slot->term;
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
  return NewNode(n, slot);
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
  return chunks_.size() * (sizeof(Node) << kChunkBits) + table_.size() * sizeof(Slot) +
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
  size_t slots = 1024;
  while (num_nodes() * 3 > slots) slots *= 2;
  std::vector<Slot> kept;
  for (const Slot& s : table_) {
    if (!s.term.is_nil() && mark[s.term.id()]) kept.push_back(s);
  }
  table_used_ = kept.size();
  table_ = std::move(kept);
  Rehash(slots);
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
