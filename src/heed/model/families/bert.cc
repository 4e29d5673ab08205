#include "heed/model/families/bert.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/base/utf8.h"
#include "heed/model/families/classifier_json.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/jina_bert.h"
#include "heed/model/families/known.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

using io::GgufType;

constexpr std::string_view kBertStem = "Bert";
constexpr std::string_view kBertPrefix = "bert.";

StoredWeight bert_weight(const ModelConfig& config, const std::string& name, const Shape& shape) {
  // The head has a bias of its own beside the one that is tied to it.
  const char* const own_bias = name == "final_logits_bias" ? "cls.predictions.decoder.bias" : "";
  StoredWeight weight{
      .name = renamed(bert_name(config, name, kBertPrefix),
                      {{"lm_head.dense.", "cls.predictions.transform.dense."},
                       {"lm_head.layer_norm.", "cls.predictions.transform.LayerNorm."},
                       {"lm_head.", "cls.predictions.decoder."},
                       {"final_logits_bias", "cls.predictions.bias"},
                       {"classifier.dense.", "bert.pooler.dense."},
                       {"classifier.out_proj.", "classifier."}}),
      .shape = shape,
      .preferred = own_bias};
  return is_jina_bert(config) ? jina_bert_weight(config, std::move(weight)) : weight;
}

bool redundant_in_bert_itself(std::string_view name) {
  return redundant_in_bert(name) || name.starts_with("cls.seq_relationship.") ||
         name == "linear.weight";  // of Stanford's ColBERT
}

constexpr const char* kGgufHead = "cls.output.weight";
constexpr const char* kGgufLabels = "classifier.output_labels";

/// The fields of config.json for a head that gives labels to a text. A file without their names has
/// numbers. llama.cpp's score of a pair is the logit.
nlohmann::json classifier_fields(const ArchitectureMetadata& metadata, std::string_view stem) {
  const io::GgufFile& file = metadata.file();
  if (!file.contains(kGgufHead)) {
    require(!file.contains("cls.weight"), "{}: has cls.weight without {}, which heed needs",
            file.name(), kGgufHead);
    return {{"architectures", nlohmann::json::array({fmt::format("{}Model", stem)})},
            {"add_pooling_layer", false}};
  }
  nlohmann::json json = {
      {"architectures", nlohmann::json::array({fmt::format("{}ForSequenceClassification", stem)})},
      {"sentence_transformers", {{"activation_fn", "torch.nn.modules.linear.Identity"}}}};
  if (!metadata.contains(kGgufLabels)) {
    const Shape& shape = file.entry(kGgufHead).shape;
    json["num_labels"] = shape.rank() == 2 ? shape[0] : 1;
    return json;
  }
  for (const std::string_view label : metadata.get<std::vector<std::string_view>>(kGgufLabels)) {
    require(is_valid_utf8(label), "{}: a label is not valid UTF-8", file.name());
    json["id2label"][std::to_string(json["id2label"].size())] = label;
  }
  return json;
}

ModelConfig read_bert_or_jina(ConfigReader& json) {
  return describes_jina_bert(json) ? read_jina_bert(json) : read_bert(json, kBertStem);
}

nlohmann::json write_bert_or_jina(const ModelConfig& c) {
  return is_jina_bert(c) ? write_jina_bert(c) : write_bert(c, "bert", kBertStem);
}

void read_gguf_bert_itself(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  read_gguf_bert(metadata, kBertStem, config);
}

}  // namespace

