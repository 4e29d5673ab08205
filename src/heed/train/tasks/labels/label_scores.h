#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/data/labelled_dataset.h"
#include "heed/train/observer.h"

namespace heed::train {

/// What the logits of held-out texts are compared with.
struct LabelledTargets {
  data::LabelLoss loss = data::LabelLoss::none;
  bool of_tokens = false;      // the classes are
  bool probabilities = false;  // the value of a text is one, and its score the sigmoid of the logit
  std::vector<std::string> names = {};  // of the labels
  std::vector<data::LabelledText> texts = {};
  std::vector<int64_t> queries = {};  // of rerank: the number of each text's query
};

/// Adds the metrics that suit the targets to a record: accuracy and F1 of classes, also of spans
/// where the labels are of tokens; Pearson's and Spearman's correlations of numbers; of queries and
/// documents nDCG, MRR and average precision. `logits` [M C] has those of each text.
void add_label_scores(const LabelledTargets& targets, std::span<const std::vector<float>> logits,
                      ValidationRecord& record);

/// The labels that a text has by its logits: "sports", "red, round", "3.14" or
/// "PER 0-2, LOC 5-6" (tokens).
std::string predicted_text(const LabelledTargets& targets, std::span<const float> logits);
/// The same of what is known.
std::string target_text(const LabelledTargets& targets, const data::LabelledText& text);

}  // namespace heed::train
