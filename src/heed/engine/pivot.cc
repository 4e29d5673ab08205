#include "heed/engine/pivot.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/engine/confidence/candidate_confidence.h"
#include "heed/text/language_codes.h"

namespace heed::engine {
namespace {

/// A model's code of the language between; empty where the model has no choice.
std::string own_code_of(const std::string& via, const std::vector<std::string>& codes,
                        const char* what) {
  if (via.empty() || codes.empty()) return {};
  std::string code = text::code_of_language(codes, via);
  if (code.empty()) code = text::code_of_language(codes, text::short_language(via));
  require_input(!code.empty(), "via is {}, which is no language that the model translates {}",
                quoted(via), what);
  return code;
}

void require_other(const std::string& via, const std::string& language, const char* name) {
  require_input(via.empty() || language.empty() ||
                    text::short_language(via) != text::short_language(language),
                "via is {}, which is the {} language, expected another one", quoted(via), name);
}

/// Confidence that was calibrated for the two steps with one model.
void add_pivoted_confidence(const LoadedModel& model,
                            const generate::ConfidenceCalibration& calibration,
                            std::vector<Translation>& translations) {
  for (Translation& translation : translations)
    for (Candidate& candidate : translation.candidates)
      add_confidence(model, calibration, candidate);
}

}  // namespace

bool has_pivot(const TranslateOptions& options) { return !options.via.empty() || options.then; }

TranslateOptions first_step(const Model& first, const TranslateOptions& options) {
  require_input(options.glossary.empty(),
                "the translation has two steps, by via or then, and a glossary is of one");
  require_input(options.then || !first.languages().empty(),
                "via is {}, and the model has no choice of languages: then names a second model",
                quoted(options.via));
  require_other(options.via, options.source_language, "source");
  TranslateOptions step = options;
  step.via.clear();
  step.then = nullptr;
  step.confidence = false;
  step.search.n_best = 1;
  step.target_language = own_code_of(options.via, first.languages(), "into");
  return step;
}

TranslateOptions second_step(const Model& second, const TranslateOptions& options) {
  require_other(options.via, options.target_language, "target");
  TranslateOptions step = options;
  step.via.clear();
  step.then = nullptr;
  step.search.scores |= options.confidence;
  step.confidence = false;
  step.source_language = own_code_of(options.via, second.source_languages(), "from");
  return step;
}

void compose_alignment(const std::vector<AlignedWords>& first, std::vector<AlignedWords>& second) {
  std::vector<AlignedWords> composed;
  for (const AlignedWords& pair : second) {
    const auto before = std::ranges::find(first, pair.source, &AlignedWords::target);
    if (before != first.end()) composed.push_back({before->source, pair.target});
  }
  second = std::move(composed);
}

std::vector<Translation> translate_via(const Model& first, const std::vector<std::string>& lines,
                                       const TranslateOptions& options, int64_t first_number) {
  const Model& second = options.then ? *options.then : first;
  const generate::ConfidenceCalibration* calibration = nullptr;
  if (options.confidence) {
    require_input(!options.then,
                  "confidence was requested, and there is no calibration of two models");
    calibration = &calibration_for(loaded(first),
                                   {options.source_language, options.target_language, options.via});
  }
  const TranslateOptions from = first_step(first, options), into = second_step(second, options);
  second.translate_batch({}, into);  // whether it translates with these options
  std::vector<Translation> between = first.translate_batch(lines, from, first_number);
  std::vector<std::string> pivots;
  for (const Translation& translation : between) pivots.push_back(translation.text());
  std::vector<Translation> translations = second.translate_batch(pivots, into, first_number);
  for (size_t i = 0; i < translations.size(); ++i) {
    translations[i].source = std::move(between[i].source);
    translations[i].pivot = std::move(pivots[i]);
    if (between[i].candidates.empty()) continue;
    for (Candidate& candidate : translations[i].candidates)
      compose_alignment(between[i].candidates.front().alignment, candidate.alignment);
  }
  if (calibration) add_pivoted_confidence(loaded(first), *calibration, translations);
  return translations;
}

}  // namespace heed::engine
