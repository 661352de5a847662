// DepthToSpace and SpaceToDepth: a transposition between two reshapes.
#include "kernels/core/transpose.h"

namespace retuple::internal {
namespace {

absl::StatusOr<int64_t> BlockSize(const KernelContext& ctx, const Tensor& x) {
  if (x.rank() != 4) return Bad(ctx, "input has rank %d, expected 4", x.rank());
  const int64_t b = IntAttr(ctx, "blocksize", 0);
  int64_t square = 0;
  if (b < 1 || MulOverflows(b, b, &square)) return Bad(ctx, "blocksize is %d", b);
  return b;
}

// x: [N, C, H, W] → [N, C/b², H·b, W·b]; the depth is (b, b, C/b²) in mode DCR and (C/b², b, b) in CRD.
absl::Status DepthToSpace(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const int64_t b, BlockSize(ctx, *x));
  const std::string mode = StringAttr(ctx, "mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return Bad(ctx, "mode is \"%s\"", mode);
  const int64_t n = x->dim(0), c = x->dim(1), h = x->dim(2), w = x->dim(3);
  if (c % (b * b) != 0) return Bad(ctx, "%d channels do not divide into blocks of %d", c, b);
  int64_t out_h = 0, out_w = 0;
  if (MulOverflows(h, b, &out_h) || MulOverflows(w, b, &out_w)) return Bad(ctx, "blocksize %d is too large", b);
  const int64_t depth = c / (b * b);
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), {n, depth, out_h, out_w}));
  if (mode == "DCR") {
    TransposeInto(ctx.threads(), x->Reshaped({n, b, b, depth, h, w}), std::array{0, 3, 4, 1, 5, 2},
                  y->mutable_data());
  } else {
    TransposeInto(ctx.threads(), x->Reshaped({n, depth, b, b, h, w}), std::array{0, 1, 4, 2, 5, 3},
                  y->mutable_data());
  }
  return absl::OkStatus();
}

// x: [N, C, H, W] → [N, b²·C, H/b, W/b].
absl::Status SpaceToDepth(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
  RT_ASSIGN_OR_RETURN(const int64_t b, BlockSize(ctx, *x));
  const int64_t n = x->dim(0), c = x->dim(1), h = x->dim(2), w = x->dim(3);
  if (h % b != 0 || w % b != 0) return Bad(ctx, "%d x %d does not divide into blocks of %d", h, w, b);
  int64_t depth = 0;
  if (MulOverflows(c, b * b, &depth)) return Bad(ctx, "blocksize %d is too large", b);
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x->dtype(), {n, depth, h / b, w / b}));
  TransposeInto(ctx.threads(), x->Reshaped({n, c, h / b, b, w / b, b}), std::array{0, 3, 5, 1, 2, 4},
                y->mutable_data());
  return absl::OkStatus();
}

}  // namespace

void RegisterSpaceDepth(KernelRegistry& r) {
  r.Add("DepthToSpace", DepthToSpace);
  r.Add("SpaceToDepth", SpaceToDepth);
}

}  // namespace retuple::internal
