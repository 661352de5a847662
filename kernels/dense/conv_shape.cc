#include "kernels/dense/conv_shape.h"

namespace retuple::internal {
namespace {

constexpr int64_t kLimit = int64_t{1} << 31;

absl::Status CheckAll(const Op& op, const char* name, const Ints& v, int64_t least) {
  for (int64_t x : v) {
    if (x < least || x > kLimit) {
      return absl::InvalidArgumentError(absl::StrFormat("%s: %s holds %d", op.form(), name, x));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WindowAttrs> WindowAttrs::Read(const Op& op) {
  WindowAttrs a;
  const std::string pad = AttrOr<std::string>(op.attrs, "auto_pad", "NOTSET");
  if (pad == "SAME_UPPER") {
    a.auto_pad = AutoPad::kSameUpper;
  } else if (pad == "SAME_LOWER") {
    a.auto_pad = AutoPad::kSameLower;
  } else if (pad == "VALID") {
    a.auto_pad = AutoPad::kValid;
  } else if (pad != "NOTSET" && !pad.empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: auto_pad '%s' is unknown", op.form(), pad));
  }
  a.ceil_mode = AttrOr<int64_t>(op.attrs, "ceil_mode", 0) != 0;
  a.group = AttrOr<int64_t>(op.attrs, "group", 1);
  a.kernel_shape = AttrOr<Ints>(op.attrs, "kernel_shape", {});
  a.strides = AttrOr<Ints>(op.attrs, "strides", {});
  a.dilations = AttrOr<Ints>(op.attrs, "dilations", {});
  a.pads = AttrOr<Ints>(op.attrs, "pads", {});
  RT_RETURN_IF_ERROR(CheckAll(op, "group", {a.group}, 1));
  RT_RETURN_IF_ERROR(CheckAll(op, "kernel_shape", a.kernel_shape, 1));
  RT_RETURN_IF_ERROR(CheckAll(op, "strides", a.strides, 1));
  RT_RETURN_IF_ERROR(CheckAll(op, "dilations", a.dilations, 1));
  RT_RETURN_IF_ERROR(CheckAll(op, "pads", a.pads, 0));
  return a;
}

absl::StatusOr<Window> Window::Make(const KernelContext& ctx, const WindowAttrs& attrs,
                                    std::span<const int64_t> in, std::span<const int64_t> kernel) {
  const size_t r = in.size();
  if (r < 1 || r > 3) return Unserved(ctx, "%d spatial axes", r);
  if (kernel.size() != r)
    return Bad(ctx, "the window has %d axes, the operand %d", kernel.size(), r);
  auto fits = [&](const Ints& v, size_t n) { return v.empty() || v.size() == n; };
  if (!fits(attrs.strides, r) || !fits(attrs.dilations, r) || !fits(attrs.pads, 2 * r)) {
    return Bad(ctx, "strides, dilations or pads do not have %d axes", r);
  }
  Window w;
  w.rank = static_cast<int>(r);
  for (size_t i = 0; i < r; ++i) {
    const size_t d = 3 - r + i;
    w.in[d] = in[i];
    w.kernel[d] = kernel[i];
    if (kernel[i] < 1 || kernel[i] > kLimit || in[i] > (int64_t{1} << 40)) {
      return Bad(ctx, "window of %d over an axis of %d", kernel[i], in[i]);
    }
    if (!attrs.strides.empty()) w.stride[d] = attrs.strides[i];
    if (!attrs.dilations.empty()) w.dilation[d] = attrs.dilations[i];
    const int64_t extent = (w.kernel[d] - 1) * w.dilation[d] + 1;  // < 2^62 + 1
    switch (attrs.auto_pad) {
      case WindowAttrs::AutoPad::kNotSet:
        if (!attrs.pads.empty()) {
          w.pad_begin[d] = attrs.pads[i];
          w.pad_end[d] = attrs.pads[r + i];
        }
        break;
      case WindowAttrs::AutoPad::kValid:
        break;
      case WindowAttrs::AutoPad::kSameUpper:
      case WindowAttrs::AutoPad::kSameLower: {
        const int64_t out = (in[i] + w.stride[d] - 1) / w.stride[d];
        const int64_t total = std::max<int64_t>(0, (out - 1) * w.stride[d] + extent - in[i]);
        if (total > kLimit) return Bad(ctx, "padding of %d", total);
        const int64_t less = total / 2, more = total - less;
        const bool upper = attrs.auto_pad == WindowAttrs::AutoPad::kSameUpper;
        w.pad_begin[d] = upper ? less : more;
        w.pad_end[d] = upper ? more : less;
        break;
      }
    }
    const int64_t room = in[i] + w.pad_begin[d] + w.pad_end[d] - extent;
    if (room < 0) {
      return Bad(ctx, "a window of extent %d does not fit in an axis of %d with pads %d and %d",
                 extent, in[i], w.pad_begin[d], w.pad_end[d]);
    }
    w.out[d] = room / w.stride[d] + 1;
    if (attrs.ceil_mode && room % w.stride[d] != 0 &&
        w.out[d] * w.stride[d] < in[i] + w.pad_begin[d])
      ++w.out[d];
  }
  const std::optional<int64_t> window = CheckedNumElements(w.kernel);
  if (!window || *window > int64_t{1} << 26)
    return Unserved(ctx, "a window of %s", DimsToString(kernel));
  if (!CheckedNumElements(w.out)) return Bad(ctx, "the result is too large");
  return w;
}

absl::StatusOr<ConvShape> ConvShape::Make(const KernelContext& ctx, const WindowAttrs& attrs,
                                          std::span<const int64_t> x, std::span<const int64_t> w) {
  if (x.size() < 3 || x.size() != w.size()) {
    return Bad(ctx, "operand %s and weights %s do not have the same rank of at least 3",
               DimsToString(x), DimsToString(w));
  }
  ConvShape s;
  s.groups = attrs.group;
  s.batch = x[0];
  s.in_channels = w[1];
  int64_t channels = 0;
  if (MulOverflows(w[1], s.groups, &channels) || channels != x[1]) {
    return Bad(ctx, "%d channels, the weights want %d groups of %d", x[1], s.groups, w[1]);
  }
  if (w[0] % s.groups != 0) return Bad(ctx, "%d maps do not divide into %d groups", w[0], s.groups);
  s.out_channels = w[0] / s.groups;
  if (!attrs.kernel_shape.empty() &&
      !std::equal(attrs.kernel_shape.begin(), attrs.kernel_shape.end(), w.begin() + 2, w.end())) {
    return Bad(ctx, "kernel_shape differs from the weights' %s", DimsToString(w));
  }
  RT_ASSIGN_OR_RETURN(s.window, Window::Make(ctx, attrs, x.subspan(2), w.subspan(2)));
  s.out_dims = {x[0], w[0]};
  for (int i = 3 - s.window.rank; i < 3; ++i)
    s.out_dims.push_back(s.window.out[static_cast<size_t>(i)]);
  return s;
}

}  // namespace retuple::internal
