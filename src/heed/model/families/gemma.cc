#include "heed/model/families/gemma.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/llama.h"

namespace heed::model {
namespace {

/// Fields that Llama's reader requires or gives other defaults.
nlohmann::json with_llama_fields(const nlohmann::json& json, const std::string& file) {
  for (const char* key : {"attention_bias", "use_bidirectional_attention"})
    require(!get_or(json, key, false, file), "{}: {} is true, expected false", file, key);
  return with_defaults(json, {{"head_dim", 256},
                              {"tie_word_embeddings", true},
                              {"max_position_embeddings", 8192},
                              {"sliding_window", 4096}});
}

std::string_view activation_name(kernels::Activation activation) {
  return activation == kernels::Activation::gelu_tanh ? "gelu_pytorch_tanh" : name_of(activation);
}

ModelConfig read_unit_offset_llama(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_llama(json, file);
  c.norm_unit_offset = true;
  c.scale_embedding = true;
  return c;
}

/// "gelu" is a mistake in older files; the models were trained with its approximation.
ModelConfig read_gemma(const nlohmann::json& json, const std::string& file) {
  nlohmann::json own = with_llama_fields(json, file);
  const auto older = get_or<std::string>(json, "hidden_act", "gelu_pytorch_tanh", file);
  const auto act = get_or(json, "hidden_activation", older, file);
  own["hidden_act"] = act == "gelu" ? "gelu_pytorch_tanh" : act;
  return read_unit_offset_llama(own, file);
}

nlohmann::json write_gemma(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "gemma", "GemmaForCausalLM");
  json["hidden_act"] = json["hidden_activation"] = activation_name(c.activation);
  return json;
}

/// A bound of scores or logits; null: none.
float read_cap(const nlohmann::json& json, const char* key, double otherwise,
               const std::string& file) {
  const double cap = json.contains(key) ? get_or(json, key, 0.0, file) : otherwise;
  require(cap >= 0.0, "{}: {} is {}, expected more than 0", file, key, cap);
  return static_cast<float>(cap);
}

nlohmann::json cap_json(float cap) { return cap == 0.0f ? nlohmann::json() : nlohmann::json(cap); }

struct Caps {
  double scores, logits;
};

/// What Gemma 2 and 3 have in common, where `caps` are defaults. Of the two activations in older
/// files, "hidden_activation" counts; "hidden_act" is a mistake that was never removed.
ModelConfig read_double_norm(nlohmann::json json, const std::string& file, Caps caps,
                             bool (*slides)(const nlohmann::json&, int64_t)) {
  json["hidden_act"] = get_or<std::string>(json, "hidden_activation", "gelu_pytorch_tanh", file);
  ModelConfig c = read_unit_offset_llama(json, file);
  c.norm_placement = nn::NormPlacement::both;
  const double scalar = get_or(json, "query_pre_attn_scalar", 256.0, file);
  require(scalar > 0.0, "{}: query_pre_attn_scalar is {}, expected more than 0", file, scalar);
  c.attention_scale = static_cast<float>(1.0 / std::sqrt(scalar));
  c.attn_logit_softcapping = read_cap(json, "attn_logit_softcapping", caps.scores, file);
  c.final_logit_softcapping = read_cap(json, "final_logit_softcapping", caps.logits, file);
  c.windows = read_windows(json, file, c.decoder_layers, slides);
  return c;
}

ModelConfig read_gemma2(const nlohmann::json& json, const std::string& file) {
  return read_double_norm(with_llama_fields(json, file), file, {.scores = 50.0, .logits = 30.0},
                          [](const nlohmann::json&, int64_t layer) { return layer % 2 == 0; });
}

nlohmann::json write_double_norm(const ModelConfig& c, std::string_view type,
                                 std::string_view architecture) {
  nlohmann::json json = write_llama(c, type, architecture);
  json.erase("hidden_act");
  json["hidden_activation"] = activation_name(c.activation);
  const double scale = c.attention_scale;
  json["query_pre_attn_scalar"] =
      scale == 0.0 ? c.head_dim : static_cast<int64_t>(std::llround(1.0 / (scale * scale)));
  json["attn_logit_softcapping"] = cap_json(c.attn_logit_softcapping);
  json["final_logit_softcapping"] = cap_json(c.final_logit_softcapping);
  write_windows(c, json);
  return json;
}

nlohmann::json write_gemma2(const ModelConfig& c) {
  return write_double_norm(c, "gemma2", "Gemma2ForCausalLM");
}

bool slides_in_gemma3(const nlohmann::json& json, int64_t layer) {
  const auto pattern = get_or<int64_t>(json, "sliding_window_pattern", 6, "config.json");
  require(pattern > 0, "config.json: sliding_window_pattern is {}, expected more than 0", pattern);
  return (layer + 1) % pattern != 0;
}

/// "rope_parameters" has one object for layers with a window and one for the others; older files
/// have "rope_local_base_freq" and "rope_theta".
ModelConfig read_gemma3(const nlohmann::json& json, const std::string& file) {
  nlohmann::json own = with_llama_fields(
      with_defaults(json, {{"max_position_embeddings", 131072}, {"rope_theta", 1e6}}), file);
  double local = get_or(json, "rope_local_base_freq", 10000.0, file);
  if (const auto found = json.find("rope_parameters"); found != json.end() && found->is_object()) {
    own["rope_parameters"] = found->value("full_attention", nlohmann::json());
    const auto sliding = found->value("sliding_attention", nlohmann::json::object());
    local = get_or(sliding, "rope_theta", local, file);
    const auto kind = get_or<std::string>(sliding, "rope_type", "default", file);
    require(kind == "default", "{}: rope_type of sliding_attention is {}, expected default", file,
            quoted(kind));
  }
  ModelConfig c = read_double_norm(own, file, {.scores = 0.0, .logits = 0.0}, slides_in_gemma3);
  c.qk_norm = true;
  c.rotary_local_theta = local;
  return c;
}

nlohmann::json write_gemma3(const ModelConfig& c) {
  nlohmann::json json = write_double_norm(c, "gemma3_text", "Gemma3ForCausalLM");
  json["rope_local_base_freq"] = c.rotary_local_theta;
  json["rope_parameters"] = {
      {"full_attention", json["rope_parameters"]},
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", c.rotary_local_theta}}}};
  return json;
}

StoredWeight double_norm_weight(const ModelConfig& config, const std::string& name,
                                const Shape& shape) {
  // Llama's name of the norm before the feed-forward network is that of the norm after attention
  // here.
  return llama_weight(config,
                      renamed(name, {{".self_attn_post_layer_norm.", ".post_attention_layernorm."},
                                     {".final_layer_norm.", ".pre_feedforward_layernorm."},
                                     {".final_post_layer_norm.", ".post_feedforward_layernorm."}}),
                      shape);
}

}  // namespace

Family gemma_family() {
  return {.model_type = "gemma",
          .read_config = read_gemma,
          .write_config = write_gemma,
          .stored = llama_weight,
          .redundant = llama_redundant};
}

Family gemma2_family() {
  return {.model_type = "gemma2",
          .read_config = read_gemma2,
          .write_config = write_gemma2,
          .stored = double_norm_weight,
          .redundant = llama_redundant};
}

Family gemma3_family() {
  return {.model_type = "gemma3_text",
          .read_config = read_gemma3,
          .write_config = write_gemma3,
          .stored = double_norm_weight,
          .redundant = llama_redundant};
}

}  // namespace heed::model
