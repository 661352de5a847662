// StringNormalizer: drops stop words, then changes case.
//
// Case mapping is by code point over the scripts with simple one-to-one pairs (ASCII, Latin-1, Latin Extended-A,
// Greek, Cyrillic), the same on every system: `locale` is accepted and not consulted. Bytes that are not UTF-8 pass
// unchanged.
#include <set>

#include "kernels/core/util.h"

namespace retuple::internal {
namespace {

uint32_t ToLower(uint32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  if (c >= 0xC0 && c <= 0xDE && c != 0xD7) return c + 32;
  if (c == 0x130 || c == 0x131 || c == 0x138 || c == 0x149 || c == 0x17F) return c;
  if (c == 0x178) return 0xFF;
  if (c >= 0x100 && c <= 0x137) return c | 1;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return c & 1 ? c + 1 : c;
  if (c >= 0x14A && c <= 0x177) return c | 1;
  if (c >= 0x391 && c <= 0x3A9 && c != 0x3A2) return c + 32;
  if (c >= 0x410 && c <= 0x42F) return c + 32;
  if (c >= 0x400 && c <= 0x40F) return c + 80;
  return c;
}

uint32_t ToUpper(uint32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z' ? c - 32 : c;
  if (c >= 0xE0 && c <= 0xFE && c != 0xF7) return c - 32;
  if (c == 0xFF) return 0x178;
  if (c == 0x130 || c == 0x131 || c == 0x138 || c == 0x149 || c == 0x178 || c == 0x17F) return c;
  if (c >= 0x100 && c <= 0x137) return c & ~1u;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return c & 1 ? c : c - 1;
  if (c >= 0x14A && c <= 0x177) return c & ~1u;
  if (c == 0x3C2) return 0x3A3;
  if (c >= 0x3B1 && c <= 0x3C9) return c - 32;
  if (c >= 0x430 && c <= 0x44F) return c - 32;
  if (c >= 0x450 && c <= 0x45F) return c - 80;
  return c;
}

// Maps one- and two-byte sequences; longer ones have no mapping here.
std::string MapCase(const std::string& s, uint32_t (*map)(uint32_t)) {
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size(); ++i) {
    const auto a = static_cast<unsigned char>(s[i]);
    if (a < 0x80) {
      out.push_back(static_cast<char>(map(a)));
      continue;
    }
    const bool pair = a >= 0xC2 && a <= 0xDF && i + 1 < s.size() &&
                      (static_cast<unsigned char>(s[i + 1]) & 0xC0) == 0x80;
    if (!pair) {
      out.push_back(s[i]);
      continue;
    }
    const uint32_t c = map(((a & 0x1Fu) << 6) | (static_cast<unsigned char>(s[++i]) & 0x3Fu));
    out.push_back(static_cast<char>(0xC0 | (c >> 6)));
    out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
  return out;
}

absl::Status StringNormalizer(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, InputOf(ctx, 0, DType::kString));
  if (!(x->rank() == 1 || (x->rank() == 2 && x->dim(0) == 1))) {
    return Bad(ctx, "input is %s, expected [C] or [1,C]", DimsToString(x->dims()));
  }
  const std::string action = StringAttr(ctx, "case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER") {
    return Bad(ctx, "case_change_action is \"%s\"", action);
  }
  const bool sensitive = IntAttr(ctx, "is_case_sensitive", 0) != 0;
  std::set<std::string> stop;
  if (const Strings* words = FindAttr<Strings>(ctx.op().attrs, "stopwords")) {
    for (const std::string& w : *words) stop.insert(sensitive ? w : MapCase(w, ToLower));
  }
  std::vector<std::string> kept;
  for (const std::string& s : x->strings()) {
    if (stop.count(sensitive ? s : MapCase(s, ToLower)) > 0) continue;
    kept.push_back(action == "LOWER" ? MapCase(s, ToLower) : (action == "UPPER" ? MapCase(s, ToUpper) : s));
  }
  if (kept.empty()) kept.emplace_back();
  Dims dims = x->dims();
  dims.back() = static_cast<int64_t>(kept.size());
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kString, dims));
  std::move(kept.begin(), kept.end(), y->mutable_data<std::string>());
  return absl::OkStatus();
}

}  // namespace

void RegisterStringNormalizer(KernelRegistry& r) { r.Add("StringNormalizer", StringNormalizer); }

}  // namespace retuple::internal
