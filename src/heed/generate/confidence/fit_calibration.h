#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generate/confidence/calibration.h"
#include "heed/metrics/kept_words.h"

namespace heed::generate {

/// A translation of held-out text beside its reference.
struct ConfidenceExample {
  WordProbabilities translation;
  metrics::KeptWords outcome;
};
ConfidenceExample confidence_example(const text::TranslationTokenizer& tokenizer,
                                     const std::string& text, const Hypothesis& hypothesis,
                                     std::string_view reference);

/// Words of translations below which a calibration would say nothing.
inline constexpr int64_t kLeastCalibrationWords = 200;
int64_t count_words(std::span<const ConfidenceExample> examples);

/// The calibration of the largest likelihood, with a weak prior. Throws Error when there are fewer
/// than kLeastCalibrationWords.
ConfidenceCalibration fit_calibration(std::span<const ConfidenceExample> examples);

/// What is compared with outcomes: of words and of sentences.
struct Confidences {
  std::vector<double> words = {}, sentences = {};

  /// Without a calibration: the model's probabilities of words, and the geometric mean of those of
  /// a sentence's tokens.
  void add(const ConfidenceExample& example, const ConfidenceCalibration* calibration);
};
/// The outcomes: 0 or 1 of words, the share of the kept ones of sentences.
Confidences outcomes_of(std::span<const ConfidenceExample> examples);

}  // namespace heed::generate
