#include "heed/model/families/marian.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/config_json.h"

namespace heed::model {
namespace {

/// vocab_size is that of the sources; decoder_vocab_size may be missing where it is the same.
void read_vocabularies(const nlohmann::json& json, const std::string& file, ModelConfig& c) {
  const auto source = get<int64_t>(json, "vocab_size", file);
  c.vocab_size = get_or(json, "decoder_vocab_size", source, file);
  const bool shared = get_or(json, "share_encoder_decoder_embeddings", true, file);
  require(!shared || source == c.vocab_size,
          "{}: vocab_size is {} and decoder_vocab_size {}, expected the same with "
          "share_encoder_decoder_embeddings",
          file, source, c.vocab_size);
  if (!shared) c.encoder_vocab_size = source;
}

ModelConfig read_marian(const nlohmann::json& json, const std::string& file,
                        nn::NormPlacement placement) {
  ModelConfig c;
  read_vocabularies(json, file, c);
  c.d_model = get<int64_t>(json, "d_model", file);
  c.encoder_layers = get<int64_t>(json, "encoder_layers", file);
  c.decoder_layers = get<int64_t>(json, "decoder_layers", file);
  c.n_heads = get<int64_t>(json, "decoder_attention_heads", file);
  c.encoder_heads = get<int64_t>(json, "encoder_attention_heads", file);
  c.d_ff = get<int64_t>(json, "decoder_ffn_dim", file);
  c.encoder_d_ff = get<int64_t>(json, "encoder_ffn_dim", file);
  c.activation = read_activation(json, "activation_function", file);
  c.norm_placement = placement;
  c.norm_epsilon = kLayerNormEpsilon;
  c.max_positions = get_or<int64_t>(json, "max_position_embeddings", 1024, file);
  c.scale_embedding = get_or(json, "scale_embedding", false, file);
  c.tied_head = get_or(json, "tie_word_embeddings", true, file);
  c.dropout = static_cast<float>(get_or(json, "dropout", 0.1, file));
  c.attention_dropout = read_rate(json, "attention_dropout", file);
  c.activation_dropout = read_rate(json, "activation_dropout", file);
  c.pad_id = get<int32_t>(json, "pad_token_id", file);
  c.bos_id = read_token(json, "bos_token_id", file);
  read_eos(json, file, -1, c);
  require(c.eos_id >= 0, "{}: eos_token_id is missing", file);
  c.decoder_start_id = get<int32_t>(json, "decoder_start_token_id", file);
  return c;
}

nlohmann::json write_marian(const ModelConfig& c, std::string_view type,
                            std::string_view architecture) {
  return {{"architectures", {architecture}},
          {"model_type", type},
          {"vocab_size", c.source_vocab_size()},
          {"decoder_vocab_size", c.vocab_size},
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
          {"share_encoder_decoder_embeddings", c.encoder_vocab_size == 0},
          {"tie_word_embeddings", c.tied_head},
          {"static_position_embeddings", true},
          {"is_encoder_decoder", true},
          {"dropout", c.dropout},
          {"attention_dropout", c.attention_dropout},
          {"activation_dropout", c.activation_dropout},
          {"pad_token_id", c.pad_id},
          {"eos_token_id", eos_json(c)},
          {"bos_token_id", token_json(c.bos_id)},
          {"decoder_start_token_id", c.decoder_start_id},
          {"forced_eos_token_id", c.eos_id},
          {"torch_dtype", "float32"}};
}

StoredWeight marian_weight(const ModelConfig&, const std::string& name, const Shape& shape) {
  if (name == "final_logits_bias") return {.name = name, .shape = {1, shape[0]}};
  return {.name = renamed(name, {{".o_proj.", ".out_proj."}}), .shape = shape};
}

bool redundant_in_marian(std::string_view name) {
  return name == "lm_head.weight" || name == "model.encoder.embed_tokens.weight" ||
         name == "model.decoder.embed_tokens.weight" ||
         name == "model.encoder.embed_positions.weight" ||
         name == "model.decoder.embed_positions.weight";
}

}  // namespace

Family marian_family() {
  return {.model_type = "marian",
          .read_config =
              [](const nlohmann::json& json, const std::string& file) {
                return read_marian(json, file, nn::NormPlacement::post);
              },
          .write_config =
              [](const ModelConfig& c) { return write_marian(c, "marian", "MarianMTModel"); },
          .stored = marian_weight,
          .redundant = redundant_in_marian};
}

Family pegasus_family() {
  return {.model_type = "pegasus",
          .read_config =
              [](const nlohmann::json& json, const std::string& file) {
                return read_marian(json, file, nn::NormPlacement::pre);
              },
          .write_config =
              [](const ModelConfig& c) {
                return write_marian(c, "pegasus", "PegasusForConditionalGeneration");
              },
          .stored = marian_weight,
          .redundant = redundant_in_marian};
}

}  // namespace heed::model
