// Command-line arguments of a subcommand: positional words and --options.
#ifndef RETUPLE_TOOLS_ARGS_H_
#define RETUPLE_TOOLS_ARGS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace retuple {

// How a command is called. An option whose `value` is empty is a flag.
struct OptionSpec {
  std::string name;   // "--rules" or "-o"
  std::string value;  // "FILE"
  std::string help;
  bool repeated = false;
};

struct CommandSpec {
  std::string name;
  std::string arguments;  // "IN.onnx -o OUT.onnx"
  std::string summary;
  std::vector<OptionSpec> options;
  size_t min_words = 0, max_words = 0;
};

class Args {
 public:
  // InvalidArgument for an unknown option, a missing or repeated value, or a wrong number of words. Both `--name value` and
  // `--name=value` are taken; `--` ends the options.
  static absl::StatusOr<Args> Parse(const CommandSpec& spec, const std::vector<std::string>& argv);

  const std::vector<std::string>& words() const { return words_; }
  bool Has(std::string_view name) const { return values_.find(name) != values_.end(); }
  std::string Value(std::string_view name, std::string fallback = "") const;
  std::vector<std::string> Values(std::string_view name) const;
  // InvalidArgument when the value is not an integer in [low, high].
  absl::StatusOr<int64_t> Int(std::string_view name, int64_t fallback, int64_t low, int64_t high) const;

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

std::string Help(const CommandSpec& spec);

}  // namespace retuple

#endif  // RETUPLE_TOOLS_ARGS_H_
