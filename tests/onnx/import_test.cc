// What the importer accepts, what it refuses and how it says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "ir_bridge/onnx/model_io.h"
#include "tests/onnx/model_builder.h"

namespace retuple {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string ErrorOf(const ModelBuilder& b) {
  auto g = ImportOnnx(b.Bytes(), "");
  return g.ok() ? "" : std::string(g.status().message());
}

// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("retuple_test_" + std::to_string(getpid()) + "_" + std::to_string(counter_++))) { fs::create_directories(path_); }
  ~Folder() { fs::remove_all(path_); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return (path_ / name).string();
  }
  const fs::path& path() const { return path_; }

 private:
  static inline int counter_ = 0;
  fs::path path_;
};

TEST(ImportTest, SortsWhatIsNotSorted) {
  ModelBuilder b;
  b.Input("x").Output("y");
  b.Node("Relu", {"t"}, {"y"});
  b.Node("Neg", {"x"}, {"t"});
  auto g = ImportOnnx(b.Bytes(), "");
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_EQ((*g)->CountNodes(), 2u);
  EXPECT_TRUE(ExportOnnx(**g).ok());
}

TEST(ImportTest, NamesATrueCycle) {
  ModelBuilder b;
  b.Input("x").Output("y");
  b.Node("Add", {"x", "c"}, {"a"});
  b.Node("Neg", {"a"}, {"b"});
  b.Node("Relu", {"b"}, {"c"});
  b.Node("Relu", {"c"}, {"y"});
  const std::string e = ErrorOf(b);
  EXPECT_THAT(e, HasSubstr("cycle"));
  for (const char* name : {"\"a\"", "\"b\"", "\"c\""}) EXPECT_THAT(e, HasSubstr(name));
}

TEST(ImportTest, RefusesWithNodeAndOperator) {
  struct Case {
    std::function<void(ModelBuilder&)> build;
    const char* message;
  };
  const Case cases[] = {
      {[](ModelBuilder& b) { b.Node("Relu", {"nowhere"}, {"y"}); }, "node \"y\" (Relu): input \"nowhere\" is defined nowhere"},
      {[](ModelBuilder& b) { b.Node("Relu", {"x", "x"}, {"y"}); }, "2 inputs, Relu takes 1 to 1"},
      {[](ModelBuilder& b) { b.Node("Relu", {""}, {"y"}); }, "Relu"},
      {[](ModelBuilder& b) { b.Node("Relu", {"x"}, {"y", "z"}); }, "outputs"},
      {[](ModelBuilder& b) { b.Node("Relu", {"x"}, {"y"}); b.Node("Neg", {"x"}, {"y"}); }, "\"y\" is defined twice"},
      {[](ModelBuilder& b) { b.Node("Relu", {"x"}, {"x"}); }, "\"x\" is defined twice"},
      {[](ModelBuilder& b) { b.Node("Relu", {"x"}, {"y"}); b.Input("x"); }, "\"x\" is defined twice"},
      {[](ModelBuilder& b) { b.Node("Relu", {"x"}, {"z"}); }, "output \"y\" is defined nowhere"},
      {[](ModelBuilder& b) { b.Node("Foo", {"x"}, {"y"}, "unknown.domain"); }, "imports no opset of domain \"unknown.domain\""},
      {[](ModelBuilder& b) {
         auto* a = b.Node("Concat", {"x"}, {"y"})->add_attribute();
         a->set_name("axes");
         a->set_type(onnx::AttributeProto::INT);
       }, "axes"},
      {[](ModelBuilder& b) { b.Node("Concat", {"x"}, {"y"}); }, "axis"},
      {[](ModelBuilder& b) { b.Initializer("w", {3}, {1, 2}); b.Node("Add", {"x", "w"}, {"y"}); }, "tensor \"w\": 2 elements of data, dims need 3"},
      {[](ModelBuilder& b) { b.Initializer("w", {-3}, {}); b.Node("Add", {"x", "w"}, {"y"}); }, "negative or overflowing"},
      {[](ModelBuilder& b) { b.Initializer("w", {int64_t{1} << 40, int64_t{1} << 40}, {}); b.Node("Add", {"x", "w"}, {"y"}); }, "overflowing"},
      {[](ModelBuilder& b) { b.Initializer("w", {1}, {1})->set_data_type(99); b.Node("Add", {"x", "w"}, {"y"}); }, "unknown element type 99"},
  };
  for (const Case& c : cases) {
    ModelBuilder b;
    b.Input("x").Output("y");
    c.build(b);
    EXPECT_THAT(ErrorOf(b), HasSubstr(c.message));
  }
  EXPECT_THAT(std::string(ImportOnnx("garbage", "").status().message()), HasSubstr("not a valid protobuf message"));
  EXPECT_THAT(std::string(ImportOnnxFile("/nonexistent.onnx").status().message()), HasSubstr("cannot open /nonexistent.onnx"));
  EXPECT_FALSE(ImportOnnxFile("/").ok());
}

