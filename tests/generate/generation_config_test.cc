#include "heed/generate/generation_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "tests/base/testing.h"
#include "tests/io/gguf_bytes.h"

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
  write_quickly(folder / "generation_config.json", json);
  return read_generation_config(folder.path(), small_config());
}

TEST(GenerationConfig, WithoutAFileTheDefaultsAreThoseOfTheModel) {
  const auto config = read_generation_config("/nonexistent", small_config());
  EXPECT_EQ(config.rules.eos_ids, std::vector<int32_t>{7});
  EXPECT_EQ(config.sampling.temperature, 1.0f);
  EXPECT_FALSE(config.max_new_tokens);
}

TEST(GenerationConfig, EndTokensAreANumberAListOrNull) {
  EXPECT_EQ(read(R"({"eos_token_id": 3})").rules.eos_ids, std::vector<int32_t>{3});
  EXPECT_EQ(read(R"({"eos_token_id": [3, 5]})").rules.eos_ids, (std::vector<int32_t>{3, 5}));
  EXPECT_EQ(read(R"({"eos_token_id": null})").rules.eos_ids, std::vector<int32_t>{7});
}

TEST(GenerationConfig, WithoutAFileAllEndTokensOfTheModelAreUsed) {
  model::ModelConfig config = small_config();
  config.other_eos_ids = {9, 4};
  EXPECT_EQ(read_generation_config("/nonexistent", config).rules.eos_ids,
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
  EXPECT_FLOAT_EQ(config.rules.repetition_penalty, 1.1f);
  EXPECT_EQ(config.max_new_tokens, 50);
  EXPECT_EQ(config.rules.forced_bos_id, 2);
}

TEST(GenerationConfig, ReadsTheRulesOfTokens) {
  const TokenRules rules = read(R"({
    "sequence_bias": [[[1, 2], 3], [[4], -1.5], [[4], 2.5]], "encoder_repetition_penalty": 1.2,
    "repetition_penalty": 1.3, "no_repeat_ngram_size": 3, "encoder_no_repeat_ngram_size": 4,
    "bad_words_ids": [[5], [6, 7], [7]], "min_length": 8, "forced_eos_token_id": 7,
    "exponential_decay_length_penalty": [9, 1.1], "suppress_tokens": [10, 100, -1],
    "begin_suppress_tokens": [11], "renormalize_logits": true, "decoder_start_token_id": 12})")
                               .rules;
  ASSERT_EQ(rules.sequence_bias.size(), 2u);
  EXPECT_EQ(rules.sequence_bias[0].tokens, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(rules.sequence_bias[1].bias, 2.5f);
  EXPECT_FLOAT_EQ(rules.encoder_repetition_penalty, 1.2f);
  EXPECT_FLOAT_EQ(rules.repetition_penalty, 1.3f);
  EXPECT_EQ(rules.no_repeat_ngram_size, 3);
  EXPECT_EQ(rules.encoder_no_repeat_ngram_size, 4);
  ASSERT_EQ(rules.bad_words.size(), 2u);  // an end token is no bad word
  EXPECT_EQ(rules.bad_words[1].tokens, (std::vector<int32_t>{6, 7}));
  EXPECT_EQ(rules.min_length, 8);
  EXPECT_EQ(rules.forced_eos_ids, std::vector<int32_t>{7});
  EXPECT_EQ(rules.length_decay.value().start, 9);
  EXPECT_EQ(rules.suppress_tokens, std::vector<int32_t>{10});
  EXPECT_EQ(rules.begin_suppress_tokens, std::vector<int32_t>{11});
  EXPECT_TRUE(rules.renormalize_logits);
  EXPECT_EQ(rules.decoder_start_id, 12);
}

TEST(GenerationConfig, MinNewTokensStandsInForMinLength) {
  const TokenRules rules = read(R"({"min_length": 8, "min_new_tokens": 3})").rules;
  EXPECT_EQ(rules.min_length, 0);
  EXPECT_EQ(rules.min_new_tokens, 3);
}

TEST(GenerationConfig, WithoutAFileTheSettingsAreThoseOfConfigJson) {
  const TemporaryDirectory folder;
  write_quickly(folder / "config.json",
                R"({"no_repeat_ngram_size": 3, "hidden_size": 8, "eos_token_id": 50256})");
  const auto older = read_generation_config(folder.path(), small_config());
  EXPECT_EQ(older.rules.no_repeat_ngram_size, 3);
  EXPECT_EQ(older.rules.eos_ids, std::vector<int32_t>{7});
  EXPECT_TRUE(older.warnings.empty());
  write_quickly(folder / "generation_config.json", "{}");
  EXPECT_EQ(read_generation_config(folder.path(), small_config()).rules.no_repeat_ngram_size, 0);
}

TEST(GenerationConfig, WarnsOfWhatItIgnores) {
  EXPECT_TRUE(
      read(R"({"use_cache": true, "num_beams": 4, "transformers_version": "5"})").warnings.empty());
  const auto config = read(R"({"eos_token_id": [3, 50256], "colour": "blue", "shape": null})");
  EXPECT_EQ(config.rules.eos_ids, std::vector<int32_t>{3});
  ASSERT_EQ(config.warnings.size(), 2u);
  EXPECT_NE(config.warnings[0].find("\"colour\" is \"blue\" and is ignored"), std::string::npos);
  EXPECT_NE(config.warnings[1].find("eos_token_id has the token 50256"), std::string::npos);
}

TEST(GenerationConfig, RefusesSettingsThatItDoesNotApply) {
  for (const char* json :
       {R"({"num_beam_groups": 2})", R"({"guidance_scale": 1.5})", R"({"penalty_alpha": 0.6})",
        R"({"dola_layers": "high"})", R"({"force_words_ids": [[1]]})", R"({"constraints": [1]})",
        R"({"watermarking_config": {"bias": 2}})", R"({"stop_strings": ["x"]})",
        R"({"max_time": 2.5})", R"({"token_healing": true})",
        R"({"forced_decoder_ids": [[1, 2]]})"})
    try {
      read(json);
      ADD_FAILURE() << json;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("which heed does not apply"), std::string::npos)
          << error.what();
    }
  read(R"({"num_beam_groups": 1, "guidance_scale": 1, "penalty_alpha": 0.0, "stop_strings": [],
           "constraints": null, "token_healing": false, "diversity_penalty": 0.0})");
}

