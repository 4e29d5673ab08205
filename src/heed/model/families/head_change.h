#pragma once

#include <string>
#include <vector>

#include "heed/model/config.h"

namespace heed::model {

/// The labels that a classifier gives.
struct Labels {
  ClassifierConfig::Kind kind = ClassifierConfig::Kind::sequence;
  ClassifierConfig::Problem problem = ClassifierConfig::Problem::unspecified;
  std::vector<std::string> names = {};
  bool sigmoid_score = true;  // see ClassifierConfig
};

/// The configuration of a model with the same layers that gives labels in place of what its head
/// gave, as its family's class for labels (`*ForSequenceClassification`, `*ForTokenClassification`)
/// has it. Throws Error when the family has no such class.
ModelConfig with_labels(const ModelConfig& config, const Labels& labels);

/// The same for the class of the layers alone (`*Model`) of an encoder: no head and no pooler.
ModelConfig without_head(const ModelConfig& config);

}  // namespace heed::model
