// Symbolic dims in normal form: a dim that is not a number is a polynomial with int64 coefficients
// over atoms.
//
// Atoms are named symbols, fresh symbols, and divisions (or oversized expressions) that do not
// simplify. The polynomials are interned in one process-wide table, so that equality of dims is
// equality of ids. Fresh symbols take ids from the upper half of the range and own no storage.
#include "ir_bridge/dim.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

namespace retuple {
namespace {

constexpr uint32_t kFirstFresh = 0x80000000u;
constexpr size_t kMaxTerms = 24;
constexpr size_t kMaxDegree = 12;
constexpr size_t kMaxText = 120;  // a longer expression prints as a number of its own: texts nest

using Monomial = std::vector<uint32_t>;    // atoms, sorted, with repetition; empty: the number 1
using Poly = std::map<Monomial, int64_t>;  // no zero coefficients

struct Entry {
  enum class Kind : uint8_t { kName, kPoly, kOpaque };
  Kind kind;
  Poly poly;                         // kPoly: the value
  std::string text;                  // kName, kOpaque: how it prints
  std::vector<uint32_t> parts = {};  // of a broadcast: the symbols, sorted
};

struct Table {
  std::mutex mutex;
  std::deque<Entry> entries{Entry{Entry::Kind::kOpaque, {}, "0", {}}};  // id 0 is never a symbol
  std::map<std::string, uint32_t, std::less<>> names;
  std::map<Poly, uint32_t> polys;
  std::map<std::pair<char, std::pair<Poly, Poly>>, uint32_t> opaque;
  std::map<std::vector<uint32_t>, uint32_t> broadcasts;
};

Table& GetTable() {
  static Table* table = new Table;  // never destroyed: dims may outlive static destructors
  return *table;
}

std::string PolyText(const Table& t, const Poly& p);

std::string AtomText(const Table& t, uint32_t id) {
  if (id >= kFirstFresh) return "?";
  return t.entries[id].text;
}

std::string PolyText(const Table& t, const Poly& p) {
  std::string sum;
  int terms = 0;
  std::string tail;  // the number stands last: "batch+1"
  auto add = [&](const std::string& body, bool negative) {
    if (negative) {
      sum += "-";
    } else if (terms > 0) {
      sum += "+";
    }
    sum += body;
    ++terms;
  };
  for (const auto& [monomial, coefficient] : p) {
    if (monomial.empty()) continue;
    const bool negative = coefficient < 0;
    const uint64_t size = negative ? 0 - static_cast<uint64_t>(coefficient) : coefficient;
    std::string body = size == 1 ? "" : std::to_string(size);
    for (uint32_t atom : monomial) {
      if (!body.empty()) body += "*";
      body += AtomText(t, atom);
    }
    add(body, negative);
  }
  if (auto it = p.find(Monomial{}); it != p.end()) {
    const bool negative = it->second < 0;
    const uint64_t size = negative ? 0 - static_cast<uint64_t>(it->second) : it->second;
    add(std::to_string(size), negative);
  }
  return terms > 1 || (!sum.empty() && sum[0] == '-') ? "(" + sum + ")" : sum;
}

bool AddTerm(Poly& p, const Monomial& m, int64_t c) {
  if (c == 0) return true;
  auto [it, inserted] = p.try_emplace(m, 0);
  if (__builtin_add_overflow(it->second, c, &it->second)) return false;
  if (it->second == 0) p.erase(it);
  return true;
}

std::optional<Poly> Sum(const Poly& a, const Poly& b, int64_t sign) {
  Poly out = a;
  for (const auto& [m, c] : b) {
    int64_t scaled;
    if (__builtin_mul_overflow(c, sign, &scaled) || !AddTerm(out, m, scaled)) return std::nullopt;
  }
  if (out.size() > kMaxTerms) return std::nullopt;
  return out;
}

std::optional<Poly> Product(const Poly& a, const Poly& b) {
  Poly out;
  for (const auto& [ma, ca] : a) {
    for (const auto& [mb, cb] : b) {
      int64_t c;
      if (ma.size() + mb.size() > kMaxDegree || __builtin_mul_overflow(ca, cb, &c)) {
        return std::nullopt;
      }
      Monomial m(ma.size() + mb.size());
      std::merge(ma.begin(), ma.end(), mb.begin(), mb.end(), m.begin());
      if (!AddTerm(out, m, c) || out.size() > kMaxTerms) return std::nullopt;
    }
  }
  return out;
}

// The quotient c·m by the one term `d`, if it divides exactly.
std::optional<std::pair<Monomial, int64_t>> DivideTerm(const Monomial& m, int64_t c,
                                                       const Monomial& dm, int64_t dc) {
  if (dc == 0 || (dc == -1 && c == INT64_MIN) || c % dc != 0) return std::nullopt;
  if (!std::includes(m.begin(), m.end(), dm.begin(), dm.end())) return std::nullopt;
  Monomial q;
  std::set_difference(m.begin(), m.end(), dm.begin(), dm.end(), std::back_inserter(q));
  return std::pair(std::move(q), c / dc);
}

int64_t FloorDivInt(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q - ((a % b != 0 && ((a < 0) != (b < 0))) ? 1 : 0);
}

// Constructs dims from polynomials under the table's lock.
struct Maker {
  Table& t;
  std::lock_guard<std::mutex> lock;
  explicit Maker(Table& table) : t(table), lock(table.mutex) {}

