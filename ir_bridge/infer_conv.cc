// Inference of convolution and pooling: one window sliding over the spatial axes of x: [N, C, d1
// …].
#include <algorithm>
#include <string>

#include "ir_bridge/graph.h"
#include "ir_bridge/infer.h"
#include "ir_bridge/internal/infer_fns.h"
#include "ir_bridge/internal/infer_util.h"

namespace retuple::internal {
namespace {

enum class AutoPad { kNotSet, kValid, kSame };

// The window of each spatial axis. Attributes that are absent have their defaults.
struct Window {
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  std::vector<Dim> kernel;
  std::vector<int64_t> strides, dilations, pads;  // pads: begins, then ends
};

absl::StatusOr<std::vector<int64_t>> PerAxis(const InferContext& c, const char* name, size_t n,
                                             int64_t fallback, int64_t least) {
  const Ints* v = FindAttr<Ints>(c.attrs(), name);
  if (v == nullptr || v->empty()) return std::vector<int64_t>(n, fallback);
  if (v->size() != n) {
    return Contradiction("%s has %d entries, expected %d", name, v->size(), n);
  }
  for (int64_t x : *v) {
    if (x < least || x > INT32_MAX) return Contradiction("%s has the entry %d", name, x);
  }
  return *v;
}

// `spatial` axes; the kernel comes from the attribute or from the weights' shape [M, C/g, k1 …] at
// input `weights`.
absl::StatusOr<Window> ReadWindow(const InferContext& c, size_t spatial, int weights) {
  Window w;
  const std::string mode = AttrOr<std::string>(c.attrs(), "auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    w.auto_pad = AutoPad::kSame;
  } else if (mode == "VALID") {
    w.auto_pad = AutoPad::kValid;
  } else if (mode != "NOTSET" && !mode.empty()) {
    return Contradiction("auto_pad is '%s'", mode);
  }
  w.ceil_mode = AttrOr<int64_t>(c.attrs(), "ceil_mode", 0) != 0;
  RETUPLE_ASSIGN_OR_RETURN(w.strides, PerAxis(c, "strides", spatial, 1, 1));
  RETUPLE_ASSIGN_OR_RETURN(w.dilations, PerAxis(c, "dilations", spatial, 1, 1));
  RETUPLE_ASSIGN_OR_RETURN(w.pads, PerAxis(c, "pads", 2 * spatial, 0, -INT32_MAX));
  if (w.auto_pad != AutoPad::kNotSet) std::fill(w.pads.begin(), w.pads.end(), 0);
  const Ints* given = FindAttr<Ints>(c.attrs(), "kernel_shape");
  if (given != nullptr && !given->empty()) {
    RETUPLE_ASSIGN_OR_RETURN(const std::vector<int64_t> k,
                             PerAxis(c, "kernel_shape", spatial, 1, 1));
    w.kernel.assign(k.begin(), k.end());
  }
  if (weights < 0) {
    if (w.kernel.empty() && spatial > 0) return Contradiction("kernel_shape is missing");
    return w;
  }
  const Shape* ws = c.shape(weights);
  if (ws != nullptr && ws->size() != spatial + 2) {
    return Contradiction("weights have shape %s, expected rank %d", ShapeToString(*ws),
                         spatial + 2);
  }
  for (size_t i = 0; i < spatial; ++i) {
    const Dim from_weights = ws ? (*ws)[i + 2] : Dim::Fresh();
    if (w.kernel.size() <= i) w.kernel.push_back(from_weights);
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim(w.kernel[i], from_weights, "kernel_shape and weights"));
  }
  return w;
}

// How many times the window of axis i fits `in`; Contradiction when it does not at all.
absl::StatusOr<Dim> WindowCount(const Window& w, size_t i, Dim in) {
  const size_t n = w.kernel.size();
  const Dim stride = w.strides[i];
  if (w.auto_pad == AutoPad::kSame) return CeilDiv(in, stride);
  const Dim extent = (w.kernel[i] - 1) * Dim(w.dilations[i]) + 1;
  const Dim room = in + Dim(w.pads[i]) + Dim(w.pads[n + i]) - extent;
  if (room.known() && room.value() < 0) {
    return Contradiction("a window of extent %s does not fit axis %d of size %s", extent.ToString(),
                         i + 2, in.ToString());
  }
  if (!w.ceil_mode) return FloorDiv(room, stride) + 1;
  const Dim count = CeilDiv(room, stride) + 1;
  // A partial last window must start inside the input or its left padding.
  if (count.known() && in.known()) {
    const bool partial = room.value() % w.strides[i] != 0;
    const Dim start = (count - 1) * stride, end = in + Dim(w.pads[i]);
    const bool outside = partial && start.known() && end.known() && start.value() >= end.value();
    return outside ? count - 1 : count;
  }
  const bool surely_inside = extent.known() && extent.value() >= w.strides[i] + w.pads[n + i];
  return surely_inside ? count : Dim::Fresh();
}

// out: [N, channels, counts …]. `x` and `weights` are input positions.
absl::StatusOr<std::optional<Shape>> ConvShape(InferContext& c, int x, int weights) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, c.num_inputs()));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, x, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, weights, 2));
  const Shape *in = c.shape(x), *ws = c.shape(weights);
  if (in == nullptr && ws == nullptr) return std::optional<Shape>();
  const size_t rank = in ? in->size() : ws->size();
  RETUPLE_ASSIGN_OR_RETURN(const Window w, ReadWindow(c, rank - 2, weights));
  const int64_t group = AttrOr<int64_t>(c.attrs(), "group", 1);
  if (group < 1) return Contradiction("group is %d", group);
  if (in != nullptr && ws != nullptr) {
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*in)[1], (*ws)[1] * Dim(group), "input channels"));
  }
  if (ws != nullptr && (*ws)[0].known() && (*ws)[0].value() % group != 0) {
    return Contradiction("%d output channels do not divide into %d groups", (*ws)[0].value(),
                         group);
  }
  Shape out = {in ? (*in)[0] : Dim::Fresh(), ws ? (*ws)[0] : Dim::Fresh()};
  for (size_t i = 0; i + 2 < rank; ++i) {
    RETUPLE_ASSIGN_OR_RETURN(const Dim d, WindowCount(w, i, in ? (*in)[i + 2] : Dim::Fresh()));
    out.push_back(d);
  }
  return std::optional<Shape>(std::move(out));
}

