// Experts in MXFP4: gpt-oss as it is published (tests/golden/families/make_mxfp4.py), and a GGUF
// file that llama.cpp wrote (tests/golden/gguf_models/write_mxfp4.py).
#include "heed/checkpoint/mxfp4_experts.h"

#include <gtest/gtest.h>

#include "heed/checkpoint/model_directory.h"
#include "heed/io/gguf/gguf_file.h"
#include "heed/kernels/as_f32.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

const std::filesystem::path kFolder = golden_folder("families") / "gpt-oss-mxfp4";

Tensor logits_of(const model::Transformer& model) {
  const auto expected = io::SafetensorsFile::open(kFolder / "expected.safetensors");
  const auto ids = integers(expected->get("input_ids"));
  const auto offsets = integers(expected->get("offsets"));
  Context context;
  return model.logits(context, model.decode_all(context, {ids, offsets}));
}

TEST(Mxfp4Experts, GiveTheLogitsOfTheReference) {
  const Tensor expected =
      io::SafetensorsFile::open(kFolder / "expected.safetensors")->get("logits");
  const auto trained = load_model(kFolder);
  EXPECT_LT(difference(logits_of(*trained), expected), 1e-4);
  const auto stored = load_model(kFolder, {.precision = {.dtype = std::nullopt}});
  const Parameter& gate =
      stored->parameters().named("model.decoder.layers.1.experts.2.gate_proj.weight");
  EXPECT_EQ(gate.value.dtype(), DType::mxfp4);
  EXPECT_LT(difference(logits_of(*stored), expected), 1e-4);
}

TEST(Mxfp4Experts, AreSavedAsTransformersSavesThem) {
  const TemporaryDirectory folder;
  const auto model = load_model(kFolder);
  save_model(folder.path(), *model, {});
  const Tensor all = io::SafetensorsFile::open(folder / "model.safetensors")
                         ->get("model.layers.0.mlp.experts.gate_up_proj");
  EXPECT_EQ(all.shape(), (Shape{3, 64, 64}));
  EXPECT_EQ(difference(logits_of(*load_model(folder.path())), logits_of(*model)), 0);
}

/// Tensors of bytes in memory.
class FakeBytes : public io::TensorSource {
 public:
  explicit FakeBytes(std::map<std::string, Shape> shapes) : shapes_(std::move(shapes)) {}
  std::string name() const override { return "fake"; }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [own, shape] : shapes_) names.push_back(own);
    return names;
  }
  bool contains(const std::string& own) const override { return shapes_.contains(own); }
  Tensor get(const std::string&) const override { return {}; }
  Bytes get_bytes(const std::string& own) const override { return {shapes_.at(own), {}}; }

 private:
  std::map<std::string, Shape> shapes_;
};

std::string refusal(std::map<std::string, Shape> shapes) {
  try {
    mxfp4_experts(std::make_shared<FakeBytes>(std::move(shapes)));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Mxfp4Experts, OfOtherShapesAreRefusedByName) {
  const std::string blocks = "l.experts.down_proj_blocks", scales = "l.experts.down_proj_scales";
  EXPECT_EQ(refusal({{blocks, {2, 4, 1, 16}}, {scales, {2, 4, 1}}}), "none");
  EXPECT_EQ(refusal({{blocks, {2, 4, 1, 16}}}),
            "fake: l.experts.down_proj_scales is missing, expected beside "
            "l.experts.down_proj_blocks");
  for (const auto& [of_blocks, of_scales] :
       {std::pair<Shape, Shape>{{2, 4, 1, 15}, {2, 4, 1}},
        {{2, 4, 16}, {2, 4}},
        {{2, 4, 1, 16}, {2, 4, 2}},
        {{int64_t{1} << 40, 0, 1, 16}, {int64_t{1} << 40, 0, 1}}})
    EXPECT_NE(refusal({{blocks, of_blocks}, {scales, of_scales}}).find("expected [E, N, K, 16]"),
              std::string::npos);
  EXPECT_NE(refusal({{"a_blocks", {2, 4, 1, 16}}, {"a_scales", {2, 4, 1}}})
                .find("a_blocks is not a weight of experts"),
            std::string::npos);
}

/// tests/golden/gguf_models/write_mxfp4.py
class Mxfp4Gguf : public ::testing::Test {
 protected:
  const std::filesystem::path file_ = golden_folder("gguf_models") / "mxfp4.gguf";
  std::shared_ptr<const io::SafetensorsFile> expected_ =
      io::SafetensorsFile::open(golden_folder("gguf_models") / "mxfp4.safetensors");
};

TEST_F(Mxfp4Gguf, ValuesOfAFileThatLlamaCppWroteEqualThoseOfTheGgufPackage) {
  const auto file = io::GgufFile::open(file_);
  int64_t experts = 0;
  for (const std::string& name : file->names()) {
    const Tensor stored = file->view(name);
    experts += stored.dtype() == DType::mxfp4 ? 1 : 0;
    EXPECT_EQ(difference(kernels::as_f32(stored), expected_->get(name)), 0) << name;
  }
  EXPECT_EQ(experts, 3);
}

TEST_F(Mxfp4Gguf, LogitsAreNearLlamaCpps) {
  const auto model = load_model(file_, {.precision = {.dtype = std::nullopt}});
  const std::vector<int32_t> tokens = integers(expected_->get("tokens"));
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(tokens.size())};
  Context context;
  const Tensor logits = model->logits(context, model->decode_all(context, {tokens, offsets}));
  // llama.cpp rounds activations to 8 bits.
  EXPECT_LT(difference(logits, expected_->get("logits")), 0.02);
}

}  // namespace
}  // namespace heed::checkpoint
