// The relational part of the text language: a file of definitions, facts and queries.
//
//   (operator + :assoc :comm :unit 0)        laws, for the goal (ac== T U) (unify/ac_goal.h)
//   (include "lists.mk")                     relative to the file
//   (defrel (parent-of ?x ?y) GOAL …)        a relation
//   (deftabled (path ?x ?y) GOAL …)          one whose calls are answered once (unify/tabling.h)
//   (fact parent Homer Bart)                 a fact of a relation without definition
//   (run 3 (?x ?y) GOAL …)                   at most three answers; `run*` gives all
//
// Forms are carried out in order. Answers go to a callback as they are found.
#ifndef RETUPLE_UNIFY_SCRIPT_H_
#define RETUPLE_UNIFY_SCRIPT_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "etuple/reader.h"
#include "unify/ac_goal.h"
#include "unify/relational.h"

namespace retuple {

struct ScriptHooks {
  // A query is about to be compiled.
  std::function<void()> on_start;
  // An answer; false ends its query.
  std::function<bool(const Answer&)> on_answer;
  // A query ended; `form` is its text's term.
  std::function<void(Term form, const Query&)> on_end;
};

class Script {
 public:
  Script(Context& ctx, ScriptHooks hooks, const QueryLimits& limits = {});

  // InvalidArgument with file:line:column, NotFound for a file that is not there. Stops at the first error; what came before is done.
  absl::Status RunText(std::string_view text, const std::string& file);
  absl::Status RunFile(const std::string& path);

  // A form of another room, by name. Errors get the form's place.
  using FormHandler = std::function<absl::Status(std::span<const Term> args, const std::string& file)>;
  void AddForm(std::string name, FormHandler handler) { forms_[std::move(name)] = std::move(handler); }

  // Objects may stand in the text.
  void set_object_reader(ObjectReader reader) { object_reader_ = std::move(reader); }

  Program& program() { return program_; }

 private:
  absl::Status RunForm(const Form& form, const std::string& file);

  Context& ctx_;
  Program program_;
  std::shared_ptr<Theory> theory_ = std::make_shared<Theory>();
  ScriptHooks hooks_;
  ObjectReader object_reader_;
  QueryLimits limits_;
  std::set<std::string> included_;
  std::map<std::string, FormHandler, std::less<>> forms_;
  int depth_ = 0;
};

}  // namespace retuple

#endif  // RETUPLE_UNIFY_SCRIPT_H_
