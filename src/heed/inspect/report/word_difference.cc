#include "heed/inspect/report/word_difference.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "heed/base/display.h"
#include "heed/inspect/markup.h"

namespace heed::inspect {
namespace {

constexpr size_t kMaxWords = 1000;

struct Word {
  std::string text;
  bool space_before = false;
  bool common = false;
};

bool is_word_by_itself(char32_t c) {
  return (c >= 0xe01 && c <= 0xe5b) || (c >= 0x3040 && c <= 0x30ff) ||
         (c >= 0x3400 && c <= 0x9fff) || (c >= 0xf900 && c <= 0xfaff) ||
         (c >= 0x20000 && c <= 0x3fffd);
}

bool is_space(char32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0 || c == 0x3000 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x202f;
}

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  bool space = false, open = false;
  for (const char32_t c : code_points(text)) {
    if (is_space(c)) {
      space = true;
      open = false;
      continue;
    }
    if (!open || is_word_by_itself(c)) words.push_back({{}, space, false});
    words.back().text += utf8(c);
    open = !is_word_by_itself(c);
    space = false;
  }
  return words;
}

/// Marks the words of a longest common subsequence. length[i, j] is its length for the suffixes
/// that begin at words i and j.
void find_common(std::vector<Word>& a, std::vector<Word>& b) {
  const size_t width = b.size() + 1;
  std::vector<uint16_t> length((a.size() + 1) * width, 0);
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      length[i * width + j] =
          a[i].text == b[j].text ? static_cast<uint16_t>(length[(i + 1) * width + j + 1] + 1)
                                 : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].text == b[j].text) {
      a[i++].common = b[j++].common = true;
    } else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
}

/// Adjacent differing words share one <mark>.
std::string html_of(const std::vector<Word>& words) {
  std::string html;
  bool marking = false;
  for (const Word& word : words) {
    if (marking && word.common) html += "</mark>";
    if (word.space_before) html += ' ';
    if (!marking && !word.common) html += "<mark>";
    marking = !word.common;
    html += escaped(word.text);
  }
  return html + (marking ? "</mark>" : "");
}

}  // namespace

std::pair<std::string, std::string> marked_differences(std::string_view reference,
                                                       std::string_view translation) {
  std::vector<Word> a = words_of(reference), b = words_of(translation);
  if (a.size() > kMaxWords || b.size() > kMaxWords)
    return {escaped(reference), escaped(translation)};
  find_common(a, b);
  return {html_of(a), html_of(b)};
}

}  // namespace heed::inspect
