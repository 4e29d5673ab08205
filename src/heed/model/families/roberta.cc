#include "heed/model/families/roberta.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/config_json.h"

namespace heed::model {
namespace {

constexpr std::string_view kRobertaStem = "Roberta", kXlmRobertaStem = "XLMRoberta";
constexpr std::string_view kRobertaPrefix = "roberta.";

StoredWeight roberta_weight(const ModelConfig& config, const std::string& name,
                            const Shape& shape) {
  return {.name = roberta_name(config, name, kRobertaPrefix), .shape = shape};
}

template <const std::string_view& stem>
Family family(std::string_view type, nlohmann::json (*write_config)(const ModelConfig&)) {
  return {.model_type = type,
          .read_config = [](const nlohmann::json& json,
                            const std::string& file) { return read_roberta(json, file, stem); },
          .write_config = write_config,
          .stored = roberta_weight,
          .prefix = kRobertaPrefix,
          .older_name = older_bert_name,
          .redundant = redundant_in_roberta};
}

}  // namespace

ModelConfig read_roberta(const nlohmann::json& json, const std::string& file,
                         std::string_view stem) {
  ModelConfig c = read_bert(json, file, stem);
  require(!c.has_head || c.activation == kernels::Activation::gelu,
          "{}: hidden_act is \"{}\", expected \"gelu\", which the head has", file,
          name_of(c.activation));
  c.pad_id = get_or<int32_t>(json, "pad_token_id", 1, file);
  c.first_position = int64_t{c.pad_id} + 1;
  require(c.max_positions > c.first_position,
          "{}: max_position_embeddings is {}, expected more than pad_token_id + 1, which is {}",
          file, c.max_positions, c.first_position);
  c.max_positions -= c.first_position;
  return c;
}

nlohmann::json write_roberta(const ModelConfig& c, std::string_view type, std::string_view stem) {
  nlohmann::json json = write_bert(c, type, stem);
  json["max_position_embeddings"] = c.first_position + c.max_positions;
  return json;
}

std::string roberta_name(const ModelConfig& config, const std::string& name,
                         std::string_view prefix) {
  std::string own = renamed(
      bert_name(config, name, prefix),
      {{"lm_head.weight", "lm_head.decoder.weight"}, {"final_logits_bias", "lm_head.bias"}});
  if (config.classifier.kind == ClassifierConfig::Kind::token)
    return renamed(std::move(own), {{"classifier.out_proj.", "classifier."}});
  return own;
}

bool redundant_in_roberta(std::string_view name) {
  return redundant_in_bert(name) || name.starts_with("lm_head.decoder.");
}

Family roberta_family() {
  return family<kRobertaStem>(
      "roberta", [](const ModelConfig& c) { return write_roberta(c, "roberta", kRobertaStem); });
}

Family xlm_roberta_family() {
  return family<kXlmRobertaStem>("xlm-roberta", [](const ModelConfig& c) {
    return write_roberta(c, "xlm-roberta", kXlmRobertaStem);
  });
}

}  // namespace heed::model
