// What the core kernels share: error helpers, checked reading of inputs, attributes and axes, element copies.
//
// Every error names the operator form. Nothing here trusts a number that comes from a tensor or a model.
#ifndef RETUPLE_KERNELS_CORE_UTIL_H_
#define RETUPLE_KERNELS_CORE_UTIL_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "kernels/kernel.h"

#define RT_CONCAT_INNER_(a, b) a##b
#define RT_CONCAT_(a, b) RT_CONCAT_INNER_(a, b)
#define RT_RETURN_IF_ERROR(expr)                     \
  do {                                               \
    if (absl::Status rt_status_ = (expr); !rt_status_.ok()) return rt_status_; \
  } while (0)
#define RT_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = (expr);                              \
  if (!tmp.ok()) return std::move(tmp).status();  \
  lhs = *std::move(tmp)
#define RT_ASSIGN_OR_RETURN(lhs, expr) RT_ASSIGN_OR_RETURN_IMPL_(RT_CONCAT_(rt_or_, __LINE__), lhs, expr)

// The loop carries no dependence between iterations, also when output and input are the same memory.
#if defined(__clang__)
#define RT_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define RT_IVDEP _Pragma("GCC ivdep")
#else
#define RT_IVDEP
#endif

// A loop over lanes that shall stay a loop: unrolled, GCC no longer makes one vector of it when lanes are selected.
#if defined(__GNUC__) && !defined(__clang__)
#define RT_LANES _Pragma("GCC unroll 1")
#else
#define RT_LANES
#endif

namespace retuple::internal {

template <typename... Args>
absl::Status Bad(const KernelContext& ctx, const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: %s", ctx.op().form(), absl::StrFormat(format, args...)));
}
template <typename... Args>
absl::Status Unserved(const KernelContext& ctx, const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::UnimplementedError(
      absl::StrFormat("%s: %s", ctx.op().form(), absl::StrFormat(format, args...)));
}

std::string DimsToString(std::span<const int64_t> dims);

// Input i as a tensor; InvalidArgument when it is absent or not a tensor.
absl::StatusOr<const Tensor*> Input(const KernelContext& ctx, int i);
// As above, of the given element type.
absl::StatusOr<const Tensor*> InputOf(const KernelContext& ctx, int i, DType dtype);
// Input i, an i32 or i64 tensor of rank 0 or 1, as numbers; nullopt when it is absent.
absl::StatusOr<std::optional<std::vector<int64_t>>> IntsInput(const KernelContext& ctx, int i);
absl::StatusOr<std::vector<int64_t>> RequiredInts(const KernelContext& ctx, int i);
// Input i, an integer tensor of one element.
absl::StatusOr<int64_t> IntInput(const KernelContext& ctx, int i);

inline int64_t IntAttr(const KernelContext& ctx, std::string_view name, int64_t fallback) {
  const int64_t* v = FindAttr<int64_t>(ctx.op().attrs, name);
  return v ? *v : fallback;
}
inline float FloatAttr(const KernelContext& ctx, std::string_view name, float fallback) {
  const float* v = FindAttr<float>(ctx.op().attrs, name);
  return v ? *v : fallback;
}
inline const Ints* IntsAttr(const KernelContext& ctx, std::string_view name) {
  return FindAttr<Ints>(ctx.op().attrs, name);
}
inline std::string StringAttr(const KernelContext& ctx, std::string_view name, std::string_view fallback) {
  const std::string* v = FindAttr<std::string>(ctx.op().attrs, name);
  return v ? *v : std::string(fallback);
}

// `axis` counted from the front. Pre: none; InvalidArgument unless -rank <= axis < rank.
absl::StatusOr<int> NormalizeAxis(const KernelContext& ctx, int64_t axis, int rank);
// A flag per axis; duplicates are an error.
absl::StatusOr<std::vector<bool>> AxisFlags(const KernelContext& ctx, std::span<const int64_t> axes, int rank);

// Product of dims[begin, end). Pre: dims of an existing tensor, so that it cannot overflow.
inline int64_t Product(std::span<const int64_t> dims, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= dims[i];
  return n;
}
inline bool MulOverflows(int64_t a, int64_t b, int64_t* out) { return __builtin_mul_overflow(a, b, out); }
inline bool AddOverflows(int64_t a, int64_t b, int64_t* out) { return __builtin_add_overflow(a, b, out); }

// Row-major strides in elements.
Dims StridesOf(std::span<const int64_t> dims);

// Copies n elements of `dtype`; offsets in elements. Pre: ranges are valid and do not overlap.
inline void CopyElements(DType dtype, size_t size, void* dst, int64_t to, const void* src, int64_t from,
                         int64_t n) {
  if (dtype == DType::kString) {
    const auto* s = static_cast<const std::string*>(src) + from;
    std::copy(s, s + n, static_cast<std::string*>(dst) + to);
    return;
  }
  auto* d = static_cast<char*>(dst) + static_cast<size_t>(to) * size;
  const auto* s = static_cast<const char*>(src) + static_cast<size_t>(from) * size;
  if (n == 1 && size == 4) {
    std::memcpy(d, s, 4);
  } else if (n == 1 && size == 8) {
    std::memcpy(d, s, 8);
  } else if (n > 0) {
    std::memcpy(d, s, static_cast<size_t>(n) * size);
  }
}
// Steps an odometer over `dims` (last fastest); false after the last position.
inline bool NextIndex(std::span<const int64_t> dims, std::span<int64_t> index) {
  for (size_t d = dims.size(); d-- > 0;) {
    if (++index[d] < dims[d]) return true;
    index[d] = 0;
  }
  return false;
}

// Registration of the families, called by RegisterCoreKernels.
void RegisterUnary(KernelRegistry& r);
void RegisterActivations(KernelRegistry& r);
void RegisterArithmetic(KernelRegistry& r);
void RegisterComparison(KernelRegistry& r);
void RegisterLogic(KernelRegistry& r);
void RegisterPower(KernelRegistry& r);
void RegisterVariadic(KernelRegistry& r);
void RegisterWhere(KernelRegistry& r);
void RegisterReductions(KernelRegistry& r);
void RegisterLogReductions(KernelRegistry& r);
void RegisterArgReductions(KernelRegistry& r);
void RegisterCumSum(KernelRegistry& r);
void RegisterViews(KernelRegistry& r);
void RegisterTranspose(KernelRegistry& r);
void RegisterConcatSplit(KernelRegistry& r);
void RegisterSlice(KernelRegistry& r);
void RegisterGather(KernelRegistry& r);
void RegisterScatter(KernelRegistry& r);
void RegisterPad(KernelRegistry& r);
void RegisterTileExpand(KernelRegistry& r);
void RegisterSpaceDepth(KernelRegistry& r);
void RegisterSelection(KernelRegistry& r);
void RegisterGenerators(KernelRegistry& r);
void RegisterTopK(KernelRegistry& r);
void RegisterUnique(KernelRegistry& r);
void RegisterDet(KernelRegistry& r);
void RegisterNonMaxSuppression(KernelRegistry& r);
void RegisterCast(KernelRegistry& r);
void RegisterQuantize(KernelRegistry& r);
void RegisterSequences(KernelRegistry& r);
void RegisterStringNormalizer(KernelRegistry& r);
void RegisterTfIdf(KernelRegistry& r);
void RegisterLosses(KernelRegistry& r);
void RegisterDropout(KernelRegistry& r);
void RegisterRandom(KernelRegistry& r);

}  // namespace retuple::internal

#endif  // RETUPLE_KERNELS_CORE_UTIL_H_
