#include "heed/convert.h"

#include <gtest/gtest.h>

#include <cstring>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/io/gguf/gguf_file.h"
#include "heed/quantize/precision.h"
#include "tests/engine/random_adapter.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = "the old man and the sea";

fs::path encoder(const char* name) {
  return fs::path(HEED_SOURCE_DIR) / "tests/golden/encoders" / name;
}

TEST(ConvertModel, GivesAGgufFileWithTheSameTokensAndLogits) {
  const TemporaryDirectory folder;
  convert_model(models().decoder(), folder / "model.gguf", {.weights = "f32"});
  const Model expected = Model::load(models().decoder()),
              found = Model::load(folder / "model.gguf");
  EXPECT_EQ(found.tokenize(kText), expected.tokenize(kText));
  const GenerateOptions options{.max_new_tokens = 8};
  EXPECT_EQ(found.generate(kText, options).tokens, expected.generate(kText, options).tokens);
}

TEST(ConvertModel, ThereAndBackGivesTheSameWeights) {
  const TemporaryDirectory folder;
  convert_model(models().decoder(), folder / "model.gguf", {.weights = "f32"});
  convert_model(folder / "model.gguf", folder / "again");
  EXPECT_EQ(read_file(folder / "again/model.safetensors"),
            read_file(models().decoder() / "model.safetensors"));
  EXPECT_TRUE(path_exists(folder / "again/tokenizer.json"));
}

TEST(ConvertModel, WritesEveryTypeThatQuantizeHas) {
  const TemporaryDirectory folder;
  for (const char* type : {"", "f16", "bf16", "q8_0", "q5_1", "q4_0"}) {
    const fs::path path = folder / fmt::format("model-{}.gguf", type);
    convert_model(models().decoder(), path, {.weights = type});
    const std::string stored = *type == '\0' ? "F16" : type;
    const auto file = io::GgufFile::open(path);
    const std::string found = file->entry("blk.0.attn_q.weight").type;
    EXPECT_TRUE(std::ranges::equal(found, stored, [](char a, char b) {
      return a == std::toupper(b);
    })) << found;
    EXPECT_EQ(file->entry("blk.0.attn_norm.weight").type, "F32");
    EXPECT_EQ(Model::load(path).generate(kText, {.max_new_tokens = 4}).tokens.size(), 4u);
  }
}

TEST(ConvertModel, OfAGgufFileIsTheSameAsOfTheDirectory) {
  const TemporaryDirectory folder;
  convert_model(models().decoder(), folder / "f32.gguf", {.weights = "f32"});
  for (const char* type : {"f16", "q8_0", "q5_1", "q4_0"}) {
    const std::string name = fmt::format("-{}.gguf", type);
    convert_model(models().decoder(), folder / ("expected" + name), {.weights = type});
    convert_model(folder / "f32.gguf", folder / ("found" + name), {.weights = type});
    const std::string expected = read_file(folder / ("expected" + name));
    EXPECT_EQ(read_file(folder / ("found" + name)), expected) << type;
    convert_model(folder / ("found" + name), folder / ("again" + name), {.weights = type});
    EXPECT_EQ(read_file(folder / ("again" + name)), expected) << type;
  }
  const fs::path q8_0 = folder / "found-q8_0.gguf";
  convert_model(q8_0, folder / "f16.gguf");
  EXPECT_EQ(Model::load(folder / "f16.gguf").tokenize(kText), Model::load(q8_0).tokenize(kText));
}

TEST(ConvertModel, KeepsTheMetadataOfAGgufFile) {
  const fs::path golden = fs::path(HEED_SOURCE_DIR) / "tests/golden/gguf_models/phi3.gguf";
  const TemporaryDirectory folder;
  convert_model(golden, folder / "q8_0.gguf", {.weights = "q8_0"});
  const auto expected = io::GgufFile::open(golden),
             found = io::GgufFile::open(folder / "q8_0.gguf");
  EXPECT_EQ(found->metadata().keys(), expected->metadata().keys());
  EXPECT_EQ(found->metadata().get<int64_t>("general.file_type"), 7);
  EXPECT_EQ(found->names(), expected->names());
}

