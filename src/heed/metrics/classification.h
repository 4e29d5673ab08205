#pragma once

#include <cstdint>
#include <span>

namespace heed::metrics {

/// Accuracy and F1 as scikit-learn computes them (accuracy_score, f1_score); an F1 without
/// predictions and targets of its class is 0.
struct ClassificationScores {
  double accuracy = 0;  // of several labels: the share of texts of which all labels are right
  double f1_macro = 0;  // the mean over the classes; of one label, those that occur
  double f1_micro = 0;  // of the counts of all classes together
};

/// Of one class for each example. Throws Error unless there are as many predictions as targets, at
/// least one.
ClassificationScores classification_scores(std::span<const int32_t> targets,
                                           std::span<const int32_t> predictions);

/// Of any number of classes for each example: rows of `classes` numbers, 1 where a class is given
/// and 0 where it is not. Throws Error in the same way.
ClassificationScores multilabel_scores(std::span<const uint8_t> targets,
                                       std::span<const uint8_t> predictions, int64_t classes);

/// The area under the curve of precision over recall, sum of (R_n - R_(n-1)) P_n over descending
/// thresholds (average_precision_score); 0 without a positive target.
double average_precision(std::span<const uint8_t> targets, std::span<const double> scores);

}  // namespace heed::metrics
