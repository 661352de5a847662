// And, Or, Xor on bool; BitShift on unsigned, BitwiseAnd, BitwiseOr, BitwiseXor on all integers.
#include "kernels/core/broadcast.h"

namespace retuple::internal {
namespace {

struct AndF {
  uint8_t operator()(uint8_t a, uint8_t b) const { return (a != 0) & (b != 0); }
};
struct OrF {
  uint8_t operator()(uint8_t a, uint8_t b) const { return (a | b) != 0; }
};
struct XorF {
  uint8_t operator()(uint8_t a, uint8_t b) const { return (a != 0) != (b != 0); }
};

template <typename F, bool kLegacy>
absl::Status Logical(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const BinaryOperands x, ReadBinary(ctx, kLegacy));
  if (x.a->dtype() != DType::kBool || x.b->dtype() != DType::kBool) return Bad(ctx, "the operands must be bool");
  const uint8_t* a = x.a->data<uint8_t>();
  const Dims a_dims = x.a->dims();
  RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kBool, x.out));
  BroadcastBinary(ctx.threads(), a, a_dims, x.b->data<uint8_t>(), x.b_dims, y->mutable_data<uint8_t>(), x.out,
                  F{});
  return absl::OkStatus();
}

struct BitAndF {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a & b);
  }
};
struct BitOrF {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a | b);
  }
};
struct BitXorF {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a ^ b);
  }
};
// A shift by the width or more gives 0.
struct ShiftLeftF {
  template <typename C>
  C operator()(C a, C b) const {
    return b >= sizeof(C) * 8 ? C{0} : static_cast<C>(static_cast<uint64_t>(a) << b);
  }
};
struct ShiftRightF {
  template <typename C>
  C operator()(C a, C b) const {
    return b >= sizeof(C) * 8 ? C{0} : static_cast<C>(a >> b);
  }
};

template <TypeSet kSet, typename F>
absl::Status Bitwise(KernelContext& ctx) {
  RT_ASSIGN_OR_RETURN(const BinaryOperands x, ReadBinary(ctx, false));
  if (x.a->dtype() != x.b->dtype()) return Bad(ctx, "the operands differ in element type");
  return Dispatch<kSet>(ctx.op(), x.a->dtype(), [&]<typename T>(TypeTag<T>) -> absl::Status {
    const T* a = x.a->data<T>();
    const Dims a_dims = x.a->dims();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, x.a->dtype(), x.out));
    BroadcastBinary(ctx.threads(), a, a_dims, x.b->data<T>(), x.b_dims, y->template mutable_data<T>(), x.out,
                    F{});
    return absl::OkStatus();
  });
}

absl::Status BitShift(KernelContext& ctx) {
  const std::string direction = StringAttr(ctx, "direction", "");
  if (direction == "LEFT") return Bitwise<kUnsigned, ShiftLeftF>(ctx);
  if (direction == "RIGHT") return Bitwise<kUnsigned, ShiftRightF>(ctx);
  return Bad(ctx, "direction is \"%s\", expected LEFT or RIGHT", direction);
}

}  // namespace

void RegisterLogic(KernelRegistry& r) {
  constexpr KernelFlags kInPlace{.in_place = true};
  r.Add("And", Logical<AndF, false>, kInPlace);
  r.Add("And-1", Logical<AndF, true>, kInPlace);
  r.Add("Or", Logical<OrF, false>, kInPlace);
  r.Add("Or-1", Logical<OrF, true>, kInPlace);
  r.Add("Xor", Logical<XorF, false>, kInPlace);
  r.Add("Xor-1", Logical<XorF, true>, kInPlace);
  r.Add("BitShift", BitShift, kInPlace);
  r.Add("BitwiseAnd", Bitwise<kInts, BitAndF>, kInPlace);
  r.Add("BitwiseOr", Bitwise<kInts, BitOrF>, kInPlace);
  r.Add("BitwiseXor", Bitwise<kInts, BitXorF>, kInPlace);
}

}  // namespace retuple::internal
