#include "heed/model/families/known.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/rotary_json.h"
#include "heed/model/gguf/metadata.h"
#include "heed/model/stored_weight.h"

namespace heed::model {
namespace {

using io::GgufType;

constexpr std::string_view kModernbertStem = "ModernBert";
constexpr std::string_view kModernbertPrefix = "model.";

/// "local_attention" is the whole window; "sliding_window", which counts if a file has both, is
/// half of it.
void read_modernbert_windows(ConfigReader& json, ModelConfig& c) {
  const auto half = json.get_or("sliding_window", json.get_or<int64_t>("local_attention", 128) / 2);
  json.set("sliding_window", half + 1);
  const auto every = json.get_or<int64_t>("global_attn_every_n_layers", 3);
  require(every > 0, "{}: global_attn_every_n_layers is {}, expected more than 0", json.file(),
          every);
  c.windows =
      read_windows(json, c.encoder_layers, [every](int64_t layer) { return layer % every != 0; });
}

/// The head of masked tokens and that of labels have the same dense layer, activation and norm.
void read_modernbert_classifier(ConfigReader& json, ModelConfig& c) {
  const auto pooling = json.get_or<std::string>("classifier_pooling", "cls");
  c.head_transform_bias = json.get_or("classifier_bias", false);
  ClassifierConfig& head = c.classifier;
  if (!head.present()) return;
  head.transform = head.transform_norm = true;
  head.transform_bias = c.head_transform_bias;
  head.activation = c.activation;
  require(pooling == "cls" || pooling == "mean",
          "{}: classifier_pooling is {}, expected \"cls\" or \"mean\"", json.file(),
          quoted(pooling));
  if (pooling == "mean" && head.kind == ClassifierConfig::Kind::sequence)
    head.pooling = ClassifierConfig::Pooling::mean;
}

/// The head's activation, which bare encoders do not have.
void require_modernbert_activation(ConfigReader& json, const ModelConfig& c) {
  const auto name = json.get_or<std::string>("classifier_activation", "gelu");
  if (is_bare_encoder(c)) return;
  require(activation_of(name, "classifier_activation", json.file()) == c.activation,
          "{}: classifier_activation is {}, expected that of hidden_activation, {}", json.file(),
          quoted(name), excerpt(json.value("hidden_activation")));
}

ModelConfig read_modernbert(ConfigReader& json) {
  json.set_defaults({{"hidden_activation", "gelu"},
                     {"bos_token_id", 50281},
                     {"eos_token_id", 50282},
                     {"pad_token_id", 50283},
                     {"max_position_embeddings", 8192}});
  json.set("hidden_act", json.value("hidden_activation"));
  json.set("layer_norm_eps", json.get_or("norm_eps", double{kLayerNormEpsilon}));
  json.set("type_vocab_size", 0);
  ModelConfig c = read_bert(json, kModernbertStem);
  require_modernbert_activation(json, c);
  c.gated = true;
  c.norm_placement = nn::NormPlacement::pre;
  c.norm_bias = json.get_or("norm_bias", false);
  c.first_attn_norm = false;
  c.qkv_bias = c.o_bias = json.get_or("attention_bias", false);
  c.ff_bias = json.get_or("mlp_bias", false);
  read_modernbert_windows(json, c);
  read_rotary_by_layer(json,
                       {.theta = "global_rope_theta",
                        .local_theta = "local_rope_theta",
                        .default_theta = 160000.0,
                        .scales_both = true},
                       c);
  c.head_bias = json.get_or("decoder_bias", true);
  read_modernbert_classifier(json, c);
  c.pooler = false;
  c.dropout = read_rate(json, "embedding_dropout");
  c.activation_dropout = read_rate(json, "mlp_dropout");
  c.attention_dropout = read_rate(json, "attention_dropout");
  return c;
}

nlohmann::json write_modernbert(const ModelConfig& c) {
  nlohmann::json json = write_bert(c, "modernbert", kModernbertStem);
  json["hidden_activation"] = json["classifier_activation"] = json["hidden_act"];
  json["norm_eps"] = c.norm_epsilon;
  for (const char* key :
       {"hidden_act", "layer_norm_eps", "position_embedding_type", "type_vocab_size",
        "hidden_dropout_prob", "attention_probs_dropout_prob", "decoder_start_token_id"})
    json.erase(key);
  json["layer_types"] =
      std::vector<std::string>(static_cast<size_t>(c.encoder_layers), "full_attention");
  write_windows(c, json);
  if (!c.windows.empty()) json["local_attention"] = 2 * (json["sliding_window"].get<int64_t>() - 1);
  json.erase("sliding_window");
  write_rotary_by_layer(c, json);
  json["global_rope_theta"] = c.rotary_theta;
  json["local_rope_theta"] = c.rotary_local_theta;
  json.erase("rope_theta");
  json.erase("rope_scaling");
  json["norm_bias"] = c.norm_bias;
  json["attention_bias"] = c.qkv_bias;
  json["mlp_bias"] = c.ff_bias;
  json["decoder_bias"] = c.head_bias;
  json["classifier_bias"] =
      c.classifier.present() ? c.classifier.transform_bias : c.head_transform_bias;
  json["classifier_pooling"] =
      c.classifier.pooling == ClassifierConfig::Pooling::mean ? "mean" : "cls";
  json["embedding_dropout"] = c.dropout;
  json["mlp_dropout"] = c.activation_dropout;
  json["attention_dropout"] = c.attention_dropout;
  return json;
}

StoredWeight modernbert_weight(const ModelConfig& c, const std::string& name, const Shape& shape) {
  const int64_t heads = c.n_heads * c.head_dim;
  const std::string own = renamed(name, {{"model.shared.", "model.embeddings.tok_embeddings."},
                                         {"encoder.layernorm_embedding.", "embeddings.norm."},
                                         {"encoder.layers.", "layers."},
                                         {"encoder.layer_norm.", "final_norm."},
                                         {".self_attn_layer_norm.", ".attn_norm."},
                                         {".final_layer_norm.", ".mlp_norm."},
                                         {".self_attn.o_proj.", ".attn.Wo."},
                                         {".down_proj.", ".mlp.Wo."},
                                         {"lm_head.dense.", "head.dense."},
                                         {"lm_head.layer_norm.", "head.norm."},
                                         {"lm_head.", "decoder."},
                                         {"final_logits_bias", "decoder.bias"},
                                         {"classifier.dense.", "head.dense."},
                                         {"classifier.layer_norm.", "head.norm."},
                                         {"classifier.out_proj.", "classifier."},
                                         {"model.", is_bare_encoder(c) ? "" : kModernbertPrefix}});
  return fused({.name = own, .shape = shape},
               {{".self_attn.q_proj.", ".attn.Wqkv.", 0, 3 * heads},
                {".self_attn.k_proj.", ".attn.Wqkv.", heads, 3 * heads},
                {".self_attn.v_proj.", ".attn.Wqkv.", 2 * heads, 3 * heads},
                {".gate_proj.", ".mlp.Wi.", 0, 2 * c.d_ff},
                {".up_proj.", ".mlp.Wi.", c.d_ff, 2 * c.d_ff}});
}

/// The window is written as local_attention. Biases, which the published models lack, show in the
/// tensors.
constexpr uint32_t kGgufMean = 1, kGgufFirst = 2, kUsualPattern = 3;

constexpr MetadataField kGgufModernbert[] = {
    required("embedding_length", "hidden_size", GgufType::u32),
    required("attention.head_count", "num_attention_heads", GgufType::u32),
    required("feed_forward_length", "intermediate_size", GgufType::u32),
    required("attention.layer_norm_epsilon", "norm_eps", GgufType::f32),
    required("context_length", "max_position_embeddings", GgufType::u32),
    required("attention.sliding_window", "local_attention", GgufType::u32),
    with_default("attention.sliding_window_pattern", "global_attn_every_n_layers", GgufType::u32,
                 kUsualPattern),
    with_default("rope.freq_base", "global_rope_theta", GgufType::f32, 160000),
    with_default("rope.freq_base_swa", "local_rope_theta", GgufType::f32, 10000)};

void read_gguf_modernbert(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  const io::GgufFile& file = metadata.file();
  read_gguf_bert(metadata, kModernbertStem, config);
  const nlohmann::json scaling = rotary_scaling(metadata);
  require(scaling.is_null(), "{}: the rotary positions are scaled ({}), expected unscaled ones",
          file.name(), excerpt(scaling));
  const bool mean = metadata.get_or<int64_t>("classifier.pooling_type", 0) == kGgufMean;
  config.update({{"hidden_activation", metadata.get_or<std::string>("hidden_activation", "gelu")},
                 {"norm_bias", file.contains("output_norm.bias")},
                 {"attention_bias", file.contains("blk.0.attn_qkv.bias")},
                 {"mlp_bias", file.contains("blk.0.ffn_up.bias")},
                 {"classifier_pooling", mean ? "mean" : "cls"},
                 {"classifier_bias", file.contains("cls.bias")}});
  config["classifier_activation"] = config["hidden_activation"];
}

void write_gguf_modernbert(const ModelConfig& c, ArchitectureValues& metadata) {
  write_gguf_bert(c, metadata);
  metadata.set("hidden_activation", std::string(name_of(c.activation)));
  metadata.set("attention.layer_norm_rms_epsilon", c.norm_epsilon);  // as llama.cpp's converter
  const bool mean = c.classifier.pooling == ClassifierConfig::Pooling::mean;
  metadata.set("classifier.pooling_type", mean ? kGgufMean : kGgufFirst);
  const auto global = std::ranges::find(c.windows, 0);  // then every so many layers
  const auto next = global == c.windows.end() ? global : std::find(global + 1, c.windows.end(), 0);
  metadata.set("attention.sliding_window_pattern",
               next == c.windows.end() ? kUsualPattern : static_cast<uint32_t>(next - global));
}

}  // namespace

/// ModernBERT (Warner et al. 2024): pre-norm, rotary positions, gated feed-forward networks, and
/// attention windows in all but every third layer.
Family modernbert_family() {
  return {.model_type = "modernbert",
          .read = read_modernbert,
          .write_config = write_modernbert,
          .stored = modernbert_weight,
          .prefix = kModernbertPrefix,
          .redundant = [](std::string_view) { return false; },
          .gguf = {.architectures = {"modern-bert"},
                   .fields = {kGgufModernbert},
                   .read = read_gguf_modernbert,
                   .write = write_gguf_modernbert,
                   .stored = gguf_encoder_weight}};
}

}  // namespace heed::model
