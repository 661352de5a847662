// The search: streams of states, with miniKanren's interleaving.
//
// A stream is nothing, a suspended computation, or an answer and a stream. What is suspended is a tree: tasks (a state and what is left
// to do) at the leaves, Mplus (two streams in turn) and Bind (a stream, and goals for each of its answers) inside. A step goes down to
// the task whose turn it is, runs it to its next suspension, and turns every Mplus on the way back over. These are exactly the steps of
// faster-miniKanren (its mplus, bind, fresh and conde), so answers come in its order; but a chain of Binds is one list of goals, a lone
// task goes on without a step back, and nothing recurs on the native stack: the way down is an array.
#ifndef RETUPLE_UNIFY_INTERNAL_MACHINE_H_
#define RETUPLE_UNIFY_INTERNAL_MACHINE_H_

#include <algorithm>
#include <vector>

#include "unify/internal/code.h"

namespace retuple::internal {

enum class Step { kAnswer, kDone, kLimit };

// Facts of a relation, and an index of each argument position, made when a call has it bound.
struct Facts {
  uint32_t arity = 0;
  std::vector<Term> terms;  // row by row
  size_t rows() const { return arity == 0 ? 0 : terms.size() / arity; }
  absl::flat_hash_map<Term, uint32_t> whole;                          // row tuple → row: no fact twice
  std::vector<absl::flat_hash_map<Term, std::vector<uint32_t>>> by;  // position → value → rows, ascending
  std::vector<size_t> indexed;                                        // rows in by[position]
};

// A goal in C++: gets the arguments as terms (variables stand for what is unknown) and returns alternatives, each a tuple that the tuple
// of arguments is made equal to. It may use the variables that it got, and new ones.
using NativeFn = std::function<absl::StatusOr<std::vector<Term>>(Context& ctx, std::span<const Term> args)>;

class Machine {
 public:
  Machine(Context& ctx, const Code& code, std::vector<Facts>& facts, const std::vector<NativeFn>& natives,
          const std::vector<Constraint>& constraints);

  // Begins with the goals of relation `main`, whose arguments are fresh variables: the query's.
  void Start(uint32_t main);
  // Runs to the next answer; its state is then in store().state(). `fuel` counts instructions; kLimit leaves the search resumable.
  Step Next(uint64_t& fuel);
  const std::vector<Value>& query() const { return query_; }
  Store& store() { return store_; }
  uint64_t instructions() const { return executed_; }
  size_t peak_bytes() const { return std::max(heap_.peak_bytes(), heap_.bytes()); }
  const absl::Status& error() const { return error_; }

 private:
  enum class Result { kEmpty, kSuspended, kAnswer, kAnswerRest, kRun };
  // Where the result of what runs goes.
  struct Return {
    enum Kind : uint8_t { kMplus, kBind, kClauses, kCommit } kind;
    Value node = Value::Unset();   // an object to use again, or unset
    Value rest = Value::Unset();   // kMplus: the other stream; kBind: goals
    State state = {};              // kClauses, kCommit: with frame, the instruction's pc, and the clause
    Value frame = Value::Unset();
    uint32_t pc = 0, index = 0;
    bool ordered = false;  // kMplus, kClauses: the other stream waits until this one has ended
  };

  Result Run();
  // Begins on a stream: kRun, or a result that is there at once.
  Result Force(Value stream);
  Result Deliver(Result r);
  Result Clause(uint32_t pc, uint32_t index, State state, Value frame);
  Result CommitClause(uint32_t pc, uint32_t index, State state, Value frame);
  void AbsorbBinds();
  bool Execute(const Instruction& i);
  // A constraint could not decide: the search ends.
  bool Broken() const { return !store_.error().ok() || !error_.ok(); }
  void Collect();

  Value MakeTask();
  // Objects that hold a state: its scope is the raw word, root and next_id the first fields.
  Value SaveState(uint8_t type, const State& s, std::initializer_list<Value> fields, uint16_t aux = 0);
  State LoadState(Value object);
  Value Pair2(uint8_t type, Value a, Value b);
  Value Cont(uint32_t pc, uint32_t end, Value frame, Value next);
  Value Append(Value first, Value second);
  // Leaves `goals_` at the first Cont: unwinds sequences.
  bool PopGoal();

  Value Get(Operand o);
  Value Build(Operand o);
  bool Match(Operand skeleton, Value v);
  Result Call(const Instruction& i);
  Result CallFacts(const RelationCode& r, Value args);
  Result Enter(const RelationCode& r, Value frame);
  Result Apply(const Instruction& i);
  Result ApplyTo(const Callable& c, Value args);
  Result Stop(absl::Status error);
  Result Native(uint32_t native, Value args);
  // The next fact of a call, or the next of a list of alternatives, that unifies.
  Result NextFact(State state, Value args, uint32_t relation, uint32_t position, Value key, uint32_t next);
  Result NextAlternative(State state, Value args, Value list);
  // What is left of the block and `goals_` becomes a frame of `returns_`.
  void PushRest();

  Store store_;
  Heap& heap_;
  State& state_;
  const Code& code_;
  std::vector<Facts>& facts_;
  const std::vector<NativeFn>& natives_;
  std::vector<Value> constants_;
  size_t loaded_constants_ = 0;

  // Registers of what runs.
  uint32_t pc_ = 0, end_ = 0;
  Value frame_ = Value::Unset();
  Value goals_ = Value::Nil();  // after this block: a list of kCont and kSeq
  std::vector<Return> returns_;
  Value stream_ = Value::Unset();  // suspended at the root
  Value rest_ = Value::Unset();    // of kSuspended and kAnswerRest
  Value force_ = Value::Unset();   // what runs next instead of the registers: Deliver does not begin on streams itself
  std::vector<Value> query_;
  std::vector<Value> values_;
  std::vector<std::pair<Operand, bool>> build_stack_;
  std::vector<std::pair<Operand, Value>> match_stack_;
  uint64_t executed_ = 0;
  uint64_t limit_ = 0;
  bool paused_ = false;
  absl::Status error_;
};

}  // namespace retuple::internal

#endif  // RETUPLE_UNIFY_INTERNAL_MACHINE_H_
