// Depthwise convolution: each map is the sum of one channel's shifted copies.
//
// The channel is copied once with its padding and, for strides, split into phases (PaddedPlanes),
// so that every tap is a contiguous read. With stride 1 and a 3×3 or 5×5 window a block of output
// rows is kept in registers and each input row is read once for all of them. Narrow planes (a row
// fills its vectors badly) are summed flat, over the padded pitch, and the surplus columns dropped.
#include <algorithm>

#include "kernels/dense/conv_compute.h"
#include "kernels/dense/padded_planes.h"

namespace retuple::internal {
namespace {

template <typename T>
inline Vec<T> Bounded(Vec<T> v, const Clamp<T>& c) {
  if constexpr (std::is_floating_point_v<T>)
    return Min<T>(Max<T>(v, Splat<T>(c.lo)), Splat<T>(c.hi));
  return v;
}

// y: rows of `width` outputs, `y_pitch` apart; input rows `pitch` apart; kRows output rows at once.
// With kSlack reads may pass the end of a row by less than a vector.
template <typename T, int kK, int kRows, bool kSlack>
void RowBlock(const T* in, int64_t pitch, const T* w, T bias, const Clamp<T>& clamp, T* y,
              int64_t y_pitch, int64_t width) {
  constexpr int kL = kLanes<T>;
  Vec<T> wv[kK * kK];
#pragma GCC unroll 25
  for (int t = 0; t < kK * kK; ++t) wv[t] = Splat<T>(w[t]);
  for (int64_t x = 0; x < width; x += kL) {
    const int n = static_cast<int>(std::min<int64_t>(kL, width - x));
    Vec<T> acc[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) acc[i] = Splat<T>(bias);
#pragma GCC unroll 12
    for (int r = 0; r < kRows + kK - 1; ++r) {
#pragma GCC unroll 8
      for (int k = 0; k < kK; ++k) {
        const T* p = in + r * pitch + x + k;
        const Vec<T> v = kSlack ? Load(p) : LoadN(p, n);
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
          if (r - i >= 0 && r - i < kK) acc[i] += wv[(r - i) * kK + k] * v;
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      acc[i] = Bounded<T>(acc[i], clamp);
      if (n == kL) {
        Store(y + i * y_pitch + x, acc[i]);
      } else {
        StoreN(y + i * y_pitch + x, acc[i], n);
      }
    }
  }
}

template <typename T, int kK, bool kSlack>
void Rows(const T* in, int64_t pitch, const T* w, T bias, const Clamp<T>& clamp, T* y,
          int64_t width, int64_t rows) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    RowBlock<T, kK, 4, kSlack>(in + r * pitch, pitch, w, bias, clamp, y + r * width, width, width);
  }
  if (r + 2 <= rows) {
    RowBlock<T, kK, 2, kSlack>(in + r * pitch, pitch, w, bias, clamp, y + r * width, width, width);
    r += 2;
  }
  if (r < rows)
    RowBlock<T, kK, 1, kSlack>(in + r * pitch, pitch, w, bias, clamp, y + r * width, width, width);
}

// kVecs vectors of outputs, each the sum over taps of w[t] · in[offset of t]; `last` elements in
// the last one.
template <typename T, int kVecs, bool kSlack>
void FlatBlock(const T* in, const int64_t* taps, int64_t num_taps, const T* w, T bias,
               const Clamp<T>& clamp, T* y, int last) {
  constexpr int kL = kLanes<T>;
  Vec<T> acc[kVecs];
#pragma GCC unroll 4
  for (int j = 0; j < kVecs; ++j) acc[j] = Splat<T>(bias);
  for (int64_t t = 0; t < num_taps; ++t) {
    const T* p = in + taps[t];
    const Vec<T> wv = Splat<T>(w[t]);
#pragma GCC unroll 4
    for (int j = 0; j < kVecs; ++j) {
      acc[j] += wv * (kSlack || j + 1 < kVecs ? Load(p + j * kL) : LoadN(p + j * kL, last));
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < kVecs; ++j) {
    acc[j] = Bounded<T>(acc[j], clamp);
    if (j + 1 < kVecs || last == kL) {
      Store(y + j * kL, acc[j]);
    } else {
      StoreN(y + j * kL, acc[j], last);
    }
  }
}

// n outputs in a row.
template <typename T, bool kSlack>
void Flat(const T* in, const int64_t* taps, int64_t num_taps, const T* w, T bias,
          const Clamp<T>& clamp, T* y, int64_t n) {
  constexpr int kL = kLanes<T>;
  for (int64_t x = 0; x < n; x += 4 * kL) {
    const auto left = static_cast<int>(std::min<int64_t>(4 * kL, n - x));
    const int vecs = (left + kL - 1) / kL, last = left - (vecs - 1) * kL;
    switch (vecs) {
      case 1:
        FlatBlock<T, 1, kSlack>(in + x, taps, num_taps, w, bias, clamp, y + x, last);
        break;
      case 2:
        FlatBlock<T, 2, kSlack>(in + x, taps, num_taps, w, bias, clamp, y + x, last);
        break;
      case 3:
        FlatBlock<T, 3, kSlack>(in + x, taps, num_taps, w, bias, clamp, y + x, last);
        break;
      default:
        FlatBlock<T, 4, kSlack>(in + x, taps, num_taps, w, bias, clamp, y + x, last);
    }
  }
}

// Rows of `width` from rows `pitch` apart.
template <typename T>
void Compact(const T* sums, int64_t pitch, T* out, int64_t width, int64_t height) {
  constexpr int kL = kLanes<T>;
  if (width > kL) {
    for (int64_t r = 0; r < height; ++r) std::copy_n(sums + r * pitch, width, out + r * width);
    return;
  }
  const int n = static_cast<int>(width);
  for (int64_t r = 0; r < height; ++r) StoreN(out + r * width, LoadN(sums + r * pitch, n), n);
}

int64_t Vectors(int64_t n, int64_t lanes) { return (n + lanes - 1) / lanes; }

// One channel, over the padded pitch if `flat`. `in` is the operand itself or its padded copy (then
// reads may pass its end by a vector).
template <typename T, bool kSlack>
void Channel(const ConvShape& s, const PaddedPlanes& planes, bool flat, int square, const T* in,
             const T* w, T bias, const Clamp<T>& clamp, T* out) {
  const Window& win = s.window;
  const int64_t height = win.out[1], width = win.out[2], pitch = planes.row_pitch(),
                taps = win.kernel_size();
  const int64_t* offsets = planes.taps().data();
  if (flat) {
    Flat<T, kSlack>(in, offsets, taps, w, bias, clamp, out, (height - 1) * pitch + width);
  } else if (square == 3) {
    Rows<T, 3, kSlack>(in, pitch, w, bias, clamp, out, width, height);
  } else if (square == 5) {
    Rows<T, 5, kSlack>(in, pitch, w, bias, clamp, out, width, height);
  } else if (width == pitch) {
    Flat<T, kSlack>(in, offsets, taps, w, bias, clamp, out, height * width);
  } else {
    for (int64_t r = 0; r < height; ++r) {
      Flat<T, kSlack>(in + r * pitch, offsets, taps, w, bias, clamp, out + r * width, width);
    }
  }
}

}  // namespace

template <typename T>
absl::Status ConvolveDepthwise(KernelContext& ctx, const ConvShape& s, const PaddedPlanes& planes,
                               const T* x, const T* w, const T* bias, const Clamp<T>& clamp,
                               const Activation& post, const T* add, T* y) {
  const Window& win = s.window;
  const int64_t maps = s.groups * s.out_channels, in_size = win.in_size(), pixels = win.out_size();
  const int64_t height = win.out[1], width = win.out[2], taps = win.kernel_size(),
                pitch = planes.row_pitch();
  const std::optional<int64_t> channel = planes.channel_size();
  if (!channel) return Bad(ctx, "sizes overflow");
  const bool copy = !planes.in_place();
  constexpr int kL = kLanes<T>;
  // A flat sum ends with the last output, so that its reads end with the last element too.
  const int64_t flat_size = (height - 1) * pitch + width;
  const bool flat =
      width < pitch && height > 1 && Vectors(flat_size, kL) * 10 < height * Vectors(width, kL) * 9;
  const bool plain = win.kernel[1] == win.kernel[2] && win.stride[1] == 1 && win.stride[2] == 1 &&
                     win.dilation[1] == 1 && win.dilation[2] == 1;
  const int square = plain ? static_cast<int>(win.kernel[1]) : 0;

  // Channels are worked on in batches: what was just stored is not loaded again at once, which
  // would wait for the store.
  const int64_t copy_size = copy ? RoundUp(*channel, kL) + kL : 0;
  const int64_t sums_size = flat ? RoundUp(flat_size, kL) : 0;
  const int64_t each = std::max<int64_t>(copy_size + sums_size, 1);
  const int64_t batch = std::clamp<int64_t>(4096 / each, 1, 16);
  const int64_t slot_size = batch * (copy_size + sums_size) + kL;
  const int64_t slots = std::min<int64_t>(ctx.threads().threads(), maps);
  int64_t scratch_size = 0;
  if (MulOverflows(slot_size, slots, &scratch_size)) return Bad(ctx, "sizes overflow");
  RT_ASSIGN_OR_RETURN(T * scratch, ScratchOf<T>(ctx, scratch_size));
  const int64_t total = s.batch * maps, batches = (total + batch - 1) / batch;
  ctx.threads().ParallelFor(slots, 1, [&](int64_t begin, int64_t end) {
    for (int64_t slot = begin; slot < end; ++slot) {
      T* copies = scratch + slot * slot_size;
      T* sums = copies + batch * copy_size;
      for (int64_t k = 0; copy && k < batch; ++k) planes.Fill(copies + k * copy_size, T{0});
      for (int64_t j = slot; j < batches; j += slots) {
        const int64_t first = j * batch, count = std::min(batch, total - first);
        auto operand = [&](int64_t i) {
          return x + (i / maps * s.groups + i % maps / s.out_channels) * in_size;
        };
        for (int64_t k = 0; copy && k < count; ++k)
          planes.Copy(operand(first + k), copies + k * copy_size);
        for (int64_t k = 0; k < count; ++k) {
          const int64_t i = first + k, m = i % maps;
          const T b = bias != nullptr ? bias[m] : T{0};
          T* out = flat ? sums + k * sums_size : y + i * pixels;
          if (copy) {
            Channel<T, true>(s, planes, flat, square, copies + k * copy_size, w + m * taps, b,
                             clamp, out);
          } else {
            Channel<T, false>(s, planes, flat, square, operand(i), w + m * taps, b, clamp, out);
          }
        }
        for (int64_t k = 0; k < count; ++k) {
          const int64_t i = first + k;
          T* out = y + i * pixels;
          if (flat) Compact(sums + k * sums_size, pitch, out, width, height);
          if constexpr (std::is_same_v<T, float>) {
            if (post.kind != Activation::Kind::kNone || add != nullptr) {
              Activate(post, i % maps, add != nullptr ? add + i * pixels : nullptr, out, pixels);
            }
          }
        }
      }
    }
  });
  return absl::OkStatus();
}

#define RETUPLE_DEPTHWISE(T)                                                                    \
  template absl::Status ConvolveDepthwise<T>(KernelContext&, const ConvShape&,                  \
                                             const PaddedPlanes&, const T*, const T*, const T*, \
                                             const Clamp<T>&, const Activation&, const T*, T*);
RETUPLE_DEPTHWISE(float)
RETUPLE_DEPTHWISE(double)
RETUPLE_DEPTHWISE(uint32_t)
#undef RETUPLE_DEPTHWISE

}  // namespace retuple::internal
