// Depthwise convolution: each map is the sum of one channel's shifted copies.
//
// The channel is copied once with its padding and, for strides, split into phases (PaddedPlanes), so that every tap is a
// contiguous read. With stride 1 and a 3×3 or 5×5 window a block of output rows is kept in registers and each
// input row is read once for all of them. Narrow planes (a row fills its vectors badly) are summed flat, over
// the padded pitch, and the surplus columns dropped.
#include <algorithm>

#include "kernels/dense/conv_compute.h"
#include "kernels/dense/padded_planes.h"

namespace retuple::internal {
namespace {

// y: rows of `width` outputs, `y_pitch` apart; input rows `pitch` apart; kRows output rows at once.
template <typename T, int kK, int kRows>
void RowBlock(const T* in, int64_t pitch, const T* w, T bias, T* y, int64_t y_pitch, int64_t width) {
  constexpr int kL = kLanes<T>;
  Vec<T> wv[kK * kK];
#pragma GCC unroll 25
  for (int t = 0; t < kK * kK; ++t) wv[t] = Splat<T>(w[t]);
  for (int64_t x = 0; x < width; x += kL) {
    const int n = static_cast<int>(std::min<int64_t>(kL, width - x));
    const bool whole = x + kL + kK - 1 <= pitch;  // the reads stay inside the row
    Vec<T> acc[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) acc[i] = Splat<T>(bias);
#pragma GCC unroll 12
    for (int r = 0; r < kRows + kK - 1; ++r) {
#pragma GCC unroll 8
      for (int k = 0; k < kK; ++k) {
        const T* p = in + r * pitch + x + k;
        const Vec<T> v = whole ? Load(p) : LoadN(p, n);
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
          if (r - i >= 0 && r - i < kK) acc[i] += wv[(r - i) * kK + k] * v;
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      if (n == kL) {
        Store(y + i * y_pitch + x, acc[i]);
      } else {
        StoreN(y + i * y_pitch + x, acc[i], n);
      }
    }
  }
}

template <typename T, int kK>
void Rows(const T* in, int64_t pitch, const T* w, T bias, T* y, int64_t width, int64_t rows) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) RowBlock<T, kK, 4>(in + r * pitch, pitch, w, bias, y + r * width, width, width);
  for (; r < rows; ++r) RowBlock<T, kK, 1>(in + r * pitch, pitch, w, bias, y + r * width, width, width);
}

// n outputs in a row, each the sum over taps of w[t] · in[offset of t].
template <typename T>
void Flat(const T* in, const int64_t* taps, int64_t num_taps, const T* w, T bias, T* y, int64_t n) {
  constexpr int kL = kLanes<T>;
  int64_t x = 0;
  for (; x + 4 * kL <= n; x += 4 * kL) {
    Vec<T> a0 = Splat<T>(bias), a1 = a0, a2 = a0, a3 = a0;
    for (int64_t t = 0; t < num_taps; ++t) {
      const T* p = in + taps[t] + x;
      const Vec<T> wv = Splat<T>(w[t]);
      a0 += wv * Load(p);
      a1 += wv * Load(p + kL);
      a2 += wv * Load(p + 2 * kL);
      a3 += wv * Load(p + 3 * kL);
    }
    Store(y + x, a0);
    Store(y + x + kL, a1);
    Store(y + x + 2 * kL, a2);
    Store(y + x + 3 * kL, a3);
  }
  for (; x < n; x += kL) {
    const int len = static_cast<int>(std::min<int64_t>(kL, n - x));
    Vec<T> a = Splat<T>(bias), b{};
    int64_t t = 0;
    for (; t + 2 <= num_taps; t += 2) {
      a += Splat<T>(w[t]) * LoadN(in + taps[t] + x, len);
      b += Splat<T>(w[t + 1]) * LoadN(in + taps[t + 1] + x, len);
    }
    if (t < num_taps) a += Splat<T>(w[t]) * LoadN(in + taps[t] + x, len);
    StoreN(y + x, static_cast<Vec<T>>(a + b), len);
  }
}

int64_t Vectors(int64_t n, int64_t lanes) { return (n + lanes - 1) / lanes; }

}  // namespace