absl::Status ExpectBias(InferContext& c, int bias, Dim channels) {
  const Shape* b = c.shape(bias);
  if (b == nullptr) return absl::OkStatus();
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, bias, 1));
  return ExpectSameDim((*b)[0], channels, "bias and output channels");
}

absl::StatusOr<std::optional<Shape>> PoolShape(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 2));
  const Shape* in = c.shape(0);
  const Ints* kernel = FindAttr<Ints>(c.attrs(), "kernel_shape");
  if (in == nullptr) {
    if (kernel == nullptr || kernel->size() > 4096) return std::optional<Shape>();
    return std::optional<Shape>(FreshShape(static_cast<int>(kernel->size()) + 2));
  }
  RETUPLE_ASSIGN_OR_RETURN(const Window w, ReadWindow(c, in->size() - 2, -1));
  Shape out = {(*in)[0], (*in)[1]};
  for (size_t i = 0; i + 2 < in->size(); ++i) {
    RETUPLE_ASSIGN_OR_RETURN(const Dim d, WindowCount(w, i, (*in)[i + 2]));
    out.push_back(d);
  }
  return std::optional<Shape>(std::move(out));
}

}  // namespace

absl::Status InferConv(InferContext& c) {
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, CommonDType(c, 0, 1));
  RETUPLE_ASSIGN_OR_RETURN(std::optional<Shape> out, ConvShape(c, 0, 1));
  if (out) RETUPLE_RETURN_IF_ERROR(ExpectBias(c, 2, (*out)[1]));
  c.set_type(0, TensorType(dtype, std::move(out)));
  return absl::OkStatus();
}

absl::Status InferConvInteger(InferContext& c) {
  RETUPLE_ASSIGN_OR_RETURN(std::optional<Shape> out, ConvShape(c, 0, 1));
  c.set_type(0, TensorType(DType::kI32, std::move(out)));
  return absl::OkStatus();
}

absl::Status InferQLinearConv(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 8, DType::kI32));
  RETUPLE_ASSIGN_OR_RETURN(std::optional<Shape> out, ConvShape(c, 0, 3));
  if (out) RETUPLE_RETURN_IF_ERROR(ExpectBias(c, 8, (*out)[1]));
  c.set_type(0, TensorType(c.dtype(7), std::move(out)));
  return absl::OkStatus();
}

// out = stride·(in − 1) + output_padding + extent − pads, W: [C, M/group, k1 …].
absl::Status InferConvTranspose(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_ASSIGN_OR_RETURN(const DType dtype, CommonDType(c, 0, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 1, 2));
  const Shape *in = c.shape(0), *ws = c.shape(1);
  if (in == nullptr && ws == nullptr) {
    c.set_type(0, TensorType(dtype, std::nullopt));
    return absl::OkStatus();
  }
  const size_t spatial = (in ? in->size() : ws->size()) - 2;
  RETUPLE_ASSIGN_OR_RETURN(const Window w, ReadWindow(c, spatial, 1));
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<int64_t> extra,
                           PerAxis(c, "output_padding", spatial, 0, 0));
  const int64_t group = AttrOr<int64_t>(c.attrs(), "group", 1);
  if (group < 1) return Contradiction("group is %d", group);
  if (in != nullptr && ws != nullptr) {
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*in)[1], (*ws)[0], "input channels"));
  }
  Shape out = {in ? (*in)[0] : Dim::Fresh(), ws ? (*ws)[1] * Dim(group) : Dim::Fresh()};
  const Ints* fixed = FindAttr<Ints>(c.attrs(), "output_shape");
  if (fixed != nullptr &&
      !fixed->empty()) {  // spatial sizes, by some exporters with N and C before them
    if (fixed->size() != spatial && fixed->size() != spatial + 2) {
      return Contradiction("output_shape has %d entries, expected %d", fixed->size(), spatial);
    }
    for (size_t i = fixed->size() - spatial; i < fixed->size(); ++i) {
      if ((*fixed)[i] < 0) return Contradiction("output_shape has the entry %d", (*fixed)[i]);
      out.push_back((*fixed)[i]);
    }
  } else {
    for (size_t i = 0; i < spatial; ++i) {
      const Dim d = in ? (*in)[i + 2] : Dim::Fresh();
      const Dim stride = w.strides[i];
      if (w.auto_pad == AutoPad::kSame) {
        out.push_back(d * stride);
        continue;
      }
      const Dim extent = (w.kernel[i] - 1) * Dim(w.dilations[i]) + 1;
      const Dim size =
          (d - 1) * stride + Dim(extra[i]) + extent - Dim(w.pads[i]) - Dim(w.pads[spatial + i]);
      if (size.known() && size.value() < 0)
        return Contradiction("output axis %d is negative", i + 2);
      out.push_back(size);
    }
  }
  RETUPLE_RETURN_IF_ERROR(ExpectBias(c, 2, out[1]));
  c.set_type(0, Type::Tensor(dtype, std::move(out)));
  return absl::OkStatus();
}

