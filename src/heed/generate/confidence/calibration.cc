#include "heed/generate/confidence/calibration.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"

namespace heed::generate {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double logit(double p) {
  constexpr double kLeast = 1e-6, kMost = 1 - 1e-4;
  p = std::clamp(p, kLeast, kMost);
  return std::log(p / (1 - p));
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// A number that keeps confidences finite.
double coefficient(const nlohmann::json& object, const char* key, const std::string& file) {
  constexpr double kMost = 1e6;
  const auto value = get<double>(object, key, file);
  require(std::abs(value) <= kMost, "{}: {} is {}, expected -{} to {}", file, key, value, kMost,
          kMost);
  return value;
}

const nlohmann::json& object_at(const nlohmann::json& parent, const char* key,
                                const std::string& file) {
  require(parent.is_object() && parent.contains(key) && parent[key].is_object(),
          "{}: {} is missing or no object", file, key);
  return parent[key];
}

ConfidenceCalibration read_calibration(const nlohmann::json& json, const std::string& file) {
  const nlohmann::json& word = object_at(json, "word", file);
  const nlohmann::json& sentence = object_at(json, "sentence", file);
  constexpr int64_t kMostCounted = int64_t{1} << 40;
  const auto count = [&](const char* key) {
    return json.contains(key) ? integer_of(json[key], key, file, 0, kMostCounted) : 0;
  };
  return {.word = {.own = coefficient(word, "own", file),
                   .sentence = coefficient(word, "sentence", file),
                   .neighbours = coefficient(word, "neighbours", file),
                   .constant = coefficient(word, "constant", file)},
          .sentence = {.mean = coefficient(sentence, "mean", file),
                       .constant = coefficient(sentence, "constant", file)},
          .languages = {.source = get_or<std::string>(json, "source_language", "", file),
                        .target = get_or<std::string>(json, "target_language", "", file),
                        .via = get_or<std::string>(json, "via", "", file)},
          .words = count("words"),
          .sentences = count("sentences")};
}

}  // namespace

double mean_logit(const std::vector<double>& words) { return logit(mean_of(words)); }

std::string CalibratedLanguages::text() const {
  std::string text;
  for (const auto& [word, language] :
       {std::pair{"from", &source}, std::pair{"into", &target}, std::pair{"via", &via}})
    if (!language->empty()) text += fmt::format(" {} {}", word, quoted(*language));
  return text;
}

std::vector<WordLogits> word_logits(const WordProbabilities& translation) {
  std::vector<double> own;
  for (const double value : translation.log_probabilities) own.push_back(logit(std::exp(value)));
  if (own.empty()) return {};
  const double mean = mean_of(own);
  std::vector<WordLogits> logits;
  for (size_t i = 0; i < own.size(); ++i)
    logits.push_back(
        {.own = own[i],
         .sentence = mean,
         .neighbours = (i == 0 ? mean : own[i - 1]) + (i + 1 == own.size() ? mean : own[i + 1])});
  return logits;
}

std::vector<double> ConfidenceCalibration::words_of(const WordProbabilities& translation) const {
  std::vector<double> confidences;
  for (const WordLogits& x : word_logits(translation))
    confidences.push_back(sigmoid(word.own * x.own + word.sentence * x.sentence +
                                  word.neighbours * x.neighbours + word.constant));
  return confidences;
}

double ConfidenceCalibration::sentence_of(const std::vector<double>& of_words) const {
  if (of_words.empty()) return 0;
  return sigmoid(sentence.mean * mean_logit(of_words) + sentence.constant);
}

const ConfidenceCalibration* find_calibration(const ConfidenceCalibrations& calibrations,
                                              const CalibratedLanguages& languages) {
  const auto of = [&](const CalibratedLanguages& wanted) -> const ConfidenceCalibration* {
    const auto found = std::ranges::find(calibrations, wanted, &ConfidenceCalibration::languages);
    return found == calibrations.end() ? nullptr : &*found;
  };
  const ConfidenceCalibration* own = of(languages);
  return own || !languages.via.empty() ? own : of({});
}

void set_calibration(ConfidenceCalibrations& calibrations, ConfidenceCalibration calibration) {
  std::erase_if(calibrations, [&](const ConfidenceCalibration& one) {
    return one.languages == calibration.languages;
  });
  calibrations.push_back(std::move(calibration));
}

ConfidenceCalibrations read_calibrations(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / kConfidenceFile;
  if (!path_exists(path)) return {};
  const std::string file = path.string();
  const nlohmann::json json = parse_json(read_file(path), file);
  require(json.is_object() && json.contains("calibrations") && json["calibrations"].is_array(),
          "{}: expected an object with an array \"calibrations\"", file);
  ConfidenceCalibrations calibrations;
  for (const nlohmann::json& one : json["calibrations"])
    set_calibration(calibrations, read_calibration(one, file));
  return calibrations;
}

std::string text_of(const ConfidenceCalibrations& calibrations) {
  nlohmann::ordered_json all = nlohmann::json::array();
  for (const ConfidenceCalibration& one : calibrations) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const auto& [key, language] : {std::pair{"source_language", &one.languages.source},
                                        std::pair{"target_language", &one.languages.target},
                                        std::pair{"via", &one.languages.via}})
      if (!language->empty()) json[key] = *language;
    json["word"] = {{"own", one.word.own},
                    {"sentence", one.word.sentence},
                    {"neighbours", one.word.neighbours},
                    {"constant", one.word.constant}};
    json["sentence"] = {{"mean", one.sentence.mean}, {"constant", one.sentence.constant}};
    json["words"] = one.words;
    json["sentences"] = one.sentences;
    all.push_back(std::move(json));
  }
  return dump_json(nlohmann::ordered_json{{"calibrations", std::move(all)}}, {.indent = 2}) + "\n";
}

}  // namespace heed::generate
