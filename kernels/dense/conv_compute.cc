#include "kernels/dense/conv_compute.h"

#include <algorithm>

#include "kernels/dense/padded_planes.h"

namespace retuple::internal {

template <typename T>
PackedFilters<T> PackedFilters<T>::Pack(int64_t groups, int64_t maps, int64_t depth, const T* w) {
  PackedFilters p;
  const int64_t size = PackedASize<T>(maps, depth);
  p.data.resize(static_cast<size_t>(groups * size));
  for (int64_t g = 0; g < groups; ++g) {
    PackA<T>(maps, depth, w + g * maps * depth, depth, 1, p.data.data() + g * size);
  }
  return p;
}

bool IsDepthwise(const ConvShape& s) {
  return s.in_channels == 1 && s.out_channels < 4 && s.window.kernel[0] == 1 && s.window.in[0] == 1 &&
         s.window.out[0] == 1 && s.window.pad_begin[0] == 0 && s.window.pad_end[0] == 0 &&
         s.window.kernel_size() <= 1024;
}

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

// One image and group: y: [maps, pixels] = packed · patches + bias, then `post`.
template <typename T>
void MultiplyPatches(ThreadPool& threads, int64_t maps, int64_t depth, int64_t pixels, const PatchSource<T>& src,
                     const T* packed, const T* bias, const Activation& post, int64_t first_channel, T* scratch,
                     int64_t scratch_size, T* y) {
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
        if constexpr (std::is_same_v<T, float>) {
          if (post.kind == Activation::Kind::kNone) continue;
          for (int64_t m = 0; m < maps; ++m) {
            Activate(post, first_channel + m, nullptr, y + m * pixels + first, cols);
          }
        }
      }
    }
  });
}

}  // namespace

template <typename T>
absl::Status Convolve(KernelContext& ctx, const ConvShape& s, const T* x, const T* w,
                      const PackedFilters<T>* packed_filters, const T* bias, const Activation& post, T* y) {
  if (IsDepthwise(s)) return ConvolveDepthwise<T>(ctx, s, x, w, bias, post, y);
  const Window& win = s.window;
  const int64_t maps = s.out_channels, depth = s.depth(), pixels = win.out_size(), in_size = win.in_size();
  if (s.batch == 0 || maps == 0 || pixels == 0) return absl::OkStatus();
  const T* packed = packed_filters != nullptr ? packed_filters->data.data() : nullptr;
  const int64_t packed_size = PackedASize<T>(maps, depth);
  if (packed == nullptr) {
    int64_t n = 0;
    if (MulOverflows(packed_size, s.groups, &n)) return Bad(ctx, "sizes overflow");
    RT_ASSIGN_OR_RETURN(T * mine, ScratchOf<T>(ctx, n));
    for (int64_t g = 0; g < s.groups; ++g) {
      PackA<T>(maps, depth, w + g * maps * depth, depth, 1, mine + g * packed_size);
    }
    packed = mine;
  }
  const bool pointwise = win.kernel_size() == 1 && !win.padded() && win.stride == Spatial{1, 1, 1};
  const PaddedPlanes planes(win, false);
  const bool copy = !planes.in_place() && depth > 0;
  const std::optional<int64_t> channel = copy ? planes.channel_size() : in_size;
  int64_t copy_size = 0;
  if (!channel || MulOverflows(*channel, s.in_channels, &copy_size)) return Bad(ctx, "sizes overflow");

  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(depth));
  const int64_t taps = win.kernel_size();
  for (int64_t c = 0; c < s.in_channels; ++c) {
    for (int64_t t = 0; t < taps; ++t) offsets.push_back(c * *channel + planes.taps()[static_cast<size_t>(t)]);
  }
  PatchSource<T> src{};
  src.offsets = offsets.data();
  src.row_step = planes.out_row_step();
  src.plane_step = planes.out_plane_step();
  src.out_h = win.out[1];
  src.out_w = win.out[2];
  src.flat = pointwise || (win.out[0] == 1 && win.out[1] == 1);

  T* copied = nullptr;
  if (copy) {
    RT_ASSIGN_OR_RETURN(copied, ScratchOf<T>(ctx, copy_size));
  }
  const int64_t block_cols = std::min(kBlockCols<T>, RoundUp(pixels, kPanelCols<T>));
  const int64_t scratch_size = block_cols * std::min(kDepth<T>, std::max<int64_t>(depth, 1)) + kLanes<T>;
  // A pixel's patch as a vector, for the matrix-vector product.
  const bool vector = pixels == 1;
  // Few maps on unpadded 1×1 windows: gathering would cost more than it saves.
  const bool direct = pointwise && maps <= 2 * kTileRows && !vector;
  T* scratch = nullptr;
  if (!direct) {
    const int64_t n = vector ? depth : scratch_size * ctx.threads().threads();
    RT_ASSIGN_OR_RETURN(scratch, ScratchOf<T>(ctx, n));
  }
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t g = 0; g < s.groups; ++g) {
      const T* xg = x + (n * s.groups + g) * s.in_channels * in_size;
      const int64_t map0 = g * maps;
      T* yg = y + (n * s.groups * maps + map0) * pixels;
      const T* pg = packed + g * packed_size;
      const T* bg = bias != nullptr ? bias + map0 : nullptr;
      if (copy) {
        ctx.threads().ParallelFor(s.in_channels, 1 + 20000 / *channel, [&](int64_t begin, int64_t end) {
          for (int64_t c = begin; c < end; ++c) planes.Copy(xg + c * in_size, copied + c * *channel);
        });
        xg = copied;
      }
      src.data = xg;
      if (vector) {
        const T* v = xg;
        if (!pointwise || in_size != 1) {
          for (int64_t p = 0; p < depth; ++p) scratch[p] = xg[offsets[static_cast<size_t>(p)]];
          v = scratch;
        }
        GemvPackedA<T>(maps, depth, pg, v, bg, yg);
      } else if (direct) {
        GemmDirect<T>(maps, pixels, depth, pg, xg, in_size, bg, yg, pixels);
      } else {
        MultiplyPatches(ctx.threads(), maps, depth, pixels, src, pg, bg, post, map0, scratch, scratch_size, yg);
        continue;
      }
      if constexpr (std::is_same_v<T, float>) {
        if (post.kind != Activation::Kind::kNone) {
          for (int64_t m = 0; m < maps; ++m) Activate(post, map0 + m, nullptr, yg + m * pixels, pixels);
        }
      }
    }
  }
  return absl::OkStatus();
}

#define RETUPLE_CONV(T)                                                                               \
  template struct PackedFilters<T>;                                                                   \
  template absl::Status Convolve<T>(KernelContext&, const ConvShape&, const T*, const T*,             \
                                    const PackedFilters<T>*, const T*, const Activation&, T*);
RETUPLE_CONV(float)
RETUPLE_CONV(double)
RETUPLE_CONV(uint32_t)
#undef RETUPLE_CONV

}  // namespace retuple::internal
