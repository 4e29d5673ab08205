#include "heed/text/spaced_words.h"

#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

CodePointRanges spaced_words() {
  CodePointRanges spaced, others = unspaced_scripts();
  for (const char* category : {"l", "m", "n"}) spaced.add(property_named(category).value());
  others.add(0x30FC, 0x30FC);  // the long vowel of Hiragana and Katakana
  return spaced.intersected(others.inverted());
}

}  // namespace

CodePointRanges unspaced_scripts() {
  CodePointRanges scripts;
  for (const char* script : {"han", "hiragana", "katakana", "thai"})
    scripts.add(property_named(script).value());
  scripts.add(0x0E80, 0x0EFF);  // Lao
  scripts.add(0x1000, 0x109F);  // Burmese
  scripts.add(0x1780, 0x17FF);  // Khmer
  return scripts;
}

bool is_in_spaced_word(char32_t value) {
  static const CharSet set(spaced_words());
  return set.contains(value);
}

bool begins_in_spaced_word(std::string_view text) {
  return !text.empty() && is_in_spaced_word(code_point_at(text, 0).value);
}

bool ends_in_spaced_word(std::string_view text) {
  if (text.empty()) return false;
  return is_in_spaced_word(code_point_at(text, code_point_begin(text, text.size() - 1)).value);
}

}  // namespace heed::text