TEST(ConvertModel, WritesDirectoriesOf16Bits) {
  const TemporaryDirectory folder;
  for (const auto& [type, torch, stored] :
       {std::tuple("bf16", "bfloat16", "BF16"), {"f16", "float16", "F16"}}) {
    convert_model(models().decoder(), folder / type, {.weights = type});
    const std::string gguf = fmt::format("{}.gguf", type);
    convert_model(models().decoder(), folder / gguf, {.weights = type});
    const std::string config = read_file(folder / type / "config.json");
    EXPECT_NE(config.find(fmt::format("\"torch_dtype\": \"{}\"", torch)), config.npos) << config;
    const auto file = io::SafetensorsFile::open(folder / type / "model.safetensors");
    for (const std::string& name : file->names())
      EXPECT_EQ(file->entry(name).dtype, stored) << name;
    const auto f32 = io::SafetensorsFile::open(models().decoder() / "model.safetensors");
    const std::string name = "model.layers.1.mlp.down_proj.weight";
    const Tensor rounded = quantize::in_precision(f32->get(name), {*dtype_named(type)});
    const Tensor found = file->get(name);
    EXPECT_EQ(std::memcmp(found.raw(), rounded.raw(), static_cast<size_t>(found.bytes())), 0);
    // There and back again.
    convert_model(folder / type, folder / (gguf + "-2.gguf"), {.weights = type});
    convert_model(folder / (gguf + "-2.gguf"), folder / (gguf + "-3"), {.weights = type});
    EXPECT_EQ(read_file(folder / (gguf + "-3") / "model.safetensors"),
              read_file(folder / type / "model.safetensors"));
  }
}

TEST(ConvertModel, WritesAnAdapterAlone) {
  const TemporaryDirectory folder;
  const fs::path base = models().decoder();
  const fs::path adapter = write_adapter(folder / "adapter", base, 3);
  const fs::path gguf = folder / "adapter.gguf";
  EXPECT_TRUE(convert_model(adapter, gguf, {.base = base}).empty());
  const GenerateOptions options{.max_new_tokens = 8};
  const auto generated = [&](const fs::path& model, const std::vector<AdapterOptions>& adapters) {
    return Model::load(model, {.adapters = adapters}).generate(kText, options).tokens;
  };
  const auto expected = generated(base, {{.path = adapter}});
  EXPECT_NE(expected, generated(base, {}));
  EXPECT_EQ(generated(base, {{.path = gguf}}), expected);
  convert_model(base, folder / "base.gguf", {.weights = "f32"});
  EXPECT_EQ(generated(folder / "base.gguf", {{.path = gguf}}), expected);
  convert_model(folder / "base.gguf", folder / "merged.gguf",
                {.weights = "f32", .adapters = {{.path = gguf}}});
  EXPECT_EQ(generated(folder / "merged.gguf", {}), expected);
  convert_model(gguf, folder / "again", {.base = folder / "base.gguf"});
  EXPECT_EQ(read_file(folder / "again/adapter_model.safetensors"),
            read_file(adapter / "adapter_model.safetensors"));
}

TEST(ConvertModel, AddsAdapters) {
  const TemporaryDirectory folder;
  const fs::path adapter = write_adapter(folder / "adapter", models().decoder(), 3);
  convert_model(models().decoder(), folder / "merged.gguf",
                {.weights = "f32", .adapters = {{.path = adapter}}});
  convert_model(models().decoder(), folder / "merged", {.adapters = {{.path = adapter}}});
  const GenerateOptions options{.max_new_tokens = 8};
  const auto expected = Model::load(folder / "merged").generate(kText, options).tokens;
  EXPECT_EQ(Model::load(folder / "merged.gguf").generate(kText, options).tokens, expected);
  EXPECT_NE(Model::load(models().decoder()).generate(kText, options).tokens, expected);
}