absl::Status InferPool(InferContext& c) {
  RETUPLE_ASSIGN_OR_RETURN(std::optional<Shape> out, PoolShape(c));
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferMaxPool(InferContext& c) {
  RETUPLE_ASSIGN_OR_RETURN(std::optional<Shape> out, PoolShape(c));
  c.set_type(0, TensorType(c.dtype(0), out));
  c.set_type(1, TensorType(DType::kI64, std::move(out)));
  return absl::OkStatus();
}

absl::Status InferGlobalPool(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 2));
  std::optional<Shape> out = ShapeOf(c, 0);
  if (out) std::fill(out->begin() + 2, out->end(), Dim(1));
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferMaxUnpool(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 1, DType::kI64));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 2, DType::kI64));
  RETUPLE_RETURN_IF_ERROR(ExpectRankAtLeast(c, 0, 2));
  const Shape* in = c.shape(0);
  std::optional<Shape> out;
  if (c.input(2) != nullptr) {
    if (auto e = c.elements(2)) {
      out = *e;
    } else if (in != nullptr) {
      out = FreshShape(static_cast<int>(in->size()));
    }
    if (out && in != nullptr && out->size() != in->size()) {
      return Contradiction("output_shape has %d entries for rank %d", out->size(), in->size());
    }
  } else if (in != nullptr) {
    const size_t spatial = in->size() - 2;
    RETUPLE_ASSIGN_OR_RETURN(const Window w, ReadWindow(c, spatial, -1));
    out = Shape{(*in)[0], (*in)[1]};
    for (size_t i = 0; i < spatial; ++i) {
      out->push_back(((*in)[i + 2] - 1) * Dim(w.strides[i]) + w.kernel[i] - Dim(w.pads[i]) -
                     Dim(w.pads[spatial + i]));
    }
  }
  c.set_type(0, TensorType(c.dtype(0), std::move(out)));
  return absl::OkStatus();
}

absl::Status InferMaxRoiPool(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 0, 4));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 1, 2));
  RETUPLE_ASSIGN_OR_RETURN(const std::vector<int64_t> pooled, PerAxis(c, "pooled_shape", 2, 1, 1));
  const Shape *in = c.shape(0), *rois = c.shape(1);
  c.set_type(0, Type::Tensor(c.dtype(0), {rois ? (*rois)[0] : Dim::Fresh(),
                                          in ? (*in)[1] : Dim::Fresh(), pooled[0], pooled[1]}));
  return absl::OkStatus();
}

absl::Status InferRoiAlign(InferContext& c) {
  RETUPLE_RETURN_IF_ERROR(ExpectTensors(c, 3));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 0, 4));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 1, 2));
  RETUPLE_RETURN_IF_ERROR(ExpectRank(c, 2, 1));
  RETUPLE_RETURN_IF_ERROR(ExpectDType(c, 2, DType::kI64));
  const Shape *in = c.shape(0), *rois = c.shape(1), *batch = c.shape(2);
  Dim n = rois ? (*rois)[0] : Dim::Fresh();
  if (batch != nullptr) {
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim(n, (*batch)[0], "number of regions"));
    n = rois ? Better(n, (*batch)[0]) : (*batch)[0];
  }
  if (rois != nullptr)
    RETUPLE_RETURN_IF_ERROR(ExpectSameDim((*rois)[1], 4, "coordinates of a region"));
  const int64_t h = AttrOr<int64_t>(c.attrs(), "output_height", 1);
  const int64_t w = AttrOr<int64_t>(c.attrs(), "output_width", 1);
  if (h < 0 || w < 0) return Contradiction("output size %d × %d", h, w);
  c.set_type(0, Type::Tensor(c.dtype(0), {n, in ? (*in)[1] : Dim::Fresh(), h, w}));
  return absl::OkStatus();
}

}  // namespace retuple::internal
