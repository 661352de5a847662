// Every model of the conformance suite through import, etuplize, text, reify and export.
#include <gtest/gtest.h>

#include <filesystem>

#include "etuple/printer.h"
#include "etuple/reader.h"
#include "ir_bridge/graph_term.h"
#include "ir_bridge/onnx/model_io.h"
#include "ir_bridge/tensor_object.h"

namespace retuple {
namespace {

namespace fs = std::filesystem;
constexpr const char* kSuite = "/usr/share/libonnx-testdata/data";

TEST(RoundTripTest, AllModelsOfTheSuite) {
  ASSERT_TRUE(fs::exists(kSuite)) << "Debian's libonnx-testdata is not installed";
  int models = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kSuite, fs::directory_options::follow_directory_symlink)) {
    if (entry.path().filename() != "model.onnx") continue;
    const std::string path = entry.path().string();
    auto graph = ImportOnnxFile(path);
    ASSERT_TRUE(graph.ok()) << graph.status();
    Context ctx, ctx2;
    TermCodec codec(ctx), codec2(ctx2);
    auto term = GraphToTerm(**graph, codec);
    ASSERT_TRUE(term.ok()) << path << term.status();
    auto read = ReadTerm(ctx2, PrintTerm(ctx, *term), {.object_reader = ReadTensorObject});
    ASSERT_TRUE(read.ok()) << path << read.status();
    auto back = TermToGraph(codec2, *read);
    ASSERT_TRUE(back.ok()) << path << back.status();
    EXPECT_TRUE(StructurallyEqual(**graph, **back)) << path;
    auto bytes = ExportOnnx(**back);  // the ONNX checker runs inside
    ASSERT_TRUE(bytes.ok()) << path << bytes.status();
    auto again = ImportOnnx(*bytes, "");
    ASSERT_TRUE(again.ok()) << path << again.status();
    EXPECT_TRUE(StructurallyEqual(**graph, **again)) << path;
    ++models;
  }
  EXPECT_EQ(models, 1072);
}

}  // namespace
}  // namespace retuple
