// What the readers of config.json say of fields that they do not apply, and how fields that say the
// same thing twice are reconciled.
#include "heed/model/families/config_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "heed/base/error.h"
#include "heed/model/families/family.h"

namespace heed::model {
namespace {

using Json = nlohmann::json;

const Json kLlamaFields{{"vocab_size", 20},        {"hidden_size", 16},
                        {"num_hidden_layers", 3},  {"num_attention_heads", 2},
                        {"intermediate_size", 12}, {"num_key_value_heads", 2}};
const Json kBertFields{{"vocab_size", 20},        {"hidden_size", 16},
                       {"num_hidden_layers", 3},  {"num_attention_heads", 2},
                       {"intermediate_size", 12}, {"hidden_act", "gelu"}};

/// A configuration of the family `type`: `fields` with `changes`.
ModelConfig read_as(const char* type, Json fields, const Json& changes = Json::object()) {
  fields.update(changes);
  ModelConfig config = family_of_type(type, "f").read_config(fields, "f");
  config.family = type;
  config.validate();
  return config;
}

std::string refusal_of(const char* type, const Json& fields, const Json& changes) {
  try {
    read_as(type, fields, changes);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

using Warnings = std::vector<std::string>;

TEST(ConfigReader, AFieldThatNoFamilyMemberReadsIsAWarningByName) {
  EXPECT_EQ(
      read_as("llama", kLlamaFields, {{"alibi", true}, {"clip_qkv", nullptr}}).warnings,
      (Warnings{"f: alibi is true and is ignored: models of this family have no such field"}));
  EXPECT_EQ(read_as("bert", kBertFields, {{"query_pre_attn_scalar", 5}}).warnings.size(), 1u);
}

TEST(ConfigReader, AFieldWithoutEffectIsIgnoredByName) {
  const Json fields{{"use_cache", false},    {"torch_dtype", "bfloat16"},
                    {"hidden_dropout", 0.5}, {"initializer_range", 0.02},
                    {"num_beams", 4},        {"_name_or_path", "x"}};
  EXPECT_EQ(read_as("llama", kLlamaFields, fields).warnings, Warnings());
  EXPECT_EQ(read_as("bert", kBertFields, fields).warnings, Warnings());
}

TEST(ConfigReader, AFieldThatTheReferenceAppliesIsRefusedAtAnotherValue) {
  EXPECT_EQ(refusal_of("bert", kBertFields, {{"is_decoder", true}}),
            "f: is_decoder is true, expected false");
  EXPECT_EQ(refusal_of("llama", kLlamaFields, {{"per_layer_config", {{"0", {{"head_dim", 4}}}}}}),
            "f: per_layer_config is {\"0\":{\"head_dim\":4}}, expected {}");
  EXPECT_EQ(refusal_of("gemma", kLlamaFields, {{"use_bidirectional_attention", true}}),
            "f: use_bidirectional_attention is true, expected false");
  EXPECT_EQ(
      refusal_of("qwen2", kLlamaFields,
                 {{"layer_types", {"full_attention", "chunked_attention", "full_attention"}}}),
      "f: layer_types has \"chunked_attention\", expected sliding_attention or "
      "full_attention");
  EXPECT_EQ(refusal_of("llama", kLlamaFields, {{"head_dim", 3}}),
            "head_dim is 3, of which 3 columns are rotated, expected an even number");
}

TEST(ConfigReader, TokensBeyondTheVocabularyAreWarnings) {
  const ModelConfig config =
      read_as("llama", kLlamaFields, {{"pad_token_id", 50256}, {"eos_token_id", {20, 3}}});
  EXPECT_EQ(config.pad_id, -1);
  EXPECT_EQ(config.eos_ids(), std::vector<int32_t>{3});
  EXPECT_EQ(config.warnings,
            (Warnings{"f: pad_token_id is 50256 and is ignored: the vocabulary has the tokens 0 to "
                      "19",
                      "f: eos_token_id is 20 and is ignored: the vocabulary has the tokens 0 to "
                      "19"}));
}

TEST(ConfigReader, RopeScalingReplacesRopeParameters) {
  const Json linear{{"rope_type", "linear"}, {"factor", 4.0}};
  const ModelConfig config =
      read_as("llama", kLlamaFields,
              {{"rope_theta", 70.0},
               {"rope_scaling", linear},
               {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 50.0}}}});
  EXPECT_EQ(config.rotary_scaling.kind, nn::RotaryScaling::Kind::linear);
  EXPECT_EQ(config.rotary_theta, 70.0);
  ASSERT_EQ(config.warnings.size(), 1u);
  EXPECT_EQ(config.warnings[0].find("f: rope_parameters is {"), 0u) << config.warnings[0];
  EXPECT_EQ(read_as("llama", kLlamaFields,
                    {{"rope_scaling", Json::object()}, {"rope_parameters", linear}})
                .rotary_scaling.kind,
            nn::RotaryScaling::Kind::linear);
}

TEST(ConfigReader, NumbersThatAKindOfScalingDoesNotHaveAreWarnings) {
  const Json linear{{"rope_type", "linear"}, {"factor", 4.0}, {"beta_fast", 3.0}};
  EXPECT_EQ(read_as("llama", kLlamaFields, {{"rope_scaling", linear}}).warnings,
            (Warnings{"f: beta_fast of rope_parameters is 3.0 and is ignored: nothing reads it "
                      "there"}));
}

TEST(ConfigReader, AScalingReachesItsFactorTimesTheOriginalContext) {
  const Json yarn{{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32}};
  ModelConfig config =
      read_as("llama", kLlamaFields, {{"max_position_embeddings", 32}, {"rope_scaling", yarn}});
  EXPECT_EQ(config.max_positions, 128);
  EXPECT_EQ(config.rotary_scaling.original_max_positions, 32);
  config.set_context(64);
  EXPECT_EQ(config.max_positions, 64);
  EXPECT_THROW(config.set_context(129), Error);
  const Json linear{{"type", "linear"}, {"factor", 3.0}};
  EXPECT_EQ(
      read_as("llama", kLlamaFields, {{"max_position_embeddings", 32}, {"rope_scaling", linear}})
          .max_positions,
      96);
  // A file that states the extended one.
  EXPECT_EQ(
      read_as("llama", kLlamaFields, {{"max_position_embeddings", 500}, {"rope_scaling", yarn}})
          .max_positions,
      500);
}

TEST(ConfigReader, GptOssHasYarnUnlessItsFileHasRotaryFields) {
  Json gpt_oss = kLlamaFields;
  gpt_oss["num_local_experts"] = 4;
  EXPECT_EQ(read_as("gpt_oss", gpt_oss).rotary_scaling.kind, nn::RotaryScaling::Kind::yarn);
  EXPECT_EQ(read_as("gpt_oss", gpt_oss).rotary_scaling.factor, 32.0);
  EXPECT_EQ(read_as("gpt_oss", gpt_oss, {{"rope_parameters", {{"rope_type", "default"}}}})
                .rotary_scaling.kind,
            nn::RotaryScaling::Kind::none);
}

TEST(ConfigReader, AnotherNameOfAFieldCountsAsInTheReference) {
  Json gpt2{{"vocab_size", 20}, {"n_embd", 16}, {"n_layer", 3}, {"n_head", 2}};
  EXPECT_EQ(read_as("gpt2", gpt2, {{"hidden_size", 8}}).d_model, 8);
  EXPECT_EQ(
      read_as("modernbert", kBertFields, {{"local_attention", 8}, {"sliding_window", 2}}).windows,
      (std::vector<int64_t>{0, 3, 3}));
}

TEST(ConfigReader, ADecoderThatIsNotCausalIsAnEncoderAndIsSavedAsSuch) {
  const ModelConfig config = read_as("qwen2", kLlamaFields,
                                     {{"is_causal", false},
                                      {"use_sliding_window", true},
                                      {"sliding_window", 4},
                                      {"max_window_layers", 1}});
  EXPECT_EQ(config.encoder_layers, 3);
  EXPECT_EQ(config.decoder_layers, 0);
  EXPECT_EQ(config.windows, (std::vector<int64_t>{0, 5, 5}));  // before and after, and itself
  EXPECT_EQ(family_for(config).model_type, "qwen2");
  const Json written = family_for(config).write_config(config);
  EXPECT_EQ(written["is_causal"], false);
  EXPECT_EQ(written["sliding_window"], 4);
}

TEST(ConfigReader, AFieldThatThisVersionOfHeedDoesNotKnowIsRefusedInItsOwnFiles) {
  EXPECT_EQ(
      refusal_of("heed", {{"vocab_size", 20}}, {{"mirrored", true}}).find("f: mirrored is true"),
      0u);
}

TEST(ConfigReader, WhatFamiliesWriteIsReadWithoutAWarning) {
  for (const Family& family : families()) {
    ModelConfig config;
    config.vocab_size = 20;
    config.d_model = 16;
    config.n_heads = config.n_kv_heads = 2;
    config.head_dim = config.v_head_dim = 8;
    config.decoder_layers = family.decoder_only ? 2 : config.decoder_layers;
    config.moe = {.n_experts = 4, .experts_per_token = 2, .d_expert = 8};
    config.latent = {.kv_lora_rank = 4, .q_lora_rank = 4, .qk_rope_head_dim = 4};
    config.norm = nn::NormKind::rms;
    config.activation = kernels::Activation::silu;
    config.disentangled = {.c2p = true, .max_distance = 8};
    config.rotary_theta = 100;
    config.rotary_dim = 8;
    config.first_position = 1;
    config.pad_id = 1;
    Json json = family.write_config(config);
    if (family.model_type.ends_with("roberta") || family.model_type == "mpnet" ||
        family.model_type == "electra" || family.model_type == "gte")
      json["hidden_act"] = "gelu";  // that of their heads
    EXPECT_EQ(family.read_config(json, "f").warnings, Warnings()) << family.model_type;
  }
}

TEST(ConfigReader, TheFieldsWithoutEffectAreThoseOfTheDocumentation) {
  std::ifstream file(std::string(HEED_SOURCE_DIR) + "/docs/models.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const std::string_view field : ignored_fields())
    EXPECT_NE(text.str().find(fmt::format("`{}`", field)), std::string::npos)
        << field << " is not in docs/models.md";
}

}  // namespace
}  // namespace heed::model
