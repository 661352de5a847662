#include "etuple/printer.h"

#include <charconv>
#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"

namespace retuple {
namespace {

void Quote(std::string_view s, char quote, std::string& out) {
  out += quote;
  for (char c : s) {
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += absl::StrFormat("\\x%02x", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += quote;
}

// A symbol that the reader would take for something else needs bars.
bool NeedsBars(std::string_view s) {
  if (s.empty() || s == "let") return true;
  const char c = s[0];
  if (c == '?' || c == '%' || c == '|' || (c == '#' && s.size() > 1 && s[1] == '<')) return true;
  if (s.size() > 3 && s.substr(0, 3) == "..?") return true;
  auto digit = [&](size_t i) { return i < s.size() && s[i] >= '0' && s[i] <= '9'; };
  const size_t sign = c == '+' || c == '-' ? 1 : 0;
  if (digit(sign) || (sign < s.size() && s[sign] == '.' && digit(sign + 1))) return true;
  if (s == "+inf.0" || s == "-inf.0" || s == "+nan.0" || s == "-nan.0") return true;
  for (char d : s) {
    if (static_cast<unsigned char>(d) <= 0x20 || d == '(' || d == ')' || d == '"' || d == ';' || d == 0x7f) return true;
  }
  return false;
}

class Printer {
 public:
  Printer(const Context& ctx, const PrintOptions& options) : ctx_(ctx), options_(options) {}

  std::string Run(Term root) {
    if (options_.let) CountUses(root);
    if (shared_.empty()) {
      Write(root);
      return std::move(out_);
    }
    out_ += "(let (";
    bool first = true;
    for (Term t : shared_) {
      if (Full()) break;
      out_ += first ? "(%" : "\n      (%";
      first = false;
      out_ += std::to_string(names_[t]);
      out_ += ' ';
      Write(t);
      out_ += ')';
    }
    out_ += ")\n  ";
    Write(root);
    out_ += ')';
    return std::move(out_);
  }

 private:
  bool Full() const { return options_.limit != 0 && out_.size() > options_.limit; }

  void CountUses(Term root) {
    std::vector<uint8_t> uses(ctx_.id_limit(), 0);
    std::vector<Term> order = PostOrder(ctx_, root);
    for (Term t : order) {
      for (Term c : ctx_.Children(t)) {
        if (uses[c.id()] < 2) ++uses[c.id()];
      }
    }
    // Small flat tuples (attribute lists, types) are shorter written out.
    for (Term t : order) {
      if (uses[t.id()] < 2 || t == root || !ctx_.IsTuple(t) || ctx_.TreeSize(t) < 6) continue;
      names_.emplace(t, shared_.size());
      shared_.push_back(t);
    }
  }

  void Atom(Term t) {
    switch (ctx_.kind(t)) {
      case Kind::kSymbol:
        if (NeedsBars(ctx_.Text(t))) {
          Quote(ctx_.Text(t), '|', out_);
        } else {
          out_ += ctx_.Text(t);
        }
        break;
      case Kind::kInteger: {
        char buffer[24];
        auto r = std::to_chars(buffer, buffer + sizeof buffer, ctx_.IntegerValue(t));
        out_.append(buffer, r.ptr);
        break;
      }
      case Kind::kReal: {
        const double v = ctx_.RealValue(t);
        if (std::isnan(v)) {
          out_ += "+nan.0";
        } else if (std::isinf(v)) {
          out_ += v > 0 ? "+inf.0" : "-inf.0";
        } else {
          char buffer[40];
          auto r = std::to_chars(buffer, buffer + sizeof buffer, v);
          std::string_view s(buffer, static_cast<size_t>(r.ptr - buffer));
          out_ += s;
          if (s.find_first_of(".e") == std::string_view::npos) out_ += ".0";
        }
        break;
      }
      case Kind::kString:
        Quote(ctx_.Text(t), '"', out_);
        break;
      case Kind::kObject:
        out_ += "#<";
        out_ += ctx_.ObjectValue(t)->ToString(options_.brief);
        out_ += '>';
        break;
      case Kind::kVariable:
        out_ += ctx_.IsRest(t) ? "..?" : "?";
        out_ += ctx_.Text(t);
        break;
      case Kind::kTuple:
        break;
    }
  }

  // Writes the node itself, its named children by name.
  void Write(Term root) {
    stack_.clear();
    Visit(root, true);
    while (!stack_.empty()) {
      Frame& f = stack_.back();
      if (f.next == f.children.size() || Full()) {
        if (f.next != f.children.size()) out_ += "…";
        out_ += ')';
        stack_.pop_back();
        continue;
      }
      if (f.next > 0) out_ += ' ';
      Visit(f.children[f.next++], false);
    }
  }

  void Visit(Term t, bool whole) {
    if (!ctx_.IsTuple(t)) return Atom(t);
    if (!whole) {
      auto it = names_.find(t);
      if (it != names_.end()) {
        out_ += '%';
        out_ += std::to_string(it->second);
        return;
      }
    }
    out_ += '(';
    stack_.push_back({ctx_.Children(t), 0});
  }

  struct Frame {
    std::span<const Term> children;
    size_t next;
  };
  const Context& ctx_;
  const PrintOptions& options_;
  std::string out_;
  std::vector<Term> shared_;
  absl::flat_hash_map<Term, size_t> names_;
  std::vector<Frame> stack_;
};

}  // namespace

std::string PrintTerm(const Context& ctx, Term t, const PrintOptions& options) {
  return Printer(ctx, options).Run(t);
}

std::string PrintPlain(const Context& ctx, Term t) {
  constexpr uint64_t kBearable = 10'000'000;
  return PrintTerm(ctx, t, {.let = ctx.TreeSize(t) > kBearable});
}

std::string Brief(const Context& ctx, Term t, size_t limit) {
  std::string s = PrintTerm(ctx, t, {.let = false, .brief = true, .limit = limit});
  if (s.size() > limit + 16) {
    s.resize(limit);
    s += "…";
  }
  return s;
}

}  // namespace retuple
