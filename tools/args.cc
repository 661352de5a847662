#include "tools/args.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace retuple {

absl::StatusOr<Args> Args::Parse(const CommandSpec& spec, const std::vector<std::string>& argv) {
  Args out;
  bool options = true;
  for (size_t i = 0; i < argv.size(); ++i) {
    const std::string& a = argv[i];
    if (!options || a.size() < 2 || a[0] != '-') {
      out.words_.push_back(a);
      continue;
    }
    if (a == "--") {
      options = false;
      continue;
    }
    const size_t eq = a.rfind("--", 0) == 0 ? a.find('=') : std::string::npos;
    const std::string name = a.substr(0, eq);
    const OptionSpec* found = nullptr;
    for (const OptionSpec& o : spec.options) {
      if (o.name == name) found = &o;
    }
    if (found == nullptr) return absl::InvalidArgumentError(absl::StrFormat("%s has no option %s", spec.name, name));
    auto& values = out.values_[name];
    if (!values.empty() && !found->repeated) return absl::InvalidArgumentError(absl::StrFormat("%s is given twice", name));
    if (found->value.empty()) {
      if (eq != std::string::npos) return absl::InvalidArgumentError(absl::StrFormat("%s takes no value", name));
      values.emplace_back();
    } else if (eq != std::string::npos) {
      values.push_back(a.substr(eq + 1));
    } else if (i + 1 < argv.size()) {
      values.push_back(argv[++i]);
    } else {
      return absl::InvalidArgumentError(absl::StrFormat("%s needs a value %s", name, found->value));
    }
  }
  if (out.words_.size() < spec.min_words || out.words_.size() > spec.max_words) {
    return absl::InvalidArgumentError(absl::StrFormat("usage: retuple %s %s", spec.name, spec.arguments));
  }
  return out;
}

std::string Args::Value(std::string_view name, std::string fallback) const {
  auto it = values_.find(name);
  return it == values_.end() ? std::move(fallback) : it->second.back();
}

std::vector<std::string> Args::Values(std::string_view name) const {
  auto it = values_.find(name);
  return it == values_.end() ? std::vector<std::string>() : it->second;
}

absl::StatusOr<int64_t> Args::Int(std::string_view name, int64_t fallback, int64_t low, int64_t high) const {
  if (!Has(name)) return fallback;
  int64_t v;
  if (!absl::SimpleAtoi(Value(name), &v) || v < low || v > high) {
    return absl::InvalidArgumentError(absl::StrFormat("%s takes an integer from %d to %d, not \"%s\"", std::string(name), low, high, Value(name)));
  }
  return v;
}

std::string Help(const CommandSpec& spec) {
  std::string out = absl::StrFormat("usage: retuple %s %s\n\n%s\n", spec.name, spec.arguments, spec.summary);
  if (!spec.options.empty()) out += "\noptions:\n";
  for (const OptionSpec& o : spec.options) {
    out += absl::StrFormat("  %-24s %s%s\n", o.name + (o.value.empty() ? "" : " " + o.value), o.help, o.repeated ? " (repeatable)" : "");
  }
  return out;
}

}  // namespace retuple
