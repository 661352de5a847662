// Any bytes as an ONNX model: imported, typed, etuplized, exported and imported again, or refused.
#include <cstdlib>

#include "ir_bridge/graph_term.h"
#include "ir_bridge/onnx/model_io.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retuple;
  auto g = ImportOnnx({reinterpret_cast<const char*>(data), size}, "");
  if (!g.ok()) return 0;
  (void)InferTypes(**g);
  Context ctx;
  TermCodec codec(ctx);
  (void)GraphToTerm(**g, codec);
  auto bytes = ExportOnnx(**g, {.check = false});
  if (bytes.ok()) (void)ImportOnnx(*bytes, "");
  return 0;
}
