// Models written to GGUF files, compared with the files that llama.cpp's converter makes of the
// same directories (tests/golden/gguf_models/make.py).
#include "heed/checkpoint/gguf/save.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/checkpoint/model_directory.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

namespace fs = std::filesystem;

/// The value of a key as text, whatever its type.
std::string value_text(const io::GgufMetadata& metadata, const std::string& key) {
  const auto attempt = [&]<typename T>(T) -> std::string {
    try {
      return fmt::format("{}", metadata.get<T>(key));
    } catch (const Error&) {
      return {};
    }
  };
  for (const std::string& text :
       {attempt(int64_t{}), attempt(double{}), attempt(bool{}), attempt(std::string{})})
    if (!text.empty()) return text;
  return "a list";
}

/// A directory of tests/golden/families. Some have settings that GGUF files cannot say and that the
/// converter leaves out: `changes` of config.json give them those of the published models.
struct Case {
  const char* name;
  nlohmann::json changes = nlohmann::json::object();
};

class SavedGguf : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const fs::path original = golden_folder("families") / name_;
    nlohmann::json config = parse_json(read_file(original / "config.json"), "config.json");
    config.merge_patch(GetParam().changes);
    write_quickly(folder_ / "config.json", config.dump());
    fs::copy(original / "model.safetensors", folder_.path());
  }

  const std::string name_ = GetParam().name;
  const std::shared_ptr<const io::GgufFile> expected_ =
      io::GgufFile::open(golden_folder("gguf_models") / (name_ + ".gguf"));
  const TemporaryDirectory folder_;
  const fs::path path_ = folder_ / "model.gguf";
};

TEST_P(SavedGguf, HasTheTensorsOfLlamaCppsConverter) {
  save_gguf(path_, *load_model(folder_.path()), {.dtype = DType::f32});
  const auto found = io::GgufFile::open(path_);
  std::vector<std::string> names = found->names(), expected_names = expected_->names();
  EXPECT_EQ(names, expected_names);
  for (const std::string& name : expected_names) {
    const Tensor expected = expected_->get(name), tensor = found->get(name);
    ASSERT_EQ(tensor.dtype(), expected.dtype()) << name;
    ASSERT_EQ(tensor.shape(), expected.shape()) << name;
    EXPECT_EQ(std::memcmp(tensor.raw(), expected.raw(), static_cast<size_t>(expected.bytes())), 0)
        << name;
  }
}

TEST_P(SavedGguf, HasTheMetadataOfLlamaCppsConverter) {
  save_gguf(path_, *load_model(folder_.path()), {.dtype = DType::f32});
  const auto found = io::GgufFile::open(path_);
  const auto architecture = expected_->metadata().get<std::string>("general.architecture");
  for (const std::string& key : expected_->metadata().keys()) {
    if (!key.starts_with(architecture + ".") && key != "general.architecture" &&
        key != "general.file_type")
      continue;
    if (key == "phi3.rope.scaling.original_context_length" && name_ == "phi3")
      continue;  // the converter takes 4096 where the positions are not scaled
    ASSERT_TRUE(found->metadata().contains(key)) << key;
    EXPECT_EQ(value_text(found->metadata(), key), value_text(expected_->metadata(), key)) << key;
  }
}

TEST_P(SavedGguf, GivesTheModelBack) {
  const auto model = load_model(folder_.path());
  for (const DType dtype : {DType::f32, DType::f16, DType::q8_0}) {
    save_gguf(path_, *model, {.dtype = dtype});
    const auto again = load_model(path_);
    EXPECT_EQ(again->parameters().count(), model->parameters().count());
  }
}

const nlohmann::json kSliding = {"sliding_attention", "sliding_attention", "sliding_attention"};

