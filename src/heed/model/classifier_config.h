#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/kernels/activation.h"

namespace heed::model {

/// A head that gives labels to a text (`*ForSequenceClassification`) or to each of its tokens
/// (`*ForTokenClassification`): a linear map of states to the logits of labels.
struct ClassifierConfig {
  enum class Kind { none, sequence, token };
  /// The state that the labels of a text are read from.
  /// `late`: the mean of the logits of all tokens (EuroBERT).
  enum class Pooling { first, last, mean, late };
  /// What logits mean: one label of several, any number of labels, or numbers.
  enum class Problem { unspecified, single_label, multi_label, regression };

  Kind kind = Kind::none;
  Pooling pooling = Pooling::first;
  bool transform = false;  // dense and activation before the linear map, then a norm
  bool transform_bias = true;
  bool transform_norm = false;
  kernels::Activation activation = kernels::Activation::tanh;
  bool bias = true;  // of the linear map
  Problem problem = Problem::unspecified;
  std::vector<std::string> labels = {};  // their names, in the order of the logits
  /// Whether the score of a pair of texts is the sigmoid of its logit, or the logit itself.
  bool sigmoid_score = true;

  bool present() const { return kind != Kind::none; }
  bool operator==(const ClassifierConfig&) const = default;
};

/// "none", "sequence" or "token".
std::string_view name_of(ClassifierConfig::Kind kind);
/// "first", "last", "mean" or "late".
std::string_view name_of(ClassifierConfig::Pooling pooling);
/// As "problem_type" of config.json: "single_label_classification", "multi_label_classification",
/// "regression"; "unspecified".
std::string_view name_of(ClassifierConfig::Problem problem);

}  // namespace heed::model
