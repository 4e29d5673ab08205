#include "heed/model/families/known.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/llama.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

using io::GgufType;

void require_supported_deepseek(ConfigReader& json, const char* scoring) {
  json.expect("scoring_func", scoring);
  json.expect("moe_layer_freq", 1);
  json.expect("mlp_bias", false);
  json.understand({"ep_size", "num_nextn_predict_layers", "num_mtp_layers", "qk_head_dim"});
}

nn::MoeConfig read_moe(ConfigReader& json) {
  return {.n_experts = json.get<int64_t>("n_routed_experts"),
          .experts_per_token = json.get<int64_t>("num_experts_per_tok"),
          .d_expert = json.get<int64_t>("moe_intermediate_size"),
          .n_shared_experts = json.get_or<int64_t>("n_shared_experts", 0),
          .routed_scaling_factor = static_cast<float>(json.get_or("routed_scaling_factor", 1.0))};
}

nn::MoeConfig read_moe_v2(ConfigReader& json) {
  // No released model has it, and the implementations differ in what it means.
  json.expect("norm_topk_prob", false);
  nn::MoeConfig moe = read_moe(json);
  const auto method = json.get_or<std::string>("topk_method", "greedy");
  json.understand({"n_group", "topk_group"});
  if (method == "greedy") return moe;
  require(method == "group_limited_greedy",
          "{}: topk_method is {}, expected greedy or group_limited_greedy", json.file(),
          quoted(method));
  moe.n_group = json.get<int64_t>("n_group");
  moe.topk_group = json.get<int64_t>("topk_group");
  return moe;
}

nn::MoeConfig read_moe_v3(ConfigReader& json) {
  json.expect("topk_method", "noaux_tc");
  nn::MoeConfig moe = read_moe(json);
  moe.scoring = nn::RouterScoring::sigmoid;
  moe.norm_topk_prob = json.get_or("norm_topk_prob", true);
  moe.n_group = json.get_or<int64_t>("n_group", 8);
  moe.topk_group = json.get_or<int64_t>("topk_group", 4);
  return moe;
}

/// yarn's temperature scales the scores of both parts of a key, not only of the rotated one.
float score_scale(const ModelConfig& c) {
  const nn::RotaryScaling& s = c.rotary_scaling;
  if (s.kind == nn::RotaryScaling::Kind::none || s.mscale_all_dim == 0.0) return 0.0f;
  const double temperature =
      s.factor <= 1.0 ? 1.0 : 0.1 * s.mscale_all_dim * std::log(s.factor) + 1.0;
  return static_cast<float>(temperature * temperature / std::sqrt(static_cast<double>(c.head_dim)));
}

/// All but the mixture of experts.
ModelConfig read_deepseek(ConfigReader& json) {
  json.set_defaults({{"kv_lora_rank", 512},
                     {"q_lora_rank", 1536},
                     {"qk_rope_head_dim", 64},
                     {"qk_nope_head_dim", 128},
                     {"v_head_dim", 128}});
  ModelConfig c = read_attention_biased_llama(json);
  require(c.n_kv_heads == c.n_heads,
          "{}: num_key_value_heads is {}, expected num_attention_heads, which is {}", json.file(),
          c.n_kv_heads, c.n_heads);
  c.latent = {.kv_lora_rank = json.get<int64_t>("kv_lora_rank"),
              .q_lora_rank = json.get_or<int64_t>("q_lora_rank", 0),
              .qk_rope_head_dim = json.get<int64_t>("qk_rope_head_dim")};
  const auto nope = json.get<int64_t>("qk_nope_head_dim");
  require(nope > 0 && nope < (int64_t{1} << 24) && c.latent.qk_rope_head_dim > 0 &&
              c.latent.qk_rope_head_dim < (int64_t{1} << 24),
          "{}: qk_nope_head_dim is {} and qk_rope_head_dim {}, expected more than 0", json.file(),
          nope, c.latent.qk_rope_head_dim);
  c.head_dim = nope + c.latent.qk_rope_head_dim;
  c.v_head_dim = json.get<int64_t>("v_head_dim");
  c.pair_layout = kernels::PairLayout::interleaved;
  c.attention_scale = score_scale(c);
  return c;
}

