#include "heed/checkpoint/quantized_directory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "heed/checkpoint/model_directory.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

namespace fs = std::filesystem;

void expect_same_weights(const model::Transformer& found, const model::Transformer& expected) {
  ASSERT_EQ(found.parameters().all().size(), expected.parameters().all().size());
  for (size_t i = 0; i < expected.parameters().all().size(); ++i) {
    const Parameter& is = found.parameters().all()[i];
    const Parameter& should = expected.parameters().all()[i];
    ASSERT_EQ(is.name, should.name);
    ASSERT_EQ(is.value.shape(), should.value.shape()) << is.name;
    ASSERT_EQ(is.value.dtype(), should.value.dtype()) << is.name;
    EXPECT_EQ(
        std::memcmp(is.value.raw(), should.value.raw(), static_cast<size_t>(should.value.bytes())),
        0)
        << is.name;
  }
}

class QuantizedDirectory : public testing::TestWithParam<const char*> {};

TEST_P(QuantizedDirectory, LoadsAsTheModelThatWasSaved) {
  const fs::path original = golden_folder("families") / GetParam();
  for (const DType dtype : {DType::q8_0, DType::q4_1, DType::q4_0, DType::bf16}) {
    const TemporaryDirectory folder;
    const auto model = load_model(original, {.precision = {dtype}});
    save_quantized(folder.path(), *model, original);
    const auto opened = load_model(folder.path(), {.precision = {std::nullopt}});
    expect_same_weights(*opened, *model);
    EXPECT_EQ(opened->config().family, model->config().family);
    EXPECT_EQ(model::family_of_type("heed", "").write_config(opened->config()),
              model::family_of_type("heed", "").write_config(model->config()));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, QuantizedDirectory,
                         testing::Values("bart", "bert-pooled", "deepseek-v2", "distilbert",
                                         "gemma2", "gpt2", "llama3", "mistral", "qwen3", "roberta",
                                         "t5-v1.1"),
                         case_name);

class SaveQuantized : public testing::Test {
 protected:
  const fs::path original_ = golden_folder("families") / "llama3";
  const std::unique_ptr<model::Transformer> model_ =
      load_model(original_, {.precision = {DType::q8_0}});
  const TemporaryDirectory folder_;
};

TEST_F(SaveQuantized, CopiesAllFilesButTheWeights) {
  const fs::path original = folder_ / "original", copy = folder_ / "copy";
  fs::create_directories(original / "1_Pooling");
  fs::create_directories(original / "last");
  const char* files[] = {"tokenizer.json",
                         "vocab.txt",
                         "modules.json",
                         "1_Pooling/config.json",
                         "last/config.json",
                         "notes.html",
                         "model.safetensors.index.json"};
  for (const char* file : files) write_quickly(original / file, file);
  write_quickly(original / "config.json", read_file(original_ / "config.json"));
  save_quantized(copy, *model_, original);
  for (const char* file : {"tokenizer.json", "vocab.txt", "modules.json", "1_Pooling/config.json"})
    EXPECT_EQ(read_file(copy / file), file);
  EXPECT_FALSE(fs::exists(copy / "notes.html"));
  EXPECT_FALSE(fs::exists(copy / "model.safetensors.index.json"));
}

TEST_F(SaveQuantized, RefusesToOverwriteTheOriginal) {
  const fs::path original = folder_ / "original";
  fs::create_directory(original);
  write_quickly(original / "config.json", read_file(original_ / "config.json"));
  expect_error([&] { save_quantized(original, *model_, original); }, "is the original model");
}

TEST_F(SaveQuantized, WritesNoModelSafetensors) {
  save_quantized(folder_.path(), *model_, original_);
  EXPECT_FALSE(fs::exists(folder_ / "model.safetensors"));
  const auto json = parse_json(read_file(folder_ / "config.json"), "config.json");
  EXPECT_EQ(json["quantization_config"]["quant_method"], "heed");
  EXPECT_EQ(json["model_type"], "llama");
}

TEST_F(SaveQuantized, OtherQuantisationMethodsAreRejected) {
  auto json = parse_json(read_file(original_ / "config.json"), "config.json");
  json["quantization_config"] = {{"quant_method", "gptq"}, {"bits", 4}};
  write_quickly(folder_ / "config.json", json.dump());
  expect_error([&] { load_model(folder_.path()); }, "quantised by \"gptq\"");
}

}  // namespace
}  // namespace heed::checkpoint
