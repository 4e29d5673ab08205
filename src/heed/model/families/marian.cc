#include "heed/model/families/known.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/config_json.h"

namespace heed::model {
namespace {

/// vocab_size is that of the sources; decoder_vocab_size may be missing where it is the same.
void read_vocabularies(ConfigReader& json, ModelConfig& c) {
  const auto source = json.get<int64_t>("vocab_size");
  c.vocab_size = json.get_or("decoder_vocab_size", source);
  const bool shared = json.get_or("share_encoder_decoder_embeddings", true);
  require(!shared || source == c.vocab_size,
          "{}: vocab_size is {} and decoder_vocab_size {}, expected the same with "
          "share_encoder_decoder_embeddings",
          json.file(), source, c.vocab_size);
  if (!shared) c.encoder_vocab_size = source;
}

ModelConfig read_marian(ConfigReader& json, nn::NormPlacement placement) {
  json.set_defaults({{"activation_function", "gelu"}});
  // Of older files, which say how the one published architecture is made.
  json.understand({"add_bias_logits", "add_final_layer_norm", "extra_pos_embeddings",
                   "normalize_before", "normalize_embedding", "static_position_embeddings"});
  ModelConfig c;
  read_vocabularies(json, c);
  read_both_stacks(json, c);
  c.norm_placement = placement;
  c.tied_head = json.get_or("tie_word_embeddings", true);
  c.dropout = static_cast<float>(json.get_or("dropout", 0.1));
  c.pad_id = json.get<int32_t>("pad_token_id");
  read_eos(json, -1, c);
  require(c.eos_id >= 0, "{}: eos_token_id is missing", json.file());
  c.decoder_start_id = json.get<int32_t>("decoder_start_token_id");
  return c;
}

ModelConfig read_post_norm(ConfigReader& json) {
  json.set_defaults(
      {{"pad_token_id", 58100}, {"eos_token_id", 0}, {"decoder_start_token_id", 58100}});
  return read_marian(json, nn::NormPlacement::post);
}

/// Both sides have one vocabulary.
ModelConfig read_pegasus(ConfigReader& json) {
  json.set_defaults({{"pad_token_id", 0}, {"eos_token_id", 1}, {"decoder_start_token_id", 0}});
  return read_marian(json, nn::NormPlacement::pre);
}

nlohmann::json write_marian(const ModelConfig& c, std::string_view type,
                            std::string_view architecture) {
  nlohmann::json json = both_stacks_json(c, type, architecture);
  json.update({{"decoder_vocab_size", c.vocab_size},
               {"share_encoder_decoder_embeddings", c.encoder_vocab_size == 0},
               {"tie_word_embeddings", c.tied_head},
               {"static_position_embeddings", true},
               {"forced_eos_token_id", c.eos_id}});
  return json;
}

StoredWeight marian_weight(const ModelConfig&, const std::string& name, const Shape& shape) {
  if (name == "final_logits_bias")
    return {.name = name, .shape = {1, shape[0]}, .zeros_if_missing = true};
  // Where the sides have tables of their own, a file may have the one of both for one of them.
  const bool table = name.ends_with("coder.embed_tokens.weight");
  return {.name = renamed(name, {{".o_proj.", ".out_proj."}}),
          .shape = shape,
          .otherwise = table ? "model.shared.weight" : ""};
}

/// The sinusoids.
bool redundant_in_marian(std::string_view name) {
  return name.ends_with("encoder.embed_positions.weight") ||
         name.ends_with("decoder.embed_positions.weight");
}

Family like_marian(std::string_view type, ModelConfig (*read)(ConfigReader&),
                   nlohmann::json (*write)(const ModelConfig&)) {
  return {.model_type = type,
          .read = read,
          .write_config = write,
          .stored = marian_weight,
          .prefix = "model.",
          .redundant = redundant_in_marian,
          .buffer = [](std::string_view name) { return name == "final_logits_bias"; }};
}

}  // namespace

/// The paper's encoder-decoder as Marian writes it (Junczys-Dowmunt et al. 2018) and Python's
/// MarianMTModel reads it: post-norm, sinusoids in halves, and one embedding shared
/// three ways, or one for each language.
Family marian_family() {
  return like_marian("marian", read_post_norm, [](const ModelConfig& c) {
    return write_marian(c, "marian", "MarianMTModel");
  });
}

/// The same, pre-norm, as PegasusForConditionalGeneration reads it.
Family pegasus_family() {
  return like_marian("pegasus", read_pegasus, [](const ModelConfig& c) {
    return write_marian(c, "pegasus", "PegasusForConditionalGeneration");
  });
}

}  // namespace heed::model
