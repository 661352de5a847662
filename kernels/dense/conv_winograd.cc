// Winograd convolution F(4×4, 3×3): A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural
// Networks", CVPR 2016.
//
// A 4×4 tile of outputs is Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A with d the 6×6 tile of inputs: 36 products
// instead of 144. Over all channels the element-wise product becomes 36 matrix products [maps,
// channels] · [channels, tiles]. Vectors run over tiles: the operand is copied split into 4 × 4
// phases, so that element (r, c) of consecutive tiles is contiguous, also from one row of tiles to
// the next (with a surplus tile at each row's end, whose result is dropped).
#include <array>

#include "kernels/dense/conv_compute.h"

namespace retuple::internal {
namespace {

using V = Vec<float>;
constexpr int kL = kLanes<float>;
constexpr int kTile = 4, kPatch = 6, kProducts = 36;

struct Geometry {
  int64_t tiles_y, tiles_x, pitch;  // pitch: tiles_x and the surplus
  Window window;                    // a 6×6 window with stride 4
  explicit Geometry(const ConvShape& s) : window(s.window) {
    tiles_y = (s.window.out[1] + kTile - 1) / kTile;
    tiles_x = (s.window.out[2] + kTile - 1) / kTile;
    pitch = tiles_x + 1;
    const int64_t tiles[2] = {tiles_y, tiles_x};
    for (size_t d = 1; d < 3; ++d) {
      window.kernel[d] = kPatch;
      window.stride[d] = kTile;
      // Whole multiples of four rows and columns, one tile more than there are, and room for what
      // the outputs do not need.
      const int64_t size = kTile * (tiles[d - 1] + 1);
      window.pad_end[d] = size - window.in[d] - window.pad_begin[d];
    }
  }
  int64_t flat(int64_t rows) const { return rows * pitch; }
};

// x ← Bᵀ x for the six x[i · step].
inline __attribute__((always_inline)) void TransformIn(V* x, int step) {
  const V a = x[0], b = x[step], c = x[2 * step], d = x[3 * step], e = x[4 * step], f = x[5 * step];
  const V u = e - 4.0f * c, v = d - 4.0f * b, w = e - c, z = 2.0f * (d - b);
  x[0] = 4.0f * a - 5.0f * c + e;
  x[step] = u + v;
  x[2 * step] = u - v;
  x[3 * step] = w + z;
  x[4 * step] = w - z;
  x[5 * step] = 4.0f * b - 5.0f * d + f;
}

// The four rows of Aᵀ x.
inline __attribute__((always_inline)) void TransformOut(const V* x, int step, V* y, int y_step) {
  const V p = x[step] + x[2 * step], q = x[step] - x[2 * step];
  const V r = x[3 * step] + x[4 * step], t = x[3 * step] - x[4 * step];
  y[0] = x[0] + p + r;
  y[y_step] = q + 2.0f * t;
  y[2 * y_step] = p + 4.0f * r;
  y[3 * y_step] = q + 8.0f * t + x[5 * step];
}

// One vector of tiles of one channel: in + taps[i] → products `stride` apart.
void TransformTiles(const float* in, const int64_t* taps, float* out, int64_t stride) {
  V x[kProducts];
#pragma GCC unroll 6
  for (int c = 0; c < kPatch; ++c) {
#pragma GCC unroll 6
    for (int r = 0; r < kPatch; ++r) x[r * kPatch + c] = Load(in + taps[r * kPatch + c]);
    TransformIn(x + c, kPatch);
  }
#pragma GCC unroll 6
  for (int r = 0; r < kPatch; ++r) {
    TransformIn(x + r * kPatch, 1);
#pragma GCC unroll 6
    for (int c = 0; c < kPatch; ++c) Store(out + (r * kPatch + c) * stride, x[r * kPatch + c]);
  }
}

// One vector of tiles of one map: products `stride` apart → out[r][c], `out_stride` apart.
void TransformResults(const float* in, int64_t stride, float bias, const Clamp<float>& clamp,
                      float* out, int64_t out_stride) {
  V y[kTile * kPatch];
#pragma GCC unroll 6
  for (int c = 0; c < kPatch; ++c) {
    V x[kPatch];
#pragma GCC unroll 6
    for (int r = 0; r < kPatch; ++r) x[r] = Load(in + (r * kPatch + c) * stride);
    TransformOut(x, 1, y + c, kPatch);
  }
  const V b = Splat<float>(bias), lo = Splat<float>(clamp.lo), hi = Splat<float>(clamp.hi);
#pragma GCC unroll 4
  for (int r = 0; r < kTile; ++r) {
    V z[kTile];
    TransformOut(y + r * kPatch, 1, z, 1);
#pragma GCC unroll 4
    for (int c = 0; c < kTile; ++c) {
      Store(out + (r * kTile + c) * out_stride, Min<float>(Max<float>(z[c] + b, lo), hi));
    }
  }
}

// row[4i + c] = phase c [i], for `width` elements. Reads whole vectors of the phases.
void Interleave(const float* phases, int64_t stride, float* row, int64_t width) {
#if defined(__AVX512F__)
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high =
      _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  for (int64_t x = 0; x < width; x += 64, phases += 16) {
    const __m512 p0 = _mm512_loadu_ps(phases), p1 = _mm512_loadu_ps(phases + stride);
    const __m512 p2 = _mm512_loadu_ps(phases + 2 * stride),
                 p3 = _mm512_loadu_ps(phases + 3 * stride);
    const __m512 a = _mm512_permutex2var_ps(p0, low, p2), b = _mm512_permutex2var_ps(p1, low, p3);
    const __m512 c = _mm512_permutex2var_ps(p0, high, p2), d = _mm512_permutex2var_ps(p1, high, p3);
    const V v[4] = {_mm512_permutex2var_ps(a, low, b), _mm512_permutex2var_ps(a, high, b),
                    _mm512_permutex2var_ps(c, low, d), _mm512_permutex2var_ps(c, high, d)};
    const int64_t left = width - x;
    for (int k = 0; k < 4 && left > 16 * k; ++k) {
      if (left >= 16 * (k + 1)) {
        Store(row + x + 16 * k, v[k]);
      } else {
        StoreN(row + x + 16 * k, v[k], static_cast<int>(left - 16 * k));
      }
    }
  }
#else
  for (int64_t x = 0; x < width; ++x) row[x] = phases[x % kTile * stride + x / kTile];
#endif
}

// Rows of tiles that are worked on at once: what their transforms need stays in the second-level
// cache.
int64_t RowsAtOnce(const ConvShape& s, const Geometry& g) {
  const int64_t budget = (int64_t{1} << 18) / (kProducts * s.in_channels);  // tiles
  return std::clamp<int64_t>(budget / g.pitch, 1, g.tiles_y);
}

}  // namespace

bool WinogradServes(const ConvShape& s) {
  const Window& w = s.window;
  const bool fits = w.kernel == Spatial{1, 3, 3} && w.stride == Spatial{1, 1, 1} &&
                    w.dilation == Spatial{1, 1, 1} && w.in[0] == 1 && w.out[0] == 1 &&
                    s.in_channels >= 16 && s.out_channels >= 16;
  if (!fits || w.out[1] < 8 || w.out[2] < 8 || w.out[1] > 4096 || w.out[2] > 4096) return false;
  // Cycles by counts of vectors: two multiply-adds a cycle, transforms of 150 a channel and 250 a
  // map.
  const Geometry g(s);
  const auto vectors = static_cast<double>((g.flat(g.tiles_y) + kL - 1) / kL);
  const auto pixels = static_cast<double>((w.out_size() + kL - 1) / kL);
  const auto c = static_cast<double>(s.in_channels), m = static_cast<double>(s.out_channels);
  const double winograd = vectors * (kProducts / 2.0 * m * c + 150 * c + 250 * m);
  const double patches = pixels * (9 / 2.0 * m * c + 25 * c);
  return winograd < 0.8 * patches;
}

int64_t WinogradPackedSize(const ConvShape& s) {
  return s.groups * kProducts * PackedASize<float>(s.out_channels, s.in_channels);
}

// packed: [group][product][tile of maps][channel][kTileRows].
void WinogradPack(const ConvShape& s, const float* w, float* packed) {
  constexpr double kG[kPatch][3] = {{0.25, 0, 0},
                                    {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                    {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                    {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                    {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                    {0, 0, 1}};
  const int64_t maps = s.out_channels, channels = s.in_channels,
                size = PackedASize<float>(maps, channels);
  std::fill(packed, packed + WinogradPackedSize(s), 0.0f);
  for (int64_t i = 0; i < s.groups * maps; ++i) {
    float* group = packed + i / maps * kProducts * size;
    const int64_t m = i % maps;
    for (int64_t c = 0; c < channels; ++c, w += 9) {
      double t[kPatch][3];
      for (int r = 0; r < kPatch; ++r) {
        for (int k = 0; k < 3; ++k) {
          t[r][k] = kG[r][0] * w[k] + kG[r][1] * w[3 + k] + kG[r][2] * w[6 + k];
        }
      }
      for (int r = 0; r < kPatch; ++r) {
        for (int k = 0; k < kPatch; ++k) {
          const double v = kG[k][0] * t[r][0] + kG[k][1] * t[r][1] + kG[k][2] * t[r][2];
          const int64_t at = (m / kTileRows * channels + c) * kTileRows + m % kTileRows;
          group[(r * kPatch + k) * size + at] = static_cast<float>(v);
        }
      }
    }
  }
}

absl::Status ConvolveWinograd(KernelContext& ctx, const ConvShape& s, const float* x,
                              const float* packed, const float* bias, const Clamp<float>& clamp,
                              const Activation& post, const float* add, float* y) {
  const Geometry g(s);
  const PaddedPlanes planes(g.window, true);
  const std::optional<int64_t> channel = planes.channel_size();
  if (!channel) return Bad(ctx, "sizes overflow");
  const int64_t channels = s.in_channels, maps = s.out_channels;
  const int64_t height = s.window.out[1], width = s.window.out[2], pixels = height * width;
  const int64_t in_size = s.window.in_size(), packed_size = PackedASize<float>(maps, channels);
  const int64_t rows_at_once = RowsAtOnce(s, g);
  const int64_t max_tiles = RoundUp(g.flat(rows_at_once), kPanelCols<float>);
  const int64_t blocks = (g.tiles_y + rows_at_once - 1) / rows_at_once;
  const int64_t slots = std::min<int64_t>(blocks, ctx.threads().threads());
  // Transformed operand, products, one map's result; a slot each.
  const int64_t in_product = max_tiles * channels, out_product = max_tiles * maps;
  const int64_t slot_size =
      kProducts * (in_product + out_product) + kTile * kTile * max_tiles + 4 * kL;
  RT_ASSIGN_OR_RETURN(float* copied, ScratchOf<float>(ctx, channels * *channel + 4 * kL));
  RT_ASSIGN_OR_RETURN(float* scratch, ScratchOf<float>(ctx, slot_size * slots));
  const int64_t* taps = planes.taps().data();
  for (int64_t c = 0; c < channels; ++c) planes.Fill(copied + c * *channel, 0.0f);
  for (int64_t i = 0; i < s.batch * s.groups; ++i) {
    const int64_t group = i % s.groups;
    const float* xg = x + i * channels * in_size;
    const float* weights = packed + group * kProducts * packed_size;
    float* yg = y + i * maps * pixels;
    for (int64_t c = 0; c < channels; ++c) planes.Copy(xg + c * in_size, copied + c * *channel);
    ctx.threads().ParallelFor(slots, 1, [&](int64_t begin, int64_t end) {
      for (int64_t slot = begin; slot < end; ++slot) {
        float* transformed = scratch + slot * slot_size;
        float* products = transformed + kProducts * in_product;
        float* result = products + kProducts * out_product;
        for (int64_t b = slot; b < blocks; b += slots) {
          const int64_t row0 = b * rows_at_once, rows = std::min(rows_at_once, g.tiles_y - row0);
          const int64_t tiles = g.flat(rows);
          for (int64_t c = 0; c < channels; ++c) {
            const float* in = copied + c * *channel + row0 * g.pitch;
            for (int64_t t = 0; t < tiles; t += kL) {
              // Into the panels that GemmBlock reads: [panel][channel][kPanelCols].
              const int64_t panel = t / kPanelCols<float>, col = t % kPanelCols<float>;
              TransformTiles(in + t, taps,
                             transformed + (panel * channels + c) * kPanelCols<float> + col,
                             in_product);
            }
          }
          for (int p = 0; p < kProducts; ++p) {
            for (int64_t k0 = 0; k0 < channels; k0 += kDepth<float>) {
              const int64_t depth = std::min(kDepth<float>, channels - k0);
              for (int64_t t = 0; t < tiles; t += kPanelCols<float>) {
                const int64_t cols = RoundUp(std::min(kPanelCols<float>, tiles - t), kL);
                GemmBlock<float>(
                    maps, cols, channels, k0, depth, weights + p * packed_size,
                    transformed + p * in_product + (t * channels + k0 * kPanelCols<float>), nullptr,
                    k0 > 0, products + p * out_product + t, max_tiles);
              }
            }
          }
          const int64_t first = row0 * kTile, last = std::min(height, first + rows * kTile);
          for (int64_t m = 0; m < maps; ++m) {
            const float start = bias != nullptr ? bias[group * maps + m] : 0.0f;
            for (int64_t t = 0; t < tiles; t += kL) {
              TransformResults(products + m * max_tiles + t, out_product, start, clamp, result + t,
                               max_tiles);
            }
            float* out = yg + m * pixels;
            for (int64_t r = first; r < last; ++r) {
              Interleave(result + (r % kTile) * kTile * max_tiles + (r - first) / kTile * g.pitch,
                         max_tiles, out + r * width, width);
            }
            if (post.kind != Activation::Kind::kNone || add != nullptr) {
              const int64_t at = first * width;
              Activate(post, group * maps + m,
                       add != nullptr ? add + (i * maps + m) * pixels + at : nullptr, out + at,
                       (last - first) * width);
            }
          }
        }
      }
    });
  }
  return absl::OkStatus();
}

}  // namespace retuple::internal
