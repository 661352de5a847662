// Reads s-expressions.
//
//   (Add ?x 0)   ((Conv :group 1 ..?a) ?x ?w)   (f 1 -2.5 "text" sym)   (let ((%0 (f a))) (g %0 %0))
//
// Atoms: integers (64 bit), reals (1.5, 1e-3, +inf.0, -inf.0, +nan.0), strings with \n \t \" \\ \xHH, symbols (any other run of
// characters; |odd ones| in bars), keywords :k, logic variables ?x, rest variables ..?x, objects #<…>. `(let ((%a T) …) T)` names
// shared subterms: a name begins with %, is visible from the next binding on, and vanishes in the term. Comments run from ; to
// the end of the line. The reader keeps its own stack: nesting is bounded by memory alone.
#ifndef RETUPLE_ETUPLE_READER_H_
#define RETUPLE_ETUPLE_READER_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "etuple/term.h"

namespace retuple {

struct Position {
  int line = 0;
  int column = 0;  // in bytes, from 1
  std::string ToString() const;  // "3:14"
};

// A form with its place; `items` are the children, kept down to the depth that was asked for.
struct Form {
  Term term;
  Position position;
  std::vector<Form> items;
};

// Makes an object from the text between #< and >.
using ObjectReader = std::function<absl::StatusOr<ObjectPtr>(std::string_view)>;

struct ReadOptions {
  ObjectReader object_reader;  // none: objects are an error
  int locate_depth = 0;        // how deep `items` are kept
  std::string file = "";       // begins messages
};

// All forms of `text`. InvalidArgument with file:line:column and what was expected. O(length).
absl::StatusOr<std::vector<Form>> ReadForms(Context& ctx, std::string_view text, const ReadOptions& options = {});
// Exactly one term.
absl::StatusOr<Term> ReadTerm(Context& ctx, std::string_view text, const ReadOptions& options = {});

}  // namespace retuple

#endif  // RETUPLE_ETUPLE_READER_H_
