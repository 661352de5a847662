// One line an operator form:
//
//   Form(r, "Gemm", {7, 9, 11, 13}).In("A B C?").Out("Y").Attrs<GemmAttrs>().Infer(InferGemm);
//
// Names are separated by spaces; `x?` is optional, `x*` variadic (none or more), `x+` variadic (at
// least one). The form is added when the builder goes out of scope. "Squeeze-1" and "domain::Name"
// are taken apart into name and domain.
#ifndef RETUPLE_IR_BRIDGE_INTERNAL_SCHEMA_BUILDER_H_
#define RETUPLE_IR_BRIDGE_INTERNAL_SCHEMA_BUILDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir_bridge/attrs/reflect.h"
#include "ir_bridge/schema.h"

namespace retuple::internal {

class Form {
 public:
  Form(Registry& registry, std::string_view form, std::vector<int> since);
  ~Form();
  Form(const Form&) = delete;
  Form& operator=(const Form&) = delete;

  Form& In(std::string_view names);
  Form& Out(std::string_view names);
  template <typename S>
  Form& Attrs() {
    schema_.attrs = AttrSpecsOf<S>();
    return *this;
  }
  Form& Infer(InferFn f) {
    schema_.infer = f;
    return *this;
  }
  Form& Commutative() {
    schema_.commutative = true;
    return *this;
  }
  Form& Associative() {
    schema_.associative = true;
    return *this;
  }
  Form& Unit(double v) {
    schema_.unit = v;
    return *this;
  }
  Form& Zero(double v) {
    schema_.zero = v;
    return *this;
  }
  Form& Random() {
    schema_.effect = Effect::kRandom;
    return *this;
  }

 private:
  Registry& registry_;
  OpSchema schema_;
};

}  // namespace retuple::internal

#endif  // RETUPLE_IR_BRIDGE_INTERNAL_SCHEMA_BUILDER_H_
