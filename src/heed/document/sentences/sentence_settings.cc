#include "heed/document/sentences/sentence_settings.h"

#include <nlohmann/json.hpp>

#include "heed/base/display.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/utf8.h"
#include "heed/document/sentences/abbreviations.h"

namespace heed::document {
namespace {

constexpr const char* kMaxSourceTokens = "max_source_tokens";
constexpr const char* kAbbreviations = "abbreviations";
constexpr const char* kEndsBeforeCapital = "ends_before_capital";
constexpr const char* kInsideBeforeSmallLetter = "inside_before_small_letter";

std::string utf8(const std::u32string& marks) {
  std::string text;
  for (const char32_t mark : marks) append_utf8(text, mark);
  return text;
}

/// The object in a file; empty if there is none.
nlohmann::json object_in(const std::filesystem::path& file) {
  if (!path_exists(file)) return nlohmann::json::object();
  nlohmann::json json = parse_json(read_file(file), file.string());
  require(json.is_object(), "{}: expected an object", file.string());
  return json;
}

}  // namespace

SentenceSettings read_sentence_settings(const std::filesystem::path& directory) {
  SentenceSettings settings;
  const std::filesystem::path file = directory / kSentencesFile;
  const nlohmann::json json = object_in(file);
  constexpr int64_t kMost = int64_t{1} << 31;
  if (json.contains(kMaxSourceTokens))
    settings.max_source_tokens =
        integer_of(json[kMaxSourceTokens], kMaxSourceTokens, file.string(), 0, kMost);
  const auto marks = [&](const char* key) {
    return code_points(get_or<std::string>(json, key, {}, file.string()));
  };
  settings.learned = {
      .abbreviations = get_or<std::vector<std::string>>(json, kAbbreviations, {}, file.string()),
      .ends_before_capital = marks(kEndsBeforeCapital),
      .inside_before_small_letter = marks(kInsideBeforeSmallLetter)};
  const std::filesystem::path tokenizer = directory / "tokenizer_config.json";
  const nlohmann::json config = object_in(tokenizer);
  for (const char* key : {"source_lang", "src_lang"}) {  // of Marian; of NLLB, mBART and M2M-100
    if (!config.contains(key) || !config[key].is_string()) continue;
    const auto language = config[key].get<std::string>();
    if (LanguageRules::knows(language)) settings.source_language = language;
  }
  return settings;
}

std::string text_of(const SentenceSettings& settings) {
  const LearnedRules& learned = settings.learned;
  return dump_json(nlohmann::ordered_json{{kMaxSourceTokens, settings.max_source_tokens},
                                          {kEndsBeforeCapital, utf8(learned.ends_before_capital)},
                                          {kInsideBeforeSmallLetter,
                                           utf8(learned.inside_before_small_letter)},
                                          {kAbbreviations, learned.abbreviations}},
                   {.indent = 2}) +
         "\n";
}

}  // namespace heed::document
