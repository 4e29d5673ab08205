#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::metrics {

/// Where the words of a text lie: white space separates them. In scripts that are written without
/// spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar) each character is a word, with the
/// marks and punctuation behind it.
struct WordRange {
  size_t begin = 0, end = 0;  // bytes
  bool operator==(const WordRange&) const = default;
};
std::vector<WordRange> word_ranges(std::string_view text);

/// Which words of a translation a reference confirms, as the labels of word-level quality
/// estimation (Specia et al. 2018, "Findings of the WMT 2018 Shared Task on Quality Estimation",
/// section 3) say it: those that the edit alignment keeps, that of Levenshtein's distance, without
/// shifts. Letter case does not count, nor does punctuation around a word. Of alignments with as
/// few edits the one that keeps the earliest words of the translation counts.
struct KeptWords {
  std::vector<bool> kept;  // of each word of the translation
  size_t reference_words = 0;

  /// The kept words over the words of the longer of the two texts, so that missing words count; 1
  /// for two empty texts.
  double share() const;
};
KeptWords kept_words(std::string_view translation, std::string_view reference);

}  // namespace heed::metrics
