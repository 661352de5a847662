// Structural comparison of graphs, with and without the names of their interface. Bodies of
// subgraphs are compared without: they are equal up to the choice of names of their formals.
#ifndef RETUPLE_IR_BRIDGE_INTERNAL_STRUCTURE_H_
#define RETUPLE_IR_BRIDGE_INTERNAL_STRUCTURE_H_

#include <cstdint>

#include "ir_bridge/graph.h"

namespace retuple::internal {

enum class NamesMatter : bool { kNo, kYes };

bool GraphsEqual(const Graph& a, const Graph& b, NamesMatter names);
uint64_t HashGraph(const Graph& g, NamesMatter names);

}  // namespace retuple::internal

#endif  // RETUPLE_IR_BRIDGE_INTERNAL_STRUCTURE_H_
