#include "heed/engine/detected_source.h"

#include "heed/base/error.h"
#include "heed/detect/features.h"
#include "heed/text/language_codes.h"

namespace heed::engine {
namespace {

/// What a language needs to be translated from although another is more probable.
constexpr double kLeastProbability = 0.2;

bool has_letters(std::string_view text) {
  detect::Features features;
  detect::extract_features(text, features);
  return !features.pages.empty();
}

/// Models that have one code for all of Norway call it "no".
std::string code_of_detected(const std::vector<std::string>& codes, const std::string& language) {
  std::string code = text::code_of_language(codes, language);
  if (code.empty() && (language == "nb" || language == "nn"))
    code = text::code_of_language(codes, "no");
  return code;
}

std::string short_list(const std::vector<std::string>& codes) {
  std::vector<std::string> names;
  for (const std::string& code : codes) names.push_back(text::short_language(code));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

DetectedSource detect_source(std::string_view text, const std::vector<std::string>& codes) {
  const std::vector<DetectedLanguage> detected = detect_language(text);
  if (detected.empty() && !has_letters(text)) return {codes.front()};
  require_input(!detected.empty(),
                "the language cannot be told: heed does not know the script; texts can be "
                "translated from {}",
                short_list(codes));
  for (const DetectedLanguage& language : detected) {
    if (language.probability < kLeastProbability) break;
    if (std::string code = code_of_detected(codes, language.code); !code.empty())
      return {std::move(code), language};
  }
  fail_input("the text seems to be in {} ({:.0f}%), expected a language of {}",
             detected.front().code, 100 * detected.front().probability, short_list(codes));
}

text::LanguagePair with_detected_source(text::LanguagePair languages, std::string_view text,
                                        const text::TranslationTokenizer& tokenizer) {
  if (languages.source != kDetectSource) return languages;
  const std::vector<std::string> codes = text::names_of(tokenizer.languages().source_codes());
  require_input(!codes.empty(),
                "the source language is \"{}\", and the model has no source languages to choose "
                "from: leave it out",
                kDetectSource);
  languages.source = detect_source(text, codes).code;
  return languages;
}

}  // namespace heed::engine
