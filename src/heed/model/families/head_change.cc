#include "heed/model/families/head_change.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/model/families/classifier_json.h"
#include "heed/model/families/family.h"

namespace heed::model {
namespace {

constexpr const char* kArchitectures = "architectures";
constexpr std::string_view kEndsOfClasses[] = {
    "ForMaskedLM",           "ForCausalLM", "LMHeadModel", "Model", "ForSequenceClassification",
    "ForTokenClassification"};

/// "Bert" of "BertForMaskedLM".
std::string stem_of(std::string name) {
  for (const std::string_view end : kEndsOfClasses)
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return name;
}

/// With the sizes that follow from others.
ModelConfig completed(ModelConfig config) {
  config.validate();
  return config;
}

/// config.json of `config` for another class of its family. Without a class, as heed's own family
/// has none, it describes a model without a head.
nlohmann::json for_class(const ModelConfig& config, const Family& family, std::string_view end) {
  nlohmann::json json = family.write_config(config);
  if (json.contains(kArchitectures)) {
    const auto name = json[kArchitectures][0].get<std::string>();
    json[kArchitectures] = {fmt::format("{}{}", stem_of(name), end)};
    for (const char* const key : {"id2label", "label2id", "problem_type", "sentence_transformers"})
      json.erase(key);
    return json;
  }
  ModelConfig bare = config;
  bare.classifier = {};
  bare.has_head = bare.head_transform = bare.head_bias = bare.pooler = false;
  return family.write_config(bare);
}

/// Reads the configuration back. Files of many families do not say the rates of dropout.
ModelConfig read_back(const nlohmann::json& json, const Family& family, const ModelConfig& config) {
  ModelConfig changed = family.read_config(json, "config.json");
  changed.family = family.model_type;
  changed.dropout = config.dropout;
  changed.attention_dropout = config.attention_dropout;
  changed.activation_dropout = config.activation_dropout;
  return completed(changed);
}

}  // namespace

ModelConfig with_labels(const ModelConfig& start, const Labels& labels) {
  const ModelConfig config = completed(start);
  const Family& family = family_for(config);
  const ClassifierConfig classifier{.kind = labels.kind,
                                    .problem = labels.problem,
                                    .labels = labels.names,
                                    .sigmoid_score = labels.sigmoid_score};
  nlohmann::json json = for_class(config, family, architecture_suffix(labels.kind));
  const bool has_class = json.contains(kArchitectures);
  if (has_class) write_classifier(classifier, json);
  ModelConfig changed = read_back(json, family, config);
  if (!has_class) changed.classifier = classifier;
  require(changed.classifier.kind == labels.kind,
          "models of the type {} have no head for labels of {} in heed", family.model_type,
          labels.kind == ClassifierConfig::Kind::token ? "tokens" : "texts");
  return changed;
}

ModelConfig without_head(const ModelConfig& start) {
  const ModelConfig config = completed(start);
  const Family& family = family_for(config);
  nlohmann::json json = for_class(config, family, "Model");
  ModelConfig changed = read_back(json, family, config);
  if (!changed.pooler) return changed;
  json["add_pooling_layer"] = false;
  return read_back(json, family, config);
}

}  // namespace heed::model
