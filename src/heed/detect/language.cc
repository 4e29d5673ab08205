#include "heed/language.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/quote.h"
#include "heed/base/text_lines.h"
#include "heed/detect/identifier.h"
#include "heed/detect/train.h"

namespace heed {

namespace detect::embedded {
extern const std::string_view languages_bin;
}

namespace {

/// The places in `languages` of those that are asked for; all if none are.
std::vector<size_t> places_of(std::span<const std::string> asked,
                              const std::vector<std::string>& languages) {
  std::vector<size_t> places;
  if (asked.empty()) {
    places.resize(languages.size());
    std::iota(places.begin(), places.end(), size_t{0});
  }
  for (const std::string& language : asked) {
    const auto found = std::ranges::lower_bound(languages, language);
    if (found == languages.end() || *found != language)
      fail_input("{} is not a language that can be detected, expected some of {}", quoted(language),
                 fmt::join(languages, ", "));
    places.push_back(static_cast<size_t>(found - languages.begin()));
  }
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  return places;
}

}  // namespace

const LanguageIdentifier& LanguageIdentifier::built_in() {
  static const LanguageIdentifier identifier(std::make_shared<detect::Identifier>(
      detect::Identifier::from_bytes(detect::embedded::languages_bin)));
  return identifier;
}

LanguageIdentifier LanguageIdentifier::load(const std::filesystem::path& path) {
  try {
    return LanguageIdentifier(
        std::make_shared<detect::Identifier>(detect::Identifier::from_bytes(read_file(path))));
  } catch (const Error& error) {
    fail("{}: {}", path.string(), error.what());
  }
}

LanguageIdentifier LanguageIdentifier::train(std::span<const std::filesystem::path> files,
                                             const TrainLanguageOptions& options,
                                             const std::function<void(int64_t, double)>& progress) {
  require(options.examples > 0, "the number of examples is {}, expected at least 1",
          options.examples);
  std::vector<detect::LanguageTexts> corpus;
  for (const std::filesystem::path& file : files)
    corpus.push_back({file.stem().string(), read_lines(file)});
  std::ranges::sort(corpus, {}, &detect::LanguageTexts::language);
  detect::TrainOptions asked;
  asked.examples = options.examples;
  asked.seed = options.seed;
  return LanguageIdentifier(
      std::make_shared<detect::Identifier>(detect::train(corpus, asked, progress)));
}

void LanguageIdentifier::save(const std::filesystem::path& path) const {
  write_file_atomically(path, identifier_->bytes());
}

const std::vector<std::string>& LanguageIdentifier::languages() const {
  return identifier_->languages();
}

std::vector<DetectedLanguage> LanguageIdentifier::detect(std::string_view text,
                                                         std::span<const std::string> among) const {
  std::vector<size_t> places = places_of(among, languages());
  std::vector<float> logits(languages().size());
  if (!identifier_->logits(text, logits)) return {};
  std::ranges::sort(places, [&](size_t a, size_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  const double most = logits[places.front()];
  double total = 0;
  std::vector<DetectedLanguage> detected;
  detected.reserve(places.size());
  for (const size_t place : places) {
    detected.push_back({languages()[place], std::exp(logits[place] - most)});
    total += detected.back().probability;
  }
  for (DetectedLanguage& language : detected) language.probability /= total;
  return detected;
}

std::vector<DetectedLanguage> detect_language(std::string_view text,
                                              std::span<const std::string> among) {
  return LanguageIdentifier::built_in().detect(text, among);
}

}  // namespace heed
