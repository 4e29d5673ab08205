#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/classifier_json.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/known.h"

namespace heed::model {
namespace {

constexpr std::string_view kElectraStem = "Electra";
constexpr std::string_view kElectraPrefix = "electra.";

/// The classes for labels and for masked tokens have GELU built in, whatever "hidden_act" says.
ModelConfig read_electra(ConfigReader& json) {
  json.set_defaults({{"embedding_size", 128}});
  json.understand({"generator_size"});  // of the generator that it was trained with
  if (read_architecture(json) == "ElectraForPreTraining") {
    json.set("architectures", {"ElectraModel"});
    json.warn(
        fmt::format("{}: architectures is ElectraForPreTraining and its head is ignored: heed "
                    "does not tell replaced tokens",
                    json.file()));
  }
  ModelConfig c = read_bert(json, kElectraStem);
  c.embedding_size = json.get<int64_t>("embedding_size");
  if (c.embedding_size == c.d_model) c.embedding_size = 0;
  require(!c.has_head || c.activation == kernels::Activation::gelu,
          "{}: hidden_act is \"{}\", expected \"gelu\", which the head has", json.file(),
          name_of(c.activation));
  c.classifier.activation = kernels::Activation::gelu;
  c.pooler = false;
  return c;
}

nlohmann::json write_electra(const ModelConfig& c) {
  nlohmann::json json = write_bert(c, "electra", kElectraStem);
  json.erase("position_embedding_type");
  json.erase("add_pooling_layer");
  json["embedding_size"] = c.embedding_width();
  return json;
}

StoredWeight electra_weight(const ModelConfig& config, const std::string& name,
                            const Shape& shape) {
  std::string own = renamed(bert_name(config, name, kElectraPrefix),
                            {{"encoder.embed_projection.", "embeddings_project."},
                             {"lm_head.dense.", "generator_predictions.dense."},
                             {"lm_head.layer_norm.", "generator_predictions.LayerNorm."},
                             {"lm_head.", "generator_lm_head."},
                             {"final_logits_bias", "generator_lm_head.bias"}});
  if (config.classifier.kind == ClassifierConfig::Kind::token)
    own = renamed(std::move(own), {{"classifier.out_proj.", "classifier."}});
  return {.name = std::move(own), .shape = shape};
}

bool redundant_in_electra(std::string_view name) {
  return redundant_in_bert(name) || name.starts_with("discriminator_predictions.");
}

}  // namespace

/// ELECTRA (Clark et al. 2020): BERT whose embeddings may be narrower than its states.
Family electra_family() {
  return {.model_type = "electra",
          .read = read_electra,
          .write_config = write_electra,
          .stored = electra_weight,
          .prefix = kElectraPrefix,
          .older_name = older_bert_name,
          .redundant = redundant_in_electra};
}

}  // namespace heed::model
