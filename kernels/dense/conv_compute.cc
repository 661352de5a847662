#include "kernels/dense/conv_compute.h"

#include <algorithm>

namespace retuple::internal {

namespace {

// Columns multiplied at once: eight panels.
template <typename T>
constexpr int64_t kBlockCols = 8 * kPanelCols<T>;

// A run of output pixels of one row that fall into one panel: `len` columns from `col` on read
// `len` elements from `base` (plus a row's offset) on.
struct Run {
  int32_t col, len;
  int64_t base;
};

// Where patches are read from.
template <typename T>
struct PatchSource {
  const T* data;                 // channel 0 of the group
  const int64_t* offsets;        // [depth]: of each row of the patch matrix
  int64_t row_step, plane_step;  // between output rows and planes
  int64_t out_h, out_w;
  bool flat;  // pixels lie one after another: no rows

  // The runs of pixels [first, first + cols).
  void Runs(int64_t first, int64_t cols, std::vector<Run>& runs) const {
    runs.clear();
    if (flat) {
      runs.push_back({0, static_cast<int32_t>(cols), first});
      return;
    }
    int64_t row = first / out_w, x = first % out_w;
    int32_t col = 0;
    while (col < cols) {
      const auto len = static_cast<int32_t>(std::min(cols - col, out_w - x));
      runs.push_back({col, len, row / out_h * plane_step + row % out_h * row_step + x});
      col += len;
      x = 0;
      ++row;
    }
  }
};

// panel: [depth][kPanelCols] from rows [k0, k0 + depth). Whole vectors are written, so that a row
// may spill into the next one, which is written later, and the last one by less than a vector past
// the panel.
template <typename T>
void GatherPanel(const PatchSource<T>& src, int64_t k0, int64_t depth, const std::vector<Run>& runs,
                 T* panel) {
  constexpr int kL = kLanes<T>;
  constexpr int64_t kCols = kPanelCols<T>;
  const int64_t* offsets = src.offsets + k0;
  if (runs.size() == 1 && runs[0].len == kCols) {
    const T* base = src.data + runs[0].base;
    for (int64_t p = 0; p < depth; ++p, panel += kCols) {
      const T* from = base + offsets[p];
#pragma GCC unroll 4
      for (int j = 0; j < kPanelVecs; ++j) Store(panel + j * kL, Load(from + j * kL));
    }
    return;
  }
  for (int64_t p = 0; p < depth; ++p, panel += kCols) {
    const T* row = src.data + offsets[p];
    for (const Run& r : runs) {
      const T* from = row + r.base;
      T* to = panel + r.col;
      int len = r.len;
      for (; len >= kL; len -= kL, from += kL, to += kL) Store(to, Load(from));
      if (len > 0) Store(to, LoadN(from, len));
    }
  }
}

// `post` over a block of a result with rows of `pixels`; `add` lies as y.
template <typename T>
void Finish(const Activation& post, int64_t first_channel, int64_t maps, int64_t cols,
            int64_t pixels, const T* add, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    if (post.kind == Activation::Kind::kNone && add == nullptr) return;
    for (int64_t m = 0; m < maps; ++m) {
      Activate(post, first_channel + m, add != nullptr ? add + m * pixels : nullptr, y + m * pixels,
               cols);
    }
  }
}

// One image and group: y: [maps, pixels] = packed · patches + bias, then `post`.
template <typename T>
void MultiplyPatches(ThreadPool& threads, int64_t maps, int64_t depth, int64_t pixels,
                     const PatchSource<T>& src, const T* packed, const T* bias,
                     const Clamp<T>& clamp, const Activation& post, int64_t first_channel,
                     const T* add, T* scratch, int64_t scratch_size, T* y) {
  const int64_t blocks = (pixels + kBlockCols<T> - 1) / kBlockCols<T>;
  const int64_t slots = std::min<int64_t>(blocks, threads.threads());
  threads.ParallelFor(slots, 1, [&](int64_t begin, int64_t end) {
    std::vector<Run> runs;
    for (int64_t slot = begin; slot < end; ++slot) {
      T* panels = scratch + slot * scratch_size;
      for (int64_t b = slot; b < blocks; b += slots) {
        const int64_t first = b * kBlockCols<T>, cols = std::min(kBlockCols<T>, pixels - first);
        for (int64_t k0 = 0; k0 == 0 || k0 < depth; k0 += kDepth<T>) {
          const int64_t slice = std::min(kDepth<T>, depth - k0);
          for (int64_t j = 0; j < cols; j += kPanelCols<T>) {
            src.Runs(first + j, std::min(kPanelCols<T>, cols - j), runs);
            GatherPanel(src, k0, slice, runs, panels + j * slice);
          }
          GemmBlock<T>(maps, cols, depth, k0, slice, packed, panels, bias, k0 > 0, y + first,
                       pixels, k0 + slice >= depth ? clamp : Clamp<T>{});
        }
        Finish(post, first_channel, maps, cols, pixels, add != nullptr ? add + first : nullptr,
               y + first);
      }
    }
  });
}

}  // namespace