TEST(ImportTest, ExternalDataStayInTheFolder) {
  Folder folder, outside;
  folder.Write("w.bin", std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8));
  outside.Write("secret.bin", std::string(8, 'x'));
  fs::create_symlink(outside.path() / "secret.bin", folder.path() / "link.bin");
  auto model = [&](const std::string& location, int64_t offset = 0) {
    ModelBuilder b;
    b.Input("x", {2}).Output("y", {2});
    auto* t = b.Initializer("w", {2}, {});
    t->set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [k, v] : {std::pair<std::string, std::string>{"location", location}, {"offset", std::to_string(offset)}}) {
      auto* e = t->add_external_data();
      e->set_key(k);
      e->set_value(v);
    }
    b.Node("Add", {"x", "w"}, {"y"});
    return ImportOnnxFile(folder.Write("m.onnx", b.Bytes()));
  };
  auto good = model("w.bin");
  ASSERT_TRUE(good.ok()) << good.status();
  bool found = false;
  for (VarId v = 0; v < (*good)->num_vars(); ++v) {
    if ((*good)->var(v).kind != Variable::Kind::kConstant) continue;
    EXPECT_EQ((*good)->constant(v).At(1), 2.0);
    found = true;
  }
  EXPECT_TRUE(found);
  EXPECT_THAT(std::string(model("../../etc/passwd").status().message()), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(std::string(model("/etc/passwd").status().message()), HasSubstr("must be relative"));
  EXPECT_THAT(std::string(model("link.bin").status().message()), HasSubstr("a link that leaves"));
  EXPECT_THAT(std::string(model("missing.bin").status().message()), HasSubstr("missing.bin"));
  EXPECT_THAT(std::string(model("").status().message()), HasSubstr("must be relative"));
  EXPECT_THAT(std::string(model("w.bin", 4).status().message()), HasSubstr("the file at 8"));
  EXPECT_THAT(std::string(model("w.bin", -4).status().message()), HasSubstr("external data"));
}

TEST(ImportTest, OverridableInitializersAreDefaults) {
  ModelBuilder b;
  b.Input("x").Input("w", {3}).Output("y");
  b.Initializer("w", {3}, {1, 2, 3});
  b.Node("Add", {"x", "w"}, {"y"});
  auto g = ImportOnnx(b.Bytes(), "");
  ASSERT_TRUE(g.ok());
  EXPECT_EQ((*g)->inputs().size(), 2u);
  EXPECT_EQ((*g)->defaults().size(), 1u);
  auto c = ImportOnnx(b.Bytes(), "", {.initializers_are_constants = true, .effectful_ops = {}});
  EXPECT_EQ((*c)->inputs().size(), 1u);
  b.model.set_ir_version(3);
  auto old = ImportOnnx(b.Bytes(), "");
  EXPECT_EQ((*old)->inputs().size(), 1u);
}