TEST(GenerationConfig, RefusesOnlySamplingForSettingsThatOnlySamplingHas) {
  for (const char* json : {R"({"typical_p": 0.9})", R"({"epsilon_cutoff": 1e-3})",
                           R"({"eta_cutoff": 1e-3})", R"({"top_h": 0.4})"})
    EXPECT_NE(read(json).sampling_refusal.find("which heed does not apply"), std::string::npos);
  EXPECT_EQ(read(R"({"typical_p": 1.0, "epsilon_cutoff": 0.0, "eta_cutoff": 0})").sampling_refusal,
            "");
}

TEST(GenerationConfig, ReadsWhatAGgufFileRecommends) {
  using io::GgufBytes;
  using io::GgufType;
  const auto number = [](float value) { return GgufBytes::number(value); };
  GgufBytes file;
  file.value("general.sampling.temp", GgufType::f32, number(0.6f))
      .value("general.sampling.top_p", GgufType::f32, number(0.9f))
      .value("general.sampling.top_k", GgufType::i32, GgufBytes::number(int32_t{20}))
      .value("general.sampling.mirostat", GgufType::i32, GgufBytes::number(int32_t{2}))
      .value("tokenizer.ggml.suppress_tokens", GgufType::array,
             GgufBytes::number(static_cast<uint32_t>(GgufType::i32)) +
                 GgufBytes::number(uint64_t{2}) + GgufBytes::number(int32_t{3}) +
                 GgufBytes::number(int32_t{100}));
  const TemporaryDirectory folder;
  write_quickly(folder / "model.gguf", file.bytes());
  const auto config = read_generation_config(folder / "model.gguf", small_config());
  EXPECT_FLOAT_EQ(config.sampling.temperature, 0.6f);
  EXPECT_FLOAT_EQ(config.sampling.top_p, 0.9f);
  EXPECT_EQ(config.sampling.top_k, 20);
  EXPECT_EQ(config.rules.suppress_tokens, std::vector<int32_t>{3});
  EXPECT_EQ(config.rules.eos_ids, std::vector<int32_t>{7});
  ASSERT_EQ(config.warnings.size(), 1u);
  EXPECT_NE(config.warnings[0].find("general.sampling.mirostat is 2"), std::string::npos);
}

TEST(GenerationConfig, RefusesInvalidValues) {
  for (const char* json :
       {"[]", R"({"bad_words_ids": [3]})", R"({"bad_words_ids": [[]]})",
        R"({"bad_words_ids": [[100]]})", R"({"sequence_bias": [[[1], "x"]]})",
        R"({"sequence_bias": {"1": 2.0}})", R"({"no_repeat_ngram_size": -1})",
        R"({"repetition_penalty": 0})", R"({"exponential_decay_length_penalty": [1]})",
        R"({"forced_eos_token_id": 100})", R"({"decoder_start_token_id": [1, 2]})",
        R"({"suppress_tokens": [3], "forced_bos_token_id": 3})", R"({"eos_token_id": "x"})",
        R"({"top_p": 0})", R"({"temperature": -1})", R"({"top_k": 0.5})",
        R"({"max_new_tokens": -1})", R"({"forced_bos_token_id": 1e9})"})
    EXPECT_THROW(read(json), Error) << json;
}

}  // namespace
}  // namespace heed::generate
