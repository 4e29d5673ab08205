#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/export.h"
#include "heed/model.h"
#include "heed/translation.h"

// How probably a translation is right: TranslateOptions::confidence.
//
// The confidence of a word is the probability that the word is kept when a person corrects the
// translation, as word-level quality estimation labels words (Specia et al. 2018): a word is right
// if the edit alignment of the translation to a reference keeps it, whatever its letter case and
// the punctuation around it. The confidence of a sentence is the expected share of its words that
// are kept, of those of the longer of translation and reference, so that missing words count: the
// probability that a word of it, drawn at random, is right.
//
// A model's own probabilities are not these. They are calibrated with held-out text that has
// references, by logistic regression on few coefficients (Platt 1999; Guo et al. 2017), which the
// file confidence.json of the model directory keeps. `heed train --task translation` makes it of
// its validation text, calibrate_confidence() for any other model. It holds for text like that with
// which it was made; that of a multilingual model holds for the languages that it was made with.
namespace heed {

/// How far confidences are from what references say.
struct ConfidenceReport {
  int64_t sentences = 0, words = 0;  // of the translations
  double kept_words = 0;             // the share of the words that is kept
  double kept_sentences = 0;         // the mean share of the sentences
  /// Expected calibration errors (Guo et al. 2017, equation 3, with 15 bins) of the confidences.
  double word_error = 0;
  double sentence_error = 0;  // likewise
  /// The same of the model's own probabilities of words, and of the geometric means of those of a
  /// sentence's tokens.
  double uncalibrated_word_error = 0;
  double uncalibrated_sentence_error = 0;  // likewise
};

/// Whether a person should read the translation: its confidence is below `min_confidence`, or the
/// limit of tokens cut it off, as it does with loops, whose words look probable.
HEED_EXPORT bool should_be_read(const Candidate& translation, double min_confidence);

/// A translation for a page of confidence_page().
struct TranslationToReview {
  int64_t number = 0;     // of the line or the sentence
  std::string source;     // its text
  Candidate translation;  // with its confidence
};

/// An HTML page, one file without scripts, for who reads translations before they are used: beside
/// each source its translation, where words with a confidence below `min_confidence` are underlined
/// and what should_be_read() is marked.
HEED_EXPORT std::string confidence_page(const std::vector<TranslationToReview>& translations,
                                        double min_confidence);

/// Translates held-out text and compares the confidences of the best translations with references,
/// one for each source. Empty lines are left out. Throws Error as Model::translate_batch(), when
/// there is no calibration, and when the numbers of lines differ.
HEED_EXPORT ConfidenceReport evaluate_confidence(const Model& model,
                                                 const std::vector<std::string>& sources,
                                                 const std::vector<std::string>& references,
                                                 const TranslateOptions& options = {});

/// Calibrates on held-out text, with the languages of `options`, and writes confidence.json into
/// the directory that the model was loaded from, whose calibrations for other languages stay. A
/// Model that is loaded from there afterwards has it. The report is that of text that was not
/// calibrated on: five times a fifth is left out. Throws Error likewise, when the translations have
/// fewer than 200 words, and when the model was not loaded from a directory that can be written.
HEED_EXPORT ConfidenceReport calibrate_confidence(const Model& model,
                                                  const std::vector<std::string>& sources,
                                                  const std::vector<std::string>& references,
                                                  const TranslateOptions& options = {});

}  // namespace heed
