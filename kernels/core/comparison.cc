// Equal, Greater, Less, GreaterOrEqual, LessOrEqual: two operands of one element type, bool out. Equal also takes
// bool and strings. A comparison with NaN is false.
#include "kernels/core/broadcast.h"

namespace retuple::internal {
namespace {

struct EqualF {
  template <typename C>
  bool operator()(const C& a, const C& b) const {
    return a == b;
  }
};
struct GreaterF {
  template <typename C>
  bool operator()(C a, C b) const {
    return a > b;
  }
};
struct LessF {
  template <typename C>
  bool operator()(C a, C b) const {
    return a < b;
  }
};
struct GreaterOrEqualF {
  template <typename C>
  bool operator()(C a, C b) const {
    return a >= b;
  }
};
struct LessOrEqualF {
  template <typename C>
  bool operator()(C a, C b) const {
    return a <= b;
  }
};

void EqualStrings(const BinaryOperands& x, uint8_t* out) {
  const std::string* a = x.a->data<std::string>();
  const std::string* b = x.b->data<std::string>();
  if (NumElements(x.out) == 0) return;
  const Dims* const operands[] = {&x.a->dims(), &x.b_dims};
  const BroadcastPlan plan = PlanBroadcast(x.out, operands);
  const int64_t row = plan.row_size();
  RowCursor at(plan, 0);
  for (int64_t r = 0; r < plan.rows; ++r, at.Next()) {
    for (int64_t i = 0; i < row; ++i) {
      *out++ = a[at.offset(0) + i * plan.strides[0].back()] == b[at.offset(1) + i * plan.strides[1].back()];
    }
  }
}

template <typename F, bool kLegacy>
absl::Status Compare(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const BinaryOperands x, ReadBinary(ctx, kLegacy));
  const DType dtype = x.a->dtype();
  if (dtype != x.b->dtype()) return Bad(ctx, "the operands differ in element type");
  constexpr bool kIsEqual = std::is_same_v<F, EqualF>;
  if (kIsEqual && dtype == DType::kString) {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kBool, x.out));
    EqualStrings(x, y->mutable_data<uint8_t>());
    return absl::OkStatus();
  }
  if (kIsEqual && dtype == DType::kBool) {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kBool, x.out));
    BroadcastBinary(ctx.threads(), x.a->data<uint8_t>(), x.a->dims(), x.b->data<uint8_t>(), x.b_dims,
                    y->mutable_data<uint8_t>(), x.out,
                    [](uint8_t a, uint8_t b) { return (a != 0) == (b != 0); });
    return absl::OkStatus();
  }
  return Dispatch<kNumeric>(ctx.op(), dtype, [&]<typename T>(TypeTag<T>) -> absl::Status {
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kBool, x.out));
    BroadcastBinary(ctx.threads(), x.a->data<T>(), x.a->dims(), x.b->data<T>(), x.b_dims,
                    y->template mutable_data<uint8_t>(), x.out, F{});
    return absl::OkStatus();
  });
}

}  // namespace

void RegisterComparison(KernelRegistry& r) {
  r.Add("Equal", Compare<EqualF, false>);
  r.Add("Equal-1", Compare<EqualF, true>);
  r.Add("Greater", Compare<GreaterF, false>);
  r.Add("Greater-1", Compare<GreaterF, true>);
  r.Add("Less", Compare<LessF, false>);
  r.Add("Less-1", Compare<LessF, true>);
  r.Add("GreaterOrEqual", Compare<GreaterOrEqualF, false>);
  r.Add("LessOrEqual", Compare<LessOrEqualF, false>);
}

}  // namespace retuple::internal