  Poly Of(Dim d) const {
    Poly p;
    if (d.known()) {
      if (d.value() != 0) p[{}] = d.value();
      return p;
    }
    const uint32_t id = d.symbol_id();
    if (id < kFirstFresh && t.entries[id].kind == Entry::Kind::kPoly) return t.entries[id].poly;
    p[{id}] = 1;
    return p;
  }
  // (0, id) of a symbol or (value, 0).
  std::pair<int64_t, uint32_t> Intern(const Poly& p) {
    if (p.empty()) return {0, 0};
    const auto& [m, c] = *p.begin();
    if (p.size() == 1 && m.empty()) return {c, 0};
    if (p.size() == 1 && m.size() == 1 && c == 1) return {0, m[0]};
    auto [it, inserted] = t.polys.try_emplace(p, static_cast<uint32_t>(t.entries.size()));
    if (inserted) t.entries.push_back({Entry::Kind::kPoly, p, PolyText(t, p), {}});
    return {0, it->second};
  }
  uint32_t Opaque(char op, const Poly& a, const Poly& b) {
    auto [it, inserted] =
        t.opaque.try_emplace({op, {a, b}}, static_cast<uint32_t>(t.entries.size()));
    if (inserted) {
      const std::string x = PolyText(t, a), y = PolyText(t, b);
      const std::string ratio = x + "/" + (y.find('*') == std::string::npos ? y : "(" + y + ")");
      std::string text = op == '/'   ? "floor(" + ratio + ")"
                         : op == '%' ? "ceil(" + ratio + ")"
                                     : "(" + x + op + y + ")";
      if (text.size() > kMaxText) text = "e" + std::to_string(t.entries.size());
      t.entries.push_back({Entry::Kind::kOpaque, {}, std::move(text), {}});
    }
    return it->second;
  }
  std::pair<int64_t, uint32_t> Combine(char op, Dim a, Dim b) {
    const Poly pa = Of(a), pb = Of(b);
    const auto sum = op == '*' ? Product(pa, pb) : Sum(pa, pb, op == '+' ? 1 : -1);
    if (sum) return Intern(*sum);
    const bool swap = op != '-' && pb < pa;
    return {0, swap ? Opaque(op, pb, pa) : Opaque(op, pa, pb)};
  }
  std::vector<uint32_t> Parts(uint32_t symbol) const {
    if (symbol < kFirstFresh && !t.entries[symbol].parts.empty()) return t.entries[symbol].parts;
    return {symbol};
  }
  uint32_t Broadcast(uint32_t a, uint32_t b) {
    const std::vector<uint32_t> pa = Parts(a), pb = Parts(b);
    std::vector<uint32_t> all;
    std::set_union(pa.begin(), pa.end(), pb.begin(), pb.end(), std::back_inserter(all));
    if (all == pa) return a;
    if (all == pb) return b;
    auto [it, inserted] = t.broadcasts.try_emplace(all, static_cast<uint32_t>(t.entries.size()));
    if (inserted) {
      std::string text;
      for (uint32_t s : all) text += (text.empty() ? "bc(" : ",") + AtomText(t, s);
      text += ")";
      if (text.size() > kMaxText) text = "e" + std::to_string(t.entries.size());
      t.entries.push_back({Entry::Kind::kOpaque, {}, std::move(text), std::move(all)});
    }
    return it->second;
  }
  // ⌊a/b⌋ or ⌈a/b⌉: what divides exactly comes out of the bracket, ⌊(4N + 3)/2⌋ = 2N + 1.
  std::pair<int64_t, uint32_t> Divide(char op, Dim a, Dim b) {
    const Poly pa = Of(a), pb = Of(b);
    Poly quotient, rest;
    if (pa == pb) return {1, 0};
    if (pb.size() == 1) {
      const auto& [dm, dc] = *pb.begin();
      for (const auto& [m, c] : pa) {
        if (auto q = DivideTerm(m, c, dm, dc)) {
          AddTerm(quotient, q->first, q->second);
        } else if (m.empty() && dm.empty() &&
                   dc > 0) {  // the number splits into quotient and remainder
          const int64_t whole = FloorDivInt(c, dc);
          AddTerm(quotient, m, whole);
          AddTerm(rest, m, c - whole * dc);
        } else {
          rest[m] = c;
        }
      }
      if (rest.empty()) return Intern(quotient);
      if (rest.size() == 1 && rest.begin()->first.empty() && dm.empty() && dc > 0) {
        if (op == '/' || AddTerm(quotient, {}, 1)) return Intern(quotient);  // 0 < rest < dc
      }
    } else {
      rest = pa;
    }
    Poly atom;
    atom[{Opaque(op, rest, pb)}] = 1;
    const auto sum = Sum(quotient, atom, 1);
    if (sum) return Intern(*sum);
    return {0, Opaque(op, pa, pb)};
  }
};

}  // namespace

Dim Dim::Named(std::string_view name) {
  Table& t = GetTable();
  std::lock_guard<std::mutex> lock(t.mutex);
  auto it = t.names.find(name);
  if (it == t.names.end()) {
    it = t.names.emplace(std::string(name), static_cast<uint32_t>(t.entries.size())).first;
    t.entries.push_back({Entry::Kind::kName, {}, std::string(name), {}});
  }
  return Dim(0, it->second);
}

Dim Dim::Fresh() {
  static std::atomic<uint32_t> next{0};
  return Dim(0, kFirstFresh + (next.fetch_add(1, std::memory_order_relaxed) & 0x7fffffffu));
}

bool Dim::named() const {
  if (known() || symbol_ >= kFirstFresh) return false;
  Table& t = GetTable();
  std::lock_guard<std::mutex> lock(t.mutex);
  return t.entries[symbol_].kind == Entry::Kind::kName;
}

std::string Dim::ToString() const {
  if (known()) return std::to_string(value_);
  Table& t = GetTable();
  std::lock_guard<std::mutex> lock(t.mutex);
  return AtomText(t, symbol_);
}

Dim operator+(Dim a, Dim b) {
  if (a.Is(0)) return b;
  if (b.Is(0)) return a;
  int64_t v;
  if (a.known() && b.known()) {
    return __builtin_add_overflow(a.value_, b.value_, &v) ? Dim::Fresh() : Dim(v);
  }
  const auto [value, id] = Maker(GetTable()).Combine('+', a, b);
  return Dim(value, id);
}

Dim operator-(Dim a, Dim b) {
  if (b.Is(0)) return a;
  int64_t v;
  if (a.known() && b.known()) {
    return __builtin_sub_overflow(a.value_, b.value_, &v) ? Dim::Fresh() : Dim(v);
  }
  const auto [value, id] = Maker(GetTable()).Combine('-', a, b);
  return Dim(value, id);
}

Dim operator*(Dim a, Dim b) {
  if (a.Is(1)) return b;
  if (b.Is(1)) return a;
  if (a.Is(0) || b.Is(0)) return Dim(0);
  int64_t v;
  if (a.known() && b.known()) {
    return __builtin_mul_overflow(a.value_, b.value_, &v) ? Dim::Fresh() : Dim(v);
  }
  const auto [value, id] = Maker(GetTable()).Combine('*', a, b);
  return Dim(value, id);
}

Dim FloorDiv(Dim a, Dim b) {
  if (b.Is(0)) return Dim::Fresh();
  if (b.Is(1)) return a;
  if (a.Is(0) && b.known()) return Dim(0);
  if (a.known() && b.known()) {
    if (a.value_ == INT64_MIN && b.value_ == -1) return Dim::Fresh();
    return Dim(FloorDivInt(a.value_, b.value_));
  }
  const auto [value, id] = Maker(GetTable()).Divide('/', a, b);
  return Dim(value, id);
}

Dim CeilDiv(Dim a, Dim b) {
  if (b.Is(0)) return Dim::Fresh();
  if (b.Is(1)) return a;
  if (a.Is(0) && b.known()) return Dim(0);
  if (a.known() && b.known()) {
    if (a.value_ == INT64_MIN && b.value_ == -1) return Dim::Fresh();
    const int64_t floor = FloorDivInt(a.value_, b.value_);
    return Dim(floor + (a.value_ % b.value_ != 0 ? 1 : 0));
  }
  const auto [value, id] = Maker(GetTable()).Divide('%', a, b);
  return Dim(value, id);
}

Dim BroadcastSymbols(Dim a, Dim b) {
  if (a == b) return a;
  return Dim(0, Maker(GetTable()).Broadcast(a.symbol_, b.symbol_));
}

}  // namespace retuple
