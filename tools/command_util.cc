#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "ir_bridge/onnx/model_io.h"
#include "tools/commands.h"
#include "tools/npy.h"

namespace retuple {
namespace {

// "NAME=VALUE" with a non-empty name. The last = separates: names may hold one.
absl::StatusOr<std::pair<std::string, std::string>> Assignment(const std::string& option, const std::string& text) {
  const size_t eq = text.rfind('=');
  if (eq == std::string::npos || eq == 0) return absl::InvalidArgumentError(absl::StrFormat("%s takes NAME=VALUE, not \"%s\"", option, text));
  return std::make_pair(text.substr(0, eq), text.substr(eq + 1));
}

}  // namespace

int Fail(const absl::Status& s) {
  std::cerr << "error: " << s.message() << std::endl;
  return 1;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrFormat("cannot open %s", path));
  std::stringstream bytes;
  bytes << in.rdbuf();
  if (in.bad()) return absl::NotFoundError(absl::StrFormat("cannot read %s", path));
  return bytes.str();
}

absl::Status WriteFile(const std::string& path, std::string_view bytes) {
  const std::string temporary = absl::StrFormat("%s.tmp.%d", path, getpid());
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) {
      std::remove(temporary.c_str());
      return absl::PermissionDeniedError(absl::StrFormat("cannot write %s", path));
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    return absl::PermissionDeniedError(absl::StrFormat("cannot write %s", path));
  }
  return absl::OkStatus();
}

std::vector<OptionSpec> InputOptionSpecs() {
  return {{"--input", "NAME=FILE", "an input from a .npy or .pb file, or a number for a scalar", true},
          {"--dim", "NAME=N", "value of a named dimension (1 when not given)", true},
          {"--shape", "NAME=AxBxC", "shape of an input whose dimensions the model leaves open", true},
          {"--seed", "N", "seed of the random inputs"},
          {"--threads", "N", "threads of the executor (1)"}};
}

absl::StatusOr<InputOptions> ParseInputOptions(const Args& args, absl::Status* file_error) {
  InputOptions out;
  *file_error = absl::OkStatus();
  for (const std::string& text : args.Values("--input")) {
    auto a = Assignment("--input", text);
    if (!a.ok()) return a.status();
    const auto& [name, value] = *a;
    int64_t number;
    if (absl::SimpleAtoi(value, &number)) {
      out.values[name] = Tensor::ScalarI64(number);
      continue;
    }
    auto bytes = ReadFile(value);
    auto tensor = !bytes.ok() ? absl::StatusOr<Tensor>(bytes.status())
                  : value.size() > 4 && value.substr(value.size() - 4) == ".npy" ? ReadNpy(*bytes) : ReadTensorProto(*bytes);
    if (!tensor.ok()) {
      *file_error = absl::InvalidArgumentError(absl::StrFormat("%s: %s", value, std::string(tensor.status().message())));
      return out;
    }
    out.values[name] = *tensor;
  }
  for (const std::string& text : args.Values("--dim")) {
    auto a = Assignment("--dim", text);
    if (!a.ok()) return a.status();
    int64_t n;
    if (!absl::SimpleAtoi(a->second, &n) || n < 0) return absl::InvalidArgumentError(absl::StrFormat("--dim %s: not a natural number", text));
    out.dims[a->first] = n;
  }
  for (const std::string& text : args.Values("--shape")) {
    auto a = Assignment("--shape", text);
    if (!a.ok()) return a.status();
    std::vector<int64_t> dims;
    for (absl::string_view part : absl::StrSplit(a->second, 'x')) {
      int64_t n;
      if (!absl::SimpleAtoi(part, &n) || n < 0) return absl::InvalidArgumentError(absl::StrFormat("--shape %s: write sizes as 1x3x8", text));
      dims.push_back(n);
    }
    out.shapes[a->first] = dims;
  }
  auto seed = args.Int("--seed", 1, 0, int64_t{1} << 40);
  if (!seed.ok()) return seed.status();
  out.seed = static_cast<uint64_t>(*seed);
  return out;
}

void Progress(const std::string& line) {
  if (isatty(2)) std::cerr << "\r\033[K" << line << std::flush;
}

}  // namespace retuple
