#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/data/pair_filter.h"

namespace heed::data {

/// What is asked of the text of a pair.
struct TextLimits {
  bool drop_copied = false;
  bool drop_duplicates = false;
  bool drop_mojibake = false;
  double min_language_probability = 0;  // 0: no language is asked for

  bool any() const {
    return drop_copied || drop_duplicates || drop_mojibake || min_language_probability > 0;
  }
};

/// Judges pairs by their text.
class TextFilter {
 public:
  explicit TextFilter(TextLimits limits) : limits_(limits) {}

  /// Why a pair is dropped for itself, if it is. `source` and `target` are the languages of its
  /// sides as the identifier names them; a side without letters is in any language. Any number of
  /// threads may ask at once.
  std::optional<Drop> problem(const SentencePair& pair, const std::string& source,
                              const std::string& target) const;
  /// Whether duplicates are dropped, and the pair of this direction, a number, came before.
  bool repeats(const SentencePair& pair, uint64_t direction);

 private:
  bool in_language(std::string_view text, const std::string& language) const;

  TextLimits limits_;
  /// Hashes of the pairs so far, in a table of which at most half is filled; 0: nothing. Unequal
  /// pairs share a hash once in 2^64 comparisons.
  std::vector<uint64_t> seen_ = std::vector<uint64_t>(1024);
  size_t count_ = 0;
};

}  // namespace heed::data
