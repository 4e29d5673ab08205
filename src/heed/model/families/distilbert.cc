#include "heed/model/families/known.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/config_json.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

constexpr std::string_view kDistilbertStem = "DistilBert";
constexpr std::string_view kDistilbertPrefix = "distilbert.";
constexpr float kDistilbertEpsilon = 1e-12f;  // not in the file

ModelConfig read_distilbert(ConfigReader& json) {
  json.take_alias("hidden_size", "dim");
  json.take_alias("num_attention_heads", "n_heads");
  json.take_alias("num_hidden_layers", "n_layers");
  json.set_defaults({{"activation", "gelu"}, {"dropout", 0.1}, {"attention_dropout", 0.1}});
  json.understand({"tie_weights_"});
  json.understand({"sinusoidal_pos_embds"});  // the file has the table that training began with
  ModelConfig c;
  c.vocab_size = json.get<int64_t>("vocab_size");
  c.d_model = json.get<int64_t>("dim");
  c.encoder_layers = json.get<int64_t>("n_layers");
  c.decoder_layers = 0;
  c.n_heads = json.get<int64_t>("n_heads");
  c.d_ff = json.get<int64_t>("hidden_dim");
  c.activation = read_activation(json, "activation");
  c.norm_epsilon = kDistilbertEpsilon;
  c.positions = PositionKind::learned;
  c.max_positions = json.get_or<int64_t>("max_position_embeddings", 512);
  c.scale_embedding = false;
  c.embedding_norm = true;
  c.tied_head = json.get_or("tie_word_embeddings", true);
  read_encoder_head(json, kDistilbertStem, c);
  if (c.classifier.transform) c.classifier.activation = kernels::Activation::relu;
  c.head_transform = c.has_head;
  c.dropout = read_rate(json, "dropout");
  c.attention_dropout = read_rate(json, "attention_dropout");
  read_encoder_tokens(json, c);
  return c;
}

nlohmann::json write_distilbert(const ModelConfig& c) {
  nlohmann::json json = {{"model_type", "distilbert"},
                         {"vocab_size", c.vocab_size},
                         {"dim", c.d_model},
                         {"n_layers", c.encoder_layers},
                         {"n_heads", c.n_heads},
                         {"hidden_dim", c.d_ff},
                         {"activation", name_of(c.activation)},
                         {"max_position_embeddings", c.max_positions},
                         {"sinusoidal_pos_embds", false},
                         {"tie_word_embeddings", c.tied_head},
                         {"dropout", c.dropout},
                         {"attention_dropout", c.attention_dropout},
                         {"torch_dtype", "float32"}};
  write_encoder_tokens(c, json);
  write_encoder_head(c, kDistilbertStem, json);
  return json;
}

StoredWeight distilbert_weight(const ModelConfig& c, const std::string& name, const Shape& shape) {
  std::string own = renamed(name, {{"model.shared.", "model.embeddings.word_embeddings."},
                                   {"encoder.embed_positions.", "embeddings.position_embeddings."},
                                   {"encoder.layernorm_embedding.", "embeddings.LayerNorm."},
                                   {"encoder.layers.", "transformer.layer."},
                                   {".self_attn.q_proj.", ".attention.q_lin."},
                                   {".self_attn.k_proj.", ".attention.k_lin."},
                                   {".self_attn.v_proj.", ".attention.v_lin."},
                                   {".self_attn.o_proj.", ".attention.out_lin."},
                                   {".self_attn_layer_norm.", ".sa_layer_norm."},
                                   {".fc1.", ".ffn.lin1."},
                                   {".fc2.", ".ffn.lin2."},
                                   {".final_layer_norm.", ".output_layer_norm."},
                                   {"lm_head.dense.", "vocab_transform."},
                                   {"lm_head.layer_norm.", "vocab_layer_norm."},
                                   {"lm_head.", "vocab_projector."},
                                   {"final_logits_bias", "vocab_projector.bias"},
                                   {"classifier.dense.", "pre_classifier."},
                                   {"classifier.out_proj.", "classifier."},
                                   {"model.", is_bare_encoder(c) ? "" : kDistilbertPrefix}});
  return {.name = std::move(own), .shape = shape};
}

bool redundant_in_distilbert(std::string_view name) {
  return name.ends_with("embeddings.position_ids");
}

/// Its GGUF files are BERT's, without segments. Before labels, llama.cpp computes tanh.
bool holds_distilbert(const ArchitectureMetadata& metadata) {
  const io::GgufFile& file = metadata.file();
  return !file.contains("token_types.weight") && !file.contains("cls.output.weight") &&
         file.metadata().get_or<std::string>("tokenizer.ggml.model", "bert") == "bert" &&
         metadata.get_or("attention.layer_norm_epsilon", 0.0) == double{kDistilbertEpsilon};
}

constexpr MetadataField kGgufDistilbert[] = {
    required("embedding_length", "dim", io::GgufType::u32),
    required("attention.head_count", "n_heads", io::GgufType::u32),
    required("feed_forward_length", "hidden_dim", io::GgufType::u32),
    required("context_length", "max_position_embeddings", io::GgufType::u32)};

void read_gguf_distilbert(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  read_gguf_bert(metadata, kDistilbertStem, config);
}

void write_gguf_distilbert(const ModelConfig& config, ArchitectureValues& metadata) {
  metadata.set("attention.layer_norm_epsilon", config.norm_epsilon);
  write_gguf_bert(config, metadata);
}

}  // namespace

/// DistilBERT (Sanh et al. 2019): BERT without segments and pooler.
Family distilbert_family() {
  return {.model_type = "distilbert",
          .read = read_distilbert,
          .write_config = write_distilbert,
          .stored = distilbert_weight,
          .prefix = kDistilbertPrefix,
          .redundant = redundant_in_distilbert,
          .gguf = {.architectures = {"bert"},
                   .holds = holds_distilbert,
                   .fields = {kGgufDistilbert},
                   .read = read_gguf_distilbert,
                   .write = write_gguf_distilbert,
                   .stored = gguf_encoder_weight}};
}

}  // namespace heed::model
