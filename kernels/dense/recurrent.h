// What LSTM, GRU and RNN have in common: operands, directions, layouts, activations, and the walk
// through time.
//
// For each direction the products with the inputs, x · Wᵀ + bias, are one matrix product over all
// steps; a step adds h · Rᵀ and applies the cell. W and R are packed when the plan is made if they
// are constants.
#ifndef RETUPLE_KERNELS_DENSE_RECURRENT_H_
#define RETUPLE_KERNELS_DENSE_RECURRENT_H_

#include <string>
#include <vector>

#include "kernels/dense/matmul_core.h"

namespace retuple::internal {

// One activation function of the operators' list, applied in place.
struct CellFunction {
  enum class Kind : uint8_t {
    kSigmoid,
    kTanh,
    kRelu,
    kAffine,
    kLeakyRelu,
    kThresholdedRelu,
    kScaledTanh,
    kHardSigmoid,
    kElu,
    kSoftsign,
    kSoftplus,
  };
  Kind kind = Kind::kSigmoid;
  float alpha = 0, beta = 0;

  template <typename T>
  void Apply(T* x, int64_t n) const;
};

struct RecurrentAttrs {
  enum class Direction : uint8_t { kForward, kReverse, kBidirectional };
  Direction direction = Direction::kForward;
  int64_t hidden = -1;  // −1: from the weights
  bool batch_first = false, linear_before_reset = false, input_forget = false;
  float clip = 0;                       // 0: none
  std::vector<CellFunction> functions;  // for each direction in turn
  int directions() const { return direction == Direction::kBidirectional ? 2 : 1; }
  bool reversed(int d) const { return direction == Direction::kReverse || d == 1; }

  // `defaults`: the cell's functions, one direction.
  static absl::StatusOr<RecurrentAttrs> Read(const Op& op,
                                             const std::vector<CellFunction>& defaults);
};

// Sizes: x: [seq, batch, input], w: [directions, gates · hidden, input], r: [directions, gates ·
// hidden, hidden].
struct RecurrentShape {
  int64_t seq = 0, batch = 0, input = 0, hidden = 0;
  int gates = 0, directions = 0;
  bool batch_first = false;
  std::vector<int64_t> lengths;  // empty: all seq
  int64_t width() const { return gates * hidden; }
  int64_t x_row(int64_t t, int64_t b) const { return batch_first ? b * seq + t : t * batch + b; }
  int64_t y_row(int64_t t, int64_t b, int d) const {
    return batch_first ? (b * seq + t) * directions + d : (t * directions + d) * batch + b;
  }
  int64_t state_row(int64_t b, int d) const {
    return batch_first ? b * directions + d : d * batch + b;
  }
};

// Everything a cell needs of one direction, as T.
template <typename T>
struct Direction {
  const PackedMatrix<T>* w = nullptr;
  const PackedMatrix<T>* r = nullptr;
  const T* bias =
      nullptr;  // [gates · hidden], Wb + Rb (for GRU's candidate: Wb alone when it resets linearly)
  const T* r_bias = nullptr;     // [gates · hidden], Rb
  const T* peepholes = nullptr;  // [3 · hidden]
  const CellFunction* functions = nullptr;
};

// One step of a cell. pre: [batch, gates · hidden] holds x · Wᵀ + bias; the cell may overwrite it.
// h, c: [batch, hidden] hold the old state in and the new one out. tmp: [batch, gates · hidden +
// hidden].
template <typename T>
using CellStep = void (*)(const RecurrentAttrs& a, const RecurrentShape& s, const Direction<T>& d,
                          ThreadPool& threads, T* pre, T* h, T* c, T* tmp);

struct CellKind {
  int gates;
  bool has_cell_state;
  CellStep<float> step32;
  CellStep<double> step64;
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeRecurrent(const KernelInit& init, const CellKind& kind,
                                                      const std::vector<CellFunction>& defaults);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_DENSE_RECURRENT_H_