ModelConfig read_deepseek_v2(ConfigReader& json) {
  require_supported_deepseek(json, "softmax");
  json.set_defaults({{"n_shared_experts", 2}, {"moe_intermediate_size", 1407}});
  json.take_alias("num_experts", "n_routed_experts");
  json.take_alias("num_local_experts", "n_routed_experts");
  json.set_defaults({{"n_routed_experts", 64}});
  ModelConfig c = read_deepseek(json);
  c.moe = read_moe_v2(json);
  c.first_k_dense_replace = json.get_or<int64_t>("first_k_dense_replace", 0);
  return c;
}

ModelConfig read_deepseek_v3(ConfigReader& json) {
  require_supported_deepseek(json, "sigmoid");
  json.set_defaults({{"n_shared_experts", 1},
                     {"moe_intermediate_size", 2048},
                     {"num_experts_per_tok", 8},
                     {"routed_scaling_factor", 2.5},
                     {"max_position_embeddings", 4096},
                     {"bos_token_id", 0},
                     {"eos_token_id", 1}});
  json.take_alias("num_local_experts", "n_routed_experts");
  json.set_defaults({{"n_routed_experts", 256}});
  ModelConfig c = read_deepseek(json);
  json.expect("head_dim", c.latent.qk_rope_head_dim);  // of the rotated part
  c.pair_layout = json.get_or("rope_interleave", true) ? kernels::PairLayout::interleaved
                                                       : kernels::PairLayout::halves;
  c.moe = read_moe_v3(json);
  c.first_k_dense_replace = json.get_or<int64_t>("first_k_dense_replace", 3);
  return c;
}

nlohmann::json write_deepseek_v2(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "deepseek_v2", "DeepseekV2ForCausalLM");
  const bool grouped = c.moe.n_group > 1;
  json.update({{"head_dim", c.latent.qk_rope_head_dim},
               {"attention_bias", c.qkv_bias},
               {"kv_lora_rank", c.latent.kv_lora_rank},
               {"q_lora_rank", nullptr},
               {"qk_rope_head_dim", c.latent.qk_rope_head_dim},
               {"qk_nope_head_dim", c.head_dim - c.latent.qk_rope_head_dim},
               {"v_head_dim", c.v_head_dim},
               {"n_routed_experts", c.moe.n_experts},
               {"num_experts_per_tok", c.moe.experts_per_token},
               {"moe_intermediate_size", c.moe.d_expert},
               {"n_shared_experts", c.moe.n_shared_experts},
               {"routed_scaling_factor", c.moe.routed_scaling_factor},
               {"norm_topk_prob", false},
               {"scoring_func", "softmax"},
               {"topk_method", grouped ? "group_limited_greedy" : "greedy"},
               {"n_group", c.moe.n_group},
               {"topk_group", c.moe.topk_group},
               {"first_k_dense_replace", c.first_k_dense_replace},
               {"moe_layer_freq", 1}});
  if (c.latent.q_lora_rank > 0) json["q_lora_rank"] = c.latent.q_lora_rank;
  return json;
}

nlohmann::json write_deepseek_v3(const ModelConfig& c) {
  nlohmann::json json = write_deepseek_v2(c);
  json.update({{"architectures", {"DeepseekV3ForCausalLM"}},
               {"model_type", "deepseek_v3"},
               {"norm_topk_prob", c.moe.norm_topk_prob},
               {"scoring_func", "sigmoid"},
               {"topk_method", "noaux_tc"},
               {"rope_interleave", c.pair_layout == kernels::PairLayout::interleaved},
               {"num_nextn_predict_layers", 0}});
  return json;
}

StoredWeight deepseek_weight(const ModelConfig& config, const std::string& name,
                             const Shape& shape) {
  return llama_moe_weight(config,
                          renamed(name, {{".kv_a_proj.", ".kv_a_proj_with_mqa."},
                                         {".kv_a_norm.", ".kv_a_layernorm."},
                                         {".q_a_norm.", ".q_a_layernorm."}}),
                          shape);
}

constexpr int64_t kSigmoidGating = 2;

bool gguf_has_sigmoids(const ArchitectureMetadata& metadata) {
  return metadata.get_or<int64_t>("expert_gating_func", 1) == kSigmoidGating;
}

