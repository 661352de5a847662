// One dimension of a shape, or one element of an integer tensor that carries shapes: a number or a
// symbol.
//
// A symbol stands for one unknown number, the same wherever it occurs. Named symbols come from the
// model
// ("batch"); fresh ones stand for dimensions that the model leaves open or that inference cannot
// tell. Arithmetic of symbols gives a symbol again, interned in the normal form of a polynomial
// (divisions that do not come out are atoms of it), so that equal computations of a size are equal
// dims: (N + 1) + 1 is N + 2, 2·N·K / N is 2·K. The laws used hold for integers; a cancelled
// divisor is taken to be non-zero.
#ifndef RETUPLE_IR_BRIDGE_DIM_H_
#define RETUPLE_IR_BRIDGE_DIM_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace retuple {

class Dim {
 public:
  Dim() : Dim(0) {}
  Dim(int64_t n) : value_(n), symbol_(0) {}  // NOLINT: a number is a dim
  // The symbol called `name`; the same name gives the same dim in the whole process. Thread-safe.
  static Dim Named(std::string_view name);
  // A new unnamed symbol, different from all others. Prints as "?".
  static Dim Fresh();

  bool known() const { return symbol_ == 0; }
  // Pre: known().
  int64_t value() const { return value_; }
  bool Is(int64_t n) const { return known() && value_ == n; }
  // True for a symbol that has a name of its own (from a model), not a fresh one or an expression.
  bool named() const;
  // "3", "batch", "?", or an expression "(batch+1)".
  std::string ToString() const;
  uint32_t symbol_id() const { return symbol_; }

  friend bool operator==(const Dim&, const Dim&) = default;
  friend Dim operator+(Dim a, Dim b);
  friend Dim operator-(Dim a, Dim b);
  friend Dim operator*(Dim a, Dim b);
  // Floor division; a known zero divisor gives a fresh symbol.
  friend Dim FloorDiv(Dim a, Dim b);
  friend Dim CeilDiv(Dim a, Dim b);
  // What two symbols broadcast to: a symbol of its own, the same for the same pair in either order,
  // and absorbing either of them. Pre: neither is known.
  friend Dim BroadcastSymbols(Dim a, Dim b);
  template <typename H>
  friend H AbslHashValue(H h, const Dim& d) {
    return H::combine(std::move(h), d.value_, d.symbol_);
  }

 private:
  Dim(int64_t n, uint32_t s) : value_(n), symbol_(s) {}
  int64_t value_;
  uint32_t symbol_;  // 0: a number
};

Dim FloorDiv(Dim a, Dim b);
Dim CeilDiv(Dim a, Dim b);
Dim BroadcastSymbols(Dim a, Dim b);

}  // namespace retuple

#endif  // RETUPLE_IR_BRIDGE_DIM_H_
