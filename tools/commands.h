// The subcommands of `retuple`. A command parses, calls, prints; each returns the exit status (0 done, 1 the input or the check failed) or
// InvalidArgument for wrong usage (2).
#ifndef RETUPLE_TOOLS_COMMANDS_H_
#define RETUPLE_TOOLS_COMMANDS_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/args.h"
#include "tools/compare.h"

namespace retuple {

struct Command {
  CommandSpec spec;
  absl::StatusOr<int> (*run)(const Args& args);
};

std::span<const Command> ModelCommands();  // optimize, run, compare, etuplize, reify, conformance
std::span<const Command> RuleCommands();   // normalize, check, explain
std::span<const Command> QueryCommands();  // query, repl

// Prints `error: …` to stderr; the exit status of a failed input.
int Fail(const absl::Status& s);
absl::StatusOr<std::string> ReadFile(const std::string& path);
// By way of a temporary file; nothing half-written stays.
absl::Status WriteFile(const std::string& path, std::string_view bytes);
// --input NAME=FILE(.npy|.pb)|NAME=NUMBER, --dim N=V, --shape NAME=1x3x8, --seed; the first Status is a usage error, the second a bad file.
std::vector<OptionSpec> InputOptionSpecs();
absl::StatusOr<InputOptions> ParseInputOptions(const Args& args, absl::Status* file_error);
// A progress line on stderr, only if that is a terminal.
void Progress(const std::string& line);

}  // namespace retuple

#endif  // RETUPLE_TOOLS_COMMANDS_H_
