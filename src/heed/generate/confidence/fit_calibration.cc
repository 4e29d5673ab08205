#include "heed/generate/confidence/fit_calibration.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/generate/confidence/logistic_regression.h"

namespace heed::generate {

ConfidenceExample confidence_example(const text::TranslationTokenizer& tokenizer,
                                     const std::string& text, const Hypothesis& hypothesis,
                                     std::string_view reference) {
  return {.translation = word_probabilities(tokenizer, text, hypothesis),
          .outcome = metrics::kept_words(text, reference)};
}

int64_t count_words(std::span<const ConfidenceExample> examples) {
  int64_t words = 0;
  for (const ConfidenceExample& example : examples) words += std::ssize(example.outcome.kept);
  return words;
}

ConfidenceCalibration fit_calibration(std::span<const ConfidenceExample> examples) {
  ConfidenceCalibration calibration{.words = count_words(examples),
                                    .sentences = std::ssize(examples)};
  require(calibration.words >= kLeastCalibrationWords,
          "the translations have {} words, and confidence is calibrated with at least {}",
          calibration.words, kLeastCalibrationWords);
  LogisticRegression<4> words;
  for (const ConfidenceExample& example : examples) {
    const std::vector<WordLogits> logits = word_logits(example.translation);
    for (size_t i = 0; i < logits.size(); ++i)
      words.add({logits[i].own, logits[i].sentence, logits[i].neighbours, 1},
                example.outcome.kept[i] ? 1.0 : 0.0);
  }
  const auto [own, sentence, neighbours, constant] = words.fit();
  calibration.word = {own, sentence, neighbours, constant};
  LogisticRegression<2> sentences;
  for (const ConfidenceExample& example : examples) {
    const std::vector<double> of_words = calibration.words_of(example.translation);
    if (!of_words.empty()) sentences.add({mean_logit(of_words), 1}, example.outcome.share());
  }
  const auto [mean, shift] = sentences.fit();
  calibration.sentence = {mean, shift};
  return calibration;
}

void Confidences::add(const ConfidenceExample& example, const ConfidenceCalibration* calibration) {
  const WordProbabilities& translation = example.translation;
  if (calibration) {
    const std::vector<double> own = calibration->words_of(translation);
    sentences.push_back(calibration->sentence_of(own));
    words.insert(words.end(), own.begin(), own.end());
    return;
  }
  for (const double value : translation.log_probabilities) words.push_back(std::exp(value));
  sentences.push_back(std::exp(translation.mean_token_log_probability));
}

Confidences outcomes_of(std::span<const ConfidenceExample> examples) {
  Confidences outcomes;
  for (const ConfidenceExample& example : examples) {
    for (const bool kept : example.outcome.kept) outcomes.words.push_back(kept ? 1 : 0);
    outcomes.sentences.push_back(example.outcome.share());
  }
  return outcomes;
}

}  // namespace heed::generate
