#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/tasks/embedder.h"
#include "tests/base/testing.h"

namespace heed::tasks {
namespace {

class EmbedderOptionsRead : public testing::Test {
 protected:
  EmbedderOptionsRead() {
    std::filesystem::create_directories(folder_ / "1_Pooling");
    modules(R"([{"type": "sentence_transformers.models.Transformer", "path": ""},
                {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}])");
    pooling(R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})");
  }

  void modules(const std::string& json) { write_file_atomically(folder_ / "modules.json", json); }
  void pooling(const std::string& json) {
    write_file_atomically(folder_ / "1_Pooling/config.json", json);
  }
  EmbedderOptions read() const { return read_embedder_options(folder_.path()); }

  const TemporaryDirectory folder_;
};

TEST_F(EmbedderOptionsRead, FollowTheModulesOfADirectory) {
  write_file_atomically(folder_ / "sentence_bert_config.json",
                        R"({"max_seq_length": 64, "do_lower_case": true})");
  const EmbedderOptions options = read();
  EXPECT_EQ(options.pooling, std::vector{Pooling::cls});
  EXPECT_FALSE(options.normalizes());
  EXPECT_TRUE(options.lower_case);
  EXPECT_EQ(options.max_seq_length, 64);
}

TEST_F(EmbedderOptionsRead, AreTheDefaultsForAPlainModel) {
  std::filesystem::remove(folder_ / "modules.json");
  EXPECT_EQ(read().pooling, std::vector{Pooling::mean});
  EXPECT_EQ(read().max_seq_length, 0);
}

TEST_F(EmbedderOptionsRead, TakeTheLastStateOfAPlainCausalLanguageModel) {
  std::filesystem::remove(folder_ / "modules.json");
  for (const auto& [config, expected] :
       {std::pair{R"({"architectures": ["Qwen3ForCausalLM"]})", Pooling::last},
        {R"({"architectures": ["Qwen3ForCausalLM"], "is_causal": false})", Pooling::mean},
        {R"({"architectures": ["Qwen3Model"]})", Pooling::mean},
        {R"({"architectures": null})", Pooling::mean}}) {
    write_file_atomically(folder_ / "config.json", config);
    EXPECT_EQ(read().pooling, std::vector{expected}) << config;
  }
}

TEST_F(EmbedderOptionsRead, TakePoolingModeBeforeTheFlagsOfOlderFiles) {
  for (const auto& [json, expected] :
       {std::pair{R"({"pooling_mode": "max", "pooling_mode_cls_token": true})", Pooling::max},
        {R"({"pooling_mode": ["lasttoken"]})", Pooling::last},
        {R"({"pooling_mode_cls_token": false})", Pooling::mean},
        {R"({})", Pooling::mean}}) {
    pooling(json);
    EXPECT_EQ(read().pooling, std::vector{expected}) << json;
  }
  pooling(R"({"pooling_mode": "cls", "include_prompt": false, "shape": null})");
  EXPECT_FALSE(read().include_prompt);
  pooling(R"({"pooling_mode": "cls", "shape": 3})");
  expect_error([&] { read(); }, "1_Pooling/config.json: shape is 3, a setting of Pooling that");
}

TEST_F(EmbedderOptionsRead, RefuseUnsupportedModulesAndPoolings) {
  for (const char* json :
       {R"({"pooling_mode_first_tokens": true})", R"({"pooling_mode": "median"})",
        R"({"pooling_mode_cls_token": 1})", R"({"pooling_mode": []})", "[]", "{"}) {
    pooling(json);
    EXPECT_THROW(read(), Error) << json;
  }
  for (const char* json :
       {R"([{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}])",
        R"([{"type": "custom.Transformer", "path": ""},
            {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}])",
        R"([{"type": "sentence_transformers.models.Transformer", "path": ""}])",
        R"([{"type": "sentence_transformers.models.Transformer", "path": "0_Transformer"},
            {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}])",
        R"([{"type": "x.Pooling", "path": "../elsewhere"}])",
        R"([{"type": "x.Pooling", "path": "/etc"}])", R"([{"path": ""}])", "{}", "[3]"}) {
    modules(json);
    EXPECT_THROW(read(), Error) << json;
  }
}

}  // namespace
}  // namespace heed::tasks
