#include "heed/metrics/tokenize_13a.h"

#include "heed/metrics/words.h"

namespace heed::metrics {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop_or_comma(char c) { return c == '.' || c == ','; }

/// Printable ASCII except letters, digits and ' , - .
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

/// Replaces entities, one kind after the other, as the definition does: "&amp;lt;" becomes "<".
std::string resolve_entities(std::string_view text) {
  std::string result = replaced(text, "<skipped>", "");
  result = replaced(result, "-\n", "");
  result = replaced(result, "\n", " ");
  if (result.find('&') == std::string::npos) return result;
  result = replaced(result, "&quot;", "\"");
  result = replaced(result, "&amp;", "&");
  result = replaced(result, "&lt;", "<");
  return replaced(result, "&gt;", ">");
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

/// Applies one regular-expression substitution of the definition, each of which matches two
/// adjacent characters and continues after them. Working on bytes is equivalent, because the
/// patterns only distinguish ASCII characters.
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

std::string tokenize_13a(std::string_view text) {
  std::string result = separate_symbols(" " + resolve_entities(without_trailing_space(text)) + " ");
  result = rewrite_pairs(
      result, [](char a, char b) { return !is_digit(a) && is_stop_or_comma(b); }, separate_second);
  result = rewrite_pairs(
      result, [](char a, char b) { return is_stop_or_comma(a) && !is_digit(b); }, separate_first);
  return rewrite_pairs(
      result, [](char a, char b) { return is_digit(a) && b == '-'; }, separate_second);
}

}  // namespace heed::metrics
