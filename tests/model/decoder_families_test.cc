// What the readers of decoder-only families' config.json refuse, and their defaults.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "heed/base/error.h"
#include "heed/model/families/family.h"
#include "heed/model/families/head_change.h"

namespace heed::model {
namespace {

using Json = nlohmann::json;

Json gpt2() {
  return {{"vocab_size", 20},
          {"n_embd", 8},
          {"n_layer", 1},
          {"n_head", 2},
          {"activation_function", "gelu_new"}};
}

Json llama() {
  return {{"vocab_size", 20},         {"hidden_size", 8},        {"num_hidden_layers", 3},
          {"num_attention_heads", 2}, {"intermediate_size", 12}, {"hidden_act", "silu"},
          {"num_key_value_heads", 2}};
}

Json deepseek_v2() {
  Json json = llama();
  json.update({{"kv_lora_rank", 4},
               {"qk_rope_head_dim", 2},
               {"qk_nope_head_dim", 4},
               {"v_head_dim", 4},
               {"n_routed_experts", 4},
               {"num_experts_per_tok", 2},
               {"moe_intermediate_size", 6},
               {"n_shared_experts", 1}});
  return json;
}

Json qwen3_moe() {
  Json json = llama();
  json["num_experts"] = 8;
  return json;
}

Json gpt_neox() {
  Json json = llama();
  json.update({{"hidden_act", "gelu"}, {"rotary_pct", 0.5}});
  return json;
}

Json with(Json json, const Json& changes) {
  json.update(changes);
  return json;
}

ModelConfig read(const char* type, const Json& json) {
  ModelConfig config = family_of_type(type, "config.json").read_config(json, "config.json");
  config.validate();
  return config;
}

/// The message of the refusal to read `json` with one field changed.
std::string refusal(const char* type, Json json, const char* key, const Json& value) {
  json[key] = value;
  try {
    read(type, json);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(DecoderFamilies, KeepAllEndTokensOfAList) {
  for (const auto& [type, fields] : {std::pair{"llama", llama()}, std::pair{"gpt2", gpt2()}}) {
    Json json = fields;
    json["eos_token_id"] = {5, 7, 9};
    const ModelConfig config = read(type, json);
    EXPECT_EQ(config.eos_ids(), (std::vector<int32_t>{5, 7, 9}));
    const Json written = family_of_type(type, "config.json").write_config(config);
    EXPECT_EQ(written["eos_token_id"], Json({5, 7, 9}));
    EXPECT_EQ(refusal(type, json, "eos_token_id", {5, -1}),
              "config.json: eos_token_id is -1, expected 0 to 2147483647");
    json["eos_token_id"] = {20, 5};
    EXPECT_EQ(read(type, json).eos_ids(), std::vector<int32_t>{5});
  }
}

TEST(DecoderFamilies, QuoteValuesOfFilesInMessages) {
  const std::string hostile = "\x1b[31m\nforged";
  EXPECT_EQ(refusal("llama", llama(), "rope_scaling", {{"rope_type", hostile}}),
            "config.json: rope_type \"\\u001b[31m\\nforged\" is not known, expected one of none, "
            "linear, llama3, yarn, dynamic, longrope");
  try {
    family_of_type(hostile, "config.json");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("config.json: model_type is \"\\u001b[31m\\nforged\""),
              0)
        << error.what();
  }
}

TEST(DecoderFamilies, RefuseUnsupportedFeatures) {
  EXPECT_EQ(refusal("gpt2", gpt2(), "add_cross_attention", true),
            "config.json: add_cross_attention is true, expected false");
  EXPECT_EQ(refusal("gpt2", gpt2(), "scale_attn_weights", false),
            "config.json: scale_attn_weights is false, expected true");
  EXPECT_EQ(refusal("gemma2", llama(), "attention_bias", true),
            "config.json: attention_bias is true, expected false");
  EXPECT_EQ(refusal("gemma2", llama(), "query_pre_attn_scalar", 0),
            "config.json: query_pre_attn_scalar is 0, expected more than 0");
  EXPECT_EQ(refusal("gemma3_text", llama(), "rope_parameters",
                    {{"sliding_attention", {{"rope_type", "linear"}, {"factor", 2.0}}}}),
            "config.json: rope_type of sliding_attention, from rope_parameters or rope_scaling, is "
            "linear, expected default");
  EXPECT_EQ(refusal("olmo2", llama(), "mlp_bias", true),
            "config.json: mlp_bias is true, expected false");
  EXPECT_EQ(refusal("smollm3", llama(), "use_sliding_window", true),
            "config.json: use_sliding_window is true, expected false");
  EXPECT_EQ(refusal("smollm3", llama(), "no_rope_layers", {1, 0}),
            "config.json: no_rope_layers has 2 numbers, expected 3");
  EXPECT_EQ(refusal("smollm3", llama(), "no_rope_layers", {1, 0, 2}),
            "rope_layers has the number 2, expected 0 or 1");
  EXPECT_EQ(refusal("smollm3", llama(), "no_rope_layer_interval", 0),
            "config.json: no_rope_layer_interval is 0, expected more than 0");
  EXPECT_EQ(refusal("granite", llama(), "logits_scaling", 0),
            "config.json: logits_scaling is 0, expected more than 0");
  EXPECT_EQ(refusal("qwen3_moe", qwen3_moe(), "decoder_sparse_step", 2),
            "config.json: decoder_sparse_step is 2, expected 1: every layer has to be a mixture of "
            "experts");
  EXPECT_EQ(refusal("qwen3_moe", qwen3_moe(), "mlp_only_layers", {0}),
            "config.json: mlp_only_layers is [0], expected []: every layer has to be a mixture of "
            "experts");
  EXPECT_EQ(
      refusal("phi3", llama(), "partial_rotary_factor", 0.1),
      "config.json: partial_rotary_factor is 0.1, which rotates 0 of the 4 columns of a head, "
      "expected an even number");
  EXPECT_EQ(refusal("phi3", llama(), "rope_scaling", {{"type", "linear"}, {"factor", 2}}),
            "config.json: rope_type is linear, expected default or longrope");
  EXPECT_EQ(refusal("gpt_neox", gpt_neox(), "rotary_pct", 1.5),
            "config.json: partial_rotary_factor is 1.5, expected more than 0 and at most 1");
  EXPECT_EQ(refusal("deepseek_v2", deepseek_v2(), "scoring_func", "sigmoid"),
            "config.json: scoring_func is \"sigmoid\", expected \"softmax\"");
  EXPECT_EQ(refusal("deepseek_v3", deepseek_v2(), "scoring_func", "softmax"),
            "config.json: scoring_func is \"softmax\", expected \"sigmoid\"");
  EXPECT_EQ(refusal("deepseek_v3", deepseek_v2(), "topk_method", "greedy"),
            "config.json: topk_method is \"greedy\", expected \"noaux_tc\"");
  EXPECT_EQ(refusal("deepseek_v2", deepseek_v2(), "moe_layer_freq", 2),
            "config.json: moe_layer_freq is 2, expected 1");
  EXPECT_EQ(refusal("deepseek_v2", deepseek_v2(), "norm_topk_prob", true),
            "config.json: norm_topk_prob is true, expected false");
  EXPECT_EQ(refusal("deepseek_v2", deepseek_v2(), "topk_method", "noaux_tc"),
            "config.json: topk_method is \"noaux_tc\", expected greedy or group_limited_greedy");
  EXPECT_NE(refusal("deepseek_v2", deepseek_v2(), "qk_nope_head_dim", -4).find("more than 0"),
            std::string::npos);
}

TEST(DecoderFamilies, RefuseHugeSizes) {
  const int64_t huge = int64_t{1} << 60;
  EXPECT_NE(refusal("gpt2", gpt2(), "n_embd", huge), "none");
  EXPECT_NE(refusal("mistral", llama(), "num_hidden_layers", huge), "none");
  EXPECT_NE(refusal("gemma2", llama(), "num_hidden_layers", huge), "none");
  EXPECT_NE(refusal("deepseek_v2", deepseek_v2(), "qk_rope_head_dim", huge), "none");
  EXPECT_NE(refusal("deepseek_v2", deepseek_v2(), "n_routed_experts", huge), "none");
}

TEST(DecoderFamilies, UseTheReferenceDefaultsForMissingFields) {
  EXPECT_EQ(read("gpt2", gpt2()).d_ff, 32);
  const ModelConfig gemma = read("gemma2", llama());
  EXPECT_EQ(gemma.head_dim, 256);
  EXPECT_EQ(gemma.activation, kernels::Activation::gelu_tanh);
  EXPECT_EQ(gemma.attention_scale, 1.0f / 16.0f);
  EXPECT_EQ(gemma.attn_logit_softcapping, 50.0f);
  EXPECT_EQ(gemma.final_logit_softcapping, 30.0f);
  EXPECT_EQ(gemma.windows, (std::vector<int64_t>{4096, 0, 4096}));
  EXPECT_TRUE(gemma.tied_head);
}

TEST(DecoderFamilies, UseTheReferenceDefaultsForMissingFieldsOfLaterFamilies) {
  const ModelConfig gemma = read("gemma", with(llama(), {{"hidden_act", "gelu"}}));
  EXPECT_EQ(gemma.activation, kernels::Activation::gelu_tanh);
  EXPECT_EQ(gemma.head_dim, 256);
  const ModelConfig gemma3 = read("gemma3_text", with(llama(), {{"num_hidden_layers", 7}}));
  EXPECT_EQ(gemma3.windows, (std::vector<int64_t>{4096, 4096, 4096, 4096, 4096, 0, 4096}));
  EXPECT_EQ(gemma3.rotary_theta, 1e6);
  EXPECT_EQ(gemma3.rotary_local_theta, 1e4);
  EXPECT_EQ(gemma3.attn_logit_softcapping, 0.0f);
  const ModelConfig smollm3 = read("smollm3", with(llama(), {{"num_hidden_layers", 5}}));
  EXPECT_EQ(smollm3.rotary_layers, (std::vector<int64_t>{1, 1, 1, 0, 1}));
  EXPECT_EQ(smollm3.rotary_theta, 2e6);
  EXPECT_EQ(read("mixtral", llama()).moe.n_experts, 8);
  EXPECT_EQ(read("mixtral", llama()).moe.d_expert, 12);
  EXPECT_EQ(read("qwen3_moe", qwen3_moe()).moe.d_expert, 768);
  EXPECT_FALSE(read("qwen3_moe", qwen3_moe()).moe.norm_topk_prob);
  EXPECT_EQ(read("gpt_neox", gpt_neox()).rotary_dim, 2);
  EXPECT_TRUE(read("gpt_neox", gpt_neox()).parallel_residual);
}

// 30 columns of 44, for example: 44 (30 / 44) is less than 30 in double precision.
TEST(DecoderFamilies, TheRotatedFractionReadsBackAsTheSameNumberOfColumns) {
  ModelConfig config = read("phi3", llama());
  for (config.head_dim = config.v_head_dim = 2; config.head_dim <= 256; config.head_dim += 2)
    for (config.rotary_dim = 2; config.rotary_dim <= config.head_dim; config.rotary_dim += 2) {
      const Json written = family_of_type("phi3", "config.json").write_config(config);
      EXPECT_EQ(read("phi3", written).rotary_dim, config.rotary_dim) << config.head_dim;
    }
}

TEST(DecoderFamilies, DeepSeeksYarnScalesTheScores) {
  Json json = deepseek_v2();
  json["rope_scaling"] = {{"type", "yarn"},
                          {"factor", 40},
                          {"mscale", 0.707},
                          {"mscale_all_dim", 0.707},
                          {"original_max_position_embeddings", 4096}};
  const double temperature = 0.1 * 0.707 * std::log(40.0) + 1.0;
  EXPECT_FLOAT_EQ(read("deepseek_v2", json).attention_scale,
                  static_cast<float>(temperature * temperature / std::sqrt(6.0)));
  json["rope_scaling"].erase("mscale_all_dim");
  EXPECT_EQ(read("deepseek_v2", json).attention_scale, 0.0f);
}

TEST(DecoderFamilies, ReadTheOriginalContextWhereTheFrequenciesDependOnIt) {
  const Json longrope = {{"type", "su"}, {"short_factor", {1.0, 1.5}}, {"long_factor", {2.0, 4.0}}};
  ModelConfig config = read("phi3", with(llama(), {{"max_position_embeddings", 131072},
                                                   {"original_max_position_embeddings", 4096},
                                                   {"rope_scaling", longrope}}));
  EXPECT_EQ(config.max_positions, 4096);
  EXPECT_EQ(config.rotary_scaling.factor, 32.0);
  config.set_context(131072);
  EXPECT_EQ(config.max_positions, 131072);
  EXPECT_EQ(family_for(config).model_type, "llama");
  const Json written = family_of_type("phi3", "config.json").write_config(config);
  EXPECT_EQ(written["max_position_embeddings"], 131072);
  EXPECT_EQ(read("phi3", written).max_positions, 4096);
  EXPECT_THROW(config.set_context(131073), Error);
  EXPECT_THROW(config.set_context(4095), Error);

  config = read("llama", with(llama(), {{"max_position_embeddings", 2048},
                                        {"rope_scaling", {{"type", "dynamic"}, {"factor", 4}}}}));
  EXPECT_EQ(config.max_positions, 2048);
  config.set_context(8192);
  EXPECT_EQ(family_of_type("llama", "").write_config(config)["max_position_embeddings"], 2048);
  config = read("llama", llama());
  EXPECT_THROW(config.set_context(2048), Error);
}

TEST(DecoderFamilies, Gemma3GivesLabelsToTextsAlone) {
  const char* const type = "gemma3_text";
  const Labels labels{.names = {"a", "b"}};
  const ModelConfig config = with_labels(read(type, llama()), labels);
  const Json written = family_of_type(type, "config.json").write_config(config);
  EXPECT_EQ(written["architectures"], Json({"Gemma3TextForSequenceClassification"}));
  EXPECT_EQ(read(type, written).classifier.labels, labels.names);
  EXPECT_EQ(refusal(type, llama(), "architectures", {"Gemma3ForTokenClassification"}),
            "config.json: architectures has Gemma3ForTokenClassification: Gemma 3 has no class for "
            "labels of tokens");
}

TEST(DecoderFamilies, TheFirstFamilyThatCanExpressAModelWritesIt) {
  const std::vector<std::pair<const char*, Json>> models{
      {"gpt2", gpt2()},
      {"llama", llama()},
      {"gemma2", llama()},
      {"deepseek_v2", deepseek_v2()},
      {"gemma", llama()},
      {"gemma3_text", llama()},
      {"granite", with(llama(), {{"residual_multiplier", 0.5}})},
      {"olmo2", llama()},
      {"smollm3", with(llama(), {{"no_rope_layer_interval", 2}})},
      {"qwen3_moe", qwen3_moe()},
      {"mixtral", llama()},
      {"phi3", with(llama(), {{"partial_rotary_factor", 0.5}})},
      {"gpt_neox", gpt_neox()},
      {"deepseek_v3", with(deepseek_v2(), {{"n_group", 1}, {"topk_group", 1}})}};
  for (const auto& [type, json] : models) EXPECT_EQ(family_for(read(type, json)).model_type, type);
}

}  // namespace
}  // namespace heed::model