constexpr MetadataField kGgufDeepseek[] = {
    required("attention.kv_lora_rank", "kv_lora_rank", GgufType::u32),
    optional("attention.q_lora_rank", "q_lora_rank", GgufType::u32),
    required("rope.dimension_count", "qk_rope_head_dim", GgufType::u32),
    required("expert_count", "n_routed_experts", GgufType::u32),
    required("expert_used_count", "num_experts_per_tok", GgufType::u32),
    required("expert_feed_forward_length", "moe_intermediate_size", GgufType::u32),
    with_default("expert_shared_count", "n_shared_experts", GgufType::u32, 0),
    with_default("expert_weights_scale", "routed_scaling_factor", GgufType::f32, 1),
    with_default("expert_weights_norm", "norm_topk_prob", GgufType::boolean, false),
    with_default("expert_group_count", "n_group", GgufType::u32, 1),
    optional("expert_group_used_count", "topk_group", GgufType::u32),
    with_default("leading_dense_block_count", "first_k_dense_replace", GgufType::u32, 0)};

/// One number, divided by 10, for two that are equal in all published models.
constexpr const char* kGgufTemperature = "rope.scaling.yarn_log_multiplier";

/// In older files, key_length and value_length are the widths of a head. In newer ones they are
/// those of the latents, and key_length_mla and value_length_mla those of a head.
void read_gguf_deepseek(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  read_gguf_llama_moe(metadata, config);
  const bool newer = metadata.contains("attention.key_length_mla");
  const auto key =
      metadata.get<int64_t>(newer ? "attention.key_length_mla" : "attention.key_length");
  const auto rotary = config["qk_rope_head_dim"].get<int64_t>();
  require(rotary > 0 && rotary < key,
          "{}: {} of the {} columns of a key are rotated, expected some but not all",
          metadata.file().name(), rotary, key);
  config["num_key_value_heads"] = config["head_dim"] = nullptr;  // may be those of the latents
  config["qk_nope_head_dim"] = key - rotary;
  config["v_head_dim"] =
      metadata.get<int64_t>(newer ? "attention.value_length_mla" : "attention.value_length");
  if (config["topk_group"].is_null()) config["topk_group"] = config["n_group"];
  config["topk_method"] = gguf_has_sigmoids(metadata) ? "noaux_tc"
                          : config["n_group"] > 1     ? "group_limited_greedy"
                                                      : "greedy";
  if (metadata.contains(kGgufTemperature) && config["rope_scaling"].is_object())
    config["rope_scaling"]["mscale"] = config["rope_scaling"]["mscale_all_dim"] =
        metadata.get<double>(kGgufTemperature) / 0.1;
}

/// The newer ones.
void write_gguf_deepseek(const ModelConfig& c, ArchitectureValues& metadata) {
  const auto number = [](int64_t value) { return static_cast<uint32_t>(value); };
  metadata.set("attention.head_count_kv", uint32_t{1});
  metadata.set("attention.key_length", number(c.latent.kv_lora_rank + c.latent.qk_rope_head_dim));
  metadata.set("attention.value_length", number(c.latent.kv_lora_rank));
  metadata.set("attention.key_length_mla", number(c.head_dim));
  metadata.set("attention.value_length_mla", number(c.v_head_dim));
  metadata.set("expert_gating_func",
               number(c.moe.scoring == nn::RouterScoring::sigmoid ? kSigmoidGating : 1));
  if (c.rotary_scaling.mscale != 0.0)
    metadata.set(kGgufTemperature, static_cast<float>(0.1 * c.rotary_scaling.mscale));
}

Family plain_deepseek_v2() {
  return like_llama("deepseek_v2", read_deepseek_v2, write_deepseek_v2, deepseek_weight,
                    {.architectures = {"deepseek2"},
                     .fields = {kGgufLlama, kGgufDeepseek},
                     .read = read_gguf_deepseek,
                     .write = write_gguf_deepseek});
}

Family plain_deepseek_v3() {
  return like_llama("deepseek_v3", read_deepseek_v3, write_deepseek_v3, deepseek_weight,
                    {.architectures = {"deepseek2"},
                     .holds = gguf_has_sigmoids,
                     .fields = {kGgufLlama, kGgufDeepseek},
                     .read = read_gguf_deepseek,
                     .write = write_gguf_deepseek});
}

}  // namespace

/// DeepSeek-V2 and V2-Lite (2024): Llama's blocks with multi-head latent attention and, from some
/// layer on, mixtures of experts.
Family deepseek_v2_family() { return maybe_bidirectional<plain_deepseek_v2>(); }

/// DeepSeek-V3 (2024): the same with a router of sigmoids and a bias for the selection. The layers
/// that predict further tokens are not supported.
Family deepseek_v3_family() { return maybe_bidirectional<plain_deepseek_v3>(); }

}  // namespace heed::model
