#include "heed/detect/features.h"

#include <algorithm>
#include <array>
#include <string>

#include "heed/base/utf8.h"
#include "heed/text/unicode/normal_forms.h"
#include "heed/text/unicode/properties.h"

namespace heed::detect {
namespace {

constexpr char32_t kEdge = ' ';  // of a word

const text::CharSet& letters() {
  static const text::CharSet set = [] {
    text::CodePointRanges ranges = *text::property_named("L");
    ranges.add(*text::property_named("M"));
    return text::CharSet(ranges);
  }();
  return set;
}

bool is_apostrophe(char32_t value) { return value == '\'' || value == U'’' || value == U'ʼ'; }

char32_t computed_lower(char32_t value) {
  std::string bytes;
  text::append_lower_case(bytes, value);
  return code_point_at(bytes, 0).value;
}

/// The first code point of the lower case; from a table for Latin, Greek and Cyrillic.
char32_t lower(char32_t value) {
  static const std::array<char32_t, 0x530> table = [] {
    std::array<char32_t, 0x530> lower_case{};
    for (char32_t letter = 0; letter < lower_case.size(); ++letter)
      lower_case[letter] = computed_lower(letter);
    return lower_case;
  }();
  return value < table.size() ? table[value] : computed_lower(value);
}

/// Whether a combining mark of Latin, Greek and Cyrillic stands in the text.
bool has_combining_mark(std::string_view text) {
  return text.find('\xCC') != std::string_view::npos || text.find('\xCD') != std::string_view::npos;
}

constexpr uint32_t kFirst = 0x811C9DC5, kPrime = 0x01000193;  // FNV-1a, by code points

uint32_t extended(uint32_t hash, char32_t letter) {
  hash = (hash ^ static_cast<uint32_t>(letter)) * kPrime;
  return hash ^ (hash >> 15);
}

/// Adds what one word gives, `word` with its edges.
void add_word(const std::u32string& word, std::vector<uint32_t>& hashes) {
  for (size_t begin = 0; begin + 1 < word.size(); ++begin) {
    uint32_t hash = kFirst;
    const size_t end = std::min(word.size(), begin + kLongestNgram);
    for (size_t i = begin; i < end; ++i) {
      hash = extended(hash, word[i]);
      if (i > begin || word[begin] != kEdge) hashes.push_back(hash);
    }
  }
  if (word.size() <= kLongestNgram) return;
  uint32_t hash = kFirst;
  for (const char32_t letter : word) hash = extended(hash, letter);
  hashes.push_back(hash);
}

}  // namespace

void extract_features(std::string_view text, Features& features) {
  features.hashes.clear();
  features.pages.clear();
  std::string composed;
  if (has_combining_mark(text)) {
    size_t at_start = 0;
    composed = with_replacements(text.substr(0, 4 * kMostLetters));
    composed = text::normal_form(composed, text::NormalForm::nfc, at_start);
    text = composed;
  }
  std::u32string word(1, kEdge);
  const auto end_word = [&] {
    while (word.size() > 1 && word.back() == '\'') word.pop_back();
    if (word.size() > 1) {
      word.push_back(kEdge);
      add_word(word, features.hashes);
    }
    word.assign(1, kEdge);
  };
  for (size_t position = 0; position < text.size() && features.pages.size() < kMostLetters;) {
    const CodePoint point = code_point_at(text, position);
    position += point.length;
    if (letters().contains(point.value)) {
      word.push_back(lower(point.value));
      features.pages.push_back(static_cast<uint16_t>(point.value / kPageSize));
    } else if (is_apostrophe(point.value) && word.size() > 1) {
      word.push_back('\'');
    } else {
      end_word();
    }
  }
  end_word();
}

}  // namespace heed::detect
