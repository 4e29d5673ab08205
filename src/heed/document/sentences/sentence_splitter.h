#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/document/document.h"
#include "heed/document/sentences/abbreviations.h"

namespace heed::document {

/// Finds the sentences of texts. The rules are those of Unicode (UAX #29, SB6 to SB11), made
/// stricter: a sentence ends before white space alone, unless its script has none, and a full stop
/// that belongs to an abbreviation, an initial, an ordinal or the number of an item of a list ends
/// none. LearnedRules add marks that end sentences, and take away some.
class SentenceSplitter {
 public:
  /// For texts in this language, as LanguageRules reads it.
  explicit SentenceSplitter(std::string_view language = {}, LearnedRules learned = {})
      : rules_(language, std::move(learned)) {}

  /// The sentences of a text of well-formed UTF-8, in order. Between them there is white space
  /// alone, or nothing. Ends of lines end sentences.
  std::vector<ByteRange> split(std::string_view text) const;

 private:
  LanguageRules rules_;
};

}  // namespace heed::document
