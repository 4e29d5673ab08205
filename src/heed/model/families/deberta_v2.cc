#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/known.h"

namespace heed::model {
namespace {

constexpr std::string_view kDebertaStem = "DebertaV2";
constexpr std::string_view kDebertaPrefix = "deberta.";

/// A list, or one text with "|" between the names.
std::string joined_names(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string names;
  if (value.is_array())
    for (const nlohmann::json& name : value)
      if (name.is_string()) names += name.get<std::string>() + "|";
  return names;
}

bool has_name(const std::string& names, std::string_view name) {
  return ("|" + names + "|").find(fmt::format("|{}|", name)) != std::string::npos;
}

/// Without names, positions add nothing to the scores.
void read_disentangled(ConfigReader& json, ModelConfig& c) {
  const std::string kinds = joined_names(json.value("pos_att_type"));
  const auto buckets = json.get_or<int64_t>("position_buckets", -1);
  const auto farthest = json.get_or<int64_t>("max_relative_positions", -1);
  c.disentangled = {
      .c2p = has_name(kinds, "c2p"),
      .p2c = has_name(kinds, "p2c"),
      .buckets = std::max<int64_t>(buckets, 0),
      .max_distance =
          farthest < 1 ? json.get_or<int64_t>("max_position_embeddings", 512) : farthest,
      .shared_projections = json.get_or("share_att_key", false),
      .norm = has_name(json.get_or<std::string>("norm_rel_ebd", "none"), "layer_norm")};
  require(
      c.disentangled.present() && json.get_or("relative_attention", false),
      "{}: relative_attention and pos_att_type are {} and {}, expected true and c2p, p2c or both",
      json.file(), excerpt(json.value("relative_attention")), excerpt(json.value("pos_att_type")));
}

/// The head of the published class, which differs from that of the first models.
void require_supported_deberta(ConfigReader& json, const ModelConfig& c) {
  json.expect("legacy", true);
  json.expect("conv_kernel_size", 0);
  json.understand({"conv_act", "conv_groups", "pooler_dropout", "cls_dropout"});
  const auto width = json.get_or("embedding_size", c.d_model);
  require(width == c.d_model, "{}: embedding_size is {}, expected hidden_size, {}", json.file(),
          width, c.d_model);
  const auto pooled = json.get_or("pooler_hidden_size", c.d_model);
  require(pooled == c.d_model, "{}: pooler_hidden_size is {}, expected hidden_size, {}",
          json.file(), pooled, c.d_model);
}

ModelConfig read_deberta(ConfigReader& json) {
  json.set_defaults({{"type_vocab_size", 0}, {"layer_norm_eps", 1e-7}, {"conv_kernel_size", 0}});
  const bool biased = json.get_or("position_biased_input", true);
  json.understand({"position_embedding_type"});
  json.set("position_embedding_type", "absolute");
  ModelConfig c = read_bert(json, kDebertaStem);
  require_supported_deberta(json, c);
  c.pooler = false;
  if (!biased) c.positions = PositionKind::none;
  read_disentangled(json, c);
  const auto name = json.get_or<std::string>("pooler_hidden_act", "gelu");
  c.classifier.activation = activation_of(name, "pooler_hidden_act", json.file());
  // Every kind of score takes a part of the scale.
  const int64_t kinds = 1 + int64_t{c.disentangled.c2p} + int64_t{c.disentangled.p2c};
  if (c.n_heads > 0)
    c.attention_scale =
        static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.d_model / c.n_heads * kinds)));
  return c;
}

nlohmann::json write_deberta(const ModelConfig& c) {
  nlohmann::json json = write_bert(c, "deberta-v2", kDebertaStem);
  json.erase("position_embedding_type");
  json.erase("add_pooling_layer");
  nlohmann::json kinds = nlohmann::json::array();
  if (c.disentangled.p2c) kinds.push_back("p2c");
  if (c.disentangled.c2p) kinds.push_back("c2p");
  json.update({{"relative_attention", true},
               {"pos_att_type", kinds},
               {"position_buckets", c.disentangled.buckets > 0 ? c.disentangled.buckets : -1},
               {"max_relative_positions", c.disentangled.max_distance},
               {"share_att_key", c.disentangled.shared_projections},
               {"norm_rel_ebd", c.disentangled.norm ? "layer_norm" : "none"},
               {"position_biased_input", c.positions == PositionKind::learned},
               {"pooler_hidden_size", c.d_model},
               {"pooler_hidden_act", name_of(c.classifier.activation)},
               {"legacy", true}});
  return json;
}

StoredWeight deberta_weight(const ModelConfig& config, const std::string& name,
                            const Shape& shape) {
  return {.name = renamed(bert_name(config, name, kDebertaPrefix),
                          {{".attention.self.query.", ".attention.self.query_proj."},
                           {".attention.self.key.", ".attention.self.key_proj."},
                           {".attention.self.value.", ".attention.self.value_proj."},
                           {".self_attn.position_k_proj.", ".attention.self.pos_key_proj."},
                           {".self_attn.position_q_proj.", ".attention.self.pos_query_proj."},
                           {"encoder.relative_embeddings.", "encoder.rel_embeddings."},
                           {"encoder.relative_embeddings_layer_norm.", "encoder.LayerNorm."},
                           {"lm_head.dense.", "cls.predictions.transform.dense."},
                           {"lm_head.layer_norm.", "cls.predictions.transform.LayerNorm."},
                           {"lm_head.", "cls.predictions.decoder."},
                           {"final_logits_bias", "cls.predictions.bias"},
                           {"classifier.dense.", "pooler.dense."},
                           {"classifier.out_proj.", "classifier."}}),
          .shape = shape,
          .preferred = name == "final_logits_bias" ? "cls.predictions.decoder.bias" : ""};
}

/// The heads that version 3 was trained with, and a table of positions that are not added.
bool redundant_in_deberta(std::string_view name) {
  return redundant_in_bert(name) || name.starts_with("lm_predictions.") ||
         name.starts_with("mask_predictions.") ||
         name.ends_with("embeddings.position_embeddings.weight");
}

}  // namespace

/// DeBERTa v2 and v3 (He et al. 2021): BERT with disentangled attention.
Family deberta_v2_family() {
  return {.model_type = "deberta-v2",
          .read = read_deberta,
          .write_config = write_deberta,
          .stored = deberta_weight,
          .prefix = kDebertaPrefix,
          .older_name = older_bert_name,
          .redundant = redundant_in_deberta};
}

}  // namespace heed::model
