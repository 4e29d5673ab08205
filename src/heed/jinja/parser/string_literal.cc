#include "heed/jinja/parser/string_literal.h"

#include <charconv>

#include "heed/base/utf8.h"
#include "heed/jinja/values/unicode.h"

namespace heed::jinja {
namespace {

/// `count` hexadecimal digits at `at`, which moves past them.
uint32_t hexadecimal(std::string_view text, size_t& at, size_t count,
                     const SourceLocation& location) {
  uint32_t value = 0;
  const char* begin = text.data() + at;
  const char* end = begin + std::min(count, text.size() - at);
  const auto [stop, error] = std::from_chars(begin, end, value, 16);
  if (error != std::errc() || stop != begin + count)
    location.fail("a string has an escape with fewer than {} hexadecimal digits", count);
  at += count;
  return value;
}

void append_checked(std::string& out, uint32_t value, const SourceLocation& location) {
  if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
    location.fail("a string has an escape of {:#x}, which is not a character", value);
  append_utf8(out, value);
}

uint32_t octal(std::string_view text, size_t& at) {
  uint32_t value = 0;
  for (int i = 0; i < 3 && at < text.size() && text[at] >= '0' && text[at] <= '7'; ++i)
    value = value * 8 + static_cast<uint32_t>(text[at++] - '0');
  return value;
}

/// jinja2 escapes what is not ASCII before it reads escapes, so a backslash before such a character
/// leaves the text of that escape.
void append_escaped_character(std::string& out, std::string_view text, size_t& at) {
  const CodePoint point = code_point_at(text, at);
  at += point.length;
  out += escape_of(point.value);
}

/// One escape; `at` is after the backslash.
void append_escape(std::string& out, std::string_view text, size_t& at,
                   const SourceLocation& location) {
  constexpr std::string_view kLetters = "abfnrtv\\'\"\n";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"";
  const char c = text[at];
  if (const size_t found = kLetters.find(c); found != std::string_view::npos) {
    if (found < kMeanings.size()) out += kMeanings[found];  // a line end stands for nothing
    ++at;
  } else if (c >= '0' && c <= '7') {
    append_checked(out, octal(text, at), location);
  } else if (c == 'x' || c == 'u' || c == 'U') {
    append_checked(out,
                   hexadecimal(text, ++at,
                               c == 'x'   ? 2
                               : c == 'u' ? 4
                                          : 8,
                               location),
                   location);
  } else if (c == 'N') {
    location.fail("a string has an escape \\N{{...}}, which is not supported");
  } else if (static_cast<unsigned char>(c) >= 0x80) {
    append_escaped_character(out, text, at);
  } else {
    out += '\\';
  }
}

}  // namespace

std::string unescape(std::string_view inside, const SourceLocation& location) {
  std::string out;
  for (size_t at = 0; at < inside.size();) {
    const size_t slash = std::min(inside.find('\\', at), inside.size());
    out.append(inside, at, slash - at);
    at = slash + 1;
    if (slash < inside.size()) append_escape(out, inside, at, location);
  }
  return out;
}

}  // namespace heed::jinja