void read_encoder_head(ConfigReader& json, std::string_view stem, ModelConfig& config) {
  const std::string name = read_architecture(json);
  const auto kind = classifier_kind_of(name);
  config.has_head = name == fmt::format("{}ForMaskedLM", stem) || name == "BertForPreTraining";
  // Stanford's ColBERT has a projection beside the encoder, which the embedder reads.
  const bool bare = name.empty() || name == fmt::format("{}Model", stem) || name == "HF_ColBERT";
  require(config.has_head || bare ||
              (kind != ClassifierConfig::Kind::none &&
               name == fmt::format("{}{}", stem, architecture_suffix(kind))),
          "{}: architectures is {}, expected \"{}\" with Model, ForMaskedLM, "
          "ForSequenceClassification or ForTokenClassification",
          json.file(), quoted(name), stem);
  config.classifier = read_classifier(json, kind);
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

ModelConfig read_bert(ConfigReader& json, std::string_view stem) {
  json.expect("position_embedding_type", "absolute");
  // Of a pooler that the first published files describe and no class has.
  json.understand({"directionality", "pooler_fc_size", "pooler_num_attention_heads",
                   "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"});
  json.set_defaults({{"hidden_act", "gelu"},
                     {"hidden_dropout_prob", 0.1},
                     {"attention_probs_dropout_prob", 0.1}});
  ModelConfig c;
  c.vocab_size = json.get<int64_t>("vocab_size");
  c.d_model = json.get<int64_t>("hidden_size");
  c.encoder_layers = json.get<int64_t>("num_hidden_layers");
  c.decoder_layers = 0;
  c.n_heads = json.get<int64_t>("num_attention_heads");
  c.d_ff = json.get<int64_t>("intermediate_size");
  c.activation = read_activation(json, "hidden_act");
  c.norm_epsilon = static_cast<float>(json.get_or("layer_norm_eps", 1e-12));
  c.positions = PositionKind::learned;
  c.max_positions = json.get_or<int64_t>("max_position_embeddings", 512);
  c.scale_embedding = false;
  c.embedding_norm = true;
  c.type_vocab_size = json.get_or<int64_t>("type_vocab_size", 2);
  c.tied_head = json.get_or("tie_word_embeddings", true);
  read_encoder_head(json, stem, c);
  c.head_transform = c.has_head;
  c.pooler = json.get_or("add_pooling_layer", true) && is_bare_encoder(c);
  c.dropout = read_rate(json, "hidden_dropout_prob");
  c.attention_dropout = read_rate(json, "attention_probs_dropout_prob");
  read_encoder_tokens(json, c);
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
                         {"torch_dtype", "float32"}};
  write_encoder_tokens(c, json);
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

void read_gguf_bert(const ArchitectureMetadata& metadata, std::string_view stem,
                    nlohmann::json& config) {
  const io::GgufFile& file = metadata.file();
  require(!metadata.get_or("attention.causal", false),
          "{}: attention.causal is true, expected false for an encoder", file.name());
  set_vocabulary(file, config);
  config.update(
      {{"num_hidden_layers", layers(metadata)}, {"hidden_act", "gelu"}, {"type_vocab_size", 0}});
  if (file.contains("token_types.weight")) {
    const Shape& types = file.entry("token_types.weight").shape;
    config["type_vocab_size"] = types.rank() == 2 ? types[0] : 1;
  }
  config.update(classifier_fields(metadata, stem));
}

void write_gguf_bert(const ModelConfig& config, ArchitectureValues& metadata) {
  if (config.classifier.present()) metadata.set(kGgufLabels, config.classifier.labels);
}

/// BERT (Devlin et al. 2018): encoder-only, with learned positions and segments. BertForMaskedLM
/// has the vocabulary head, BertModel the pooler instead. JinaBERT (jina_bert.h) has its type.
Family bert_family() {
  return {.model_type = "bert",
          .read = read_bert_or_jina,
          .write_config = write_bert_or_jina,
          .stored = bert_weight,
          .prefix = kBertPrefix,
          .older_name = older_bert_name,
          .redundant = redundant_in_bert_itself,
          .gguf = {.architectures = {"bert"},
                   .fields = {kGgufBert},
                   .read = read_gguf_bert_itself,
                   .write = write_gguf_bert,
                   .stored = gguf_encoder_weight}};
}

}  // namespace heed::model
