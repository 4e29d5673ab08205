#include "heed/engine/confidence/candidate_confidence.h"

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/engine/detected_source.h"

namespace heed::engine {

const generate::ConfidenceCalibration& calibration_for(
    const LoadedModel& model, const generate::CalibratedLanguages& languages) {
  const auto* found = generate::find_calibration(model.confidence.value(), languages);
  require_input(
      found,
      "{} has no calibration of its confidence{} ({}), and the probabilities of a model "
      "are not those with which it is right: `heed evaluate confidence --calibrate` makes "
      "one of held-out text and its translations",
      model.path.string(), languages.text(), generate::kConfidenceFile);
  return *found;
}

void add_confidence(const LoadedModel& model, const generate::ConfidenceCalibration& calibration,
                    Candidate& candidate) {
  const generate::WordProbabilities translation = generate::word_probabilities(
      *model.translation_tokenizer(), candidate.text, candidate.hypothesis);
  const std::vector<double> words = calibration.words_of(translation);
  candidate.confidence = calibration.sentence_of(words);
  for (size_t i = 0; i < words.size(); ++i) {
    const auto [begin, end] = translation.words[i];
    candidate.words.push_back({candidate.text.substr(begin, end - begin), words[i]});
  }
}

void add_confidence(const LoadedModel& model, const TranslateOptions& options,
                    const std::vector<std::string>& lines, std::vector<Translation>& translations) {
  const text::LanguagePair pair{options.source_language, options.target_language};
  parallel_for(std::ssize(translations), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      if (translations[i].candidates.empty()) continue;
      const text::LanguagePair own =
          with_detected_source(pair, lines[i], *model.translation_tokenizer());
      const generate::ConfidenceCalibration& calibration =
          calibration_for(model, {.source = own.source, .target = own.target, .via = {}});
      for (Candidate& candidate : translations[i].candidates)
        add_confidence(model, calibration, candidate);
    }
  });
}

}  // namespace heed::engine
