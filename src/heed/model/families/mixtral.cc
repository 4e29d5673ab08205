#include "heed/model/families/mixtral.h"

#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/llama.h"

namespace heed::model {
namespace {

ModelConfig read_mixtral(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_windowed_llama(
      with_defaults(
          json, {{"rms_norm_eps", 1e-5}, {"rope_theta", 1e6}, {"max_position_embeddings", 131072}}),
      file);
  c.moe = {.n_experts = get_or<int64_t>(json, "num_local_experts", 8, file),
           .experts_per_token = get_or<int64_t>(json, "num_experts_per_tok", 2, file),
           .d_expert = c.d_ff,
           .norm_topk_prob = true};
  return c;
}

nlohmann::json write_mixtral(const ModelConfig& c) {
  nlohmann::json json = write_windowed_llama(c, "mixtral", "MixtralForCausalLM");
  json.update({{"intermediate_size", c.moe.d_expert},
               {"num_local_experts", c.moe.n_experts},
               {"num_experts_per_tok", c.moe.experts_per_token}});
  return json;
}

StoredWeight mixtral_weight(const ModelConfig& config, const std::string& name,
                            const Shape& shape) {
  StoredWeight weight = llama_moe_weight(config, name, shape);
  weight.name = renamed(weight.name, {{".mlp.", ".block_sparse_moe."}});
  if (weight.name.find(".experts.") != std::string::npos)
    weight.name = renamed(
        weight.name, {{".gate_proj.", ".w1."}, {".down_proj.", ".w2."}, {".up_proj.", ".w3."}});
  return weight;
}

}  // namespace

Family mixtral_family() {
  return {.model_type = "mixtral",
          .read_config = read_mixtral,
          .write_config = write_mixtral,
          .stored = mixtral_weight,
          .redundant = llama_redundant};
}

}  // namespace heed::model
