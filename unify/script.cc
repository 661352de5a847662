#include "unify/script.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_format.h"
#include "etuple/printer.h"
#include "unify/tabling.h"

namespace retuple {

Script::Script(Context& ctx, ScriptHooks hooks, const QueryLimits& limits)
    : ctx_(ctx), program_(ctx), hooks_(std::move(hooks)), limits_(limits) {
  (void)AddAcGoal(program_, theory_);  // the name is free in a new program
}

absl::Status Script::RunFile(const std::string& path) {
  std::error_code error;
  const std::string key = std::filesystem::weakly_canonical(path, error).string();
  // A file is read once, so that libraries may include what they need.
  if (!included_.insert(key).second) return absl::OkStatus();
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) return absl::NotFoundError(absl::StrFormat("%s: cannot be read", path));
  std::stringstream text;
  text << in.rdbuf();
  return RunText(text.str(), path);
}

absl::Status Script::RunText(std::string_view text, const std::string& file) {
  auto forms = ReadForms(ctx_, text, {.object_reader = object_reader_, .locate_depth = 0, .file = file});
  if (!forms.ok()) return forms.status();
  for (const Form& f : *forms) {
    auto s = RunForm(f, file);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Script::RunForm(const Form& form, const std::string& file) {
  const Term t = form.term;
  auto at = [&](const absl::Status& s) {
    return absl::Status(s.code(), absl::StrFormat("%s%s: %s", file.empty() ? "" : file + ":", form.position.ToString(),
                                                  std::string(s.message())));
  };
  auto bad = [&](const std::string& what) { return at(absl::InvalidArgumentError(what)); };
  const Term head = ctx_.IsTuple(t) && !t.is_nil() && ctx_.IsSymbol(ctx_.Rator(t)) ? ctx_.Rator(t) : Term();
  if (head.is_nil()) return bad("a form begins with its name, as (run* (?x) GOAL …)");
  const std::string_view name = ctx_.Text(head);
  auto args = ctx_.Rands(t);
  if (name == "include") {
    if (args.size() != 1 || ctx_.kind(args[0]) != Kind::kString) return bad("include takes the name of a file, in quotes");
    if (depth_ >= 100) return bad("files include each other more than 100 deep");
    ++depth_;
    auto s = RunFile((std::filesystem::path(file).parent_path() / std::string(ctx_.Text(args[0]))).string());
    --depth_;
    return s.code() == absl::StatusCode::kNotFound ? at(s) : s;
  }
  if (name == "defrel") {
    auto s = program_.Define(t);
    return s.ok() ? s : at(s);
  }
  if (name == "deftabled") {
    auto s = DefineTabled(ctx_, program_, t, limits_);
    return s.ok() ? s : at(s);
  }
  if (name == "operator") {
    auto s = DeclareOperator(ctx_, args, *theory_);
    if (!s.ok()) return at(s);
    // For eq_comm and eq_assoc (unify/assoc_comm.h); a program may use these names for something else.
    const OperatorLaws* laws = theory_->Find(args[0]);
    if (laws->comm) (void)program_.AddFact("commutative", args.first(1));
    if (laws->assoc) (void)program_.AddFact("associative", args.first(1));
    return absl::OkStatus();
  }
  if (name == "fact") {
    if (args.empty() || !ctx_.IsSymbol(args[0])) return bad("fact takes a relation and its arguments");
    auto s = program_.AddFact(ctx_.Text(args[0]), args.subspan(1));
    return s.ok() ? s : at(s);
  }
  if (name == "run" || name == "run*") {
    int64_t n = -1;
    if (name == "run") {
      if (args.empty() || ctx_.kind(args[0]) != Kind::kInteger || ctx_.IntegerValue(args[0]) < 0) {
        return bad("run takes how many answers, the variables, and goals");
      }
      n = ctx_.IntegerValue(args[0]);
      args = args.subspan(1);
    }
    if (args.empty()) return bad(std::string(name) + " takes the variables that are asked for, and goals");
    // A list of one variable asks for its value.
    const Term wanted = ctx_.Children(args[0]).size() == 1 ? ctx_.Children(args[0])[0] : args[0];
    if (hooks_.on_start) hooks_.on_start();
    auto q = program_.Solve(wanted, args.subspan(1), limits_);
    if (!q.ok()) return at(q.status());
    for (int64_t k = 0; k != n; ++k) {
      auto a = (*q)->Next();
      if (!a.has_value() || !hooks_.on_answer(*a)) break;
    }
    if (!(*q)->status().ok()) return at((*q)->status());
    if (hooks_.on_end) hooks_.on_end(t, **q);
    return absl::OkStatus();
  }
  if (auto it = forms_.find(name); it != forms_.end()) {
    auto s = it->second(args, file);
    return s.ok() ? s : at(s);
  }
  return bad(absl::StrFormat("%s is no form: there are defrel, deftabled, fact, include, operator, run and run*", std::string(name)));
}

}  // namespace retuple
