#include "heed/model/families/bert.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/classifier_json.h"
#include "heed/model/families/config_json.h"

namespace heed::model {
namespace {

constexpr std::string_view kBertStem = "Bert";
constexpr std::string_view kBertPrefix = "bert.";

void require_supported_bert(const nlohmann::json& json, const std::string& file) {
  for (const char* key : {"is_decoder", "add_cross_attention"})
    require(!get_or(json, key, false, file), "{}: {} is true, expected false", file, key);
  const auto kind = get_or<std::string>(json, "position_embedding_type", "absolute", file);
  require(kind == "absolute", "{}: position_embedding_type is {}, expected \"absolute\"", file,
          quoted(kind));
}

StoredWeight bert_weight(const ModelConfig& config, const std::string& name, const Shape& shape) {
  return {.name = renamed(bert_name(config, name, kBertPrefix),
                          {{"lm_head.dense.", "cls.predictions.transform.dense."},
                           {"lm_head.layer_norm.", "cls.predictions.transform.LayerNorm."},
                           {"lm_head.", "cls.predictions.decoder."},
                           {"final_logits_bias", "cls.predictions.bias"},
                           {"classifier.dense.", "bert.pooler.dense."},
                           {"classifier.out_proj.", "classifier."}}),
          .shape = shape};
}

bool redundant_in_bert_itself(std::string_view name) {
  return redundant_in_bert(name) || name.starts_with("cls.predictions.decoder.") ||
         name.starts_with("cls.seq_relationship.");
}

}  // namespace

void read_encoder_head(const nlohmann::json& json, const std::string& file, std::string_view stem,
                       ModelConfig& config) {
  const std::string name = read_architecture(json, file);
  const auto kind = classifier_kind_of(name);
  config.has_head = name == fmt::format("{}ForMaskedLM", stem) || name == "BertForPreTraining";
  require(config.has_head || name.empty() || name == fmt::format("{}Model", stem) ||
              (kind != ClassifierConfig::Kind::none &&
               name == fmt::format("{}{}", stem, architecture_suffix(kind))),
          "{}: architectures is {}, expected \"{}\" with Model, ForMaskedLM, "
          "ForSequenceClassification or ForTokenClassification",
          file, quoted(name), stem);
  config.classifier = read_classifier(json, file, kind);
  config.classifier.transform = kind == ClassifierConfig::Kind::sequence;
}

void write_encoder_head(const ModelConfig& c, std::string_view stem, nlohmann::json& json) {
  const std::string_view suffix = c.classifier.present() ? architecture_suffix(c.classifier.kind)
                                  : c.has_head           ? "ForMaskedLM"
                                                         : "Model";
  json["architectures"] = {fmt::format("{}{}", stem, suffix)};
  write_classifier(c.classifier, json);
}

bool is_bare_encoder(const ModelConfig& c) { return !c.has_head && !c.classifier.present(); }

ModelConfig read_bert(const nlohmann::json& json, const std::string& file, std::string_view stem) {
  require_supported_bert(json, file);
  ModelConfig c;
  c.vocab_size = get<int64_t>(json, "vocab_size", file);
  c.d_model = get<int64_t>(json, "hidden_size", file);
  c.encoder_layers = get<int64_t>(json, "num_hidden_layers", file);
  c.decoder_layers = 0;
  c.n_heads = get<int64_t>(json, "num_attention_heads", file);
  c.d_ff = get<int64_t>(json, "intermediate_size", file);
  c.activation = read_activation(json, "hidden_act", file);
  c.norm_epsilon = static_cast<float>(get_or(json, "layer_norm_eps", 1e-12, file));
  c.positions = PositionKind::learned;
  c.max_positions = get_or<int64_t>(json, "max_position_embeddings", 512, file);
  c.scale_embedding = false;
  c.embedding_norm = true;
  c.type_vocab_size = get_or<int64_t>(json, "type_vocab_size", 2, file);
  c.tied_head = get_or(json, "tie_word_embeddings", true, file);
  read_encoder_head(json, file, stem, c);
  c.head_transform = c.has_head;
  c.pooler = is_bare_encoder(c) && get_or(json, "add_pooling_layer", true, file);
  c.dropout = read_rate(json, "hidden_dropout_prob", file);
  c.attention_dropout = read_rate(json, "attention_probs_dropout_prob", file);
  c.pad_id = get_or<int32_t>(json, "pad_token_id", 0, file);
  c.bos_id = read_token(json, "bos_token_id", file);
  c.eos_id = read_token(json, "eos_token_id", file);
  c.decoder_start_id = read_token(json, "decoder_start_token_id", file);
  return c;
}

nlohmann::json write_bert(const ModelConfig& c, std::string_view type, std::string_view stem) {
  nlohmann::json json = {{"model_type", type},
                         {"vocab_size", c.vocab_size},
                         {"hidden_size", c.d_model},
                         {"num_hidden_layers", c.encoder_layers},
                         {"num_attention_heads", c.n_heads},
                         {"intermediate_size", c.d_ff},
                         {"hidden_act", name_of(c.activation)},
                         {"layer_norm_eps", c.norm_epsilon},
                         {"position_embedding_type", "absolute"},
                         {"max_position_embeddings", c.max_positions},
                         {"type_vocab_size", c.type_vocab_size},
                         {"tie_word_embeddings", c.tied_head},
                         {"hidden_dropout_prob", c.dropout},
                         {"attention_probs_dropout_prob", c.attention_dropout},
                         {"pad_token_id", c.pad_id},
                         {"bos_token_id", token_json(c.bos_id)},
                         {"eos_token_id", token_json(c.eos_id)},
                         {"decoder_start_token_id", token_json(c.decoder_start_id)},
                         {"torch_dtype", "float32"}};
  write_encoder_head(c, stem, json);
  if (is_bare_encoder(c) && !c.pooler) json["add_pooling_layer"] = false;
  return json;
}

std::string bert_name(const ModelConfig& config, const std::string& name, std::string_view prefix) {
  if (!name.starts_with("model.")) return name;
  const std::string bare = renamed(name.substr(std::string_view("model.").size()),
                                   {{"shared.", "embeddings.word_embeddings."},
                                    {"encoder.embed_positions.", "embeddings.position_embeddings."},
                                    {"encoder.embed_types.", "embeddings.token_type_embeddings."},
                                    {"encoder.layernorm_embedding.", "embeddings.LayerNorm."},
                                    {"encoder.layers.", "encoder.layer."},
                                    {".self_attn.q_proj.", ".attention.self.query."},
                                    {".self_attn.k_proj.", ".attention.self.key."},
                                    {".self_attn.v_proj.", ".attention.self.value."},
                                    {".self_attn.o_proj.", ".attention.output.dense."},
                                    {".self_attn_layer_norm.", ".attention.output.LayerNorm."},
                                    {".fc1.", ".intermediate.dense."},
                                    {".fc2.", ".output.dense."},
                                    {".final_layer_norm.", ".output.LayerNorm."},
                                    {"pooler.", "pooler.dense."}});
  return is_bare_encoder(config) ? bare : std::string(prefix) + bare;
}

std::string older_bert_name(const std::string& name) {
  return renamed(name,
                 {{"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}});
}

bool redundant_in_bert(std::string_view name) {
  return name.ends_with("embeddings.position_ids") || name.ends_with("pooler.dense.weight") ||
         name.ends_with("pooler.dense.bias");
}

Family bert_family() {
  return {.model_type = "bert",
          .read_config = [](const nlohmann::json& json,
                            const std::string& file) { return read_bert(json, file, kBertStem); },
          .write_config = [](const ModelConfig& c) { return write_bert(c, "bert", kBertStem); },
          .stored = bert_weight,
          .prefix = kBertPrefix,
          .older_name = older_bert_name,
          .redundant = redundant_in_bert_itself};
}

}  // namespace heed::model
