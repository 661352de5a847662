#include "etuple/reader.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"

namespace retuple {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }
bool EndsWord(char c) { return IsSpace(c) || c == '(' || c == ')' || c == '"' || c == ';'; }

class Reader {
 public:
  Reader(Context& ctx, std::string_view text, const ReadOptions& options)
      : ctx_(ctx), text_(text), options_(options) {}

  absl::StatusOr<std::vector<Form>> Run();

 private:
  // A tuple being read. A `let` is three nested frames: the let itself, its binding list, and a binding.
  enum class Mode : uint8_t { kTuple, kLet, kBindings, kBinding };
  struct Frame {
    Mode mode;
    size_t start;        // offset of the parenthesis
    size_t first_child;  // into children_
    size_t first_scope = 0;
    std::vector<Form> items;
  };

  Position At(size_t offset) {
    // Offsets are asked for in increasing order mostly; restart when not.
    if (offset < seen_offset_) {
      seen_offset_ = 0;
      line_ = 1;
      line_start_ = 0;
    }
    for (; seen_offset_ < offset; ++seen_offset_) {
      if (text_[seen_offset_] == '\n') {
        ++line_;
        line_start_ = seen_offset_ + 1;
      }
    }
    return {line_, static_cast<int>(offset - line_start_) + 1};
  }
  absl::Status Error(size_t offset, const std::string& what) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s%s: %s", options_.file.empty() ? "" : options_.file + ":", At(offset).ToString(), what));
  }
  absl::Status Skip();
  absl::StatusOr<Term> ReadAtom();
  absl::StatusOr<Term> ReadString();
  absl::StatusOr<Term> ReadBarSymbol();
  absl::StatusOr<Term> ReadWord();
  absl::StatusOr<Term> ReadObject();
  absl::Status Escape(std::string& out);
  absl::Status Open();
  absl::Status Close();
  absl::Status Accept(Term t, size_t start, std::vector<Form> items);

  Context& ctx_;
  std::string_view text_;
  const ReadOptions& options_;
  size_t pos_ = 0;
  size_t seen_offset_ = 0, line_start_ = 0;
  int line_ = 1;
  std::vector<Frame> stack_;
  std::vector<Term> children_;
  std::vector<Form> forms_;
  absl::flat_hash_map<Term, std::vector<Term>> bound_;
  std::vector<Term> scope_;  // names bound, innermost last
};

absl::Status Reader::Skip() {
  while (pos_ < text_.size()) {
    char c = text_[pos_];
    if (IsSpace(c)) {
      ++pos_;
    } else if (c == ';') {
      while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
    } else {
      break;
    }
  }
  return absl::OkStatus();
}

absl::Status Reader::Escape(std::string& out) {
  const size_t at = pos_++;
  if (pos_ >= text_.size()) return Error(at, "text ends after \\");
  char c = text_[pos_++];
  switch (c) {
    case 'n':
      out += '\n';
      return absl::OkStatus();
    case 't':
      out += '\t';
      return absl::OkStatus();
    case 'r':
      out += '\r';
      return absl::OkStatus();
    case '"':
    case '\\':
    case '|':
      out += c;
      return absl::OkStatus();
    case 'x': {
      unsigned v = 0;
      if (pos_ + 2 > text_.size()) return Error(at, "\\x needs two hexadecimal digits");
      auto [end, ec] = std::from_chars(text_.data() + pos_, text_.data() + pos_ + 2, v, 16);
      if (ec != std::errc() || end != text_.data() + pos_ + 2) return Error(at, "\\x needs two hexadecimal digits");
      pos_ += 2;
      out += static_cast<char>(v);
      return absl::OkStatus();
    }
    default:
      return Error(at, absl::StrFormat("unknown escape \\%c", c));
  }
}

absl::StatusOr<Term> Reader::ReadString() {
  const size_t start = pos_++;
  std::string out;
  for (;;) {
    size_t end = text_.find_first_of("\"\\", pos_);
    if (end == std::string_view::npos) return Error(start, "string without end");
    out.append(text_.substr(pos_, end - pos_));
    pos_ = end;
    if (text_[pos_] == '"') {
      ++pos_;
      return ctx_.String(out);
    }
    if (auto s = Escape(out); !s.ok()) return s;
  }
}

