#include "heed/model/families/deepseek_v2.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/llama.h"

namespace heed::model {
namespace {

void require_supported(const nlohmann::json& json, const std::string& file) {
  const auto scoring = get_or<std::string>(json, "scoring_func", "softmax", file);
  require(scoring == "softmax", "{}: scoring_func is \"{}\", expected softmax", file,
          one_line(scoring));
  const auto every = get_or<int64_t>(json, "moe_layer_freq", 1, file);
  require(every == 1, "{}: moe_layer_freq is {}, expected 1", file, every);
  // No released model has it, and the implementations differ in what it means.
  for (const char* key : {"norm_topk_prob", "mlp_bias"})
    require(!get_or(json, key, false, file), "{}: {} is true, expected false", file, key);
}

nn::MixtureSizes read_mixture(const nlohmann::json& json, const std::string& file) {
  nn::MixtureSizes sizes{.experts = get<int64_t>(json, "n_routed_experts", file),
                         .chosen = get<int64_t>(json, "num_experts_per_tok", file),
                         .d_expert = get<int64_t>(json, "moe_intermediate_size", file),
                         .shared = get_or<int64_t>(json, "n_shared_experts", 0, file)};
  sizes.scale = static_cast<float>(get_or(json, "routed_scaling_factor", 1.0, file));
  const auto method = get_or<std::string>(json, "topk_method", "greedy", file);
  if (method == "greedy") return sizes;
  require(method == "group_limited_greedy",
          "{}: topk_method is \"{}\", expected greedy or group_limited_greedy", file,
          one_line(method));
  sizes.groups = get<int64_t>(json, "n_group", file);
  sizes.chosen_groups = get<int64_t>(json, "topk_group", file);
  return sizes;
}

/// yarn's temperature is not only in the rotation but in the scores of both parts of a key.
float score_scale(const ModelConfig& c) {
  const nn::RotaryScaling& s = c.rotary_scaling;
  if (s.kind == nn::RotaryScaling::Kind::none || s.mscale_all_dim == 0.0) return 0.0f;
  const double temperature =
      s.factor <= 1.0 ? 1.0 : 0.1 * s.mscale_all_dim * std::log(s.factor) + 1.0;
  return static_cast<float>(temperature * temperature / std::sqrt(static_cast<double>(c.d_head)));
}

ModelConfig read_config(const nlohmann::json& json, const std::string& file) {
  require_supported(json, file);
  ModelConfig c = read_llama(json, file);
  c.n_kv_heads = c.n_heads;
  c.latent = {.keys_values = get<int64_t>(json, "kv_lora_rank", file),
              .queries = get_or<int64_t>(json, "q_lora_rank", 0, file),
              .rotary = get<int64_t>(json, "qk_rope_head_dim", file)};
  const auto rebuilt = get<int64_t>(json, "qk_nope_head_dim", file);
  require(rebuilt > 0 && rebuilt < (int64_t{1} << 24) && c.latent.rotary > 0 &&
              c.latent.rotary < (int64_t{1} << 24),
          "{}: qk_nope_head_dim is {} and qk_rope_head_dim {}, expected more than 0", file, rebuilt,
          c.latent.rotary);
  c.d_head = rebuilt + c.latent.rotary;
  c.d_value = get<int64_t>(json, "v_head_dim", file);
  c.pair_layout = kernels::PairLayout::interleaved;
  c.qkv_bias = c.o_bias = get_or(json, "attention_bias", false, file);
  c.attention_scale = score_scale(c);
  c.mixture = read_mixture(json, file);
  c.dense_layers = get_or<int64_t>(json, "first_k_dense_replace", 0, file);
  return c;
}

nlohmann::json write_config(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "deepseek_v2", "DeepseekV2ForCausalLM");
  const bool grouped = c.mixture.groups > 1;
  json.update({{"head_dim", c.latent.rotary},
               {"attention_bias", c.qkv_bias},
               {"kv_lora_rank", c.latent.keys_values},
               {"q_lora_rank", nullptr},
               {"qk_rope_head_dim", c.latent.rotary},
               {"qk_nope_head_dim", c.d_head - c.latent.rotary},
               {"v_head_dim", c.d_value},
               {"n_routed_experts", c.mixture.experts},
               {"num_experts_per_tok", c.mixture.chosen},
               {"moe_intermediate_size", c.mixture.d_expert},
               {"n_shared_experts", c.mixture.shared},
               {"routed_scaling_factor", c.mixture.scale},
               {"norm_topk_prob", false},
               {"scoring_func", "softmax"},
               {"topk_method", grouped ? "group_limited_greedy" : "greedy"},
               {"n_group", c.mixture.groups},
               {"topk_group", c.mixture.chosen_groups},
               {"first_k_dense_replace", c.dense_layers},
               {"moe_layer_freq", 1}});
  if (c.latent.queries > 0) json["q_lora_rank"] = c.latent.queries;
  return json;
}

StoredWeight stored(const ModelConfig& config, const std::string& name, const Shape& shape) {
  const StoredWeight weight = llama_weight(config,
                                           renamed(name, {{".kv_a_proj.", ".kv_a_proj_with_mqa."},
                                                          {".kv_a_norm.", ".kv_a_layernorm."},
                                                          {".q_a_norm.", ".q_a_layernorm."},
                                                          {".router.", ".mlp.gate."}}),
                                           shape);
  // Llama's table puts "mlp" before the last part of the name; an expert's stands before its
  // number.
  for (const char* part : {".experts.", ".shared_experts."})
    if (weight.name.find(part) != std::string::npos)
      return {.name = renamed(weight.name, {{".mlp.", "."}, {part, std::string(".mlp") + part}}),
              .shape = shape};
  return weight;
}

}  // namespace

Family deepseek_v2_family() {
  return {.model_type = "deepseek_v2",
          .read_config = read_config,
          .write_config = write_config,
          .stored = stored,
          .redundant = llama_redundant};
}

}  // namespace heed::model
