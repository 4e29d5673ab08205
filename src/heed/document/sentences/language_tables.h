#pragma once

#include <span>
#include <string_view>

namespace heed::document {

/// Words of a language in lower case, separated by spaces; abbreviations without their last full
/// stop. They are facts of the languages; most are in one of Moses' nonbreaking prefixes, CLDR's
/// suppressions and pysbd's lists.
struct LanguageTable {
  std::string_view code, iso3;                                  // "de", "deu"
  bool ordinals;                                                // see LanguageRules::has_ordinals()
  std::string_view before_name, before_number, inside, at_end;  // see AbbreviationKind
  std::string_view starters;                                    // see begins_sentences()
};

std::span<const LanguageTable> language_tables();

}  // namespace heed::document
