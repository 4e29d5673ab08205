#include "heed/model/families/known.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/config_json.h"

namespace heed::model {
namespace {

constexpr int64_t kFirstPosition = 2;  // the positions before are not used

/// What the families here have in common.
ModelConfig read_common(ConfigReader& json) {
  json.expect("tie_word_embeddings", true);
  json.set_defaults({{"activation_function", "gelu"},
                     {"bos_token_id", 0},
                     {"eos_token_id", 2},
                     {"pad_token_id", 1},
                     {"dropout", 0.1}});
  json.understand({"extra_pos_embeddings", "static_position_embeddings", "add_bias_logits"});
  ModelConfig c;
  c.vocab_size = json.get<int64_t>("vocab_size");
  read_both_stacks(json, c);
  c.first_position = kFirstPosition;
  c.dropout = read_rate(json, "dropout");
  c.pad_id = json.get_or<int32_t>("pad_token_id", 1);
  read_eos(json, 2, c);
  c.decoder_start_id = json.get_or<int32_t>("decoder_start_token_id", c.eos_id);
  return c;
}

ModelConfig read_bart(ConfigReader& json) {
  // Variants that share BART's model_type in older files.
  for (const char* key : {"normalize_before", "add_final_layer_norm", "static_position_embeddings"})
    json.expect(key, false);
  json.expect("normalize_embedding", true);
  json.set_defaults({{"decoder_start_token_id", 2}});
  ModelConfig c = read_common(json);
  c.positions = PositionKind::learned;
  c.embedding_norm = true;
  return c;
}

ModelConfig read_mbart(ConfigReader& json) {
  for (const char* key : {"normalize_before", "add_final_layer_norm", "normalize_embedding"})
    json.expect(key, true);
  ModelConfig c = read_common(json);
  c.positions = PositionKind::learned;
  c.embedding_norm = true;
  c.norm_placement = nn::NormPlacement::pre;
  return c;
}

ModelConfig read_m2m_100(ConfigReader& json) {
  json.set_defaults({{"activation_function", "relu"},
                     {"scale_embedding", true},
                     {"attention_dropout", 0.1},
                     {"decoder_start_token_id", 2}});
  json.understand({"normalize_before", "add_final_layer_norm", "normalize_embedding"});
  ModelConfig c = read_common(json);
  c.fairseq_sinusoids = true;
  c.first_position = int64_t{c.pad_id} + 1;
  c.skips_padding = true;
  c.norm_placement = nn::NormPlacement::pre;
  c.head_bias = false;
  return c;
}

nlohmann::json write_common(const ModelConfig& c, std::string_view type,
                            std::string_view architecture) {
  nlohmann::json json = both_stacks_json(c, type, architecture);
  json["vocab_size"] = c.vocab_size;
  json["tie_word_embeddings"] = true;
  return json;
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

/// Older files hold the sinusoids.
bool redundant_in_m2m_100(std::string_view name) {
  return name.ends_with(".embed_positions.weights");
}

Family like_bart(std::string_view type, ModelConfig (*read)(ConfigReader&),
                 nlohmann::json (*write)(const ModelConfig&)) {
  return {.model_type = type,
          .read = read,
          .write_config = write,
          .stored = bart_weight,
          .prefix = "model.",
          .redundant = [](std::string_view) { return false; },
          .buffer = [](std::string_view name) { return name == "final_logits_bias"; }};
}

}  // namespace

/// BART (Lewis et al. 2019): the paper's encoder-decoder with learned positions, which begin in row
/// 2, and a norm after the embeddings.
Family bart_family() { return like_bart("bart", read_bart, write_bart); }

/// mBART (Liu et al. 2020): the same, pre-norm.
Family mbart_family() { return like_bart("mbart", read_mbart, write_mbart); }

/// M2M-100 (Fan et al. 2020) and NLLB-200 (NLLB Team 2022), but not its mixtures of experts:
/// pre-norm, fairseq's sinusoids from position 2 on.
Family m2m_100_family() {
  Family family = like_bart("m2m_100", read_m2m_100, write_m2m_100);
  family.redundant = redundant_in_m2m_100;
  return family;
}

}  // namespace heed::model
