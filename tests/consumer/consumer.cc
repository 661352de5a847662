// Normalises a term by a rule of its own through the installed library.
#include <cstdio>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "rewrite/normalizer.h"
#include "rewrite/rule_language.h"

int main() {
  using namespace retuple;
  Context ctx;
  FunctionRegistry functions(ctx);
  FreeOperatorTable operators(ctx);
  RuleLoader loader(ctx, functions, operators);
  auto status = loader.Load("(rewrite plus-zero (+ ?x 0) ?x)", {.file = "inline", .object_reader = nullptr});
  auto term = ReadTerm(ctx, "(* (+ a 0) (+ (+ b 0) 0))");
  if (!status.ok() || !term.ok()) return 1;
  Normalizer normalizer(ctx, loader.rules(), functions);
  const std::vector<Term> out = normalizer.Run(std::span<const Term>(&*term, 1));
  const std::string text = PrintTerm(ctx, out[0]);
  std::printf("%s\n", text.c_str());
  return text == "(* a b)" ? 0 : 1;
}
