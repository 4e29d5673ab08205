#include "heed/model/families/decoder_classifier.h"

#include "heed/model/families/classifier_json.h"
#include "heed/model/families/config_json.h"

namespace heed::model {

ModelConfig read_decoder(const Family& family, ConfigReader& json) {
  ModelConfig config = family.read(json);
  const auto kind = classifier_kind_of(read_architecture(json));
  if (kind == ClassifierConfig::Kind::none) return config;
  config.has_head = false;
  config.classifier = read_classifier(json, kind);
  config.classifier.pooling = ClassifierConfig::Pooling::last;
  config.classifier.bias = kind == ClassifierConfig::Kind::token;
  return config;
}

nlohmann::json write_decoder(const Family& family, const ModelConfig& config) {
  nlohmann::json json = family.write_config(config);
  if (!config.classifier.present()) return json;
  const std::string_view suffix = architecture_suffix(config.classifier.kind);
  json["architectures"] = {renamed(json["architectures"][0].get<std::string>(),
                                   {{"ForCausalLM", suffix}, {"LMHeadModel", suffix}})};
  write_classifier(config.classifier, json);
  return json;
}

}  // namespace heed::model
