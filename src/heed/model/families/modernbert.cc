#include "heed/model/families/modernbert.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/fused_weights.h"

namespace heed::model {
namespace {

constexpr std::string_view kModernbertStem = "ModernBert";
constexpr std::string_view kModernbertPrefix = "model.";

bool slides_in_modernbert(const nlohmann::json& json, int64_t layer) {
  const auto every = get_or<int64_t>(json, "global_attn_every_n_layers", 3, "config.json");
  require(every > 0, "config.json: global_attn_every_n_layers is {}, expected more than 0", every);
  return layer % every != 0;
}

/// "rope_parameters" has one object for layers with a window and one for the others; published
/// files have "global_rope_theta" and "local_rope_theta".
void read_modernbert_rotary(const nlohmann::json& json, const std::string& file, ModelConfig& c) {
  nlohmann::json own = with_defaults(json, {{"global_rope_theta", 160000.0}});
  own["rope_theta"] = own["global_rope_theta"];
  c.rotary_local_theta = get_or(json, "local_rope_theta", 10000.0, file);
  if (const auto found = json.find("rope_parameters"); found != json.end() && found->is_object()) {
    own["rope_parameters"] = found->value("full_attention", nlohmann::json());
    const auto sliding = found->value("sliding_attention", nlohmann::json::object());
    c.rotary_local_theta = get_or(sliding, "rope_theta", c.rotary_local_theta, file);
    const auto kind = get_or<std::string>(sliding, "rope_type", "default", file);
    require(kind == "default", "{}: rope_type of sliding_attention is {}, expected default", file,
            quoted(kind));
  }
  read_rotary(own, file, c);
}

/// The head of masked tokens and that of labels have the same dense layer, activation and norm.
void read_modernbert_classifier(const nlohmann::json& json, const std::string& file,
                                ModelConfig& c) {
  ClassifierConfig& head = c.classifier;
  if (!head.present()) return;
  head.transform = head.transform_norm = true;
  head.transform_bias = get_or(json, "classifier_bias", false, file);
  head.activation = c.activation;
  const auto pooling = get_or<std::string>(json, "classifier_pooling", "cls", file);
  require(pooling == "cls" || pooling == "mean",
          "{}: classifier_pooling is {}, expected \"cls\" or \"mean\"", file, quoted(pooling));
  if (pooling == "mean" && head.kind == ClassifierConfig::Kind::sequence)
    head.pooling = ClassifierConfig::Pooling::mean;
}

ModelConfig read_modernbert(const nlohmann::json& json, const std::string& file) {
  nlohmann::json own = with_defaults(json, {{"hidden_activation", "gelu"},
                                            {"classifier_activation", "gelu"},
                                            {"bos_token_id", 50281},
                                            {"eos_token_id", 50282},
                                            {"pad_token_id", 50283}});
  own["hidden_act"] = own["hidden_activation"];
  own["layer_norm_eps"] = get_or(json, "norm_eps", double{kLayerNormEpsilon}, file);
  own["type_vocab_size"] = 0;
  own["sliding_window"] = get_or<int64_t>(json, "local_attention", 128, file) / 2 + 1;
  ModelConfig c =
      read_bert(with_defaults(own, {{"max_position_embeddings", 8192}}), file, kModernbertStem);
  require(read_activation(own, "classifier_activation", file) == c.activation,
          "{}: classifier_activation is {}, expected that of hidden_activation, {}", file,
          excerpt(own["classifier_activation"]), excerpt(own["hidden_activation"]));
  c.gated = true;
  c.norm_placement = nn::NormPlacement::pre;
  c.norm_bias = get_or(json, "norm_bias", false, file);
  c.first_attn_norm = false;
  c.qkv_bias = c.o_bias = get_or(json, "attention_bias", false, file);
  c.ff_bias = get_or(json, "mlp_bias", false, file);
  c.windows = read_windows(own, file, c.encoder_layers, slides_in_modernbert);
  read_modernbert_rotary(json, file, c);
  c.head_bias = get_or(json, "decoder_bias", true, file);
  c.head_transform_bias = get_or(json, "classifier_bias", false, file);
  read_modernbert_classifier(json, file, c);
  c.pooler = false;
  c.dropout = read_rate(json, "embedding_dropout", file);
  c.activation_dropout = read_rate(json, "mlp_dropout", file);
  c.attention_dropout = read_rate(json, "attention_dropout", file);
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
  write_rotary(c, json);
  json["rope_parameters"] = {
      {"full_attention", json["rope_parameters"]},
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", c.rotary_local_theta}}}};
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

}  // namespace

Family modernbert_family() {
  return {.model_type = "modernbert",
          .read_config = read_modernbert,
          .write_config = write_modernbert,
          .stored = modernbert_weight,
          .prefix = kModernbertPrefix,
          .redundant = [](std::string_view name) { return name == "decoder.weight"; }};
}

}  // namespace heed::model
