#include "heed/generate/generation_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "tests/base/testing.h"

namespace heed::generate {
namespace {

model::ModelConfig small_config() {
  model::ModelConfig config;
  config.vocab_size = 100;
  config.eos_id = 7;
  return config;
}

GenerationConfig read(const std::string& json) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "generation_config.json", json);
  return read_generation_config(folder.path(), small_config());
}

TEST(GenerationConfig, WithoutAFileTheDefaultsAreThoseOfTheModel) {
  const auto config = read_generation_config("/nonexistent", small_config());
  EXPECT_EQ(config.eos_ids, std::vector<int32_t>{7});
  EXPECT_EQ(config.sampling.temperature, 1.0f);
  EXPECT_FALSE(config.max_new_tokens);
}

TEST(GenerationConfig, EndTokensAreANumberAListOrNull) {
  EXPECT_EQ(read(R"({"eos_token_id": 3})").eos_ids, std::vector<int32_t>{3});
  EXPECT_EQ(read(R"({"eos_token_id": [3, 5]})").eos_ids, (std::vector<int32_t>{3, 5}));
  EXPECT_EQ(read(R"({"eos_token_id": null})").eos_ids, std::vector<int32_t>{7});
}

TEST(GenerationConfig, WithoutAFileAllEndTokensOfTheModelAreUsed) {
  model::ModelConfig config = small_config();
  config.other_eos_ids = {9, 4};
  EXPECT_EQ(read_generation_config("/nonexistent", config).eos_ids,
            (std::vector<int32_t>{7, 9, 4}));
}

TEST(GenerationConfig, ReadsEveryField) {
  const auto config = read(
      R"({"temperature": 0.6, "top_k": 20, "top_p": 0.9, "min_p": 0.05, "repetition_penalty": 1.1,
          "max_new_tokens": 50, "forced_bos_token_id": 2, "do_sample": true})");
  EXPECT_FLOAT_EQ(config.sampling.temperature, 0.6f);
  EXPECT_EQ(config.sampling.top_k, 20);
  EXPECT_FLOAT_EQ(config.sampling.top_p, 0.9f);
  EXPECT_FLOAT_EQ(config.sampling.min_p, 0.05f);
  EXPECT_FLOAT_EQ(config.repetition_penalty, 1.1f);
  EXPECT_EQ(config.max_new_tokens, 50);
  EXPECT_EQ(config.forced_bos_id, 2);
}

TEST(GenerationConfig, RefusesInvalidValues) {
  for (const char* json :
       {"[]", R"({"eos_token_id": 100})", R"({"eos_token_id": [-1]})", R"({"eos_token_id": "x"})",
        R"({"top_p": 0})", R"({"temperature": -1})", R"({"top_k": 0.5})",
        R"({"max_new_tokens": -1})", R"({"forced_bos_token_id": 1e9})"})
    EXPECT_THROW(read(json), Error) << json;
}

}  // namespace
}  // namespace heed::generate
