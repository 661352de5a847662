// Any text as a rule file: loaded with its lints, or refused with positions.
#include <cstdlib>

#include "ir_bridge/body_functions.h"
#include "ir_bridge/ir_operators.h"
#include "ir_bridge/rule_functions.h"
#include "ir_bridge/tensor_object.h"
#include "rewrite/rule_language.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retuple;
  Context ctx;
  TermCodec codec(ctx);
  TermTypes types(codec);
  RuleEnvironment env;
  FunctionRegistry functions(ctx);
  AddIrFunctions(functions, codec, types, env);
  AddBodyFunctions(functions, codec);
  // Loading never calls a function; `fold` needs its name only, and the kernels stay out of the fuzzer.
  functions.Add("fold", 1, 1, [](RuleContext&, std::span<const Term> a) -> absl::StatusOr<Term> { return a[0]; });
  IrOperators operators(codec, functions);
  RuleLoader loader(ctx, functions, operators);
  auto s = loader.Load({reinterpret_cast<const char*>(data), size}, {.file = "fuzz", .object_reader = ReadTensorObject});
  if (!s.ok() && s.message().empty()) abort();
  return 0;
}