TEST(ImportTest, KeepsNamesMetadataFunctionsAndUnknownOperators) {
  ModelBuilder b(15, 8);
  b.model.set_producer_name("me");
  auto* p = b.model.add_metadata_props();
  p->set_key("k");
  p->set_value("v");
  auto* o = b.model.add_opset_import();
  o->set_domain("my");
  o->set_version(1);
  auto* f = b.model.add_functions();
  f->set_name("Twice");
  f->set_domain("my");
  f->add_input("a");
  f->add_output("b");
  auto* fn = f->add_node();
  fn->set_op_type("Add");
  fn->add_input("a");
  fn->add_input("a");
  fn->add_output("b");
  f->add_opset_import()->set_version(15);
  b.Input("x").Output("y");
  b.Node("Twice", {"x"}, {"t"}, "my")->set_name("first");
  auto* a = b.Node("Unknown", {"t"}, {"y"}, "my")->add_attribute();
  a->set_name("level");
  a->set_type(onnx::AttributeProto::FLOAT);
  a->set_f(0.5f);
  auto g = ImportOnnx(b.Bytes(), "");
  ASSERT_TRUE(g.ok()) << g.status();
  auto bytes = ExportOnnx(**g, {.check = false});
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  onnx::ModelProto m;
  ASSERT_TRUE(m.ParseFromString(*bytes));
  EXPECT_EQ(m.producer_name(), "me");
  EXPECT_EQ(m.metadata_props(0).value(), "v");
  EXPECT_EQ(m.functions(0).name(), "Twice");
  EXPECT_EQ(m.graph().node(0).name(), "first");
  EXPECT_EQ(m.graph().node(0).output(0), "t");
  EXPECT_EQ(m.graph().node(1).op_type(), "Unknown");
  EXPECT_EQ(m.graph().node(1).attribute(0).f(), 0.5f);
}

TEST(ImportTest, MutantsNeverCrash) {
  // Truncated and bit-flipped models: 1,000 of each of five, each refused with a message or read.
  int refused = 0, read = 0;
  std::mt19937 random(1);
  for (const char* name : {"simple/test_sequence_model1", "node/test_loop11", "node/test_if", "pytorch-operator/test_operator_conv", "node/test_lstm_defaults"}) {
    std::ifstream in(std::string("/usr/share/libonnx-testdata/data/") + name + "/model.onnx", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    ASSERT_FALSE(bytes.empty()) << name;
    for (int i = 0; i < 1000; ++i) {
      std::string m = bytes;
      if (i % 4 == 0) m.resize(random() % m.size());
      for (int k = 0; k < 1 + i % 5 && !m.empty(); ++k) m[random() % m.size()] ^= static_cast<char>(1 << random() % 8);
      auto g = ImportOnnx(m, "");
      if (!g.ok()) {
        EXPECT_FALSE(g.status().message().empty());
        ++refused;
        continue;
      }
      ++read;
      InferTypes(**g).IgnoreError();
      ExportOnnx(**g).status().IgnoreError();
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 100);
}

TEST(ExportTest, NothingHalfWrittenStays) {
  Folder folder;
  ModelBuilder b;
  b.Input("x").Output("y");
  b.Node("Clip", {"x"}, {"y"});
  auto g = ImportOnnx(b.Bytes(), "");
  ASSERT_TRUE(g.ok());
  EXPECT_FALSE(ExportOnnxFile(**g, (folder.path() / "no" / "such" / "m.onnx").string()).ok());
  const std::string path = (folder.path() / "m.onnx").string();
  ASSERT_TRUE(ExportOnnxFile(**g, path).ok());
  (*g)->info.opsets = {{"", 6}};  // the Clip of today cannot be written in opset 6
  EXPECT_FALSE(ExportOnnxFile(**g, path).ok());
  EXPECT_TRUE(ImportOnnxFile(path).ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(ExportTest, LargeModelsWriteTheirWeightsBesideThem) {
  Folder folder;
  ModelBuilder b;
  b.Input("x", {1, 1000}).Output("y", {1, 1000});
  b.Initializer("w", {1000}, std::vector<float>(1000, 1.5f));
  b.Node("Add", {"x", "w"}, {"y"});
  auto g = ImportOnnx(b.Bytes(), "");
  const std::string path = (folder.path() / "m.onnx").string();
  ASSERT_TRUE(ExportOnnxFile(**g, path, {.check = true, .external_threshold = 1000}).ok());
  EXPECT_TRUE(fs::exists(path + ".data"));
  auto back = ImportOnnxFile(path);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(StructurallyEqual(**g, **back));
}

}  // namespace
}  // namespace retuple
