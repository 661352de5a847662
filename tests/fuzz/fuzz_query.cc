// Any text as a relational script, under limits: it runs or is refused, and never crashes.
#include "unify/script.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retuple;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find("include") != text.npos) return 0;  // no files
  Context ctx;
  int answers = 0;
  Script script(ctx,
                {.on_start = nullptr,
                 .on_answer =
                     [&](const Answer& a) {
                       (void)a.ToString(ctx).size();
                       return ++answers < 20;
                     },
                 .on_end = nullptr},
                {.steps = 20'000, .bytes = 16 << 20, .collect_bytes = 64 << 10});
  (void)script.RunText(text, "");
  return 0;
}
