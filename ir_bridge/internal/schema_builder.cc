#include "ir_bridge/internal/schema_builder.h"

namespace retuple::internal {
namespace {

struct Arity {
  std::vector<std::string> names;
  std::vector<bool> optional;
  int min = 0;
  int max = 0;
};

// ONNX counts up to the last position that must be present.
Arity ParseNames(std::string_view text) {
  Arity a;
  int position = 0;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    if (word.empty()) continue;
    ++position;
    const char mark = word.back();
    if (mark == '?' || mark == '*' || mark == '+') word.remove_suffix(1);
    if (mark == '*') a.min = position - 1;
    if (mark != '*' && mark != '?') a.min = position;
    a.max = mark == '*' || mark == '+' ? kVariadic : position;
    a.names.emplace_back(word);
    a.optional.push_back(mark == '?');
  }
  return a;
}

}  // namespace

Form::Form(Registry& registry, std::string_view form, std::vector<int> since)
    : registry_(registry) {
  schema_.form = std::string(form);
  schema_.since = std::move(since);
  if (size_t p = form.find("::"); p != std::string_view::npos) {
    schema_.domain = std::string(form.substr(0, p));
    form.remove_prefix(p + 2);
  }
  schema_.name = std::string(form.substr(0, form.find('-')));
  schema_.min_inputs = schema_.max_inputs = 0;
}

Form::~Form() { (void)registry_.Add(std::move(schema_)); }

Form& Form::In(std::string_view names) {
  Arity a = ParseNames(names);
  schema_.input_names = std::move(a.names);
  schema_.input_optional = std::move(a.optional);
  schema_.min_inputs = a.min;
  schema_.max_inputs = a.max;
  return *this;
}

Form& Form::Out(std::string_view names) {
  Arity a = ParseNames(names);
  schema_.output_names = std::move(a.names);
  schema_.min_outputs = a.min;
  schema_.max_outputs = a.max;
  return *this;
}

}  // namespace retuple::internal
