#include "heed/metrics/words.h"

#include "heed/text/utf8.h"

namespace heed::metrics {
namespace {

bool is_white_space(char32_t c) {
  if (c < 0x80) return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t position = 0, begin = 0;
  const auto end_word = [&] {
    if (begin < position) words.push_back(text.substr(begin, position - begin));
  };
  text::for_each_code_point(text, [&](const text::CodePoint& point, std::string_view bytes) {
    const bool space = is_white_space(point.value);
    if (space) end_word();
    position += bytes.size();
    if (space) begin = position;
  });
  end_word();
  return words;
}

std::string_view without_trailing_space(std::string_view text) {
  const std::vector<std::string_view> words = split_words(text);
  if (words.empty()) return {};
  const char* end = words.back().data() + words.back().size();
  return text.substr(0, static_cast<size_t>(end - text.data()));
}

}  // namespace heed::metrics
