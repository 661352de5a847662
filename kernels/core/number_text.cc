#include "kernels/core/number_text.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace retuple::internal {
namespace {

template <typename F>
std::string Format(F x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "INF" : "-INF";
  char buffer[64];
  const F magnitude = std::fabs(x);
  const bool fixed = x == 0 || (magnitude >= F(1e-4) && magnitude < F(1e16));
  const auto r = std::to_chars(buffer, buffer + sizeof(buffer), x,
                               fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string s(buffer, r.ptr);
  if (fixed && s.find('.') == std::string::npos) s += ".0";
  return s;
}

std::string_view Trim(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

template <typename F>
bool Parse(std::string_view text, F* out) {
  text = Trim(text);
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) return false;
  }
  const auto r = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (r.ec == std::errc::result_out_of_range && r.ptr == text.data() + text.size()) {
    // Too large or too small: the exponent's sign tells which.
    const size_t e = text.find_first_of("eE");
    const bool small = e != std::string_view::npos && e + 1 < text.size() && text[e + 1] == '-';
    *out = small ? F(0) : std::numeric_limits<F>::infinity();
    if (text.front() == '-') *out = -*out;
    return true;
  }
  return r.ec == std::errc() && r.ptr == text.data() + text.size() && !text.empty();
}

template <typename I>
bool ParseWhole(std::string_view text, I* out) {
  text = Trim(text);
  std::string_view digits = text;
  if (!digits.empty() && digits.front() == '+') {
    digits.remove_prefix(1);
    if (!digits.empty() && digits.front() == '-') return false;
  }
  const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), *out);
  if (r.ec == std::errc() && r.ptr == digits.data() + digits.size() && !digits.empty()) return true;
  double v;
  if (!Parse(text, &v)) return false;
  v = std::trunc(v);
  const double low = static_cast<double>(std::numeric_limits<I>::lowest());
  const double high = static_cast<double>(std::numeric_limits<I>::max());  // rounds up to a power of two
  if (!(v >= low && v < high)) return false;
  *out = static_cast<I>(v);
  return true;
}

}  // namespace

std::string FormatFloat(float x) { return Format(x); }
std::string FormatFloat(double x) { return Format(x); }
bool ParseFloat(std::string_view text, double* out) { return Parse(text, out); }
bool ParseFloat(std::string_view text, float* out) { return Parse(text, out); }
bool ParseInt(std::string_view text, int64_t* out) { return ParseWhole(text, out); }
bool ParseUint(std::string_view text, uint64_t* out) { return ParseWhole(text, out); }

}  // namespace retuple::internal
