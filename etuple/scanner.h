// The reader's first stage: text to tokens, a batch ahead of the second.
//
// A term's hash follows from its text, so the scanner computes the hash of each atom and tuple as it passes and asks for the cache
// line of the intern table that will be probed: by the time the second stage interns the term, the line is there. The hash of a
// tuple is a guess (`let` and sorted keywords change it): a wrong one costs nothing but the hint.
#ifndef RETUPLE_ETUPLE_SCANNER_H_
#define RETUPLE_ETUPLE_SCANNER_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "etuple/term.h"

namespace retuple {

struct Token {
  enum class Type : uint8_t {
    kEnd,
    kOpen,
    kClose,
    kSymbol,    // and keywords, and %names
    kInteger,
    kReal,
    kVariable,  // text without ?
    kRest,      // text without ..?
    kString,    // text between the quotes, escapes not resolved
    kBar,       // text between the bars, escapes not resolved
    kObject,    // text between #< and >
    kError,     // see Scanner::error(); nothing follows
  };
  Type type = Type::kEnd;
  size_t start = 0;  // offset in the text
  std::string_view text;
  uint64_t hash = 0;  // of a symbol or variable
  union {
    int64_t integer = 0;
    double real;
  };
};

class Scanner {
 public:
  // `ctx` and the text must outlive the scanner.
  Scanner(const Context& ctx, std::string_view text) : ctx_(ctx), text_(text) {}

  const Token& Next() {
    if (next_ == filled_) Fill();
    return tokens_[next_++];
  }
  const Token& Peek() {
    if (next_ == filled_) Fill();
    return tokens_[next_];
  }
  const std::string& error() const { return error_; }

 private:
  static constexpr size_t kBatch = 64;

  // Below so many nodes the intern table is in the cache, and hints would only cost.
  static constexpr size_t kCached = 20'000;

  void Fill();
  void Word(Token& t);
  void Quoted(Token& t, char quote, Token::Type type, const char* what);
  void Fail(Token& t, std::string what);
  void Hint(uint64_t hash);

  const Context& ctx_;
  std::string_view text_;
  size_t pos_ = 0;
  size_t next_ = 0, filled_ = 0;
  std::array<Token, kBatch> tokens_;
  bool ahead_ = false;            // whether hints are given
  std::vector<uint64_t> hashes_;  // of the children of the tuples opened since
  std::vector<size_t> opened_;    // into hashes_
  std::string error_;
};

}  // namespace retuple

#endif  // RETUPLE_ETUPLE_SCANNER_H_
