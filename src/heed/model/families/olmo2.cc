#include "heed/model/families/known.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/llama.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

ModelConfig read_olmo2(ConfigReader& json) {
  json.expect("mlp_bias", false);
  json.set_defaults({{"rms_norm_eps", 1e-5},
                     {"pad_token_id", 1},
                     {"bos_token_id", nullptr},
                     {"eos_token_id", 50279}});
  ModelConfig c = read_attention_biased_llama(json);
  c.norm_placement = nn::NormPlacement::output;
  c.qk_norm = c.qk_norm_across_heads = true;
  return c;
}

nlohmann::json write_olmo2(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "olmo2", "Olmo2ForCausalLM");
  json["attention_bias"] = c.qkv_bias;
  return json;
}

StoredWeight olmo2_weight(const ModelConfig& config, const std::string& name, const Shape& shape) {
  return llama_weight(config,
                      renamed(name, {{".self_attn_post_layer_norm.", ".post_attention_layernorm."},
                                     {".final_post_layer_norm.", ".post_feedforward_layernorm."}}),
                      shape);
}

/// A window is that of OLMo 3, whose files have the same architecture.
void read_gguf_olmo2(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  const auto window = metadata.get_or<int64_t>("attention.sliding_window", 0);
  require(window == 0, "{}: attention.sliding_window is {}, expected none for olmo2",
          metadata.file().name(), window);
  read_gguf_llama(metadata, config);
}

Family plain_olmo2() {
  return like_llama("olmo2", read_olmo2, write_olmo2, olmo2_weight,
                    {.architectures = {"olmo2"}, .fields = {kGgufLlama}, .read = read_gguf_olmo2});
}

}  // namespace

/// OLMo 2 (Team OLMo 2024): Llama with norms of each sub-layer's output instead of its input, and
/// of queries and keys over all heads.
Family olmo2_family() { return maybe_bidirectional<plain_olmo2>(); }

}  // namespace heed::model
