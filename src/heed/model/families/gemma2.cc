#include "heed/model/families/gemma2.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/llama.h"

namespace heed::model {
namespace {

/// Older files have two activations: "hidden_activation" is the one that counts; "hidden_act" is a
/// mistake that was never removed.
nlohmann::json with_llama_fields(const nlohmann::json& json, const std::string& file) {
  require(!get_or(json, "attention_bias", false, file),
          "{}: attention_bias is true, expected false", file);
  require(!get_or(json, "use_bidirectional_attention", false, file),
          "{}: use_bidirectional_attention is true, expected false", file);
  nlohmann::json own = json;
  own["hidden_act"] = get_or<std::string>(json, "hidden_activation", "gelu_pytorch_tanh", file);
  own["head_dim"] = get_or<int64_t>(json, "head_dim", 256, file);
  own["tie_word_embeddings"] = get_or(json, "tie_word_embeddings", true, file);
  if (!own.contains("sliding_window")) own["sliding_window"] = 4096;
  if (!own.contains("max_position_embeddings")) own["max_position_embeddings"] = 8192;
  return own;
}

/// A bound of scores or logits; null: none.
float read_cap(const nlohmann::json& json, const char* key, double otherwise,
               const std::string& file) {
  const double cap = json.contains(key) ? get_or(json, key, 0.0, file) : otherwise;
  require(cap >= 0.0, "{}: {} is {}, expected more than 0", file, key, cap);
  return static_cast<float>(cap);
}

nlohmann::json cap_json(float cap) { return cap == 0.0f ? nlohmann::json() : nlohmann::json(cap); }

ModelConfig read_gemma2(const nlohmann::json& json, const std::string& file) {
  const nlohmann::json own = with_llama_fields(json, file);
  ModelConfig c = read_llama(own, file);
  c.norm_placement = nn::NormPlacement::both;
  c.norm_unit_offset = true;
  c.scale_embedding = true;
  const double scalar = get_or(own, "query_pre_attn_scalar", 256.0, file);
  require(scalar > 0.0, "{}: query_pre_attn_scalar is {}, expected more than 0", file, scalar);
  c.attention_scale = static_cast<float>(1.0 / std::sqrt(scalar));
  c.attn_logit_softcapping = read_cap(own, "attn_logit_softcapping", 50.0, file);
  c.final_logit_softcapping = read_cap(own, "final_logit_softcapping", 30.0, file);
  c.windows = read_windows(own, file, c.decoder_layers,
                           [](const nlohmann::json&, int64_t layer) { return layer % 2 == 0; });
  return c;
}

nlohmann::json write_gemma2(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "gemma2", "Gemma2ForCausalLM");
  json.erase("hidden_act");
  json["hidden_activation"] =
      c.activation == kernels::Activation::gelu_tanh ? "gelu_pytorch_tanh" : name_of(c.activation);
  const double scale = c.attention_scale;
  json["query_pre_attn_scalar"] =
      scale == 0.0 ? c.head_dim : static_cast<int64_t>(std::llround(1.0 / (scale * scale)));
  json["attn_logit_softcapping"] = cap_json(c.attn_logit_softcapping);
  json["final_logit_softcapping"] = cap_json(c.final_logit_softcapping);
  write_windows(c, json);
  return json;
}

StoredWeight gemma2_weight(const ModelConfig& config, const std::string& name, const Shape& shape) {
  // Llama's name of the norm before the feed-forward network is that of the norm after attention
  // here.
  return llama_weight(config,
                      renamed(name, {{".self_attn_post_layer_norm.", ".post_attention_layernorm."},
                                     {".final_layer_norm.", ".pre_feedforward_layernorm."},
                                     {".final_post_layer_norm.", ".post_feedforward_layernorm."}}),
                      shape);
}

}  // namespace

Family gemma2_family() {
  return {.model_type = "gemma2",
          .read_config = read_gemma2,
          .write_config = write_gemma2,
          .stored = gemma2_weight,
          .redundant = llama_redundant};
}

}  // namespace heed::model
