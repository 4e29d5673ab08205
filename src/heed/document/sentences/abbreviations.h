#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/document/sentences/learned_rules.h"

namespace heed::document {

/// What the full stop of an abbreviation says of the sentence.
enum class AbbreviationKind {
  none,
  before_name,    // "Dr.": never ends a sentence
  before_number,  // "No.": ends one unless a number follows
  inside,         // "Co.": ends one before a word that begins sentences
  at_end,         // "etc.": ends one before any capital
};

/// What is known of a language.
class LanguageRules {
 public:
  /// The rules of a language by its code: "de", or as models have it "de_DE", "deu_Latn". Those of
  /// all languages together if the code is empty; of none if the language is unknown. The
  /// abbreviations of `learned` are of kind `inside`.
  explicit LanguageRules(std::string_view code, LearnedRules learned = {});

  /// Whether there are rules for a language.
  static bool knows(std::string_view code);

  /// Of a word in lower case, without its last full stop: "e.g", "dr".
  AbbreviationKind abbreviation(std::string_view word) const;
  /// Whether sentences often begin with this word, in lower case: articles, pronouns.
  bool begins_sentences(std::string_view word) const;
  /// See LearnedRules.
  bool ends_before_capital(char32_t mark) const {
    return learned_.ends_before_capital.find(mark) != std::u32string::npos;
  }
  bool inside_before_small_letter(char32_t mark) const {
    return learned_.inside_before_small_letter.find(mark) != std::u32string::npos;
  }
  /// Whether a number with a full stop is an ordinal, as in "12. Juni".
  bool has_ordinals() const { return ordinals_; }
  /// Whether it is English, whose pronoun "I" may end a sentence.
  bool is_english() const { return english_; }

 private:
  using Words = std::vector<std::string_view>;  // sorted

  static bool contains(const Words& words, std::string_view word);

  LearnedRules learned_;  // its abbreviations sorted
  Words before_name_, before_number_, inside_, at_end_, starters_;
  bool ordinals_ = false, english_ = false;
};

}  // namespace heed::document
