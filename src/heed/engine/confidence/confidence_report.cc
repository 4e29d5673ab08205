#include <algorithm>
#include <functional>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/confidence.h"
#include "heed/engine/confidence/candidate_confidence.h"
#include "heed/engine/detected_source.h"
#include "heed/engine/system_errors.h"
#include "heed/generate/confidence/fit_calibration.h"
#include "heed/metrics/calibration_error.h"

namespace heed {
namespace {

using engine::kDetectSource;
using generate::ConfidenceCalibration, generate::ConfidenceExample, generate::Confidences;

generate::CalibratedLanguages calibrated_languages(const TranslateOptions& options) {
  require_input(options.source_language != kDetectSource,
                "the source language is \"{}\", and a calibration is that of one: name it",
                kDetectSource);
  return {.source = options.source_language, .target = options.target_language, .via = options.via};
}

/// The best translations of the sources that have words.
std::vector<ConfidenceExample> translated_examples(const Model& model,
                                                   const std::vector<std::string>& sources,
                                                   const std::vector<std::string>& references,
                                                   TranslateOptions options) {
  require_input(sources.size() == references.size(), "{} sources have {} references",
                sources.size(), references.size());
  require_input(!options.then, "confidence is calibrated of one model, and `then` is another");
  options.confidence = false;
  options.search.scores = true;
  options.search.n_best = 1;
  const std::vector<Translation> translations = model.translate_batch(sources, options);
  const text::TranslationTokenizer& tokenizer = *engine::loaded(model).translation_tokenizer();
  std::vector<ConfidenceExample> examples;
  for (size_t i = 0; i < translations.size(); ++i) {
    if (translations[i].candidates.empty()) continue;
    const Candidate& best = translations[i].candidates.front();
    examples.push_back(
        generate::confidence_example(tokenizer, best.text, best.hypothesis, references[i]));
  }
  return examples;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<size_t>(values.size(), 1));
}

/// `calibration_of` gives that of example i.
ConfidenceReport report_of(
    const std::vector<ConfidenceExample>& examples,
    const std::function<const ConfidenceCalibration&(size_t)>& calibration_of) {
  Confidences raw, calibrated;
  for (size_t i = 0; i < examples.size(); ++i) {
    raw.add(examples[i], nullptr);
    calibrated.add(examples[i], &calibration_of(i));
  }
  const Confidences outcomes = generate::outcomes_of(examples);
  using metrics::expected_calibration_error;
  return {
      .sentences = std::ssize(examples),
      .words = generate::count_words(examples),
      .kept_words = mean_of(outcomes.words),
      .kept_sentences = mean_of(outcomes.sentences),
      .word_error = expected_calibration_error(calibrated.words, outcomes.words),
      .sentence_error = expected_calibration_error(calibrated.sentences, outcomes.sentences),
      .uncalibrated_word_error = expected_calibration_error(raw.words, outcomes.words),
      .uncalibrated_sentence_error = expected_calibration_error(raw.sentences, outcomes.sentences)};
}

/// For each fifth of the examples the calibration on the others. Few examples have few words in
/// the rest: then all have that of all.
std::vector<ConfidenceCalibration> cross_calibrations(
    const std::vector<ConfidenceExample>& examples, const ConfidenceCalibration& of_all) {
  constexpr size_t kFolds = 5;
  std::vector<ConfidenceCalibration> calibrations;
  for (size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<ConfidenceExample> rest;
    for (size_t i = 0; i < examples.size(); ++i)
      if (i % kFolds != fold) rest.push_back(examples[i]);
    calibrations.push_back(generate::count_words(rest) < generate::kLeastCalibrationWords
                               ? of_all
                               : generate::fit_calibration(rest));
  }
  return calibrations;
}

}  // namespace

ConfidenceReport evaluate_confidence(const Model& model, const std::vector<std::string>& sources,
                                     const std::vector<std::string>& references,
                                     const TranslateOptions& options) {
  const ConfidenceCalibration& calibration =
      engine::calibration_for(engine::loaded(model), calibrated_languages(options));
  return report_of(translated_examples(model, sources, references, options),
                   [&](size_t) -> const ConfidenceCalibration& { return calibration; });
}

ConfidenceReport calibrate_confidence(const Model& model, const std::vector<std::string>& sources,
                                      const std::vector<std::string>& references,
                                      const TranslateOptions& options) {
  const std::filesystem::path& directory = engine::loaded(model).path;
  require(path_is_directory(directory),
          "{} is not a directory, and a calibration is a file beside the weights",
          directory.string());
  auto calibrations = generate::read_calibrations(directory);
  const auto examples = translated_examples(model, sources, references, options);
  ConfidenceCalibration calibration = generate::fit_calibration(examples);
  const auto of_folds = cross_calibrations(examples, calibration);
  const ConfidenceReport report = report_of(
      examples,
      [&](size_t i) -> const ConfidenceCalibration& { return of_folds[i % of_folds.size()]; });
  calibration.languages = calibrated_languages(options);
  generate::set_calibration(calibrations, std::move(calibration));
  engine::with_system_errors([&] {
    write_file_atomically(directory / generate::kConfidenceFile, generate::text_of(calibrations));
  });
  return report;
}

}  // namespace heed
