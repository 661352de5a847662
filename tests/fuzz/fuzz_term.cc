// Any text as a term: what is read must print and read back to the very same term; and as a graph it is reified or refused.
#include <cstdlib>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "ir_bridge/graph_term.h"
#include "ir_bridge/tensor_object.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retuple;
  Context ctx;
  auto t = ReadTerm(ctx, {reinterpret_cast<const char*>(data), size}, {.object_reader = ReadTensorObject});
  if (!t.ok()) return 0;
  auto back = ReadTerm(ctx, PrintTerm(ctx, *t), {.object_reader = ReadTensorObject});
  if (!back.ok() || *back != *t) abort();
  TermCodec codec(ctx);
  (void)TermToGraph(codec, *t);
  return 0;
}
