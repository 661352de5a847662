// Small ONNX models for tests, as protobuf messages.
#ifndef RETUPLE_TESTS_ONNX_MODEL_BUILDER_H_
#define RETUPLE_TESTS_ONNX_MODEL_BUILDER_H_

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace retuple {

class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 13, int64_t ir = 7) {
    model.set_ir_version(ir);
    auto* o = model.add_opset_import();
    o->set_domain("");
    o->set_version(opset);
    model.mutable_graph()->set_name("g");
  }
  ModelBuilder& Input(const std::string& name, std::vector<int64_t> dims = {2, 3}, int type = onnx::TensorProto::FLOAT) {
    Value(model.mutable_graph()->add_input(), name, dims, type);
    return *this;
  }
  ModelBuilder& Output(const std::string& name, std::vector<int64_t> dims = {2, 3}, int type = onnx::TensorProto::FLOAT) {
    Value(model.mutable_graph()->add_output(), name, dims, type);
    return *this;
  }
  onnx::NodeProto* Node(const std::string& op, std::vector<std::string> in, std::vector<std::string> out, const std::string& domain = "") {
    auto* n = model.mutable_graph()->add_node();
    n->set_op_type(op);
    n->set_domain(domain);
    for (const auto& i : in) n->add_input(i);
    for (const auto& o : out) n->add_output(o);
    return n;
  }
  onnx::TensorProto* Initializer(const std::string& name, std::vector<int64_t> dims, std::vector<float> data) {
    auto* t = model.mutable_graph()->add_initializer();
    t->set_name(name);
    t->set_data_type(onnx::TensorProto::FLOAT);
    for (int64_t d : dims) t->add_dims(d);
    for (float f : data) t->add_float_data(f);
    return t;
  }
  std::string Bytes() const { return model.SerializeAsString(); }

  onnx::ModelProto model;

 private:
  static void Value(onnx::ValueInfoProto* v, const std::string& name, const std::vector<int64_t>& dims, int type) {
    v->set_name(name);
    auto* t = v->mutable_type()->mutable_tensor_type();
    t->set_elem_type(type);
    auto* shape = t->mutable_shape();
    for (int64_t d : dims) {
      auto* dim = shape->add_dim();
      if (d >= 0) dim->set_dim_value(d);
    }
  }
};

}  // namespace retuple

#endif  // RETUPLE_TESTS_ONNX_MODEL_BUILDER_H_
