// A whole graph as one term, and back: the text form of a model.
//
//   (graph "name" :inputs ((input "x" f32 (N 3)) …) :outputs (("y" value [type]) …) :defaults (("w" #<…>) …)
//          :ir 8 :opsets (("" 17) …) :producer ("name" "version") :domain "…" :doc "…" :version 1 :metadata (("k" "v") …)
//          :functions ("base64" …))
#ifndef RETUPLE_IR_BRIDGE_GRAPH_TERM_H_
#define RETUPLE_IR_BRIDGE_GRAPH_TERM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ir_bridge/graph.h"
#include "ir_bridge/term_codec.h"

namespace retuple {

absl::StatusOr<Term> GraphToTerm(Graph& graph, TermCodec& codec);
// InvalidArgument naming what is malformed.
absl::StatusOr<std::unique_ptr<Graph>> TermToGraph(TermCodec& codec, Term t);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_GRAPH_TERM_H_
