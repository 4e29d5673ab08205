#pragma once

#include <cstddef>
#include <string_view>

#include "heed/text/unicode/char_set.h"

namespace heed::text {

/// The scripts that have no spaces between words: Chinese, Japanese, Thai, Lao, Khmer and Burmese.
CodePointRanges unspaced_scripts();

/// Whether a code point is part of a word that spaces separate from others: a letter, mark or
/// number, but not of unspaced_scripts().
bool is_in_spaced_word(char32_t value);

/// Whether valid UTF-8 begins, or ends, inside of such a word. False for an empty text.
bool begins_in_spaced_word(std::string_view text);
bool ends_in_spaced_word(std::string_view text);

/// Whether no such word reaches over byte `position`, at most the size of a text that is valid
/// UTF-8. Where there are no spaces, words may begin everywhere.
inline bool is_between_words(std::string_view text, size_t position) {
  return !ends_in_spaced_word(text.substr(0, position)) ||
         !begins_in_spaced_word(text.substr(position));
}

}  // namespace heed::text