absl::StatusOr<Term> Reader::ReadBarSymbol() {
  const size_t start = pos_++;
  std::string out;
  for (;;) {
    size_t end = text_.find_first_of("|\\", pos_);
    if (end == std::string_view::npos) return Error(start, "symbol in bars without end");
    out.append(text_.substr(pos_, end - pos_));
    pos_ = end;
    if (text_[pos_] == '|') {
      ++pos_;
      return ctx_.Sym(out);
    }
    if (auto s = Escape(out); !s.ok()) return s;
  }
}

absl::StatusOr<Term> Reader::ReadObject() {
  const size_t start = pos_;
  const size_t end = text_.find('>', pos_);
  if (end == std::string_view::npos) return Error(start, "object #< without >");
  if (!options_.object_reader) return Error(start, "an object #<…> cannot be read here");
  auto object = options_.object_reader(text_.substr(pos_ + 2, end - pos_ - 2));
  if (!object.ok()) return Error(start, std::string(object.status().message()));
  pos_ = end + 1;
  return ctx_.Obj(*std::move(object));
}

absl::StatusOr<Term> Reader::ReadWord() {
  const size_t start = pos_;
  while (pos_ < text_.size() && !EndsWord(text_[pos_])) ++pos_;
  std::string_view w = text_.substr(start, pos_ - start);
  const char c = w[0];
  const bool sign = (c == '+' || c == '-') && w.size() > 1;
  const char d = sign ? w[1] : c;
  if ((d >= '0' && d <= '9') || (d == '.' && w.size() > (sign ? 2u : 1u) && w[sign ? 2 : 1] >= '0' && w[sign ? 2 : 1] <= '9')) {
    const char* first = w.data() + (c == '+' ? 1 : 0);
    const char* last = w.data() + w.size();
    int64_t i;
    auto [end, ec] = std::from_chars(first, last, i);
    if (end == last && ec == std::errc()) return ctx_.Integer(i);
    if (end == last && ec == std::errc::result_out_of_range) return Error(start, "integer outside 64 bits");
    double r;
    auto [rend, rec] = std::from_chars(first, last, r);
    if (rend == last && rec == std::errc()) return ctx_.Real(r);
    if (rend == last) return Error(start, "real outside the range of a double");
    return Error(start, absl::StrFormat("\"%s\" is not a number", std::string(w.substr(0, 40))));
  }
  if (sign && w == "+inf.0") return ctx_.Real(std::numeric_limits<double>::infinity());
  if (sign && w == "-inf.0") return ctx_.Real(-std::numeric_limits<double>::infinity());
  if (sign && w == "+nan.0") return ctx_.Real(std::numeric_limits<double>::quiet_NaN());
  if (c == '?') {
    if (w.size() == 1) return Error(start, "a variable needs a name after ?");
    return w == "?_" ? ctx_.FreshVariable("_") : ctx_.Variable(w.substr(1));
  }
  if (w.size() > 3 && w.substr(0, 3) == "..?") {
    return w == "..?_" ? ctx_.RestVariable(ctx_.Text(ctx_.FreshVariable("_"))) : ctx_.RestVariable(w.substr(3));
  }
  if (c == '%') {
    Term name = ctx_.Sym(w);
    // The name of a binding is read before it is bound.
    if (!stack_.empty() && stack_.back().mode == Mode::kBinding && children_.size() == stack_.back().first_child) {
      return name;
    }
    auto it = bound_.find(name);
    if (it == bound_.end() || it->second.empty()) {
      return Error(start, absl::StrFormat("%s is bound by no let", std::string(w.substr(0, 40))));
    }
    return it->second.back();
  }
  return ctx_.Sym(w);
}

absl::StatusOr<Term> Reader::ReadAtom() {
  const char c = text_[pos_];
  if (c == '"') return ReadString();
  if (c == '|') return ReadBarSymbol();
  if (c == '#' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '<') return ReadObject();
  return ReadWord();
}

