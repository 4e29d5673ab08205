#include "heed/metrics/kept_words.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "heed/text/spaced_words.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"

namespace heed::metrics {
namespace {

/// What words are compared by: lower case, without the punctuation around them unless nothing else
/// is there.
std::string comparable_word(std::string_view word) {
  std::string lower;
  size_t first = std::string::npos, last = 0;
  text::for_each_code_point(word, [&](text::CodePoint point, std::string_view) {
    const size_t start = lower.size();
    text::append_lower_case(lower, point.value);
    if (text::is_punctuation(point.value)) return;
    first = std::min(first, start);
    last = lower.size();
  });
  return first == std::string::npos ? lower : lower.substr(first, last - first);
}

/// The words of a text as numbers; equal words have the same.
std::vector<int32_t> word_numbers(std::string_view text,
                                  std::unordered_map<std::string, int32_t>& numbers) {
  std::vector<int32_t> words;
  for (const WordRange& range : word_ranges(text)) {
    std::string word = comparable_word(text.substr(range.begin, range.end - range.begin));
    words.push_back(
        numbers.emplace(std::move(word), static_cast<int32_t>(numbers.size())).first->second);
  }
  return words;
}

/// Levenshtein distances between the ends of two texts: those from word i and from word j on.
class EndDistances {
 public:
  EndDistances(const std::vector<int32_t>& a, const std::vector<int32_t>& b)
      : width_(b.size() + 1), cells_((a.size() + 1) * width_) {
    for (size_t i = a.size() + 1; i-- > 0;)
      for (size_t j = width_; j-- > 0;) {
        int32_t& cell = cells_[i * width_ + j];
        if (i == a.size() || j == b.size())
          cell = static_cast<int32_t>(a.size() - i + b.size() - j);
        else
          cell = std::min(
              {at(i + 1, j + 1) + (a[i] == b[j] ? 0 : 1), at(i + 1, j) + 1, at(i, j + 1) + 1});
      }
  }

  int32_t at(size_t i, size_t j) const { return cells_[i * width_ + j]; }

 private:
  size_t width_;
  std::vector<int32_t> cells_;
};

}  // namespace

std::vector<WordRange> word_ranges(std::string_view text) {
  static const text::CharSet kUnspaced(text::unspaced_scripts());
  std::vector<WordRange> words;
  bool open = false, unspaced = false;  // whether a word goes on, and begins with such a script
  size_t at = 0;
  text::for_each_code_point(text, [&](text::CodePoint point, std::string_view bytes) {
    const size_t begin = at;
    at += bytes.size();
    if (text::is_white_space(point.value)) {
      open = false;
      return;
    }
    const bool mark = text::is_combining_mark(point.value);
    const bool own = !mark && kUnspaced.contains(point.value);
    if (!open || own || (unspaced && !mark && text::is_word(point.value))) {
      words.push_back({begin, begin});
      open = true;
      unspaced = own;
    }
    words.back().end = at;
  });
  return words;
}

double KeptWords::share() const {
  const size_t words = std::max(kept.size(), reference_words);
  if (words == 0) return 1;
  return static_cast<double>(std::ranges::count(kept, true)) / static_cast<double>(words);
}

KeptWords kept_words(std::string_view translation, std::string_view reference) {
  std::unordered_map<std::string, int32_t> numbers;
  const std::vector<int32_t> words = word_numbers(translation, numbers);
  const std::vector<int32_t> right = word_numbers(reference, numbers);
  const EndDistances distances(words, right);
  KeptWords result{.kept = std::vector<bool>(words.size()), .reference_words = right.size()};
  for (size_t i = 0, j = 0; i < words.size() && j < right.size();) {
    const int32_t here = distances.at(i, j);
    if (words[i] == right[j] && here == distances.at(i + 1, j + 1)) {
      result.kept[i] = true;
      ++i, ++j;
    } else if (here == distances.at(i + 1, j + 1) + 1) {
      ++i, ++j;
    } else if (here == distances.at(i + 1, j) + 1) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

}  // namespace heed::metrics
