#include "heed/model/families/known.h"

#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/decoder_classifier.h"
#include "heed/model/families/llama.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

using io::GgufType;

ModelConfig read_mixtral(ConfigReader& json) {
  json.set_defaults(
      {{"rms_norm_eps", 1e-5}, {"num_key_value_heads", 8}, {"max_position_embeddings", 131072}});
  json.take_alias("num_experts", "num_local_experts");
  ModelConfig c = read_windowed_llama(json, {.default_theta = 1e6});
  c.moe = {.n_experts = json.get_or<int64_t>("num_local_experts", 8),
           .experts_per_token = json.get_or<int64_t>("num_experts_per_tok", 2),
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

bool gguf_has_experts(const ArchitectureMetadata& metadata) {
  return metadata.get_or<int64_t>("expert_count", 0) > 0;
}

/// Llama's with experts.
constexpr MetadataField kGgufMixtral[] = {
    required("expert_count", "num_local_experts", GgufType::u32),
    required("expert_used_count", "num_experts_per_tok", GgufType::u32)};

Family plain_mixtral() {
  return like_llama("mixtral", read_mixtral, write_mixtral, mixtral_weight,
                    {.architectures = {"llama"},
                     .holds = gguf_has_experts,
                     .fields = {kGgufLlama, kGgufMixtral},
                     .read = read_gguf_llama_moe,
                     .in_pairs = true});
}

}  // namespace

/// Mixtral (Jiang et al. 2024): Mistral with a mixture of experts in each layer.
Family mixtral_family() { return with_classifier<maybe_bidirectional<plain_mixtral>>(); }

}  // namespace heed::model
