#include "heed/model/families/known.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/classifier_json.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/decoder_classifier.h"
#include "heed/model/families/llama.h"
#include "heed/model/families/rotary_json.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

using io::GgufType;

/// What the three have in common where they differ from Llama.
void set_gemma_defaults(ConfigReader& json) {
  json.expect("attention_bias", false);
  json.set_defaults({{"head_dim", 256},
                     {"tie_word_embeddings", true},
                     {"max_position_embeddings", 8192},
                     {"pad_token_id", 0},
                     {"bos_token_id", 2},
                     {"eos_token_id", 1}});
}

std::string_view activation_name(kernels::Activation activation) {
  return activation == kernels::Activation::gelu_tanh ? "gelu_pytorch_tanh" : name_of(activation);
}

ModelConfig read_unit_offset_llama(ConfigReader& json) {
  ModelConfig c = read_llama(json);
  c.norm_unit_offset = true;
  c.scale_embedding = true;
  return c;
}

/// "gelu" is a mistake in older files; the models were trained with its approximation. Of the two
/// activations in them, "hidden_act" counts.
ModelConfig read_gemma(ConfigReader& json) {
  set_gemma_defaults(json);
  json.set_defaults({{"num_key_value_heads", 16}, {"hidden_act", "gelu_pytorch_tanh"}});
  json.expect("use_bidirectional_attention", false);
  if (json.get<std::string>("hidden_act") == "gelu") json.set("hidden_act", "gelu_pytorch_tanh");
  const auto act = json.get<std::string>("hidden_act");
  const auto other = json.get_or("hidden_activation", act);
  if (other != act)
    json.warn(fmt::format("{}: hidden_activation is {} and is ignored: hidden_act counts",
                          json.file(), quoted(other)));
  return read_unit_offset_llama(json);
}

nlohmann::json write_gemma(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "gemma", "GemmaForCausalLM");
  json["hidden_act"] = json["hidden_activation"] = activation_name(c.activation);
  return json;
}

/// A bound of scores or logits; null: none.
float read_cap(ConfigReader& json, const char* key) {
  const double cap = json.get_or(key, 0.0);
  require(cap >= 0.0, "{}: {} is {}, expected more than 0", json.file(), key, cap);
  return static_cast<float>(cap);
}

nlohmann::json cap_json(float cap) { return cap == 0.0f ? nlohmann::json() : nlohmann::json(cap); }

/// What Gemma 2 and 3 have in common. Of the two activations in older files, "hidden_activation"
/// counts; "hidden_act" is a mistake that was never removed.
ModelConfig read_double_norm(ConfigReader& json) {
  json.set_defaults({{"num_key_value_heads", 4}});
  json.understand({"hidden_act"});
  json.set("hidden_act", json.get_or<std::string>("hidden_activation", "gelu_pytorch_tanh"));
  ModelConfig c = read_unit_offset_llama(json);
  c.norm_placement = nn::NormPlacement::both;
  const double scalar = json.get_or("query_pre_attn_scalar", 256.0);
  require(scalar > 0.0, "{}: query_pre_attn_scalar is {}, expected more than 0", json.file(),
          scalar);
  c.attention_scale = static_cast<float>(1.0 / std::sqrt(scalar));
  c.attn_logit_softcapping = read_cap(json, "attn_logit_softcapping");
  c.final_logit_softcapping = read_cap(json, "final_logit_softcapping");
  return c;
}

