#include "heed/metrics/tokenize_13a.h"

#include "heed/metrics/words.h"

namespace heed::metrics {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop_or_comma(char c) { return c == '.' || c == ','; }

/// ASCII from space to ~ that is no letter or digit, except ' , - and the full stop.
bool is_symbol(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

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

/// Resolves what is written by name, one kind after the other: "&amp;lt;" ends as "<".
std::string resolved(std::string_view text) {
  std::string result = replaced(text, "<skipped>", "");
  result = replaced(result, "-\n", "");
  result = replaced(result, "\n", " ");
  if (result.find('&') == std::string::npos) return result;
  result = replaced(result, "&quot;", "\"");
  result = replaced(result, "&amp;", "&");
  result = replaced(result, "&lt;", "<");
  return replaced(result, "&gt;", ">");
}

std::string with_symbols_apart(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (is_symbol(c))
      result.append({' ', c, ' '});
    else
      result += c;
  return result;
}

/// The pattern-and-replacement steps of the definition look at two neighbours, and go on behind
/// both once they matched. Bytes serve for characters: a neighbour outside ASCII is no digit, be it
/// one byte of it or all.
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

void write_second_apart(std::string& result, char first, char second) {
  result.append({first, ' ', second, ' '});
}

void write_first_apart(std::string& result, char first, char second) {
  result.append({' ', first, ' ', second});
}

}  // namespace

std::string tokenize_13a(std::string_view text) {
  std::string result = with_symbols_apart(" " + resolved(without_trailing_space(text)) + " ");
  result = rewrite_pairs(
      result, [](char a, char b) { return !is_digit(a) && is_stop_or_comma(b); },
      write_second_apart);
  result = rewrite_pairs(
      result, [](char a, char b) { return is_stop_or_comma(a) && !is_digit(b); },
      write_first_apart);
  return rewrite_pairs(
      result, [](char a, char b) { return is_digit(a) && b == '-'; }, write_second_apart);
}

}  // namespace heed::metrics
