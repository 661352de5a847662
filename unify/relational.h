// Relational programming on expression tuples: miniKanren (Byrd, "Relational Programming in miniKanren", 2009; the constraints of
// Byrd, Holk & Friedman, "miniKanren, Live and Untagged", 2012).
//
// A goal is a term, so the text language and C++ have the same goals:
//
//   (== T T) (=/= T T) (absento T T) (symbolo T) (numbero T) (stringo T) (typeo T KIND) (isinstanceo T KIND) succeed fail
//   (fresh (?x …) GOAL …)   (conde (GOAL …) …)   (in-order (GOAL …) …)   (conda (HEAD GOAL …) …)   (condu …)   (once GOAL …)
//   (project (?x …) GOAL …)   (name T …)   (call R T …)
//
// and those of the library (unify/library.h): lists, arithmetic, term walks, which a program may define otherwise.
//
// In a term `?x` is a variable of a fresh, a relation's argument or the query, `(?a ..?d)` is the list whose first is ?a and whose rest is
// ?d, `(a .. b)` an improper list; any other tuple is a list and nothing in it is evaluated.
//
//   Program p(ctx);
//   p.Define(*ReadTerm(ctx, "(defrel (appendo ?l ?s ?o) (conde ((== ?l ()) (== ?s ?o)) "
//                           "((fresh (?a ?d ?r) (== ?l (?a ..?d)) (== ?o (?a ..?r)) (appendo ?d ?s ?r)))))"));
//   auto q = p.Solve(*ReadTerm(ctx, "(?x ?y)"), {*ReadTerm(ctx, "(appendo ?x ?y (1 2))")});
//   while (auto a = (*q)->Next()) std::cout << a->ToString(ctx) << "\n";        // (() (1 2)), ((1) (2)), ((1 2) ())
//
// Search is complete (interleaving) and its order is fixed: fresh and conde suspend as in faster-miniKanren, whose answers come in the
// same order here. Answers are made when they are asked for.
#ifndef RETUPLE_UNIFY_RELATIONAL_H_
#define RETUPLE_UNIFY_RELATIONAL_H_

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "etuple/term.h"
#include "unify/constraint.h"

namespace retuple {

// A value, its variables named ?_0, ?_1, … in order of occurrence, and what must hold of them: goals, sorted by kind and text.
struct Answer {
  Term value;
  std::vector<Term> constraints;
  // `VALUE`, or `VALUE :where (=/= ?_0 5) (symbolo ?_1)`
  std::string ToString(const Context& ctx) const;
  friend bool operator==(const Answer&, const Answer&) = default;
};

struct QueryLimits {
  uint64_t steps = ~uint64_t{0};         // instructions in all
  size_t bytes = size_t{2} << 30;        // of the search's heap; 2 GiB at most
  size_t collect_bytes = size_t{16} << 20;  // the least that is built between two garbage collections
  const volatile std::sig_atomic_t* interrupt = nullptr;  // the search stops when this is not 0
};

enum class QueryEnd { kRunning, kExhausted, kStepLimit, kInterrupted, kError };

// The answers of a query, lazily. Keeps what it needs of its program; facts that are added meanwhile are seen.
class Query {
 public:
  virtual ~Query() = default;
  // Nothing when there are no more, or a limit or an error came: see end() and status().
  virtual std::optional<Answer> Next() = 0;
  virtual QueryEnd end() const = 0;
  virtual const absl::Status& status() const = 0;
  virtual uint64_t steps() const = 0;
  virtual size_t peak_bytes() const = 0;
};

// A goal in C++: the arguments as terms (variables where unknown), in any of which the result may use them; each alternative is a tuple
// that the tuple of arguments is unified with. Finite; deterministic.
using NativeGoal = std::function<absl::StatusOr<std::vector<Term>>(Context& ctx, std::span<const Term> args)>;
// A test of ground arguments. As a goal it waits until they are ground, and stands with the answer if they never are.
using GoalPredicate = std::function<bool(std::span<const Term> args)>;
// Whether `value` is of the type that `type` names; nothing if it names none. `exact`: and not of a subtype.
using TypeTest = std::function<std::optional<bool>(Term value, Term type, bool exact)>;

class Program {
 public:
  explicit Program(Context& ctx);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // `(defrel (name ?a …) GOAL …)`. InvalidArgument for a malformed goal, a variable that nothing binds, a wrong number of arguments, or a
  // second definition. Relations may be used before they are defined.
  absl::Status Define(Term defrel);
  // Adds a ground fact to a relation that has no definition; one that is there already changes nothing.
  absl::Status AddFact(std::string_view relation, std::span<const Term> row);
  // InvalidArgument if the name is taken. `arity` is -1 for any number of arguments.
  absl::Status AddGoal(std::string name, NativeGoal goal) { return AddGoal(std::move(name), -1, std::move(goal)); }
  absl::Status AddGoal(std::string name, int arity, NativeGoal goal);
  absl::Status AddPredicate(std::string name, GoalPredicate predicate);
  // A goal that waits for some of its arguments; `shown` is its name in answers.
  absl::Status AddConstraint(std::string name, int arity, ConstraintFn decide, std::string shown = "");
  // Types beside the kinds of terms, for typeo and isinstanceo.
  void AddTypes(TypeTest test);
  // A relation of facts that may have none.
  absl::Status DeclareFacts(std::string_view relation, size_t arity);
  // It is defined or has facts, and takes that many arguments.
  bool HasRelation(std::string_view name, size_t arity) const;
  // Names of relations and goals, sorted.
  std::vector<std::string> Names() const;
  // The rows of a relation that has facts, in order of addition; nothing for any other.
  std::vector<Term> Rows(std::string_view relation) const;

  // Solves the goals for the variables in `wanted`: a variable, or a list of them whose values each answer lists. NotFound names a
  // relation without definition.
  absl::StatusOr<std::unique_ptr<Query>> Solve(Term wanted, std::span<const Term> goals, const QueryLimits& limits = {});

  // State that goals of this program share, one of each type: made at the first call.
  template <typename T, typename Make>
  T& Attachment(Make make) {
    std::shared_ptr<void>& slot = AttachmentSlot(&kAttachmentKey<T>);
    if (slot == nullptr) slot = make();
    return *static_cast<T*>(slot.get());
  }

 private:
  template <typename T>
  static constexpr char kAttachmentKey = 0;
  std::shared_ptr<void>& AttachmentSlot(const void* key);
  absl::Status TakeFromLibrary(std::span<const std::pair<std::string, uint32_t>> missing);
  void AddLibraryNames();

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// All answers, or the first `n`.
absl::StatusOr<std::vector<Answer>> Run(Program& program, std::optional<size_t> n, Term wanted, std::span<const Term> goals,
                                        const QueryLimits& limits = {});

}  // namespace retuple

#endif  // RETUPLE_UNIFY_RELATIONAL_H_
