#include "heed/document/sentences/abbreviations.h"

#include <algorithm>

#include "heed/base/ascii.h"
#include "heed/document/sentences/language_tables.h"

namespace heed::document {
namespace {

void add_words(std::vector<std::string_view>& words, std::string_view list) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    if (end > 0) words.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

/// "deu" of "deu_Latn", "pt" of "pt-BR".
std::string language_of(std::string_view code) {
  return lower_case(code.substr(0, std::min(code.find_first_of("_-"), code.size())));
}

}  // namespace

LanguageRules::LanguageRules(std::string_view code, LearnedRules learned)
    : learned_(std::move(learned)) {
  const std::string language = language_of(code);
  for (const LanguageTable& table : language_tables()) {
    if (!language.empty() && language != table.code && language != table.iso3) continue;
    add_words(before_name_, table.before_name);
    add_words(before_number_, table.before_number);
    add_words(inside_, table.inside);
    add_words(at_end_, table.at_end);
    add_words(starters_, table.starters);
    ordinals_ = ordinals_ || (table.ordinals && !language.empty());
    english_ = english_ || table.code == "en";
    // The semicolon is the Greek question mark.
    if (table.code == "el" && !language.empty()) learned_.ends_before_capital += U";\u037E";
  }
  for (Words* words : {&before_name_, &before_number_, &inside_, &at_end_, &starters_})
    std::ranges::sort(*words);
  std::ranges::sort(learned_.abbreviations);
}

bool LanguageRules::knows(std::string_view code) {
  const std::string language = language_of(code);
  return std::ranges::any_of(language_tables(), [&](const LanguageTable& table) {
    return language == table.code || language == table.iso3;
  });
}

bool LanguageRules::contains(const Words& words, std::string_view word) {
  return std::ranges::binary_search(words, word);
}

AbbreviationKind LanguageRules::abbreviation(std::string_view word) const {
  using enum AbbreviationKind;
  if (contains(before_name_, word)) return before_name;
  if (contains(at_end_, word)) return at_end;
  if (contains(inside_, word)) return inside;
  if (contains(before_number_, word)) return before_number;
  return std::ranges::binary_search(learned_.abbreviations, word) ? inside : none;
}

bool LanguageRules::begins_sentences(std::string_view word) const {
  return contains(starters_, word);
}

}  // namespace heed::document
