// The `retuple` command.
#include <iostream>
#include <string>
#include <vector>

#include "tools/commands.h"

namespace retuple {
namespace {

std::vector<Command> AllCommands() {
  std::vector<Command> out(ModelCommands().begin(), ModelCommands().end());
  out.insert(out.end(), RuleCommands().begin(), RuleCommands().end());
  out.insert(out.end(), QueryCommands().begin(), QueryCommands().end());
  return out;
}

std::string Overview() {
  std::string out = "usage: retuple COMMAND …        (retuple COMMAND --help)\n\nRewrites computation graphs as expression tuples.\n\n";
  for (const Command& c : AllCommands()) {
    out += "  " + c.spec.name + std::string(14 - std::min<size_t>(13, c.spec.name.size()), ' ') + c.spec.summary.substr(0, c.spec.summary.find('\n')) + "\n";
  }
  return out + "\nexit status: 0 done, 1 the input or the check failed, 2 wrong usage\n";
}

int Main(const std::vector<std::string>& argv) {
  if (argv.empty()) {
    std::cerr << Overview();
    return 2;
  }
  if (argv[0] == "--help" || argv[0] == "-h" || argv[0] == "help") {
    std::cout << Overview();
    return 0;
  }
  for (const Command& c : AllCommands()) {
    if (c.spec.name != argv[0]) continue;
    const std::vector<std::string> rest(argv.begin() + 1, argv.end());
    for (const auto& a : rest) {
      if (a == "--help" || a == "-h") {
        std::cout << Help(c.spec);
        return 0;
      }
      if (a == "--") break;
    }
    auto args = Args::Parse(c.spec, rest);
    auto status = args.ok() ? c.run(*args) : absl::StatusOr<int>(args.status());
    if (status.ok()) return *status;
    std::cerr << "retuple " << c.spec.name << ": " << status.status().message() << "\n";
    return 2;
  }
  std::cerr << "retuple: unknown command " << argv[0] << "\n\n" << Overview();
  return 2;
}

}  // namespace
}  // namespace retuple

int main(int argc, char** argv) { return retuple::Main(std::vector<std::string>(argv + 1, argv + argc)); }
