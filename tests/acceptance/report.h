// What the acceptance programs share: lines with a figure and ok or SHORT, and running the tests that stand behind a line.
#ifndef RETUPLE_TESTS_ACCEPTANCE_REPORT_H_
#define RETUPLE_TESTS_ACCEPTANCE_REPORT_H_

#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/strings/str_format.h"

namespace retuple {

inline int short_lines = 0;

inline void Line(const char* number, const std::string& what, bool ok) {
  std::cout << absl::StrFormat("%-4s %-92s %s", number, what, ok ? "ok" : "SHORT") << std::endl;
  if (!ok) ++short_lines;
}
inline void Skip(const char* number, const std::string& why) {
  std::cout << absl::StrFormat("%-4s skipped: %s", number, why) << std::endl;
}
// 0 if every line was ok.
inline int Finish() {
  std::cout << short_lines << " lines short" << std::endl;
  return short_lines == 0 ? 0 : 1;
}

inline double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// What a command prints; its exit status, -1 if it did not exit.
inline std::string Output(const std::string& command, int* status) {
  std::string out;
  FILE* p = popen(command.c_str(), "r");
  if (p == nullptr) {
    *status = -1;
    return out;
  }
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), p)) > 0;) out.append(buffer, n);
  const int s = pclose(p);
  *status = WIFEXITED(s) ? WEXITSTATUS(s) : -1;
  return out;
}
inline bool Shell(const std::string& command) {
  int status;
  Output(command + " 2>&1", &status);
  return status == 0;
}
// Runs the tests of a gtest program that match the filter: all pass, and there are at least `least`.
inline bool Tests(const std::string& program, const std::string& filter, int least = 1) {
  int status;
  const std::string out = Output(program + " --gtest_filter='" + filter + "' 2>&1", &status);
  const size_t at = out.rfind("[  PASSED  ] ");
  return status == 0 && at != std::string::npos && std::atoi(out.c_str() + at + 13) >= least;
}

}  // namespace retuple

#endif  // RETUPLE_TESTS_ACCEPTANCE_REPORT_H_
