// NonMaxSuppression: per batch and class, boxes by falling score, skipping those that overlap a chosen one.
//
// boxes: f32[batch, n, 4], scores: f32[batch, classes, n]; out: i64[selected, 3] of (batch, class, box). Corner
// format is (y1, x1, y2, x2) of any diagonal; center format (x, y, width, height). A box is dropped when its
// intersection over union with a chosen one exceeds the threshold, or its score does not exceed the score
// threshold. Of equal scores the lower index comes first.
#include <numeric>

#include "kernels/core/util.h"

namespace retuple::internal {
namespace {

struct Box {
  float y1, x1, y2, x2;
  float area() const { return (y2 - y1) * (x2 - x1); }
};

Box ReadBox(const float* p, bool center) {
  if (center) {
    const float half_w = p[2] / 2, half_h = p[3] / 2;
    return {p[1] - half_h, p[0] - half_w, p[1] + half_h, p[0] + half_w};
  }
  return {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3])};
}

bool Overlaps(const Box& a, const Box& b, float threshold) {
  const float h = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const float w = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(h > 0) || !(w > 0)) return false;
  const float intersection = h * w;
  const float all = a.area() + b.area() - intersection;
  return all > 0 && intersection / all > threshold;
}

absl::StatusOr<const Tensor*> OptionalScalar(const KernelContext& ctx, int i, DType dtype) {
  if (i >= ctx.num_inputs() || !ctx.has(i)) return nullptr;
  RT_ASSIGN_OR_RETURN(const Tensor* t, InputOf(ctx, i, dtype));
  if (t->size() != 1) return Bad(ctx, "input %d is not a scalar", i);
  return t;
}

absl::Status NonMaxSuppression(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const Tensor* boxes, InputOf(ctx, 0, DType::kF32));
  RT_ASSIGN_OR_RETURN(const Tensor* scores, InputOf(ctx, 1, DType::kF32));
  RT_ASSIGN_OR_RETURN(const Tensor* limit, OptionalScalar(ctx, 2, DType::kI64));
  RT_ASSIGN_OR_RETURN(const Tensor* iou, OptionalScalar(ctx, 3, DType::kF32));
  RT_ASSIGN_OR_RETURN(const Tensor* least, OptionalScalar(ctx, 4, DType::kF32));
  if (boxes->rank() != 3 || scores->rank() != 3 || boxes->dim(2) != 4 || boxes->dim(0) != scores->dim(0) ||
      boxes->dim(1) != scores->dim(2)) {
    return Bad(ctx, "boxes %s and scores %s do not fit", DimsToString(boxes->dims()),
               DimsToString(scores->dims()));
  }
  const int64_t center = IntAttr(ctx, "center_point_box", 0);
  if (center != 0 && center != 1) return Bad(ctx, "center_point_box is %d", center);
  const int64_t most = limit ? *limit->data<int64_t>() : 0;
  const float iou_threshold = iou ? *iou->data<float>() : 0.0f;
  if (!(iou_threshold >= 0 && iou_threshold <= 1)) return Bad(ctx, "iou_threshold is %g", iou_threshold);
  const int64_t batches = scores->dim(0), classes = scores->dim(1), n = scores->dim(2);
  std::vector<int64_t> selected;
  std::vector<int64_t> order;
  std::vector<Box> chosen;
  for (int64_t b = 0; b < batches && most > 0; ++b) {
    for (int64_t c = 0; c < classes; ++c) {
      const float* s = scores->data<float>() + (b * classes + c) * n;
      order.clear();
      for (int64_t i = 0; i < n; ++i) {
        const bool enough = least == nullptr || s[i] > *least->data<float>();
        if (enough && s[i] == s[i]) order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(), [s](int64_t i, int64_t j) { return s[i] > s[j]; });
      chosen.clear();
      for (int64_t i : order) {
        if (static_cast<int64_t>(chosen.size()) >= most) break;
        const Box box = ReadBox(boxes->data<float>() + (b * n + i) * 4, center != 0);
        const bool dropped = std::any_of(chosen.begin(), chosen.end(),
                                         [&](const Box& o) { return Overlaps(box, o, iou_threshold); });
        if (dropped) continue;
        chosen.push_back(box);
        selected.insert(selected.end(), {b, c, i});
      }
    }
  }
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kI64, {static_cast<int64_t>(selected.size() / 3), 3}));
  std::copy(selected.begin(), selected.end(), y->mutable_data<int64_t>());
  return absl::OkStatus();
}

}  // namespace

void RegisterNonMaxSuppression(KernelRegistry& r) { r.Add("NonMaxSuppression", NonMaxSuppression); }

}  // namespace retuple::internal
