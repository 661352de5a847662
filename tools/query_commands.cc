// query, repl: the relational language.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include <editline/readline.h>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "ir_bridge/tensor_object.h"
#include "ir_bridge/type_goals.h"
#include "nlohmann/json.hpp"
#include "rewrite/relate.h"
#include "rewrite/rule_language.h"
#include "tools/commands.h"
#include "unify/library.h"
#include "unify/script.h"

namespace retuple {
namespace {

using Json = nlohmann::json;

// What the command's language has beside the relations: tensors, types of the IR, and `(rules "F.rules" NAME)`: the rules of a file as the
// relations NAME, NAME/root and NAME* (rewrite/relate.h).
class RuleForms {
 public:
  RuleForms(Context& ctx, Script& script) : ctx_(ctx), functions_(ctx), operators_(ctx), codec_(ctx), types_(codec_) {
    script.set_object_reader(ReadTensorObject);
    AddIrTypes(script.program(), codec_, types_);
    script.AddForm("rules", [this, &script](std::span<const Term> args, const std::string& file) -> absl::Status {
      if (args.size() != 2 || ctx_.kind(args[0]) != Kind::kString || !ctx_.IsSymbol(args[1])) {
        return absl::InvalidArgumentError("rules takes the name of a file, in quotes, and a name for the relation");
      }
      RuleLoader loader(ctx_, functions_, operators_);
      const std::string path = (std::filesystem::path(file).parent_path() / std::string(ctx_.Text(args[0]))).string();
      if (auto s = loader.LoadFile(path, ReadTensorObject); !s.ok()) return s;
      for (const auto& w : loader.warnings()) std::cerr << "warning: " << w.ToString() << "\n";
      auto skipped = RelateRules(ctx_, script.program(), loader.rules(), functions_, std::string(ctx_.Text(args[1])),
                                 operators_.commutative());
      if (!skipped.ok()) return skipped.status();
      for (const SkippedRule& r : *skipped) std::cerr << "warning: " << r.rule << ": not a relation: " << r.reason << "\n";
      return absl::OkStatus();
    });
  }

