// Terms, a rule, a normal form: the engine without any IR.
#include <cstdio>
#include <cstdlib>

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
  auto loaded = loader.Load(R"(
      (operator + :comm)
      (rewrite plus-zero (+ ?x 0) ?x)
      (rewrite double    (+ ?x ?x) (* 2 ?x)))", {.file = "example", .object_reader = nullptr});
  if (!loaded.ok()) return std::fprintf(stderr, "%s\n", std::string(loaded.message()).c_str()), 1;

  Term t = *ReadTerm(ctx, "(+ (+ 0 a) (+ a 0))");
  Normalizer normalizer(ctx, loader.rules(), functions);
  const std::string normal = PrintTerm(ctx, normalizer.Run(std::span<const Term>(&t, 1))[0]);
  std::printf("%s\n", normal.c_str());
  return normal == "(* 2 a)" ? EXIT_SUCCESS : EXIT_FAILURE;
}