template <typename T>
ConvPlan<T>::ConvPlan(const ConvShape& s) : s_(s) {
  ChooseMethod();
  if (method_ == ConvMethod::kWinograd) return;
  const Window& win = s_.window;
  planes_.emplace(win, method_ == ConvMethod::kDepthwise || method_ == ConvMethod::kFlat);
  const std::optional<int64_t> size = planes_->channel_size();
  channel_ = !size ? -1 : planes_->in_place() ? win.in_size() : *size;
  if (channel_ < 0 || method_ == ConvMethod::kDepthwise) return;
  int64_t all = 0;
  if (MulOverflows(channel_, s_.in_channels, &all)) {
    channel_ = -1;
    return;
  }
  offsets_.reserve(static_cast<size_t>(s_.depth()));
  for (int64_t c = 0; c < s_.in_channels; ++c) {
    for (int64_t tap : planes_->taps()) offsets_.push_back(c * channel_ + tap);
  }
}

template <typename T>
void ConvPlan<T>::ChooseMethod() {
  const Window& w = s_.window;
  const int64_t pixels = w.out_size();
  pointwise_ = w.kernel_size() == 1 && !w.padded() && w.stride == Spatial{1, 1, 1};
  const bool flat = w.kernel[0] == 1 && w.in[0] == 1 && w.pad_begin[0] == 0 && w.pad_end[0] == 0;
  if (s_.in_channels == 1 && s_.out_channels < 4 && flat && w.kernel_size() <= 1024) {
    method_ = ConvMethod::kDepthwise;
  } else if (std::is_same_v<T, float> && WinogradServes(s_)) {
    method_ = ConvMethod::kWinograd;
  } else if (pixels <= 8 && s_.out_channels >= kLanes<T>) {
    method_ = ConvMethod::kRows;
  } else if (FlatServes()) {
    method_ = ConvMethod::kFlat;
  } else {
    method_ = ConvMethod::kPatches;
  }
}

// Gathering patches costs about seven cycles a row of a panel, surplus columns and the copy of the
// result cost products and moves; weighed for two fused multiply-adds a cycle.
template <typename T>
bool ConvPlan<T>::FlatServes() const {
  const Window& w = s_.window;
  if (w.in[0] != 1 || w.out[0] != 1 || w.kernel[0] != 1 || w.pad_begin[0] != 0 || w.pad_end[0] != 0)
    return false;
  const auto maps = static_cast<double>(s_.out_channels), depth = static_cast<double>(s_.depth());
  if (pointwise_) return maps <= 4 * kTileRows;
  const int64_t pitch = (w.in[2] + w.pad_begin[2] + w.pad_end[2] + w.stride[2] - 1) / w.stride[2];
  const double surplus = static_cast<double>(pitch) / static_cast<double>(w.out[2]) - 1;
  const double gather = 7 + 14.0 / static_cast<double>(std::min<int64_t>(w.out[2], 48));
  return depth <= 1024 && maps <= 64 &&
         surplus * 1.5 * maps + 8 * maps / std::max(depth, 1.0) < gather;
}

