#include "kernels/dense/conv_compute.h"

#include <algorithm>

namespace retuple::internal {

namespace {

// Columns multiplied at once: eight panels.
template <typename T>
constexpr int64_t kBlockCols = 8 * kPanelCols<T>;

// A run of output pixels of one row that fall into one panel: `len` columns from `col` on read `len` elements from
// `base` (plus a row's offset) on.
struct Run {
  int32_t col, len;
  int64_t base;
};

// Where patches are read from.
template <typename T>
struct PatchSource {
  const T* data;              // channel 0 of the group
  const int64_t* offsets;     // [depth]: of each row of the patch matrix
  int64_t row_step, plane_step;  // between output rows and planes
  int64_t out_h, out_w;
  bool flat;                  // pixels lie one after another: no rows

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

// panel: [depth][kPanelCols] from rows [k0, k0 + depth). Whole vectors are written, so that a row may spill into the next one,
// which is written later, and the last one by less than a vector past the panel.
template <typename T>
void GatherPanel(const PatchSource<T>& src, int64_t k0, int64_t depth, const std::vector<Run>& runs, T* panel) {
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
void Finish(const Activation& post, int64_t first_channel, int64_t maps, int64_t cols, int64_t pixels, const T* add, T* y) {
  if constexpr (std::is_same_v<T, float>) {
    if (post.kind == Activation::Kind::kNone && add == nullptr) return;
    for (int64_t m = 0; m < maps; ++m) {
      Activate(post, first_channel + m, add != nullptr ? add + m * pixels : nullptr, y + m * pixels, cols);
    }
  }
}

// One image and group: y: [maps, pixels] = packed · patches + bias, then `post`.
template <typename T>
void MultiplyPatches(ThreadPool& threads, int64_t maps, int64_t depth, int64_t pixels, const PatchSource<T>& src,
                     const T* packed, const T* bias, const Activation& post, int64_t first_channel, const T* add,
                     T* scratch, int64_t scratch_size, T* y) {
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
          GemmBlock<T>(maps, cols, depth, k0, slice, packed, panels, bias, k0 > 0, y + first, pixels);
        }
        Finish(post, first_channel, maps, cols, pixels, add != nullptr ? add + first : nullptr, y + first);
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
  planes_.emplace(win, method_ == ConvMethod::kDepthwise);
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
  } else if (pointwise_ && s_.out_channels <= 2 * kTileRows) {
    method_ = ConvMethod::kDirect;
  } else {
    method_ = ConvMethod::kPatches;
  }
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
absl::Status ConvPlan<T>::Run(KernelContext& ctx, const T* x, const T* w, const T* packed, const T* bias,
                              const Activation& post, const T* add, T* y) const {
  if (s_.batch == 0 || s_.out_channels == 0 || s_.window.out_size() == 0) return absl::OkStatus();
  if (channel_ < 0) return Bad(ctx, "sizes overflow");
  if (packed == nullptr && method_ != ConvMethod::kDepthwise) {
    const std::optional<int64_t> n = packed_size();
    if (!n) return Bad(ctx, "sizes overflow");
    RT_ASSIGN_OR_RETURN(T * mine, ScratchOf<T>(ctx, *n));
    Pack(w, mine);
    packed = mine;
  }
  switch (method_) {
    case ConvMethod::kDepthwise:
      return ConvolveDepthwise<T>(ctx, s_, *planes_, x, w, bias, post, add, y);
    case ConvMethod::kWinograd:
      if constexpr (std::is_same_v<T, float>) return ConvolveWinograd(ctx, s_, x, packed, bias, post, add, y);
      return absl::OkStatus();
    case ConvMethod::kRows:
      return RunRows(ctx, x, packed, bias, post, add, y);
    default:
      return RunPatches(ctx, x, packed, bias, post, add, y);
  }
}

// y[maps, pixels] as the transpose of rows: [pixels, depth] · wᵀ: [depth, maps].
template <typename T>
absl::Status ConvPlan<T>::RunRows(KernelContext& ctx, const T* x, const T* packed, const T* bias,
                                  const Activation& post, const T* add, T* y) const {
  const Window& win = s_.window;
  const int64_t maps = s_.out_channels, depth = s_.depth(), pixels = win.out_size(), in_size = win.in_size();
  const bool copy = !planes_->in_place() && depth > 0;
  RT_ASSIGN_OR_RETURN(T * copied, ScratchOf<T>(ctx, copy ? channel_ * s_.in_channels : 0));
  RT_ASSIGN_OR_RETURN(T * rows, ScratchOf<T>(ctx, pixels * depth));
  RT_ASSIGN_OR_RETURN(T * result, ScratchOf<T>(ctx, pixels * maps));
  std::vector<int64_t> bases;
  for (int64_t p = 0; p < pixels; ++p) {
    const int64_t row = p / win.out[2];
    bases.push_back(row / win.out[1] * planes_->out_plane_step() + row % win.out[1] * planes_->out_row_step() +
                    p % win.out[2]);
  }
  for (int64_t c = 0; copy && c < s_.in_channels; ++c) planes_->Fill(copied + c * channel_, T{0});
  for (int64_t i = 0; i < s_.batch * s_.groups; ++i) {
    const int64_t g = i % s_.groups;
    const T* xg = x + i * s_.in_channels * in_size;
    if (copy) {
      for (int64_t c = 0; c < s_.in_channels; ++c) planes_->Copy(xg + c * in_size, copied + c * channel_);
      xg = copied;
    }
    const T* a = rows;
    if (pixels == 1 && pointwise_) {
      a = xg;
    } else {
      for (int64_t p = 0; p < pixels; ++p) {
        const T* from = xg + bases[static_cast<size_t>(p)];
        for (int64_t k = 0; k < depth; ++k) rows[p * depth + k] = from[offsets_[static_cast<size_t>(k)]];
      }
    }
    T* yg = y + i * maps * pixels;
    T* to = pixels == 1 ? yg : result;
    GemmPackedB<T>(pixels, maps, depth, a, depth, 1, packed + g * PackedBSize<T>(depth, maps),
                   bias != nullptr ? bias + g * maps : nullptr, to, maps, &ctx.threads());
    if (pixels > 1) {
      for (int64_t m = 0; m < maps; ++m) {
        for (int64_t p = 0; p < pixels; ++p) yg[m * pixels + p] = result[p * maps + m];
      }
    }
    Finish(post, g * maps, maps, pixels, pixels, add != nullptr ? add + i * maps * pixels : nullptr, yg);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status ConvPlan<T>::RunPatches(KernelContext& ctx, const T* x, const T* packed, const T* bias,
                                     const Activation& post, const T* add, T* y) const {
  const Window& win = s_.window;
  const int64_t maps = s_.out_channels, depth = s_.depth(), pixels = win.out_size(), in_size = win.in_size();
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
  const int64_t scratch_size = block_cols * std::min(kDepth<T>, std::max<int64_t>(depth, 1)) + kLanes<T>;
  const bool direct = method_ == ConvMethod::kDirect;
  RT_ASSIGN_OR_RETURN(T * scratch, ScratchOf<T>(ctx, direct ? 0 : scratch_size * ctx.threads().threads()));
  for (int64_t i = 0; i < s_.batch * s_.groups; ++i) {
    const int64_t g = i % s_.groups;
    const T* xg = x + i * s_.in_channels * in_size;
    T* yg = y + i * maps * pixels;
    const T* pg = packed + g * packed_size;
    const T* bg = bias != nullptr ? bias + g * maps : nullptr;
    const T* ag = add != nullptr ? add + i * maps * pixels : nullptr;
    if (copy) {
      ctx.threads().ParallelFor(s_.in_channels, 1 + 20000 / channel_, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          if (i == 0) planes_->Fill(copied + c * channel_, T{0});
          planes_->Copy(xg + c * in_size, copied + c * channel_);
        }
      });
      xg = copied;
    }
    if (direct) {
      GemmDirect<T>(maps, pixels, depth, pg, xg, in_size, bg, yg, pixels);
      Finish(post, g * maps, maps, pixels, pixels, ag, yg);
    } else {
      src.data = xg;
      MultiplyPatches(ctx.threads(), maps, depth, pixels, src, pg, bg, post, g * maps, ag, scratch, scratch_size, yg);
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Convolve(KernelContext& ctx, const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
  return ConvPlan<T>(s).Run(ctx, x, w, nullptr, bias, {}, nullptr, y);
}

#define RETUPLE_CONV(T)         \
  template class ConvPlan<T>; \
  template absl::Status Convolve<T>(KernelContext&, const ConvShape&, const T*, const T*, const T*, T*);
RETUPLE_CONV(float)
RETUPLE_CONV(double)
RETUPLE_CONV(uint32_t)
#undef RETUPLE_CONV

}  // namespace retuple::internal
