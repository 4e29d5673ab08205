#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace heed::detect {

/// What the identifier reads of a text: letters in lower case, with the marks on them; everything
/// else ends a word.
struct Features {
  /// Hashes of the n-grams of letters within a word, whose begin and end count as a letter, and of
  /// the longer words. An n-gram that comes up twice is there twice.
  std::vector<uint32_t> hashes;
  /// Of each letter, its page: the code point divided by kPageSize.
  std::vector<uint16_t> pages;
};

constexpr uint32_t kPageSize = 128;
constexpr uint32_t kPages = 0x110000 / kPageSize;
/// Letters of a text that are read: no language takes more to be told.
constexpr size_t kMostLetters = 2000;
/// Letters of the longest n-grams.
constexpr size_t kLongestNgram = 5;

/// The features of a text of any bytes, which replace those in `features`.
void extract_features(std::string_view text, Features& features);

}  // namespace heed::detect
