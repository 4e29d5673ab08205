#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/language.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::engine {

/// The source language that stands for the one of the text.
inline constexpr std::string_view kDetectSource = "auto";

/// The language that a translation starts from.
struct DetectedSource {
  std::string code;             // as the translator calls it
  DetectedLanguage language{};  // empty, 0: the text has no letters, and any language will do
};

/// The language of a text, as one of the codes that can be translated from: the most probable of
/// those of at least one fifth. Throws InputError, which lists the codes, when there is none, and
/// when the text is in a script that heed does not know.
DetectedSource detect_source(std::string_view text, const std::vector<std::string>& codes);

/// `languages`, with the source that the text is in if it is kDetectSource. Throws InputError as
/// detect_source() does, and when the model has no languages to choose from.
text::LanguagePair with_detected_source(text::LanguagePair languages, std::string_view text,
                                        const text::TranslationTokenizer& tokenizer);

}  // namespace heed::engine
