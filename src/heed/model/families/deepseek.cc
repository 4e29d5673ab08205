#include "heed/model/families/deepseek.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/llama.h"

namespace heed::model {
namespace {

void require_supported_deepseek(const nlohmann::json& json, const std::string& file,
                                std::string_view expected_scoring) {
  const auto scoring =
      get_or<std::string>(json, "scoring_func", std::string(expected_scoring), file);
  require(scoring == expected_scoring, "{}: scoring_func is {}, expected {}", file, quoted(scoring),
          expected_scoring);
  const auto every = get_or<int64_t>(json, "moe_layer_freq", 1, file);
  require(every == 1, "{}: moe_layer_freq is {}, expected 1", file, every);
  require(!get_or(json, "mlp_bias", false, file), "{}: mlp_bias is true, expected false", file);
}

nn::MoeConfig read_moe(const nlohmann::json& json, const std::string& file) {
  nn::MoeConfig moe{
      .n_experts = get<int64_t>(
          json, json.contains("n_routed_experts") ? "n_routed_experts" : "num_local_experts", file),
      .experts_per_token = get<int64_t>(json, "num_experts_per_tok", file),
      .d_expert = get<int64_t>(json, "moe_intermediate_size", file),
      .n_shared_experts = get_or<int64_t>(json, "n_shared_experts", 0, file)};
  moe.routed_scaling_factor = static_cast<float>(get_or(json, "routed_scaling_factor", 1.0, file));
  return moe;
}

nn::MoeConfig read_moe_v2(const nlohmann::json& json, const std::string& file) {
  // No released model has it, and the implementations differ in what it means.
  require(!get_or(json, "norm_topk_prob", false, file),
          "{}: norm_topk_prob is true, expected false", file);
  nn::MoeConfig moe = read_moe(json, file);
  const auto method = get_or<std::string>(json, "topk_method", "greedy", file);
  if (method == "greedy") return moe;
  require(method == "group_limited_greedy",
          "{}: topk_method is {}, expected greedy or group_limited_greedy", file, quoted(method));
  moe.n_group = get<int64_t>(json, "n_group", file);
  moe.topk_group = get<int64_t>(json, "topk_group", file);
  return moe;
}

nn::MoeConfig read_moe_v3(const nlohmann::json& json, const std::string& file) {
  const auto method = get_or<std::string>(json, "topk_method", "noaux_tc", file);
  require(method == "noaux_tc", "{}: topk_method is {}, expected noaux_tc", file, quoted(method));
  nn::MoeConfig moe = read_moe(json, file);
  moe.scoring = nn::RouterScoring::sigmoid;
  moe.norm_topk_prob = get_or(json, "norm_topk_prob", true, file);
  moe.n_group = get_or<int64_t>(json, "n_group", 8, file);
  moe.topk_group = get_or<int64_t>(json, "topk_group", 4, file);
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
ModelConfig read_deepseek(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_llama(json, file);
  c.n_kv_heads = c.n_heads;
  c.latent = {.kv_lora_rank = get<int64_t>(json, "kv_lora_rank", file),
              .q_lora_rank = get_or<int64_t>(json, "q_lora_rank", 0, file),
              .qk_rope_head_dim = get<int64_t>(json, "qk_rope_head_dim", file)};
  const auto nope = get<int64_t>(json, "qk_nope_head_dim", file);
  require(nope > 0 && nope < (int64_t{1} << 24) && c.latent.qk_rope_head_dim > 0 &&
              c.latent.qk_rope_head_dim < (int64_t{1} << 24),
          "{}: qk_nope_head_dim is {} and qk_rope_head_dim {}, expected more than 0", file, nope,
          c.latent.qk_rope_head_dim);
  c.head_dim = nope + c.latent.qk_rope_head_dim;
  c.v_head_dim = get<int64_t>(json, "v_head_dim", file);
  c.pair_layout = kernels::PairLayout::interleaved;
  c.qkv_bias = c.o_bias = get_or(json, "attention_bias", false, file);
  c.attention_scale = score_scale(c);
  return c;
}

ModelConfig read_deepseek_v2(const nlohmann::json& json, const std::string& file) {
  require_supported_deepseek(json, file, "softmax");
  ModelConfig c = read_deepseek(json, file);
  c.moe = read_moe_v2(json, file);
  c.first_k_dense_replace = get_or<int64_t>(json, "first_k_dense_replace", 0, file);
  return c;
}

ModelConfig read_deepseek_v3(const nlohmann::json& json, const std::string& file) {
  require_supported_deepseek(json, file, "sigmoid");
  ModelConfig c = read_deepseek(json, file);
  c.pair_layout = get_or(json, "rope_interleave", true, file) ? kernels::PairLayout::interleaved
                                                              : kernels::PairLayout::halves;
  c.moe = read_moe_v3(json, file);
  c.first_k_dense_replace = get_or<int64_t>(json, "first_k_dense_replace", 3, file);
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

}  // namespace

Family deepseek_v2_family() {
  return {.model_type = "deepseek_v2",
          .read_config = read_deepseek_v2,
          .write_config = write_deepseek_v2,
          .stored = deepseek_weight,
          .redundant = llama_redundant};
}

Family deepseek_v3_family() {
  return {.model_type = "deepseek_v3",
          .read_config = read_deepseek_v3,
          .write_config = write_deepseek_v3,
          .stored = deepseek_weight,
          .redundant = llama_redundant};
}

}  // namespace heed::model
