#include "heed/model/families/roberta.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/config_json.h"

namespace heed::model {
namespace {

constexpr EncoderClasses kRobertaClasses{"RobertaForMaskedLM", "RobertaModel"};
constexpr std::string_view kRobertaPrefix = "roberta.";

ModelConfig read_roberta(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_bert(json, file, kRobertaClasses);
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

nlohmann::json write_roberta(const ModelConfig& c) {
  nlohmann::json json = write_bert(c, "roberta", kRobertaClasses);
  json["max_position_embeddings"] = c.first_position + c.max_positions;
  return json;
}

StoredWeight roberta_weight(const ModelConfig& config, const std::string& name,
                            const Shape& shape) {
  return {.name = renamed(bert_name(config, name, kRobertaPrefix),
                          {{"lm_head.weight", "lm_head.decoder.weight"},
                           {"final_logits_bias", "lm_head.bias"}}),
          .shape = shape};
}

bool redundant_in_roberta(std::string_view name) {
  return redundant_in_bert(name) || name.starts_with("lm_head.decoder.");
}

}  // namespace

Family roberta_family() {
  return {.model_type = "roberta",
          .read_config = read_roberta,
          .write_config = write_roberta,
          .stored = roberta_weight,
          .prefix = kRobertaPrefix,
          .older_name = older_bert_name,
          .redundant = redundant_in_roberta};
}

}  // namespace heed::model