absl::Status Reader::Open() {
  const size_t start = pos_++;
  Frame f{Mode::kTuple, start, children_.size(), scope_.size(), {}};
  if (!stack_.empty() && stack_.back().mode == Mode::kLet && children_.size() == stack_.back().first_child) {
    f.mode = Mode::kBindings;
  } else if (!stack_.empty() && stack_.back().mode == Mode::kBindings) {
    f.mode = Mode::kBinding;
  } else {
    if (auto s = Skip(); !s.ok()) return s;
    if (text_.substr(pos_, 3) == "let" && pos_ + 3 < text_.size() && EndsWord(text_[pos_ + 3])) {
      f.mode = Mode::kLet;
      pos_ += 3;
    }
  }
  stack_.push_back(std::move(f));
  return absl::OkStatus();
}

absl::Status Reader::Accept(Term t, size_t start, std::vector<Form> items) {
  if (stack_.empty()) {
    forms_.push_back({t, At(start), std::move(items)});
    return absl::OkStatus();
  }
  Frame& f = stack_.back();
  if (f.mode == Mode::kBindings) return Error(start, "a let binding is a list (%name term)");
  if (f.mode == Mode::kLet && children_.size() == f.first_child) return Error(start, "let needs a list of bindings first");
  children_.push_back(t);
  if (static_cast<int>(stack_.size()) <= options_.locate_depth) f.items.push_back({t, At(start), std::move(items)});
  return absl::OkStatus();
}

absl::Status Reader::Close() {
  const size_t close = pos_++;
  if (stack_.empty()) return Error(close, "unbalanced )");
  Frame f = std::move(stack_.back());
  stack_.pop_back();
  const size_t count = children_.size() - f.first_child;
  const Term* children = children_.data() + f.first_child;
  switch (f.mode) {
    case Mode::kTuple: {
      Term t = ctx_.Tuple(std::span<const Term>(children, count));
      children_.resize(f.first_child);
      return Accept(t, f.start, std::move(f.items));
    }
    case Mode::kBinding: {
      if (count != 2 || !ctx_.IsSymbol(children[0]) || ctx_.Text(children[0])[0] != '%') {
        return Error(f.start, "a let binding is a list (%name term)");
      }
      const Term name = children[0], value = children[1];
      children_.resize(f.first_child);
      bound_[name].push_back(value);
      scope_.push_back(name);
      return absl::OkStatus();
    }
    case Mode::kBindings:
      // Marks the let as past its bindings; popped when it closes.
      children_.push_back(Term());
      return absl::OkStatus();
    case Mode::kLet: {
      if (count != 2) return Error(f.start, "let takes a list of bindings and one term");
      Term body = children[1];
      children_.resize(f.first_child);
      while (scope_.size() > f.first_scope) {
        bound_[scope_.back()].pop_back();
        scope_.pop_back();
      }
      return Accept(body, f.start, std::move(f.items));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Form>> Reader::Run() {
  for (;;) {
    if (auto s = Skip(); !s.ok()) return s;
    if (pos_ >= text_.size()) break;
    const char c = text_[pos_];
    absl::Status s;
    if (c == '(') {
      s = Open();
    } else if (c == ')') {
      s = Close();
    } else {
      const size_t start = pos_;
      auto atom = ReadAtom();
      s = atom.ok() ? Accept(*atom, start, {}) : atom.status();
    }
    if (!s.ok()) return s;
  }
  if (!stack_.empty()) {
    return Error(stack_.back().start, absl::StrFormat("( is never closed (%d open at the end of the text)", stack_.size()));
  }
  return std::move(forms_);
}

}  // namespace

std::string Position::ToString() const { return absl::StrFormat("%d:%d", line, column); }

absl::StatusOr<std::vector<Form>> ReadForms(Context& ctx, std::string_view text, const ReadOptions& options) {
  return Reader(ctx, text, options).Run();
}

absl::StatusOr<Term> ReadTerm(Context& ctx, std::string_view text, const ReadOptions& options) {
  auto forms = ReadForms(ctx, text, options);
  if (!forms.ok()) return forms.status();
  if (forms->size() != 1) {
    return absl::InvalidArgumentError(absl::StrFormat("%s%s: %s", options.file.empty() ? "" : options.file + ":",
                                                      forms->empty() ? "1:1" : (*forms)[1].position.ToString(),
                                                      forms->empty() ? "a term is missing" : "one term was expected"));
  }
  return forms->front().term;
}

}  // namespace retuple
