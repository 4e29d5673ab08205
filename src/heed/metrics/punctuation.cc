#include "heed/metrics/punctuation.h"

namespace heed::metrics {
namespace {

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop_or_comma(char c) { return c == '.' || c == ','; }

bool is_symbol(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// Applies one regular-expression substitution of the definition, each of which matches two
/// adjacent characters and continues after them.
template <typename Matches, typename Write>
std::string rewrite_pairs(std::string_view text, Matches matches, Write write) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (i + 1 < text.size() && matches(text[i], text[i + 1])) {
      write(result, text[i], text[i + 1]);
      i += 2;
    } else {
      result += text[i++];
    }
  }
  return result;
}

void separate_second(std::string& result, char first, char second) {
  result.append({first, ' ', second, ' '});
}

void separate_first(std::string& result, char first, char second) {
  result.append({' ', first, ' ', second});
}

}  // namespace

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (;;) {
    const size_t found = text.find(from);
    result += text.substr(0, found);
    if (found == std::string_view::npos) return result;
    result += to;
    text.remove_prefix(found + from.size());
  }
}

std::string decode_entities(std::string text) {
  if (text.find('&') == std::string::npos) return text;
  text = replaced(text, "&quot;", "\"");
  text = replaced(text, "&amp;", "&");
  text = replaced(text, "&lt;", "<");
  return replaced(text, "&gt;", ">");
}

std::string separate_symbols(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (is_symbol(c))
      result.append({' ', c, ' '});
    else
      result += c;
  return result;
}

std::string separate_stops(std::string_view text) {
  std::string result = rewrite_pairs(
      text, [](char a, char b) { return !is_ascii_digit(a) && is_stop_or_comma(b); },
      separate_second);
  result = rewrite_pairs(
      result, [](char a, char b) { return is_stop_or_comma(a) && !is_ascii_digit(b); },
      separate_first);
  return rewrite_pairs(
      result, [](char a, char b) { return is_ascii_digit(a) && b == '-'; }, separate_second);
}

}  // namespace heed::metrics
