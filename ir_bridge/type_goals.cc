#include "ir_bridge/type_goals.h"

namespace retuple {
namespace {

bool SameDim(const Dim& a, const Dim& b) { return a == b || (!a.known() && !b.known() && !a.named() && !b.named()); }

// Whether `t` is the type `of`, or, unless `exact`, a more special one.
bool Fits(const Type& t, const Type& of, bool exact) {
  const Type *a = &t, *b = &of;
  for (; a->kind() == b->kind() && (b->kind() == Type::Kind::kSequence || b->kind() == Type::Kind::kOptional); a = &a->element()) b = &b->element();
  if (!exact && b->is_unknown()) return true;
  if (a->kind() != b->kind()) return false;
  if (!b->is_tensor()) return true;
  if (a->dtype() != b->dtype() && (exact || b->dtype() != DType::kUndefined)) return false;
  if (!b->has_shape()) return !exact || !a->has_shape();
  if (a->rank() != b->rank()) return false;
  for (size_t i = 0; i < b->shape().size(); ++i) {
    const Dim &d = a->shape()[i], &wanted = b->shape()[i];
    if (exact ? !SameDim(d, wanted) : wanted.known() && d != wanted) return false;
  }
  return true;
}

}  // namespace

void AddIrTypes(Program& program, TermCodec& codec, TermTypes& types) {
  program.AddTypes([&codec, &types](Term value, Term type, bool exact) -> std::optional<bool> {
    const Context& ctx = codec.ctx();
    if (ctx.IsSymbol(type)) {
      const auto dtype = ParseDType(ctx.Text(type));
      if (!dtype.has_value()) return std::nullopt;
      const Type& t = types.TypeOf(value);
      return t.is_tensor() && t.dtype() == *dtype;
    }
    if (!ctx.IsTuple(type)) return std::nullopt;
    const auto of = codec.ReadTypeWords(ctx.Children(type));
    if (!of.ok()) return std::nullopt;
    return Fits(types.TypeOf(value), *of, exact);
  });
}

}  // namespace retuple
