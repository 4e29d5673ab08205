#pragma once

// The text: words as ids, the first nine tenths for training and the last tenth held out.

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace ladder {

struct Text {
  std::vector<int32_t> words;
  int64_t vocabulary = 0;  // V, including id 0 for all rare words

  std::span<const int32_t> training() const { return {words.data(), words.size() / 10 * 9}; }
  std::span<const int32_t> held_out() const { return std::span(words).subspan(training().size()); }
};

/// Lower-case words; punctuation marks are separate words.
inline std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool mark = std::ispunct(byte) && letter != '\'';
    if ((std::isspace(byte) || mark) && !words.back().empty()) words.emplace_back();
    if (!std::isspace(byte)) words.back() += static_cast<char>(std::tolower(byte));
    if (mark) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// Numbers words by frequency from 1; words beyond the `max_words` most frequent get id 0.
inline Text number(const std::vector<std::string>& words, size_t max_words) {
  std::map<std::string, int64_t> counts;
  for (const std::string& word : words) ++counts[word];
  std::vector<std::pair<int64_t, std::string>> ranked;
  for (const auto& [word, count] : counts) ranked.emplace_back(-count, word);
  std::sort(ranked.begin(), ranked.end());
  std::map<std::string, int32_t> numbers;
  for (size_t i = 0; i < std::min(max_words, ranked.size()); ++i)
    numbers[ranked[i].second] = static_cast<int32_t>(i) + 1;
  Text text{.words = {}, .vocabulary = static_cast<int64_t>(numbers.size()) + 1};
  for (const std::string& word : words)
    text.words.push_back(numbers.contains(word) ? numbers[word] : 0);
  return text;
}

/// Short stories about three children and their things. The grammar follows from the last words,
/// but whose the ball is and which colour it has was said about twenty words before.
inline std::string generated_stories(int stories) {
  const std::vector<std::string> children{"anna", "ben", "clara", "david", "emma", "felix"};
  const std::vector<std::string> things{"ball", "kite", "hat",  "boat",
                                        "drum", "book", "lamp", "coat"};
  const std::vector<std::string> colours{"red", "green", "blue", "white", "black", "brown"};
  const heed::CounterRandom random(7);
  uint64_t draws = 0;
  const auto three_of = [&](auto names) {
    for (size_t i = 0; i < 3; ++i)
      std::swap(names[i], names[i + random.below(draws++, names.size() - i)]);
    names.resize(3);
    return names;
  };
  std::string text;
  for (int story = 0; story < stories; ++story) {
    const auto who = three_of(children), what = three_of(things), colour = three_of(colours);
    for (size_t i = 0; i < 3; ++i) text += who[i] + " has a " + colour[i] + " " + what[i] + " . ";
    for (const size_t i : three_of(std::vector<size_t>{0, 1, 2}))
      text += "the " + what[i] + " of " + who[i] + " is " + colour[i] + " . ";
  }
  return text;
}

/// Throws Error when the file cannot be read or has fewer than 2000 words.
inline Text read(const std::string& path) {
  std::ifstream file(path);
  heed::require(file.good(), "{} cannot be read", path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Text numbered = number(split(text), 2000);
  heed::require(numbered.words.size() >= 2000, "{} has {} words, expected at least 2000", path,
                numbered.words.size());
  return numbered;
}

}  // namespace ladder
