// A copy of planes with their padding, laid out so that a strided window reads contiguous memory.
//
// Along W a stride of s splits a row into s phases (every s-th element); a tap kw reads phase (kw ·
// dilation) mod s from position (kw · dilation) div s on, one element an output column. Rows are
// kept in order, or split by phase in the same way where `split_rows` is set (then a tap has one
// offset for the whole plane). Only phases that some tap reads are made. Filling the padding and
// copying the elements are two calls, so that a copy that is used for one channel after another is
// filled once.
#ifndef RETUPLE_KERNELS_DENSE_PADDED_PLANES_H_
#define RETUPLE_KERNELS_DENSE_PADDED_PLANES_H_

#include <vector>

#include "kernels/dense/conv_shape.h"

namespace retuple::internal {

class PaddedPlanes {
 public:
  PaddedPlanes(const Window& w, bool split_rows);

  // The operand itself can be read: no padding, no stride along W (and along H where rows are
  // split).
  bool in_place() const { return in_place_; }
  // Elements of one channel's copy; nullopt when that overflows.
  std::optional<int64_t> channel_size() const;
  int64_t row_pitch() const { return pitch_; }
  // From one output row, and one output plane, to the next.
  int64_t out_row_step() const { return split_rows_ ? pitch_ : pitch_ * window_.stride[1]; }
  int64_t out_plane_step() const { return plane_ * window_.stride[0]; }
  // Offset of each tap, in the order of the weights (kd, kh, kw), for output element 0.
  const std::vector<int64_t>& taps() const { return taps_; }

  // Sets channel_size() elements to `value`.
  template <typename T>
  void Fill(T* dst, T value) const;
  // src: one channel [D, H, W] → its places in dst. The padding is left as it is.
  template <typename T>
  void Copy(const T* src, T* dst) const;

 private:
  // Elements q, q + s, … of a row go to `phase` (−1: to none), from position `first` on.
  struct Lane {
    int64_t phase, first;
  };
  Lane LaneOf(int64_t q, int64_t pad, int64_t s, const std::vector<int64_t>& phases) const;

  Window window_;
  bool split_rows_, in_place_;
  std::vector<int64_t> col_phases_, row_phases_;
  std::vector<Lane> col_lanes_, row_lanes_;  // by element number mod stride
  int64_t rows_, pitch_;                     // of one phase
  int64_t plane_;                            // elements of all phases of one padded depth
  std::vector<int64_t> taps_;
};

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_PADDED_PLANES_H_