template <typename T>
std::optional<int64_t> ConvPlan<T>::packed_size() const {
  int64_t n = 0;
  switch (method_) {
    case ConvMethod::kDepthwise:
      return 0;
    case ConvMethod::kWinograd:
      return WinogradPackedSize(s_);
    case ConvMethod::kRows:
      n = PackedBSize<T>(s_.depth(), s_.out_channels);
      break;
    default:
      n = PackedASize<T>(s_.out_channels, s_.depth());
  }
  if (MulOverflows(n, s_.groups, &n)) return std::nullopt;
  return n;
}

template <typename T>
void ConvPlan<T>::Pack(const T* w, T* packed) const {
  if (method_ == ConvMethod::kDepthwise) return;
  if (method_ == ConvMethod::kWinograd) {
    if constexpr (std::is_same_v<T, float>) WinogradPack(s_, w, packed);
    return;
  }
  const int64_t maps = s_.out_channels, depth = s_.depth();
  for (int64_t g = 0; g < s_.groups; ++g, w += maps * depth) {
    if (method_ == ConvMethod::kRows) {
      PackB<T>(depth, maps, w, 1, depth, packed + g * PackedBSize<T>(depth, maps));
    } else {
      PackA<T>(maps, depth, w, depth, 1, packed + g * PackedASize<T>(maps, depth));
    }
  }
}

template <typename T>
absl::Status ConvPlan<T>::Run(KernelContext& ctx, const T* x, const T* w, const T* packed,
                              const T* bias, const Activation& post, const T* add, T* y) const {
  if (s_.batch == 0 || s_.out_channels == 0 || s_.window.out_size() == 0) return absl::OkStatus();
  if (channel_ < 0) return Bad(ctx, "sizes overflow");
  if (packed == nullptr && method_ != ConvMethod::kDepthwise) {
    const std::optional<int64_t> n = packed_size();
    if (!n) return Bad(ctx, "sizes overflow");
    RT_ASSIGN_OR_RETURN(T * mine, ScratchOf<T>(ctx, *n));
    Pack(w, mine);
    packed = mine;
  }
  // What is a bound is applied to sums in registers.
  Clamp<T> clamp;
  Activation rest = post;
  if constexpr (std::is_same_v<T, float>) {
    if (add == nullptr && post.kind == Activation::Kind::kRelu) {
      clamp.lo = 0;
      rest = {};
    } else if (add == nullptr && post.kind == Activation::Kind::kClip) {
      clamp = {post.a, post.b};
      rest = {};
    }
  }
  switch (method_) {
    case ConvMethod::kDepthwise:
      return ConvolveDepthwise<T>(ctx, s_, *planes_, x, w, bias, clamp, rest, add, y);
    case ConvMethod::kWinograd:
      if constexpr (std::is_same_v<T, float>)
        return ConvolveWinograd(ctx, s_, x, packed, bias, clamp, rest, add, y);
      return absl::OkStatus();
    case ConvMethod::kRows:
      return RunRows(ctx, x, packed, bias, clamp, rest, add, y);
    case ConvMethod::kFlat:
      return RunFlat(ctx, x, packed, bias, clamp, rest, add, y);
    default:
      return RunPatches(ctx, x, packed, bias, clamp, rest, add, y);
  }
}

template <typename T>
const T* ConvPlan<T>::Patchable(ThreadPool& threads, const T* x, T* copied, bool first) const {
  if (planes_->in_place() || s_.depth() == 0) return x;
  const int64_t in_size = s_.window.in_size();
  threads.ParallelFor(s_.in_channels, 1 + 20000 / channel_, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      if (first) planes_->Fill(copied + c * channel_, T{0});
      planes_->Copy(x + c * in_size, copied + c * channel_);
    }
  });
  return copied;
}

// Rows of `width` from rows `pitch` apart.
template <typename T>
void Compact(const T* from, int64_t pitch, int64_t width, int64_t height, T* to) {
  constexpr int kL = kLanes<T>;
  for (int64_t r = 0; r < height; ++r, from += pitch, to += width) {
    int64_t x = 0;
    for (; x + kL <= width; x += kL) Store(to + x, Load(from + x));
    if (x < width)
      StoreN(to + x, LoadN(from + x, static_cast<int>(width - x)), static_cast<int>(width - x));
  }
}