template <typename T>
absl::Status ConvolveDepthwise(KernelContext& ctx, const ConvShape& s, const T* x, const T* w, const T* bias,
                               const Activation& post, T* y) {
  const Window& win = s.window;
  const int64_t maps = s.groups * s.out_channels, in_size = win.in_size(), pixels = win.out_size();
  const int64_t height = win.out[1], width = win.out[2], taps = win.kernel_size();
  if (s.batch == 0 || maps == 0 || pixels == 0) return absl::OkStatus();
  const PaddedPlanes planes(win, true);
  const std::optional<int64_t> channel = planes.channel_size();
  if (!channel) return Bad(ctx, "sizes overflow");
  const bool copy = !planes.in_place();
  const int64_t pitch = planes.row_pitch();
  constexpr int kL = kLanes<T>;
  // A flat sum ends with the last output, so that no read passes the end of the copy.
  const int64_t flat_size = (height - 1) * pitch + width;
  const bool flat = width < pitch && height > 1 &&
                    Vectors(flat_size, kL) * 10 < height * Vectors(width, kL) * 9;
  const bool square = win.kernel[1] == win.kernel[2] && win.stride[1] == 1 && win.stride[2] == 1 &&
                      win.dilation[1] == 1 && win.dilation[2] == 1;
  const int k = square ? static_cast<int>(win.kernel[1]) : 0;

  const int64_t slot_size = (copy ? RoundUp(*channel, kL) : 0) + (flat ? RoundUp(flat_size, kL) : 0) + kL;
  const int64_t slots = std::min<int64_t>(ctx.threads().threads(), maps);
  int64_t scratch_size = 0;
  if (MulOverflows(slot_size, slots, &scratch_size)) return Bad(ctx, "sizes overflow");
  RT_ASSIGN_OR_RETURN(T * scratch, ScratchOf<T>(ctx, scratch_size));
  const int64_t* offsets = planes.taps().data();
  const int64_t total = s.batch * maps;
  ctx.threads().ParallelFor(slots, 1, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      T* copied = scratch + slot * slot_size;
      T* sums = copied + (copy ? RoundUp(*channel, kL) : 0);
      for (int64_t i = slot; i < total; i += slots) {
        const int64_t n = i / maps, m = i % maps, c = m / s.out_channels;
        const T* in = x + (n * s.groups + c) * in_size;
        if (copy) {
          planes.Copy(in, copied);
          in = copied;
        }
        const T* wm = w + m * taps;
        const T b = bias != nullptr ? bias[m] : T{0};
        T* out = y + i * pixels;
        if (flat) {
          Flat(in, offsets, taps, wm, b, sums, flat_size);
          for (int64_t r = 0; r < height; ++r) {
            std::copy_n(sums + r * pitch, width, out + r * width);
          }
        } else if (k == 3) {
          Rows<T, 3>(in, pitch, wm, b, out, width, height);
        } else if (k == 5) {
          Rows<T, 5>(in, pitch, wm, b, out, width, height);
        } else if (width == pitch) {
          Flat(in, offsets, taps, wm, b, out, pixels);
        } else {
          for (int64_t r = 0; r < height; ++r) {
            Flat(in + r * pitch, offsets, taps, wm, b, out + r * width, width);
          }
        }
        if constexpr (std::is_same_v<T, float>) {
          if (post.kind != Activation::Kind::kNone) Activate(post, m, nullptr, out, pixels);
        }
      }
    }
  });
  return absl::OkStatus();
}

#define RETUPLE_DEPTHWISE(T)                                                                          \
  template absl::Status ConvolveDepthwise<T>(KernelContext&, const ConvShape&, const T*, const T*,    \
                                             const T*, const Activation&, T*);
RETUPLE_DEPTHWISE(float)
RETUPLE_DEPTHWISE(double)
RETUPLE_DEPTHWISE(uint32_t)
#undef RETUPLE_DEPTHWISE

}  // namespace retuple::internal
