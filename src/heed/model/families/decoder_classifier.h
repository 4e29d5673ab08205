#pragma once

#include <nlohmann/json.hpp>

#include "heed/model/families/family.h"

namespace heed::model {

/// A configuration of the class for generation, `ForSequenceClassification` or
/// `ForTokenClassification` of a decoder-only family. The classes for labels have a linear map of
/// the last token's state, or of each token's.
ModelConfig read_decoder(const Family& family, ConfigReader& json);
nlohmann::json write_decoder(const Family& family, const ModelConfig& config);

/// A decoder-only family that may have a classifier, whose weights begin with "score.", or for
/// tokens with what `token` says.
enum class TokenClassifier { score, classifier };
template <Family (*base)(), TokenClassifier token = TokenClassifier::score>
Family with_classifier() {
  Family family = base();
  family.read = [](ConfigReader& json) { return read_decoder(base(), json); };
  family.write_config = [](const ModelConfig& config) { return write_decoder(base(), config); };
  family.stored = [](const ModelConfig& config, const std::string& name, const Shape& shape) {
    constexpr std::string_view kOwn = "classifier.out_proj.";
    if (!name.starts_with(kOwn)) return base().stored(config, name, shape);
    const bool score = config.classifier.kind == ClassifierConfig::Kind::sequence ||
                       token == TokenClassifier::score;
    return StoredWeight{.name = (score ? "score." : "classifier.") + name.substr(kOwn.size()),
                        .shape = shape};
  };
  return family;
}

}  // namespace heed::model
