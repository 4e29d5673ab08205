#include "heed/metrics/tercom_tokenizer.h"

#include <algorithm>

#include "heed/base/ascii.h"
#include "heed/jinja/values/case.h"
#include "heed/metrics/punctuation.h"
#include "heed/metrics/words.h"
#include "heed/text/utf8.h"

namespace heed::metrics {
namespace {

/// Python's str.lower().
std::string python_lower_case(std::string_view text) {
  if (std::ranges::none_of(text, [](char c) { return static_cast<uint8_t>(c) >= 0x80; }))
    return lower_case(text);
  jinja::TextBuilder lower;
  jinja::append_lower(lower, jinja::Text{.bytes = std::string(text)});
  return lower.finish().bytes;
}

bool within(char32_t value, char32_t first, char32_t last) {
  return value >= first && value <= last;
}

/// Chinese characters, their strokes, radicals and compatibility forms, and letters in circles.
bool is_asian_symbol(char32_t value) {
  return within(value, 0x2E80, 0x2EFF) || within(value, 0x31C0, 0x31EF) ||
         within(value, 0x3200, 0x4DBF) || within(value, 0x4E00, 0x9FFF) ||
         within(value, 0xF900, 0xFAFF) || within(value, 0xFE30, 0xFE4F);
}

/// Marks of Chinese and Japanese, and those of ASCII in full width.
bool is_asian_punctuation(char32_t value) {
  return within(value, 0x3001, 0x3002) || within(value, 0x3008, 0x3011) ||
         within(value, 0x3014, 0x301F) || within(value, 0xFF61, 0xFF65) || value == 0x30FB ||
         within(value, 0xFF01, 0xFF02) || within(value, 0xFF08, 0xFF09) || value == 0xFF0C ||
         value == 0xFF0E || within(value, 0xFF1A, 0xFF1B) || value == 0xFF1F;
}

/// The text with what `rewrite` appends for each code point.
template <typename Rewrite>
std::string rewritten(std::string_view text, const Rewrite& rewrite) {
  std::string result;
  text::for_each_code_point(text, [&](const text::CodePoint& point, std::string_view bytes) {
    rewrite(result, point.value, bytes);
  });
  return result;
}

/// The definition also has rules for Hiragana and Katakana, which ask for the beginning of the text
/// at their place, where there is always a space: they never apply.
std::string separate_asian(std::string_view text) {
  return rewritten(text, [](std::string& out, char32_t value, std::string_view bytes) {
    if (is_asian_symbol(value) || is_asian_punctuation(value))
      out.append(1, ' ').append(bytes).append(1, ' ');
    else
      out += bytes;
  });
}

std::string normalize(std::string_view text, bool asian) {
  std::string result = replaced(replaced(text, "\n-", ""), "\n", " ");
  result = separate_symbols(" " + decode_entities(std::move(result)) + " ");
  result = separate_stops(replaced(result, "'s ", " 's "));
  return asian ? separate_asian(result) : result;
}

std::string without_punctuation(std::string_view text, bool asian) {
  constexpr std::u32string_view kRemoved = U".,?:;!\"()";
  return rewritten(text, [&](std::string& out, char32_t value, std::string_view bytes) {
    if (kRemoved.find(value) == kRemoved.npos && !(asian && is_asian_punctuation(value)))
      out += bytes;
  });
}

}  // namespace

std::string tokenize_tercom(std::string_view text, const TerOptions& options) {
  std::string result(without_trailing_space(text));
  if (!options.case_sensitive) result = python_lower_case(result);
  if (options.normalized) result = normalize(result, options.asian_support);
  return options.no_punct ? without_punctuation(result, options.asian_support) : result;
}

}  // namespace heed::metrics
