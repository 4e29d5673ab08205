#include "heed/model/families/bart.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/config_json.h"

namespace heed::model {
namespace {

constexpr int64_t kFirstPosition = 2;  // the positions before are not used

void require_tied(const nlohmann::json& json, const std::string& file) {
  require(get_or(json, "tie_word_embeddings", true, file),
          "{}: tie_word_embeddings is false, expected true", file);
}

/// Variants that share BART's model_type in older files.
void require_supported_bart(const nlohmann::json& json, const std::string& file) {
  for (const char* key : {"normalize_before", "add_final_layer_norm", "static_position_embeddings"})
    require(!get_or(json, key, false, file), "{}: {} is true, expected false", file, key);
  require(get_or(json, "normalize_embedding", true, file),
          "{}: normalize_embedding is false, expected true", file);
}

/// What the families here have in common.
ModelConfig read_common(const nlohmann::json& json, const std::string& file) {
  require_tied(json, file);
  ModelConfig c;
  c.vocab_size = get<int64_t>(json, "vocab_size", file);
  c.d_model = get<int64_t>(json, "d_model", file);
  c.encoder_layers = get<int64_t>(json, "encoder_layers", file);
  c.decoder_layers = get<int64_t>(json, "decoder_layers", file);
  c.n_heads = get<int64_t>(json, "decoder_attention_heads", file);
  c.encoder_heads = get<int64_t>(json, "encoder_attention_heads", file);
  c.d_ff = get<int64_t>(json, "decoder_ffn_dim", file);
  c.encoder_d_ff = get<int64_t>(json, "encoder_ffn_dim", file);
  c.activation = read_activation(json, "activation_function", file);
  c.norm_epsilon = kLayerNormEpsilon;
  c.max_positions = get_or<int64_t>(json, "max_position_embeddings", 1024, file);
  c.first_position = kFirstPosition;
  c.scale_embedding = get_or(json, "scale_embedding", false, file);
  c.dropout = read_rate(json, "dropout", file);
  c.attention_dropout = read_rate(json, "attention_dropout", file);
  c.activation_dropout = read_rate(json, "activation_dropout", file);
  c.pad_id = get_or<int32_t>(json, "pad_token_id", 1, file);
  c.bos_id = read_token(json, "bos_token_id", file);
  read_eos(json, file, 2, c);
  c.decoder_start_id = get_or<int32_t>(json, "decoder_start_token_id", c.eos_id, file);
  return c;
}

ModelConfig read_bart(const nlohmann::json& json, const std::string& file) {
  require_supported_bart(json, file);
  ModelConfig c = read_common(json, file);
  c.positions = PositionKind::learned;
  c.embedding_norm = true;
  return c;
}

ModelConfig read_mbart(const nlohmann::json& json, const std::string& file) {
  for (const char* key : {"normalize_before", "add_final_layer_norm", "normalize_embedding"})
    require(get_or(json, key, true, file), "{}: {} is false, expected true", file, key);
  ModelConfig c = read_common(json, file);
  c.positions = PositionKind::learned;
  c.embedding_norm = true;
  c.norm_placement = nn::NormPlacement::pre;
  return c;
}

ModelConfig read_m2m_100(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_common(json, file);
  c.fairseq_sinusoids = true;
  c.norm_placement = nn::NormPlacement::pre;
  c.head_bias = false;
  return c;
}

nlohmann::json write_common(const ModelConfig& c, std::string_view type,
                            std::string_view architecture) {
  return {{"architectures", {architecture}},
          {"model_type", type},
          {"vocab_size", c.vocab_size},
          {"d_model", c.d_model},
          {"encoder_layers", c.encoder_layers},
          {"decoder_layers", c.decoder_layers},
          {"num_hidden_layers", c.encoder_layers},
          {"encoder_attention_heads", c.encoder_heads},
          {"decoder_attention_heads", c.n_heads},
          {"encoder_ffn_dim", c.encoder_d_ff},
          {"decoder_ffn_dim", c.d_ff},
          {"activation_function", name_of(c.activation)},
          {"max_position_embeddings", c.max_positions},
          {"scale_embedding", c.scale_embedding},
          {"tie_word_embeddings", true},
          {"is_encoder_decoder", true},
          {"dropout", c.dropout},
          {"attention_dropout", c.attention_dropout},
          {"activation_dropout", c.activation_dropout},
          {"pad_token_id", c.pad_id},
          {"bos_token_id", token_json(c.bos_id)},
          {"eos_token_id", eos_json(c)},
          {"decoder_start_token_id", c.decoder_start_id},
          {"torch_dtype", "float32"}};
}

nlohmann::json write_bart(const ModelConfig& c) {
  nlohmann::json json = write_common(c, "bart", "BartForConditionalGeneration");
  json["forced_eos_token_id"] = c.eos_id;
  return json;
}

nlohmann::json write_mbart(const ModelConfig& c) {
  nlohmann::json json = write_common(c, "mbart", "MBartForConditionalGeneration");
  json.update({{"normalize_before", true},
               {"add_final_layer_norm", true},
               {"forced_eos_token_id", c.eos_id}});
  return json;
}

nlohmann::json write_m2m_100(const ModelConfig& c) {
  return write_common(c, "m2m_100", "M2M100ForConditionalGeneration");
}

StoredWeight bart_weight(const ModelConfig&, const std::string& name, const Shape& shape) {
  if (name == "final_logits_bias")
    return {.name = name, .shape = {1, shape[0]}, .zeros_if_missing = true};
  return {.name = renamed(name, {{".o_proj.", ".out_proj."}}), .shape = shape};
}

bool redundant_in_bart(std::string_view name) {
  return name == "lm_head.weight" || name.ends_with("encoder.embed_tokens.weight") ||
         name.ends_with("decoder.embed_tokens.weight");
}

/// Older files hold the sinusoids.
bool redundant_in_m2m_100(std::string_view name) {
  return redundant_in_bart(name) || name.ends_with(".embed_positions.weights");
}

Family like_bart(std::string_view type,
                 ModelConfig (*read)(const nlohmann::json&, const std::string&),
                 nlohmann::json (*write)(const ModelConfig&)) {
  return {.model_type = type,
          .read_config = read,
          .write_config = write,
          .stored = bart_weight,
          .prefix = "model.",
          .redundant = redundant_in_bart};
}

}  // namespace

Family bart_family() { return like_bart("bart", read_bart, write_bart); }
Family mbart_family() { return like_bart("mbart", read_mbart, write_mbart); }

Family m2m_100_family() {
  Family family = like_bart("m2m_100", read_m2m_100, write_m2m_100);
  family.redundant = redundant_in_m2m_100;
  return family;
}

}  // namespace heed::model