TEST(ConvertModel, KeepsTheEmbeddingsAndThePoolingOfEncoders) {
  const TemporaryDirectory folder;
  for (const char* name : {"embed-bert", "embed-nomic-bert", "embed-modernbert", "embed-roberta"}) {
    const fs::path path = folder / (std::string(name) + ".gguf");
    convert_model(encoder(name), path, {.weights = "f32"});
    const io::GgufMetadata found = io::GgufMetadata::open(path);
    const io::GgufMetadata expected = io::GgufMetadata::open(
        fs::path(HEED_SOURCE_DIR) / "tests/golden/gguf_models" / (std::string(name) + ".gguf"));
    const auto architecture = expected.get<std::string>("general.architecture");
    const std::string pooling = architecture + ".pooling_type";
    EXPECT_EQ(found.get<int64_t>(pooling), expected.get<int64_t>(pooling)) << name;
    const std::string keys = "tokenizer.ggml.";
    for (const char* key : {"tokens", "token_type"})
      EXPECT_EQ(found.length(keys + key), expected.length(keys + key)) << name;
    EXPECT_EQ(found.get<std::vector<std::string>>(keys + "tokens"),
              expected.get<std::vector<std::string>>(keys + "tokens"))
        << name;
    EXPECT_EQ(found.get<std::vector<int64_t>>(keys + "token_type"),
              expected.get<std::vector<int64_t>>(keys + "token_type"))
        << name;
    for (const char* key : {"bos_token_id", "eos_token_id", "padding_token_id", "unknown_token_id",
                            "mask_token_id", "seperator_token_id"})
      EXPECT_EQ(found.get<int64_t>(keys + key), expected.get<int64_t>(keys + key)) << name << key;
  }
}

TEST(ConvertModel, WarnsOfWhatTheFormatDoesNotHave) {
  const TemporaryDirectory folder;
  const auto warnings = convert_model(encoder("embed-bert"), folder / "model.gguf");
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "the pooler of the first token is left out: GGUF files have none"}));
}

TEST(ConvertModel, RefusesBeforeItWrites) {
  const TemporaryDirectory folder;
  const fs::path out = folder / "out.gguf";
  const auto refused = [&](const fs::path& source, const fs::path& target,
                           const ConvertOptions& options, const char* message) {
    expect_error([&] { convert_model(source, target, options); }, message);
    EXPECT_FALSE(path_exists(target)) << message;
  };
  refused(models().decoder(), out, {.weights = "q9"},
          "weights is \"q9\", expected f16, f32, bf16, q8_0");
  refused(models().decoder(), folder / "out", {.weights = "q8_0"},
          "weights is \"q8_0\", expected f32, f16, bf16 for a model directory");
  refused(models().translator(), out, {}, "heed knows no GGUF files of the family");
  refused(encoder("embed-mpnet"), out, {}, "heed knows no GGUF files of the family mpnet");
  refused(encoder("embed-xlm-roberta"), out, {}, "a GGUF file cannot hold this tokenizer");
  refused(folder / "none", out, {}, "none");
  convert_model(models().decoder(), out);
  expect_error([&] { convert_model(models().decoder(), out); }, "already exists");
  const fs::path adapter = fs::path(HEED_SOURCE_DIR) / "tests/golden/adapters/llama",
                 base = fs::path(HEED_SOURCE_DIR) / "tests/golden/families/llama3";
  const fs::path other = folder / "other.gguf";
  refused(adapter, other, {}, "is an adapter, expected a model: an adapter alone is converted");
  refused(adapter, other, {.base = base}, "adapter.lora.alpha is one number");
  refused(adapter, other, {.adapters = {{.path = adapter}}, .base = base},
          "there are adapters to be added to a model");
  refused(adapter, other, {.weights = "q4_0", .base = base},
          "expected f32, f16, bf16, q8_0 for an adapter in a GGUF file");
  refused(adapter, folder / "other", {.weights = "f16", .base = base},
          "expected f32 for the directory of an adapter");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace heed::engine
