// Shapes, data movement, indexing, constants: operators that select or arrange elements.
#include "ir_bridge/attrs/move.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/register_schemas.h"
#include "ir_bridge/internal/schema_builder.h"

namespace retuple::internal {

using namespace attrs;  // NOLINT: the family's own structs

namespace {

void RegisterShapeForms(Registry& r) {
  Form(r, "Shape", {1, 13, 15}).In("data").Out("shape").Attrs<ShapeAttrs>().Infer(InferShape);
  Form(r, "Size", {1, 13}).In("data").Out("size").Infer(InferSize);
  Form(r, "Reshape-1", {1}).In("data").Out("reshaped").Attrs<ReshapeV1Attrs>().Infer(InferReshapeV1);
  Form(r, "Reshape", {5, 13, 14})
      .In("data shape").Out("reshaped").Attrs<ReshapeAttrs>().Infer(InferReshape);
  Form(r, "Flatten", {1, 9, 11, 13})
      .In("input").Out("output").Attrs<FlattenAttrs>().Infer(InferFlatten);
  Form(r, "Squeeze-1", {1, 11})
      .In("data").Out("squeezed").Attrs<SqueezeV1Attrs>().Infer(InferSqueezeV1);
  Form(r, "Squeeze", {13, 21}).In("data axes?").Out("squeezed").Infer(InferSqueeze);
  Form(r, "Unsqueeze-1", {1, 11})
      .In("data").Out("expanded").Attrs<UnsqueezeV1Attrs>().Infer(InferUnsqueezeV1);
  Form(r, "Unsqueeze", {13, 21}).In("data axes").Out("expanded").Infer(InferUnsqueeze);
  Form(r, "Transpose", {1, 13})
      .In("data").Out("transposed").Attrs<TransposeAttrs>().Infer(InferTranspose);
  Form(r, "Expand", {8, 13}).In("input shape").Out("output").Infer(InferExpand);
  Form(r, "Tile-1", {1}).In("input tiles axis").Out("output").Infer(InferTileV1);
  Form(r, "Tile", {6, 13}).In("input repeats").Out("output").Infer(InferTile);
}

void RegisterPieces(Registry& r) {
  Form(r, "Concat-1", {1})
      .In("inputs+").Out("concat_result").Attrs<ConcatV1Attrs>().Infer(InferConcat);
  Form(r, "Concat", {4, 11, 13})
      .In("inputs+").Out("concat_result").Attrs<ConcatAttrs>().Infer(InferConcat);
  Form(r, "Split-1", {1}).In("input split?").Out("outputs+").Attrs<SplitV1Attrs>().Infer(InferSplit);
  Form(r, "Split-2", {2, 11}).In("input").Out("outputs+").Attrs<SplitV2Attrs>().Infer(InferSplit);
  Form(r, "Split", {13, 18}).In("input split?").Out("outputs+").Attrs<SplitAttrs>().Infer(InferSplit);
  Form(r, "Slice-1", {1}).In("data").Out("output").Attrs<SliceV1Attrs>().Infer(InferSliceV1);
  Form(r, "Slice", {10, 11, 13}).In("data starts ends axes? steps?").Out("output").Infer(InferSlice);
  Form(r, "Pad-1", {1}).In("data").Out("output").Attrs<PadV1Attrs>().Infer(InferPad);
  Form(r, "Pad-2", {2}).In("data").Out("output").Attrs<PadV2Attrs>().Infer(InferPad);
  Form(r, "Pad", {11, 13, 18, 19, 21})
      .In("data pads constant_value? axes?").Out("output").Attrs<PadAttrs>().Infer(InferPad);
  Form(r, "DepthToSpace", {1, 11, 13})
      .In("input").Out("output").Attrs<DepthToSpaceAttrs>().Infer(InferDepthToSpace);
  Form(r, "SpaceToDepth", {1, 13})
      .In("input").Out("output").Attrs<SpaceToDepthAttrs>().Infer(InferSpaceToDepth);
  Form(r, "ReverseSequence", {10})
      .In("input sequence_lens").Out("Y").Attrs<ReverseSequenceAttrs>().Infer(InferReverseSequence);
  Form(r, "Trilu", {14}).In("input k?").Out("output").Attrs<TriluAttrs>().Infer(InferTrilu);
}

void RegisterIndexing(Registry& r) {
  Form(r, "Gather", {1, 11, 13})
      .In("data indices").Out("output").Attrs<GatherAttrs>().Infer(InferGather);
  Form(r, "GatherElements", {11, 13})
      .In("data indices").Out("output").Attrs<GatherElementsAttrs>().Infer(InferGatherElements);
  Form(r, "GatherND", {11, 12, 13})
      .In("data indices").Out("output").Attrs<GatherNDAttrs>().Infer(InferGatherND);
  Form(r, "Scatter", {9, 11})
      .In("data indices updates").Out("output").Attrs<ScatterAttrs>().Infer(InferScatterElements);
  Form(r, "ScatterElements", {11, 13, 16, 18})
      .In("data indices updates").Out("output")
      .Attrs<ScatterElementsAttrs>().Infer(InferScatterElements);
  Form(r, "ScatterND", {11, 13, 16, 18})
      .In("data indices updates").Out("output").Attrs<ScatterNDAttrs>().Infer(InferScatterND);
  Form(r, "Compress", {9, 11})
      .In("input condition").Out("output").Attrs<CompressAttrs>().Infer(InferCompress);
  Form(r, "OneHot", {9, 11})
      .In("indices depth values").Out("output").Attrs<OneHotAttrs>().Infer(InferOneHot);
}

}  // namespace

void RegisterMoveSchemas(Registry& r) {
  RegisterShapeForms(r);
  RegisterPieces(r);
  RegisterIndexing(r);
  Form(r, "Constant", {1, 9, 11, 12, 13}).Out("output").Attrs<ConstantAttrs>().Infer(InferConstant);
  Form(r, "ConstantOfShape", {9})
      .In("input").Out("output").Attrs<ConstantOfShapeAttrs>().Infer(InferConstantOfShape);
  Form(r, "EyeLike", {9}).In("input").Out("output").Attrs<EyeLikeAttrs>().Infer(InferEyeLike);
  Form(r, "Range", {11}).In("start limit delta").Out("output").Infer(InferRange);
}

}  // namespace retuple::internal