 private:
  Context& ctx_;
  FunctionRegistry functions_;
  FreeOperatorTable operators_;
  TermCodec codec_;
  TermTypes types_;
};

const char* EndName(QueryEnd e) {
  switch (e) {
    case QueryEnd::kExhausted:
      return "exhausted";
    case QueryEnd::kStepLimit:
      return "step limit";
    case QueryEnd::kInterrupted:
      return "interrupted";
    case QueryEnd::kError:
      return "error";
    case QueryEnd::kRunning:
      break;
  }
  return "enough";
}

absl::StatusOr<int> RunQuery(const Args& args) {
  auto steps = args.Int("--steps", -1, 0, int64_t{1} << 62);
  if (!steps.ok()) return steps.status();
  auto megabytes = args.Int("--megabytes", 2048, 1, 2048);
  if (!megabytes.ok()) return megabytes.status();
  QueryLimits limits;
  if (*steps >= 0) limits.steps = static_cast<uint64_t>(*steps);
  limits.bytes = static_cast<size_t>(*megabytes) << 20;

  auto repeat = args.Int("--repeat", 1, 1, 1'000'000);
  if (!repeat.ok()) return repeat.status();
  const bool json = args.Has("--json"), stats = args.Has("--stats"), quiet = args.Has("--quiet");
  using Clock = std::chrono::steady_clock;
  std::vector<std::vector<double>> times;  // by query, a round each
  Json queries = Json::array();
  bool cut = false;
  for (int64_t round = 0; round < *repeat; ++round) {
    Context ctx;
    const bool last = round + 1 == *repeat;
    Json answers = Json::array();
    size_t count = 0, query = 0;
    Clock::time_point start;
    ScriptHooks hooks;
    hooks.on_start = [&] { start = Clock::now(); };
    hooks.on_answer = [&](const Answer& a) {
      ++count;
      if (quiet || !last) return true;
      if (!json) {
        std::cout << a.ToString(ctx) << "\n";
        return true;
      }
      Json constraints = Json::array();
      for (Term c : a.constraints) constraints.push_back(PrintPlain(ctx, c));
      answers.push_back({{"value", PrintPlain(ctx, a.value)}, {"constraints", constraints}});
      return true;
    };
    hooks.on_end = [&](Term form, const Query& q) {
      if (query >= times.size()) times.emplace_back();
      times[query].push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
      std::sort(times[query].begin(), times[query].end());
      const double ms = times[query][times[query].size() / 2];
      ++query;
      if (last && q.end() == QueryEnd::kStepLimit) {
        cut = true;
        std::cerr << "warning: " << Brief(ctx, form, 80) << ": stopped after " << q.steps() << " steps\n";
      }
      if (last && json) {
        queries.push_back({{"query", Brief(ctx, form, 200)}, {"count", count}, {"answers", answers}, {"end", EndName(q.end())},
                           {"steps", q.steps()}, {"peak_bytes", q.peak_bytes()}, {"milliseconds", ms}});
      } else if (last && stats) {
        std::cerr << absl::StrFormat("%d answers (%s), %d steps, %.2f ms, %.1f MB\n", count, EndName(q.end()), q.steps(), ms,
                                     static_cast<double>(q.peak_bytes()) / 1e6);
      }
      answers = Json::array();
      count = 0;
    };
    Script script(ctx, std::move(hooks), limits);
    RuleForms rule_forms(ctx, script);
    for (const std::string& file : args.words()) {
      if (auto s = script.RunFile(file); !s.ok()) return Fail(s);
    }
  }
  if (json) std::cout << queries.dump(1) << "\n";
  return cut ? 1 : 0;
}

// ---- repl

struct Form {
  const char* name;
  const char* use;
  const char* help;
};

constexpr Form kForms[] = {
    {"defrel", "(defrel (name ?a …) GOAL …)", "Defines a relation: it holds where all goals do."},
    {"deftabled", "(deftabled (name ?a …) GOAL …)", "The same, but each call is answered once: left recursion ends."},
    {"fact", "(fact name T …)", "Adds a ground fact to a relation that has no definition."},
    {"run", "(run N (?q …) GOAL …)", "Prints at most N answers."},
    {"run*", "(run* (?q …) GOAL …)", "Prints all answers; Ctrl-C stops."},
    {"rules", "(rules \"FILE.rules\" NAME)", "Rules as relations: (NAME ?t ?u) is one step anywhere, NAME/root, NAME*."},
    {"include", "(include \"FILE\")", "Reads a file of forms, once."},
    {"==", "(== T T)", "The two terms are equal."},
    {"=/=", "(=/= T T)", "The two terms differ, now and later."},
    {"absento", "(absento T U)", "T occurs nowhere in U."},
    {"symbolo", "(symbolo T)", "T is a symbol."},
    {"numbero", "(numbero T)", "T is a number."},
    {"stringo", "(stringo T)", "T is a string."},
    {"fresh", "(fresh (?x …) GOAL …)", "New variables for the goals."},
    {"conde", "(conde (GOAL …) …)", "Any of the clauses, in turn."},
    {"conda", "(conda (HEAD GOAL …) …)", "The first clause whose head succeeds, with all answers of the head."},
    {"condu", "(condu (HEAD GOAL …) …)", "As conda, with the head's first answer alone."},
    {"once", "(once GOAL …)", "The first answer of the goals."},
    {"in-order", "(in-order (GOAL …) …)", "Any of the clauses, one after the other."},
    {"call", "(call R T …)", "The relation R, a name or (name U …), holds."},
    {"project", "(project (?x …) GOAL …)", "The goals; an error if some ?x has no value yet."},
    {"typeo", "(typeo T KIND)", "T is of that kind or type: integer, tuple, f32, (f32 (2 N))."},
    {"isinstanceo", "(isinstanceo T KIND)", "The same, or of a narrower one."},
    {"ac==", "(ac== T U)", "Equal by the laws of the operators that are declared."},
    {"operator", "(operator OP :assoc :comm :unit U)", "Declares laws."},
    {"succeed", "succeed", "Holds."},
    {"fail", "fail", "Does not hold."},
};

volatile std::sig_atomic_t interrupted = 0;

// Everything that has a name: forms, goals, the library, and what the session has defined.
std::vector<std::string> completions;
const Program* session = nullptr;

// libedit asks for the matches one by one.
char* NextMatch(const char* text, int state) {
  static size_t next;
  if (state == 0) {
    next = 0;
    completions.clear();
    for (const Form& f : kForms) completions.emplace_back(f.name);
    for (const LibraryRelation& r : LibraryRelations()) completions.push_back(r.name);
    if (session != nullptr) {
      for (std::string& name : session->Names()) completions.push_back(std::move(name));
    }
    std::sort(completions.begin(), completions.end());
    completions.erase(std::unique(completions.begin(), completions.end()), completions.end());
  }
  const std::string_view prefix = text;
  while (next < completions.size()) {
    const std::string& name = completions[next++];
    if (name.compare(0, prefix.size(), prefix) == 0) return strdup(name.c_str());
  }
  return nullptr;
}

char** Complete(const char* text, int, int) {
  rl_attempted_completion_over = 1;
  return rl_completion_matches(text, NextMatch);
}

void Help(const std::string& what) {
  for (const Form& f : kForms) {
    if (what.empty() || what == f.name) std::cout << absl::StrFormat("  %-28s %s\n", f.use, f.help);
  }
  if (what.empty()) std::cout << "and the relations of the library:\n ";
  for (const LibraryRelation& r : LibraryRelations()) {
    if (what.empty()) std::cout << " " << r.name;
    if (what == r.name) std::cout << absl::StrFormat("  %s, a relation of %d arguments: docs/relational.md\n", r.name, r.arity);
  }
  if (what.empty()) std::cout << "\n";
}

// How many parentheses are open at the end of the text; strings and comments do not count.
int OpenParentheses(const std::string& s) {
  int open = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == ';') {
      while (i < s.size() && s[i] != '\n') ++i;
    } else if (s[i] == '"' || s[i] == '|') {
      const char quote = s[i++];
      while (i < s.size() && s[i] != quote) i += s[i] == '\\' ? 2 : 1;
      if (i >= s.size()) return 1;
    } else {
      open += s[i] == '(' ? 1 : s[i] == ')' ? -1 : 0;
    }
  }
  return open;
}

