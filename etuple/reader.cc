#include "etuple/reader.h"

#include <algorithm>
#include <charconv>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "etuple/scanner.h"

namespace retuple {
namespace {

class Reader {
 public:
  Reader(Context& ctx, std::string_view text, const ReadOptions& options)
      : ctx_(ctx), text_(text), options_(options), scanner_(ctx, text) {}

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
  absl::StatusOr<Term> Atom(const Token& t);
  absl::StatusOr<Term> Name(const Token& t);
  // Text of a string or bar symbol, escapes resolved; the text itself if it has none.
  absl::StatusOr<std::string_view> Resolve(const Token& t);
  void Open(size_t start);
  absl::Status Close(size_t close);
  absl::Status Accept(Term t, size_t start, std::vector<Form>&& items);

  Context& ctx_;
  std::string_view text_;
  const ReadOptions& options_;
  Scanner scanner_;
  std::string resolved_;
  size_t seen_offset_ = 0, line_start_ = 0;
  int line_ = 1;
  std::vector<Frame> stack_;
  std::vector<Term> children_;
  std::vector<Form> forms_;
  absl::flat_hash_map<Term, std::vector<Term>> bound_;
  std::vector<Term> scope_;  // names bound, innermost last
};

absl::StatusOr<std::string_view> Reader::Resolve(const Token& t) {
  std::string_view in = t.text;
  size_t at = in.find('\\');
  if (at == std::string_view::npos) return in;
  resolved_.clear();
  for (; at != std::string_view::npos; at = in.find('\\')) {
    resolved_.append(in.substr(0, at));
    const size_t offset = static_cast<size_t>(in.data() - text_.data()) + at;
    const char c = in[at + 1];  // the scanner saw to it that there is one
    in.remove_prefix(at + 2);
    switch (c) {
      case 'n':
        resolved_ += '\n';
        break;
      case 't':
        resolved_ += '\t';
        break;
      case 'r':
        resolved_ += '\r';
        break;
      case '"':
      case '\\':
      case '|':
        resolved_ += c;
        break;
      case 'x': {
        unsigned v = 0;
        const char* end = in.data() + std::min<size_t>(2, in.size());
        const auto [stop, ec] = std::from_chars(in.data(), end, v, 16);
        if (ec != std::errc() || stop != in.data() + 2) return Error(offset, "\\x needs two hexadecimal digits");
        in.remove_prefix(2);
        resolved_ += static_cast<char>(v);
        break;
      }
      default:
        return Error(offset, absl::StrFormat("unknown escape \\%c", c));
    }
  }
  resolved_.append(in);
  return std::string_view(resolved_);
}

// A symbol, or what a %name stands for.
absl::StatusOr<Term> Reader::Name(const Token& t) {
  Term name = ctx_.TextAtom(Kind::kSymbol, Context::IsKeywordText(t.text), t.text, t.hash);
  if (t.text[0] != '%') return name;
  // The name of a binding is read before it is bound.
  if (!stack_.empty() && stack_.back().mode == Mode::kBinding && children_.size() == stack_.back().first_child) {
    return name;
  }
  auto it = bound_.find(name);
  if (it == bound_.end() || it->second.empty()) {
    return Error(t.start, absl::StrFormat("%s is bound by no let", std::string(t.text.substr(0, 40))));
  }
  return it->second.back();
}

absl::StatusOr<Term> Reader::Atom(const Token& t) {
  switch (t.type) {
    case Token::Type::kInteger:
      return ctx_.Integer(t.integer);
    case Token::Type::kReal:
      return ctx_.Real(t.real);
    case Token::Type::kVariable:
      return t.text == "_" ? ctx_.FreshVariable("_") : ctx_.TextAtom(Kind::kVariable, false, t.text, t.hash);
    case Token::Type::kRest:
      return t.text == "_" ? ctx_.RestVariable(ctx_.Text(ctx_.FreshVariable("_")))
                           : ctx_.TextAtom(Kind::kVariable, true, t.text, t.hash);
    case Token::Type::kString:
    case Token::Type::kBar: {
      auto text = Resolve(t);
      if (!text.ok()) return text.status();
      return t.type == Token::Type::kString ? ctx_.String(*text) : ctx_.Sym(*text);
    }
    case Token::Type::kObject: {
      if (!options_.object_reader) return Error(t.start, "an object #<…> cannot be read here");
      auto object = options_.object_reader(t.text);
      if (!object.ok()) return Error(t.start, std::string(object.status().message()));
      return ctx_.Obj(*std::move(object));
    }
    case Token::Type::kError:
      return Error(t.start, scanner_.error());
    default:
      return Name(t);
  }
}

void Reader::Open(size_t start) {
  Frame f{Mode::kTuple, start, children_.size(), scope_.size(), {}};
  if (!stack_.empty() && stack_.back().mode == Mode::kLet && children_.size() == stack_.back().first_child) {
    f.mode = Mode::kBindings;
  } else if (!stack_.empty() && stack_.back().mode == Mode::kBindings) {
    f.mode = Mode::kBinding;
  } else if (const Token& next = scanner_.Peek(); next.type == Token::Type::kSymbol && next.text == "let") {
    scanner_.Next();
    f.mode = Mode::kLet;
  }
  stack_.push_back(std::move(f));
}

absl::Status Reader::Accept(Term t, size_t start, std::vector<Form>&& items) {
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

absl::Status Reader::Close(size_t close) {
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
    const Token& t = scanner_.Next();
    if (t.type == Token::Type::kEnd) break;
    if (t.type == Token::Type::kOpen) {
      Open(t.start);
      continue;
    }
    absl::Status s;
    if (t.type == Token::Type::kClose) {
      s = Close(t.start);
    } else {
      auto atom = Atom(t);
      s = atom.ok() ? Accept(*atom, t.start, {}) : atom.status();
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
