#pragma once

// The text of the ladder: words as numbers, most of them to learn from, the last tenth to be
// judged.

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
  int64_t vocabulary = 0;  // V; word 0 stands for all rare ones

  std::span<const int32_t> learned() const { return {words.data(), words.size() / 10 * 9}; }
  std::span<const int32_t> held_out() const { return std::span(words).subspan(learned().size()); }
};

/// Lower-case words, and punctuation marks as words of their own.
inline std::vector<std::string> cut(const std::string& text) {
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

/// Numbers words by their frequency; all beyond the `most` most frequent are word 0.
inline Text number(const std::vector<std::string>& words, size_t most) {
  std::map<std::string, int64_t> counts;
  for (const std::string& word : words) ++counts[word];
  std::vector<std::pair<int64_t, std::string>> ranked;
  for (const auto& [word, count] : counts) ranked.emplace_back(-count, word);
  std::sort(ranked.begin(), ranked.end());
  std::map<std::string, int32_t> numbers;
  for (size_t i = 0; i < std::min(most, ranked.size()); ++i)
    numbers[ranked[i].second] = static_cast<int32_t>(i) + 1;
  Text text{.words = {}, .vocabulary = static_cast<int64_t>(numbers.size()) + 1};
  for (const std::string& word : words)
    text.words.push_back(numbers.contains(word) ? numbers[word] : 0);
  return text;
}

/// Little stories of three children and their things. Grammar is a matter of the last words; but
/// whose the ball is and what colour it has stands twenty words back, in every story anew.
inline std::string made_up_text(int stories) {
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

/// Throws Error when there is no such file or too little in it.
inline Text read(const std::string& path) {
  std::ifstream file(path);
  heed::require(file.good(), "{} cannot be read", path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Text numbered = number(cut(text), 2000);
  heed::require(numbered.words.size() >= 2000, "{} has {} words, the ladder wants 2000 or more",
                path, numbered.words.size());
  return numbered;
}

}  // namespace ladder
