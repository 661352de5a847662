#include "etuple/scanner.h"

#include <charconv>
#include <limits>

#include "absl/strings/str_format.h"

namespace retuple {
namespace {

enum : uint8_t { kInWord = 0, kSpace = 1, kDelimiter = 2 };

constexpr std::array<uint8_t, 256> kClass = [] {
  std::array<uint8_t, 256> c{};
  for (unsigned char s : {' ', '\n', '\t', '\r', '\f'}) c[s] = kSpace;
  for (unsigned char s : {'(', ')', '"', ';'}) c[s] = kDelimiter;
  return c;
}();
uint8_t ClassOf(char c) { return kClass[static_cast<unsigned char>(c)]; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void Scanner::Fail(Token& t, std::string what) {
  t.type = Token::Type::kError;
  error_ = std::move(what);
  pos_ = text_.size();
}

void Scanner::Hint(uint64_t hash) {
  if (!ahead_) return;
  ctx_.Prefetch(hash);
  if (!opened_.empty()) hashes_.push_back(hash);
}

void Scanner::Quoted(Token& t, char quote, Token::Type type, const char* what) {
  const char stops[] = {quote, '\\'};
  size_t end = pos_ + 1;
  for (;;) {
    end = text_.find_first_of(std::string_view(stops, 2), end);
    if (end == std::string_view::npos) return Fail(t, what);
    if (text_[end] == quote) break;
    if ((end += 2) > text_.size()) return Fail(t, what);
  }
  t.type = type;
  t.text = text_.substr(pos_ + 1, end - pos_ - 1);
  pos_ = end + 1;
  if (ahead_) Hint(Context::HashText(type == Token::Type::kString ? Kind::kString : Kind::kSymbol, false, t.text));
}

void Scanner::Word(Token& t) {
  const size_t start = pos_;
  while (pos_ < text_.size() && ClassOf(text_[pos_]) == kInWord) ++pos_;
  const std::string_view w = text_.substr(start, pos_ - start);
  const char c = w[0];
  const bool sign = (c == '+' || c == '-') && w.size() > 1;
  const std::string_view digits = w.substr(sign ? 1 : 0);
  auto real = [&](double v) {
    t.type = Token::Type::kReal;
    t.real = v;
    if (ahead_) Hint(Context::HashReal(v));
  };
  if (IsDigit(digits[0]) || (digits.size() > 1 && digits[0] == '.' && IsDigit(digits[1]))) {
    const char* first = w.data() + (c == '+' ? 1 : 0);
    const char* last = w.data() + w.size();
    auto [end, ec] = std::from_chars(first, last, t.integer);
    if (end == last && ec == std::errc()) {
      t.type = Token::Type::kInteger;
      if (ahead_) Hint(Context::HashInteger(t.integer));
      return;
    }
    if (end == last) return Fail(t, "integer outside 64 bits");
    double r;
    auto [rend, rec] = std::from_chars(first, last, r);
    if (rend == last && rec == std::errc()) return real(r);
    if (rend == last) return Fail(t, "real outside the range of a double");
    return Fail(t, absl::StrFormat("\"%s\" is not a number", std::string(w.substr(0, 40))));
  }
  if (sign) {
    if (w == "+inf.0") return real(std::numeric_limits<double>::infinity());
    if (w == "-inf.0") return real(-std::numeric_limits<double>::infinity());
    if (w == "+nan.0") return real(std::numeric_limits<double>::quiet_NaN());
  }
  if (c == '?') {
    if (w.size() == 1) return Fail(t, "a variable needs a name after ?");
    t.type = Token::Type::kVariable;
    t.text = w.substr(1);
    return Hint(t.hash = Context::HashText(Kind::kVariable, false, t.text));
  }
  if (w.size() > 3 && w.substr(0, 3) == "..?") {
    t.type = Token::Type::kRest;
    t.text = w.substr(3);
    return Hint(t.hash = Context::HashText(Kind::kVariable, true, t.text));
  }
  t.type = Token::Type::kSymbol;
  t.text = w;
  Hint(t.hash = Context::HashText(Kind::kSymbol, Context::IsKeywordText(w), w));
}

void Scanner::Fill() {
  next_ = filled_ = 0;
  ahead_ = ahead_ || ctx_.num_nodes() > kCached;
  while (filled_ < kBatch) {
    while (pos_ < text_.size() && ClassOf(text_[pos_]) == kSpace) ++pos_;
    Token& t = tokens_[filled_++];
    t.start = pos_;
    if (pos_ >= text_.size()) {
      t.type = Token::Type::kEnd;
      return;
    }
    switch (text_[pos_]) {
      case ';': {
        const size_t end = text_.find('\n', pos_);
        pos_ = end == std::string_view::npos ? text_.size() : end;
        --filled_;
        continue;
      }
      case '(':
        t.type = Token::Type::kOpen;
        if (ahead_) opened_.push_back(hashes_.size());
        ++pos_;
        break;
      case ')':
        t.type = Token::Type::kClose;
        ++pos_;
        if (ahead_ && !opened_.empty()) {
          const size_t first = opened_.back();
          const uint64_t hash = Context::HashTuple(std::span<const uint64_t>(hashes_).subspan(first));
          hashes_.resize(first);
          opened_.pop_back();
          Hint(hash);
        }
        break;
      case '"':
        Quoted(t, '"', Token::Type::kString, "string without end");
        break;
      case '|':
        Quoted(t, '|', Token::Type::kBar, "symbol in bars without end");
        break;
      case '#':
        if (pos_ + 1 < text_.size() && text_[pos_ + 1] == '<') {
          const size_t end = text_.find('>', pos_);
          if (end == std::string_view::npos) {
            Fail(t, "object #< without >");
            break;
          }
          t.type = Token::Type::kObject;
          t.text = text_.substr(pos_ + 2, end - pos_ - 2);
          pos_ = end + 1;
          if (ahead_ && !opened_.empty()) hashes_.push_back(0);
          break;
        }
        [[fallthrough]];
      default:
        Word(t);
    }
    if (t.type == Token::Type::kError) return;
  }
}

}  // namespace retuple
