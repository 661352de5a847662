// Control flow, sequences and optionals.
#include "ir_bridge/attrs/control.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/register_schemas.h"
#include "ir_bridge/internal/schema_builder.h"

namespace retuple::internal {

using namespace attrs;  // NOLINT: the family's own structs

void RegisterControlSchemas(Registry& r) {
  Form(r, "If", {1, 11, 13, 16}).In("cond").Out("outputs+").Attrs<IfAttrs>().Infer(InferIf);
  Form(r, "Loop", {1, 11, 13, 16})
      .In("M? cond? v_initial*").Out("v_final_and_scan_outputs+").Attrs<LoopAttrs>().Infer(InferLoop);
  Form(r, "Scan-8", {8})
      .In("sequence_lens? initial_state_and_scan_inputs+").Out("final_state_and_scan_outputs+")
      .Attrs<ScanV8Attrs>().Infer(InferScanV8);
  Form(r, "Scan", {9, 11, 16})
      .In("initial_state_and_scan_inputs+").Out("final_state_and_scan_outputs+")
      .Attrs<ScanAttrs>().Infer(InferScan);

  Form(r, "SequenceConstruct", {11}).In("inputs+").Out("output_sequence").Infer(InferSequenceConstruct);
  Form(r, "SequenceEmpty", {11}).Out("output").Attrs<SequenceEmptyAttrs>().Infer(InferSequenceEmpty);
  Form(r, "SequenceAt", {11}).In("input_sequence position").Out("tensor").Infer(InferSequenceAt);
  Form(r, "SequenceInsert", {11})
      .In("input_sequence tensor position?").Out("output_sequence").Infer(InferSequenceInsert);
  Form(r, "SequenceErase", {11})
      .In("input_sequence position?").Out("output_sequence").Infer(InferSequenceErase);
  Form(r, "SequenceLength", {11}).In("input_sequence").Out("length").Infer(InferSequenceLength);
  Form(r, "SequenceMap", {17})
      .In("input_sequence additional_inputs*").Out("out_sequence+")
      .Attrs<SequenceMapAttrs>().Infer(InferSequenceMap);
  Form(r, "ConcatFromSequence", {11})
      .In("input_sequence").Out("concat_result")
      .Attrs<ConcatFromSequenceAttrs>().Infer(InferConcatFromSequence);
  Form(r, "SplitToSequence", {11})
      .In("input split?").Out("output_sequence")
      .Attrs<SplitToSequenceAttrs>().Infer(InferSplitToSequence);

  Form(r, "Optional", {15}).In("input?").Out("output").Attrs<OptionalAttrs>().Infer(InferOptional);
  Form(r, "OptionalGetElement", {15}).In("input").Out("output").Infer(InferOptionalGetElement);
  Form(r, "OptionalHasElement", {15}).In("input").Out("output").Infer(InferOptionalHasElement);
}

}  // namespace retuple::internal
