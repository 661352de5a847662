// The answers of a script, as text; an error's message with "error: " before it.
#ifndef RETUPLE_TESTS_UNIFY_ANSWERS_H_
#define RETUPLE_TESTS_UNIFY_ANSWERS_H_

#include <algorithm>
#include <string>
#include <vector>

#include "unify/script.h"

namespace retuple {

inline std::vector<std::string> Answers(const std::string& text, const QueryLimits& limits = {}) {
  Context ctx;
  std::vector<std::string> out;
  Script script(ctx, {.on_start = nullptr,
                      .on_answer =
                          [&](const Answer& a) {
                            out.push_back(a.ToString(ctx));
                            return true;
                          },
                      .on_end = nullptr},
                limits);
  auto s = script.RunText(text, "");
  if (!s.ok()) out.push_back("error: " + std::string(s.message()));
  return out;
}

// A query in the form of the peers' tests, and what it answers: in that order, unless `set`.
struct QueryCase {
  const char* text;
  std::vector<std::string> answers;
  bool set = false;
};

inline std::vector<std::string> Sorted(std::vector<std::string> v) {
  std::sort(v.begin(), v.end());
  return v;
}

}  // namespace retuple

// Runs every case, each with `prelude` before it.
#define RETUPLE_EXPECT_ANSWERS(prelude, cases)                                               \
  for (const QueryCase& c : cases) {                                                         \
    const auto got = Answers(std::string(prelude) + c.text, {.steps = 20'000'000});          \
    EXPECT_EQ(c.set ? Sorted(got) : got, c.set ? Sorted(c.answers) : c.answers) << c.text;   \
  }

#endif  // RETUPLE_TESTS_UNIFY_ANSWERS_H_
