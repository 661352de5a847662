// The library: relations that every program may use without defining them.
//
//   lists        (caro L A) (cdro L D) (conso A D L) (heado A L) (tailo D L) (nullo L) (itero L) (membero X L) (appendo L S O)
//                (rembero X L O) (permuteo L M) (eq_length L M)
//   relations    (mapo R L M) (map_anyo R L M) (reduceo R T U) (walko R T U) (walk_termo R F T U) (term_walko P R T U)
//   terms        (applyo F ARGS T) (ground_order L M) (keywordo K V ARGS OTHERS) (literalo T NUMBER)
//   numbers      (addo A B C) (subo A B C) (mulo A B C) (divo A B C) (modo A B C) (lto A B) (leo A B) (gto A B) (geo A B)
//   C and A      (eq_comm T U) (eq_assoc T U) (eq_assoc_n N T U) (eq_assoccomm T U) (assoc_flatten T U), for operators of the facts
//                (commutative OP) and (associative OP)
//
// Names and results are those of Python's kanren (https://github.com/pythological/kanren) where it has them; R is a relation by name, or
// (name T …) with its first arguments. docs/relational.md says what each does. A program that defines one of the names gets its own.
#ifndef RETUPLE_UNIFY_LIBRARY_H_
#define RETUPLE_UNIFY_LIBRARY_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "unify/relational.h"

namespace retuple {

// Where the library keeps its definitions: a program's own `appendo` does not change the library's.
inline constexpr char kLibraryPrefix[] = "std/";

struct LibraryRelation {
  std::string name;  // without the prefix
  uint32_t arity = 0;
  bool facts = false;  // the program adds them
};

// All of them, by name.
std::span<const LibraryRelation> LibraryRelations();
// Null if there is none.
const LibraryRelation* FindLibrary(std::string_view name);

// Defines everything in `program`, with the prefix.
absl::Status DefineLibrary(Context& ctx, Program& program);

}  // namespace retuple

#endif  // RETUPLE_UNIFY_LIBRARY_H_