template <typename T>
absl::Status ConvPlan<T>::RunFlat(KernelContext& ctx, const T* x, const T* packed, const T* bias,
                                  const Clamp<T>& clamp, const Activation& post, const T* add,
                                  T* y) const {
  const Window& win = s_.window;
  const int64_t maps = s_.out_channels, depth = s_.depth(), pixels = win.out_size(),
                in_size = win.in_size();
  const int64_t pitch = planes_->row_pitch(), width = win.out[2], height = win.out[1];
  const bool copy = !planes_->in_place() && depth > 0, exact = pitch == width;
  RT_ASSIGN_OR_RETURN(T * copied, ScratchOf<T>(ctx, copy ? channel_ * s_.in_channels : 0));
  // Rows of output at once: about as many pixels as keep the block's result in the first-level
  // cache.
  const int64_t block = std::clamp<int64_t>(kBlockCols<T> / std::max<int64_t>(pitch, 1), 1, height);
  const int64_t ld = RoundUp(block * pitch, kLanes<T>), slots = ctx.threads().threads();
  RT_ASSIGN_OR_RETURN(T * results, ScratchOf<T>(ctx, exact ? 0 : slots * maps * ld));
  const int64_t blocks = (height + block - 1) / block;
  for (int64_t i = 0; i < s_.batch * s_.groups; ++i) {
    const int64_t g = i % s_.groups;
    const T* xg = Patchable(ctx.threads(), x + i * s_.in_channels * in_size, copied, i == 0);
    T* yg = y + i * maps * pixels;
    const T* pg = packed + g * PackedASize<T>(maps, depth);
    const T* bg = bias != nullptr ? bias + g * maps : nullptr;
    const T* ag = add != nullptr ? add + i * maps * pixels : nullptr;
    ctx.threads().ParallelFor(std::min(slots, blocks), 1, [&](int64_t begin, int64_t end) {
      for (int64_t slot = begin; slot < end; ++slot) {
        T* result = results + slot * maps * ld;
        for (int64_t b = slot; b < blocks; b += std::min(slots, blocks)) {
          const int64_t row = b * block, rows = std::min(block, height - row), first = row * width;
          const int64_t cols = exact ? rows * width : (rows - 1) * pitch + width;
          GemmOffsets<T>(maps, cols, depth, pg, xg + row * pitch, offsets_.data(), copy, bg,
                         exact ? yg + first : result, exact ? pixels : ld, clamp);
          for (int64_t m = 0; !exact && m < maps; ++m) {
            Compact(result + m * ld, pitch, width, rows, yg + m * pixels + first);
          }
          Finish(post, g * maps, maps, rows * width, pixels, ag != nullptr ? ag + first : nullptr,
                 yg + first);
        }
      }
    });
  }
  return absl::OkStatus();
}

