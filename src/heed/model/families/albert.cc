#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/classifier_json.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/known.h"

namespace heed::model {
namespace {

constexpr std::string_view kAlbertStem = "Albert";
constexpr std::string_view kAlbertPrefix = "albert.";

ModelConfig read_albert(ConfigReader& json) {
  json.set_defaults({{"embedding_size", 128},
                     {"hidden_act", "gelu_new"},
                     {"hidden_dropout_prob", 0.0},
                     {"attention_probs_dropout_prob", 0.0},
                     {"bos_token_id", 2},
                     {"eos_token_id", 3}});
  json.expect("inner_group_num", 1);
  // Of training, and of the code that trained the first models.
  json.understand({"classifier_dropout_prob", "down_scale_factor", "gap_size", "layers_to_keep",
                   "net_structure_type", "num_memory_blocks"});
  if (read_architecture(json) == "AlbertForPreTraining")
    json.set("architectures", {"AlbertForMaskedLM"});
  ModelConfig c = read_bert(json, kAlbertStem);
  c.embedding_size = json.get<int64_t>("embedding_size");
  c.layer_groups = json.get_or<int64_t>("num_hidden_groups", 1);
  return c;
}

nlohmann::json write_albert(const ModelConfig& c) {
  nlohmann::json json = write_bert(c, "albert", kAlbertStem);
  json.erase("position_embedding_type");
  json["embedding_size"] = c.embedding_width();
  json["num_hidden_groups"] = c.layer_groups;
  json["inner_group_num"] = 1;
  return json;
}

StoredWeight albert_weight(const ModelConfig& c, const std::string& name, const Shape& shape) {
  std::string own =
      renamed(name, {{"model.shared.", "model.embeddings.word_embeddings."},
                     {"encoder.embed_positions.", "embeddings.position_embeddings."},
                     {"encoder.embed_types.", "embeddings.token_type_embeddings."},
                     {"encoder.layernorm_embedding.", "embeddings.LayerNorm."},
                     {"encoder.embed_projection.", "encoder.embedding_hidden_mapping_in."},
                     {"encoder.layers.", "encoder.albert_layer_groups."},
                     {".self_attn.q_proj.", ".albert_layers.0.attention.query."},
                     {".self_attn.k_proj.", ".albert_layers.0.attention.key."},
                     {".self_attn.v_proj.", ".albert_layers.0.attention.value."},
                     {".self_attn.o_proj.", ".albert_layers.0.attention.dense."},
                     {".self_attn_layer_norm.", ".albert_layers.0.attention.LayerNorm."},
                     {".fc1.", ".albert_layers.0.ffn."},
                     {".fc2.", ".albert_layers.0.ffn_output."},
                     {".final_layer_norm.", ".albert_layers.0.full_layer_layer_norm."},
                     {"lm_head.dense.", "predictions.dense."},
                     {"lm_head.layer_norm.", "predictions.LayerNorm."},
                     {"lm_head.", "predictions.decoder."},
                     {"final_logits_bias", "predictions.bias"},
                     {"classifier.dense.", "albert.pooler."},
                     {"classifier.out_proj.", "classifier."},
                     {"model.", is_bare_encoder(c) ? "" : kAlbertPrefix}});
  return {.name = std::move(own),
          .shape = shape,
          .preferred = name == "final_logits_bias" ? "predictions.decoder.bias" : ""};
}

/// The pooler beside a head, and the head that tells the order of sentences.
bool redundant_in_albert(std::string_view name) {
  return name.ends_with("embeddings.position_ids") || name.ends_with("pooler.weight") ||
         name.ends_with("pooler.bias") || name.starts_with("sop_classifier.");
}

}  // namespace

/// ALBERT (Lan et al. 2019): BERT whose layers share their weights, and whose embeddings are
/// narrower than its states.
Family albert_family() {
  return {.model_type = "albert",
          .read = read_albert,
          .write_config = write_albert,
          .stored = albert_weight,
          .prefix = kAlbertPrefix,
          .older_name = older_bert_name,
          .redundant = redundant_in_albert};
}

}  // namespace heed::model
