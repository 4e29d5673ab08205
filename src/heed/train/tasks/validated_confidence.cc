#include "heed/train/tasks/validated_confidence.h"

#include <nlohmann/json.hpp>

#include "heed/base/json.h"

namespace heed::train {
namespace {

constexpr const char* kName = "an example of confidence";

/// Without the places of words, which the calibration does not read.
generate::ConfidenceExample example_of(const std::string& text) {
  const nlohmann::json json = parse_json(text, kName);
  generate::ConfidenceExample example;
  example.translation.log_probabilities =
      get<std::vector<double>>(json, "log_probabilities", kName);
  for (const int64_t kept : get<std::vector<int64_t>>(json, "kept", kName))
    example.outcome.kept.push_back(kept != 0);
  example.outcome.reference_words =
      static_cast<size_t>(get<int64_t>(json, "reference_words", kName));
  return example;
}

}  // namespace

std::string text_of(const generate::ConfidenceExample& example) {
  nlohmann::json kept = nlohmann::json::array();
  for (const bool one : example.outcome.kept) kept.push_back(one ? 1 : 0);
  return dump_json(nlohmann::json{{"log_probabilities", example.translation.log_probabilities},
                                  {"kept", kept},
                                  {"reference_words", example.outcome.reference_words}});
}

std::vector<checkpoint::NamedFile> calibration_files(const std::vector<std::string>& examples) {
  std::vector<generate::ConfidenceExample> all;
  for (const std::string& text : examples) all.push_back(example_of(text));
  generate::ConfidenceCalibrations calibrations;
  if (generate::count_words(all) >= generate::kLeastCalibrationWords)
    calibrations.push_back(generate::fit_calibration(all));
  return {{generate::kConfidenceFile, generate::text_of(calibrations)}};
}

}  // namespace heed::train