absl::StatusOr<int> RunRepl(const Args& args) {
  Context ctx;
  size_t count = 0;
  std::signal(SIGINT, [](int) { interrupted = 1; });
  Script script(ctx, {.on_start = nullptr, .on_answer =
                          [&](const Answer& a) {
                            ++count;
                            std::cout << a.ToString(ctx) << std::endl;
                            return interrupted == 0;
                          },
                      .on_end =
                          [&](Term, const Query& q) {
                            std::cout << "; " << count << (count == 1 ? " answer" : " answers")
                                      << (interrupted != 0 ? ", interrupted" : q.end() == QueryEnd::kExhausted ? ", no more" : "") << "\n";
                            count = 0;
                          }},
                {.interrupt = &interrupted});
  RuleForms rule_forms(ctx, script);
  session = &script.program();
  for (const std::string& file : args.words()) {
    if (auto s = script.RunFile(file); !s.ok()) return Fail(s);
  }
  const bool terminal = isatty(STDIN_FILENO) != 0;
  std::string history;
  if (terminal) {
    if (const char* home = std::getenv("HOME")) history = std::string(home) + "/.retuple_history";
    rl_initialize();
    rl_attempted_completion_function = Complete;
    using_history();
    read_history(history.c_str());
    std::cout << "retuple: relational forms; `help` lists them, Ctrl-D ends\n";
  }
  std::string text;
  int status = 0;
  for (;;) {
    std::string line;
    if (terminal) {
      char* read = readline(text.empty() ? "> " : "… ");
      if (read == nullptr) break;
      line = read;
      std::free(read);
    } else if (!std::getline(std::cin, line)) {
      break;
    }
    if (text.empty() && (line == "help" || line.rfind("help ", 0) == 0)) {
      Help(line.size() > 5 ? line.substr(5) : "");
      continue;
    }
    text += line + "\n";
    if (OpenParentheses(text) > 0) continue;
    if (terminal && text.size() > 1) add_history(text.substr(0, text.size() - 1).c_str());
    interrupted = 0;
    if (auto s = script.RunText(text, ""); !s.ok()) {
      status = terminal ? 0 : 1;
      Fail(s);
    }
    text.clear();
  }
  if (!text.empty()) {
    if (auto s = script.RunText(text, ""); !s.ok()) status = Fail(s);
  }
  if (terminal && !history.empty()) write_history(history.c_str());
  session = nullptr;
  return status;
}

}  // namespace

std::span<const Command> QueryCommands() {
  static const std::vector<Command> commands = {
      {{"query", "FILE.mk …", "Runs a file of relations and queries, and prints the answers.",
        {{"--steps", "N", "stop a query after N steps (exit status 1)"}, {"--megabytes", "N", "memory of a search (2048)"},
         {"--repeat", "N", "run everything N times; times are medians"}, {"--quiet", "", "count answers, do not print them"},
         {"--stats", "", "answers, steps, time and memory of each query on stderr"}, {"--json", "", "for machines"}}, 1, 100000},
       RunQuery},
      {{"repl", "[FILE.mk …]", "Reads relations and queries from the terminal.", {}, 0, 100000}, RunRepl},
  };
  return commands;
}

}  // namespace retuple