INSTANTIATE_TEST_SUITE_P(
    Families, SavedGguf,
    testing::Values(Case{"llama3"}, Case{"llama-bias"}, Case{"llama-yarn"}, Case{"qwen2"},
                    Case{"qwen3"}, Case{"gemma"}, Case{"gpt2"}, Case{"granite"}, Case{"olmo2"},
                    Case{"qwen3-moe"}, Case{"mixtral"}, Case{"phi3"}, Case{"phi3-longrope"},
                    Case{"gpt-neox"}, Case{"gpt-neox-sequential"}, Case{"deepseek-v3"},
                    Case{"gpt-oss"}, Case{"gemma2", {{"query_pre_attn_scalar", 6}}},
                    Case{"gemma3", {{"query_pre_attn_scalar", 6}, {"layer_types", kSliding}}},
                    Case{"smollm3", {{"no_rope_layers", {1, 1, 1}}, {"no_rope_layer_interval", 4}}},
                    Case{"deepseek-v2-group",
                         {{"rope_parameters", {{"mscale", 0.5}, {"mscale_all_dim", 0.5}}}}},
                    Case{"t5", {{"relative_attention_max_distance", 128}}}),
    [](const auto& param) {
      std::string name = param.param.name;
      std::ranges::replace(name, '-', '_');
      return name;
    });

/// A directory with random weights and this config.json.
std::unique_ptr<model::Transformer> random_model(const TemporaryDirectory& folder,
                                                 const std::string& config) {
  write_quickly(folder / "config.json", config);
  return OpenedModel(folder.path(), {.random_seed = 3}).load();
}

/// Families whose files are those of another.
TEST(SavedGgufOfRelatives, GivesTheWeightsBack) {
  const TemporaryDirectory folder;
  const fs::path path = folder / "model.gguf";
  const auto distilbert =
      random_model(folder, R"({"model_type": "distilbert", "architectures": ["DistilBertModel"],
      "vocab_size": 24, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48})");
  const auto encoder = random_model(
      folder, R"({"model_type": "mt5", "architectures": ["MT5EncoderModel"], "vocab_size": 24,
      "d_model": 32, "num_layers": 2, "num_heads": 4, "d_kv": 8, "d_ff": 48})");
  const auto mt5 = random_model(
      folder, R"({"model_type": "mt5", "architectures": ["MT5ForConditionalGeneration"],
      "vocab_size": 24, "d_model": 32, "num_layers": 2, "num_heads": 4, "d_kv": 8, "d_ff": 48})");
  for (const auto& [model, architecture, family] :
       {std::tuple(distilbert.get(), "bert", "distilbert"),
        {encoder.get(), "t5encoder", "t5"},
        {mt5.get(), "t5", "t5"}}) {
    save_gguf(path, *model, {.dtype = DType::f32});
    EXPECT_EQ(io::GgufMetadata::open(path).get<std::string>("general.architecture"), architecture);
    const auto again = load_model(path);
    EXPECT_EQ(again->config().family, family);
    ASSERT_EQ(again->parameters().all().size(), model->parameters().all().size());
    for (const Parameter& parameter : model->parameters().all())
      EXPECT_EQ(difference(again->parameters().named(parameter.name).value, parameter.value), 0)
          << parameter.name;
  }
}

std::string refusal(const std::string& family, const fs::path& path) {
  try {
    save_gguf(path, *load_model(golden_folder("families") / family), {});
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(SavedGgufRefusals, NameWhatTheFormatCannotSay) {
  const TemporaryDirectory folder;
  const fs::path path = folder / "model.gguf";
  EXPECT_EQ(refusal("smollm3", path),
            "a GGUF file cannot hold this model: rope_layers is [1,0,1], but would be read back as "
            "[]");
  EXPECT_EQ(refusal("llama-dynamic", path), "rope_type is dynamic, which GGUF files cannot say");
  EXPECT_EQ(refusal("marian", path), "heed knows no GGUF files of the family marian");
  // llama.cpp computes tanh before the labels.
  const std::string labels = refusal("distilbert-sequence", path);
  EXPECT_NE(labels.find("but would be read back as \"tanh\""), labels.npos) << labels;
  EXPECT_EQ(
      refusal("bert", path),
      "a GGUF file cannot hold this model: has_head is true, but would be read back as false");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace heed::checkpoint
