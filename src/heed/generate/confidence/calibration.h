#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/generate/confidence/word_probabilities.h"

namespace heed::generate {

/// The file of a model directory with its calibrations.
inline constexpr const char* kConfidenceFile = "confidence.json";

/// The translations that a calibration holds for: the languages of a multilingual model, and the
/// one between them of a translation in two steps. Empty: there is no such choice.
struct CalibratedLanguages {
  std::string source = {}, target = {}, via = {};

  bool operator==(const CalibratedLanguages&) const = default;
  /// " from \"en\" into \"fr\""; empty without languages.
  std::string text() const;
};

/// Turns the probabilities of a model into those with which its words are right: Platt scaling
/// (Platt 1999) of x = log(p / (1 - p)), the logit of the model's probability p of a word, which is
/// clipped to [0.000001, 0.9999]. The neighbours of the word and the sentence count as well:
///
///     logit(confidence) = own * x + sentence * mean(x) + neighbours * (before + after) + constant
///
/// where a neighbour that is missing is mean(x). The confidence of a sentence is that of its words'
/// mean m: logit(confidence) = mean * logit(m) + constant.
struct ConfidenceCalibration {
  struct Word {
    double own = 1, sentence = 0, neighbours = 0, constant = 0;
  } word = {};
  struct Sentence {
    double mean = 1, constant = 0;
  } sentence = {};
  CalibratedLanguages languages = {};
  int64_t words = 0, sentences = 0;  // of the held-out text

  /// The confidence of each word.
  std::vector<double> words_of(const WordProbabilities& translation) const;
  /// That of a sentence with these words; 0 without words.
  double sentence_of(const std::vector<double>& words) const;
};

/// What the calibration reads of each word: its own logit, the mean, and the neighbours.
struct WordLogits {
  double own, sentence, neighbours;
};
std::vector<WordLogits> word_logits(const WordProbabilities& translation);

/// The logit of the mean of the confidences of a sentence's words, of which there is one at least.
double mean_logit(const std::vector<double>& words);

/// All calibrations of a model.
using ConfidenceCalibrations = std::vector<ConfidenceCalibration>;

/// The calibration for these languages, or one that was made without any; null if there is none.
const ConfidenceCalibration* find_calibration(const ConfidenceCalibrations& calibrations,
                                              const CalibratedLanguages& languages);
/// Replaces the calibration of the same languages, or adds it.
void set_calibration(ConfidenceCalibrations& calibrations, ConfidenceCalibration calibration);

/// Reads kConfidenceFile; empty if there is none. Throws Error, naming file and key, when it is
/// damaged.
ConfidenceCalibrations read_calibrations(const std::filesystem::path& directory);
/// The text of kConfidenceFile.
std::string text_of(const ConfidenceCalibrations& calibrations);

}  // namespace heed::generate
