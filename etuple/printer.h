// Prints terms as the reader reads them. A subterm that occurs more than once is named in a `let`, so a DAG prints in linear size.
#ifndef RETUPLE_ETUPLE_PRINTER_H_
#define RETUPLE_ETUPLE_PRINTER_H_

#include <string>

#include "etuple/term.h"

namespace retuple {

struct PrintOptions {
  bool let = true;       // name shared tuples; without it a DAG prints as its tree
  bool brief = false;    // leave the content of objects out (not readable back)
  size_t limit = 0;      // stop after about this many bytes with "…"; 0: no limit
};

// O(distinct nodes) with `let`.
std::string PrintTerm(const Context& ctx, Term t, const PrintOptions& options = {});
// Written out in full, as long as its tree is of a bearable size; else with `let`.
std::string PrintPlain(const Context& ctx, Term t);
// One line for messages: brief, and at most `limit` bytes.
std::string Brief(const Context& ctx, Term t, size_t limit = 200);

}  // namespace retuple

#endif  // RETUPLE_ETUPLE_PRINTER_H_