// y[maps, pixels] as the transpose of rows: [pixels, depth] · wᵀ: [depth, maps].
template <typename T>
absl::Status ConvPlan<T>::RunRows(KernelContext& ctx, const T* x, const T* packed, const T* bias,
                                  const Clamp<T>& clamp, const Activation& post, const T* add,
                                  T* y) const {
  const Window& win = s_.window;
  const int64_t maps = s_.out_channels, depth = s_.depth(), pixels = win.out_size(),
                in_size = win.in_size();
  const bool copy = !planes_->in_place() && depth > 0;
  RT_ASSIGN_OR_RETURN(T * copied, ScratchOf<T>(ctx, copy ? channel_ * s_.in_channels : 0));
  RT_ASSIGN_OR_RETURN(T * rows, ScratchOf<T>(ctx, pixels * depth));
  RT_ASSIGN_OR_RETURN(T * result, ScratchOf<T>(ctx, pixels * maps));
  std::vector<int64_t> bases;
  for (int64_t p = 0; p < pixels; ++p) {
    const int64_t row = p / win.out[2];
    bases.push_back(row / win.out[1] * planes_->out_plane_step() +
                    row % win.out[1] * planes_->out_row_step() + p % win.out[2]);
  }
  for (int64_t i = 0; i < s_.batch * s_.groups; ++i) {
    const int64_t g = i % s_.groups;
    const T* xg = Patchable(ctx.threads(), x + i * s_.in_channels * in_size, copied, i == 0);
    const T* a = rows;
    if (pixels == 1 && pointwise_) {
      a = xg;
    } else {
      for (int64_t p = 0; p < pixels; ++p) {
        const T* from = xg + bases[static_cast<size_t>(p)];
        for (int64_t k = 0; k < depth; ++k)
          rows[p * depth + k] = from[offsets_[static_cast<size_t>(k)]];
      }
    }
    T* yg = y + i * maps * pixels;
    T* to = pixels == 1 ? yg : result;
    GemmPackedB<T>(pixels, maps, depth, a, depth, 1, packed + g * PackedBSize<T>(depth, maps),
                   bias != nullptr ? bias + g * maps : nullptr, to, maps, &ctx.threads(), clamp);
    if (pixels > 1) {
      for (int64_t m = 0; m < maps; ++m) {
        for (int64_t p = 0; p < pixels; ++p) yg[m * pixels + p] = result[p * maps + m];
      }
    }
    Finish(post, g * maps, maps, pixels, pixels, add != nullptr ? add + i * maps * pixels : nullptr,
           yg);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status ConvPlan<T>::RunPatches(KernelContext& ctx, const T* x, const T* packed, const T* bias,
                                     const Clamp<T>& clamp, const Activation& post, const T* add,
                                     T* y) const {
  const Window& win = s_.window;
  const int64_t maps = s_.out_channels, depth = s_.depth(), pixels = win.out_size(),
                in_size = win.in_size();
  const int64_t packed_size = PackedASize<T>(maps, depth);
  const bool copy = !planes_->in_place() && depth > 0;
  PatchSource<T> src{};
  src.offsets = offsets_.data();
  src.row_step = planes_->out_row_step();
  src.plane_step = planes_->out_plane_step();
  src.out_h = win.out[1];
  src.out_w = win.out[2];
  src.flat = pointwise_ || (win.out[0] == 1 && win.out[1] == 1);

  RT_ASSIGN_OR_RETURN(T * copied, ScratchOf<T>(ctx, copy ? channel_ * s_.in_channels : 0));
  const int64_t block_cols = std::min(kBlockCols<T>, RoundUp(pixels, kPanelCols<T>));
  const int64_t scratch_size =
      block_cols * std::min(kDepth<T>, std::max<int64_t>(depth, 1)) + kLanes<T>;
  RT_ASSIGN_OR_RETURN(T * scratch, ScratchOf<T>(ctx, scratch_size * ctx.threads().threads()));
  for (int64_t i = 0; i < s_.batch * s_.groups; ++i) {
    const int64_t g = i % s_.groups;
    src.data = Patchable(ctx.threads(), x + i * s_.in_channels * in_size, copied, i == 0);
    MultiplyPatches(ctx.threads(), maps, depth, pixels, src, packed + g * packed_size,
                    bias != nullptr ? bias + g * maps : nullptr, clamp, post, g * maps,
                    add != nullptr ? add + i * maps * pixels : nullptr, scratch, scratch_size,
                    y + i * maps * pixels);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Convolve(KernelContext& ctx, const ConvShape& s, const T* x, const T* w, const T* bias,
                      T* y) {
  return ConvPlan<T>(s).Run(ctx, x, w, nullptr, bias, {}, nullptr, y);
}

#define RETUPLE_CONV(T)                                                                   \
  template class ConvPlan<T>;                                                             \
  template absl::Status Convolve<T>(KernelContext&, const ConvShape&, const T*, const T*, \
                                    const T*, T*);
RETUPLE_CONV(float)
RETUPLE_CONV(double)
RETUPLE_CONV(uint32_t)
#undef RETUPLE_CONV

}  // namespace retuple::internal