ModelConfig read_gemma2(ConfigReader& json) {
  set_gemma_defaults(json);
  json.set_defaults({{"sliding_window", 4096},
                     {"attn_logit_softcapping", 50.0},
                     {"final_logit_softcapping", 30.0}});
  json.expect("use_bidirectional_attention", false);
  ModelConfig c = read_double_norm(json);
  c.windows = read_windows(json, c.decoder_layers, [](int64_t layer) { return layer % 2 == 0; });
  return c;
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

/// "rope_parameters" has one object for layers with a window and one for the others; older files
/// have "rope_local_base_freq" and "rope_theta".
ModelConfig read_gemma3(ConfigReader& json) {
  json.set_defaults({{"max_position_embeddings", 131072}, {"sliding_window", 4096}});
  set_gemma_defaults(json);
  json.expect("attn_logit_softcapping", nullptr);  // the reference has the field, but no cap
  // The rotary fields are those of both kinds of layers, not Llama's.
  const nlohmann::json scaling = json.value("rope_scaling"), blocks = json.value("rope_parameters");
  json.set("rope_scaling", nullptr);
  json.set("rope_parameters", nullptr);
  ModelConfig c = read_double_norm(json);
  json.set("rope_scaling", scaling);
  json.set("rope_parameters", blocks);
  read_rotary_by_layer(json,
                       {.theta = "rope_theta",
                        .local_theta = "rope_local_base_freq",
                        .default_theta = 1e6,
                        .scales_both = false},
                       c);
  const auto pattern = json.get_or<int64_t>("sliding_window_pattern", 6);
  json.understand({"_sliding_window_pattern"});
  require(pattern > 0, "{}: sliding_window_pattern is {}, expected more than 0", json.file(),
          pattern);
  c.windows = read_windows(json, c.decoder_layers,
                           [pattern](int64_t layer) { return (layer + 1) % pattern != 0; });
  c.qk_norm = true;
  if (!json.get_or("use_bidirectional_attention", false)) return c;
  for (int64_t& window : c.windows)
    if (window > 0) window = window / 2 + 1;  // before and after a token together
  return swapped_stacks(std::move(c));
}

nlohmann::json write_gemma3(const ModelConfig& c) {
  nlohmann::json json = write_double_norm(c, "gemma3_text", "Gemma3ForCausalLM");
  write_rotary_by_layer(c, json);
  json["rope_local_base_freq"] = c.rotary_local_theta;
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

void read_gguf_gemma(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  read_gguf_llama(metadata, config);
  config["hidden_act"] = "gelu_pytorch_tanh";
}

/// What Gemma 2 and 3 have in common. query_pre_attn_scalar is not in the file; it is different in
/// the largest models, which have this many layers.
template <int64_t kLargestLayers>
void read_gguf_double_norm(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  read_gguf_llama(metadata, config);
  const auto heads = config["num_attention_heads"].get<int64_t>();
  require(heads > 0, "{}: attention.head_count is {}, expected at least 1", metadata.file().name(),
          heads);
  config["query_pre_attn_scalar"] = config["num_hidden_layers"] == kLargestLayers
                                        ? config["hidden_size"].get<int64_t>() / heads
                                        : metadata.get<int64_t>("attention.key_length");
}

constexpr MetadataField kGgufGemma2[] = {
    with_default("attn_logit_softcapping", "attn_logit_softcapping", GgufType::f32, 50),
    with_default("final_logit_softcapping", "final_logit_softcapping", GgufType::f32, 30),
    with_default("attention.sliding_window", "sliding_window", GgufType::u32, 4096)};

constexpr MetadataField kGgufGemma3[] = {
    optional("final_logit_softcapping", "final_logit_softcapping", GgufType::f32),
    optional("attention.sliding_window", "sliding_window", GgufType::u32),
    with_default("attention.sliding_window_pattern", "sliding_window_pattern", GgufType::u32, 6),
    with_default("rope.freq_base_swa", "rope_local_base_freq", GgufType::f32, 10000)};

Family plain_gemma() {
  return like_llama("gemma", read_gemma, write_gemma, llama_weight,
                    {.architectures = {"gemma"}, .fields = {kGgufLlama}, .read = read_gguf_gemma});
}

Family plain_gemma2() {
  return like_llama("gemma2", read_gemma2, write_gemma2, double_norm_weight,
                    {.architectures = {"gemma2"},
                     .fields = {kGgufLlama, kGgufGemma2},
                     .read = read_gguf_double_norm<46>});
}

Family plain_gemma3() {
  return like_llama("gemma3_text", read_gemma3, write_gemma3, double_norm_weight,
                    {.architectures = {"gemma3"},
                     .fields = {kGgufLlama, kGgufGemma3},
                     .read = read_gguf_double_norm<62>});
}

constexpr const char* kGemma3Labels = "Gemma3TextForSequenceClassification";

ModelConfig read_gemma3_with_labels(ConfigReader& json) {
  const std::string architecture = read_architecture(json);
  require(!architecture.ends_with("ForTokenClassification"),
          "{}: architectures has {}: Gemma 3 has no class for labels of tokens", json.file(),
          one_line(architecture));
  return read_decoder(maybe_bidirectional<plain_gemma3>(), json);
}

/// Gemma3ForSequenceClassification also reads images.
nlohmann::json write_gemma3_with_labels(const ModelConfig& config) {
  nlohmann::json json = write_decoder(maybe_bidirectional<plain_gemma3>(), config);
  if (config.classifier.present()) json["architectures"] = {kGemma3Labels};
  return json;
}

}  // namespace

/// Gemma (Gemma Team 2024): Llama with norms that scale by 1 + weight, gated GELU and scaled
/// embeddings.
Family gemma_family() { return with_classifier<maybe_bidirectional<plain_gemma>>(); }

/// Gemma 2 (Gemma Team 2024): the same with norms before and after each sub-layer, a window in
/// every other layer, capped scores and logits.
Family gemma2_family() { return with_classifier<maybe_bidirectional<plain_gemma2>>(); }

/// The text models of Gemma 3 (Gemma Team 2025): the same without caps, with normalised queries and
/// keys, a window in five of six layers, and another rotary base in those layers.
Family gemma3_family() {
  Family family = with_classifier<maybe_bidirectional<plain_gemma3>>();
  family.read = read_gemma3_with_labels;
  family.write_config = write_gemma3_with_labels;
  return family;
}

}  // namespace heed::model
