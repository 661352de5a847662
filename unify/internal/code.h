// Goals compiled for the search machine.
//
// A relation's body becomes blocks of instructions that work on a frame of slots. Two things make it fast. A variable whose first
// occurrence is in an equation, before the frame can be shared by branches, needs no cell: its slot takes the part that it is equal to
// (as the first-occurrence instructions of Warren's machine, 1983). And a term of the text is a skeleton that is built only where it
// meets a variable. `fresh` costs a suspension and its slots; where a frame may be run through several times (behind a goal with several
// answers) a `fresh` becomes a call of an auxiliary relation with a frame of its own.
#ifndef RETUPLE_UNIFY_INTERNAL_CODE_H_
#define RETUPLE_UNIFY_INTERNAL_CODE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "unify/internal/store.h"

namespace retuple::internal {

// What an instruction takes: a constant, a slot, a slot at its first occurrence, or a pair of the skeleton.
class Operand {
 public:
  enum Kind : uint32_t { kConstant, kSlot, kFirst, kPair };
  constexpr Operand() = default;
  constexpr Operand(Kind k, uint32_t i) : bits_(i << 2 | k) {}
  constexpr Kind kind() const { return static_cast<Kind>(bits_ & 3); }
  constexpr uint32_t index() const { return bits_ >> 2; }

 private:
  uint32_t bits_ = 0;
};

enum class Op : uint8_t {
  kEnd,
  kEqual,      // x, y
  kDisequal,   // x, y
  kAbsent,     // x, y
  kType,       // x; a: kinds
  kConstrain,  // x: argument list; a: constraint
  kProject,    // x; an error if it has no value
  kInit,       // a: slot; makes a variable
  kFail,
  kSuspend,
  kCall,    // a: relation; b: first of its operands
  kApply,   // x: relation; b: first of its c operands
  kConde,   // a: first of b clauses; c: 1 if in order
  kCommit,  // a: first of 2·b blocks (heads, rests); c: 1 if only the head's first answer counts
  kNative,  // a: native goal; x: argument list
};

struct Instruction {
  Op op = Op::kEnd;
  uint32_t a = 0, b = 0, c = 0;
  Operand x, y;
};

struct RelationCode {
  std::string name;
  uint32_t arity = 0;
  bool defined = false;
  bool library = false;  // a definition of the user's may take its place
  uint32_t entry = 0;  // of its block
  uint32_t slots = 0;
  int32_t facts = -1;   // its table, if it has facts
  int32_t native = -1;  // its native goal, if it was used before that was added
};

// What a symbol means where a relation is called by its name at run time.
struct Callable {
  enum Kind : uint8_t { kRelation, kNative, kConstraint, kGoal } kind;
  uint32_t index = 0;  // kGoal: of the instruction's Op
  uint32_t kinds = 0;  // of a type goal
  int32_t arity = -1;  // -1: any
};

struct Code {
  std::vector<Instruction> instructions;
  std::vector<Term> constants;
  std::vector<std::pair<Operand, Operand>> pairs;    // skeletons
  std::vector<Operand> operands;                     // of calls
  std::vector<uint32_t> blocks;                      // entries of clauses
  std::vector<uint32_t> block_end;                   // by instruction: the kEnd of its block
  std::vector<RelationCode> relations;
  bool applies = false;                            // has a kApply
  absl::flat_hash_map<Term, Callable> callables;  // filled if it has
};

class Compiler {
 public:
  Compiler(Context& ctx, Code& code) : ctx_(ctx), code_(code) {}

  // The relation of that name, made if there is none; Error if it is known with another arity.
  absl::StatusOr<uint32_t> Relation(const std::string& name, uint32_t arity);
  // Compiles a body: parameters are variables, goals are terms. InvalidArgument with the goal that is wrong.
  absl::Status Define(uint32_t relation, std::span<const Term> parameters, std::span<const Term> goals);

  // Takes back the last Define.
  void Undo(uint32_t relation);
  bool IsReserved(const std::string& name) const;
  // The goals of the language that are one instruction, and all that has a name.
  void FillCallables();

  // Names of native goals and constraints, and how many arguments they take (-1: any).
  absl::flat_hash_map<std::string, uint32_t> natives, constraints;
  std::vector<int> native_arity, constraint_arity;
  // Whether a term names a type other than the kinds.
  std::function<bool(Term type, bool exact)> is_type;

 private:
  // The variables that a fresh, or a relation's head, brings; shared by all blocks inside. Where many are nested, one in a while holds
  // all that are visible, so that a variable is found soon.
  struct Scope {
    std::shared_ptr<Scope> outer;
    absl::flat_hash_map<Term, uint32_t> slots;
    bool complete = true;  // holds all that are visible
    uint32_t hops = 0;     // to the next that is
    size_t visible = 0;

    ~Scope();
    const uint32_t* Find(Term key) const;
    static std::shared_ptr<Scope> Inside(std::shared_ptr<Scope> outer, absl::flat_hash_map<Term, uint32_t> slots);
  };
  struct Block {
    std::vector<Term> goals;
    std::shared_ptr<Scope> scope;
    absl::btree_set<uint32_t> unready = {};  // slots that hold no value yet
    bool once;                               // runs once a frame
    uint32_t at;                             // where its entry goes, in code_.blocks; or the relation
    bool is_relation;
  };

  absl::Status CompileBlock(Block block);
  absl::Status CompileGoal(Term goal);
  absl::Status Branch(Term goal);
  absl::Status TypeGoal(Term goal, std::string_view name);
  absl::Status Apply(Term goal);
  absl::StatusOr<Operand> Compile(Term t, bool first_allowed);
  void InitAll();
  void Init(uint32_t slot);
  uint32_t NewSlot();
  // The name of a goal in parentheses, or nil.
  Term Head(Term goal) const;
  Term Key(Term variable);
  absl::Status Bad(Term goal, const std::string& what);
  Operand Constant(Term t);

  Context& ctx_;
  Code& code_;
  uint32_t relation_ = 0;
  Block block_;
  std::vector<Block> pending_blocks_, pending_relations_;
  absl::flat_hash_map<Term, uint32_t> constant_of_;
  uint32_t auxiliary_ = 0;
  std::array<size_t, 6> sizes_{};  // of the code before the last Define
  RelationCode before_;
};

}  // namespace retuple::internal

#endif  // RETUPLE_UNIFY_INTERNAL_CODE_H_
