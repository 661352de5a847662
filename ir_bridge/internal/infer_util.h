// What inference functions share: checks of operands, axes, broadcasting, arithmetic on carried
// elements.
//
// The rule of knowledge: unknown is never an error. A check fails only on what is known on both
// sides.
#ifndef RETUPLE_IR_BRIDGE_INTERNAL_INFER_UTIL_H_
#define RETUPLE_IR_BRIDGE_INTERNAL_INFER_UTIL_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "ir_bridge/internal/status_macros.h"
#include "ir_bridge/schema.h"

namespace retuple::internal {

template <typename... Args>
absl::Status Contradiction(const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::InvalidArgumentError(absl::StrFormat(format, args...));
}

// A tensor type of what is known; unknown when nothing is.
Type TensorType(DType dtype, std::optional<Shape> shape);
// The shape of input i, if known.
std::optional<Shape> ShapeOf(const InferContext& c, int i);
// Output `out` gets dtype `t` and the shape of input i.
void SetLike(InferContext& c, int out, DType t, int i);
// Output `out` becomes a vector of these elements.
void SetVector(InferContext& c, int out, DType t, std::vector<Dim> elements);
// A shape of fresh dims.
Shape FreshShape(int rank);

// ---- checks of operands
// Inputs [0, n) that are present are tensors (or unknown).
absl::Status ExpectTensors(const InferContext& c, int n);
absl::Status ExpectRank(const InferContext& c, int i, int rank);
absl::Status ExpectRankAtLeast(const InferContext& c, int i, int rank);
absl::Status ExpectDType(const InferContext& c, int i, DType t);
// i32 or i64.
absl::Status ExpectIndices(const InferContext& c, int i);
// The element type of inputs i and j, which must agree.
absl::StatusOr<DType> CommonDType(const InferContext& c, int i, int j);
absl::Status ExpectSameDim(Dim a, Dim b, std::string_view what);
// Of two dims known to be equal, the one that says more.
Dim Better(Dim a, Dim b);

// ---- axes
// An axis in [-rank, rank) made non-negative.
absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank, std::string_view what = "axis");
// As above for a list without repetition; result in the order given.
absl::StatusOr<std::vector<int>> NormalizeAxes(const std::vector<int64_t>& axes, int rank);

// ---- broadcasting
absl::StatusOr<Dim> BroadcastDim(Dim a, Dim b);
absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b);
// Broadcast of inputs [0, n); an unknown rank makes the result unknown unless all others are
// scalars of it.
absl::StatusOr<std::optional<Shape>> BroadcastInputs(const InferContext& c, int n);

// ---- sizes
// Product of all dims.
Dim ProductOf(const Shape& s, size_t begin = 0, size_t end = static_cast<size_t>(-1));
// ∏ numerator / ∏ denominator, equal factors cancelled first.
Dim QuotientOf(std::vector<Dim> numerator, std::vector<Dim> denominator);
// Fits an element of this type (also says no for types whose elements are not carried).
bool FitsElement(DType t, Dim d);

// The element type of an `dtype`-like attribute; Contradiction when it is no ONNX type.
absl::StatusOr<DType> DTypeFromAttr(int64_t value, std::string_view what);

}  // namespace retuple::internal

#endif  // RETUPLE_IR_BRIDGE_INTERNAL_INFER_UTIL_H_
