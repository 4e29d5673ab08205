#include "heed/document/formats/markdown/scan.h"

#include <algorithm>

#include "heed/base/ascii.h"

namespace heed::document {
namespace {

constexpr std::string_view kMarkdownPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_alpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

char get(std::string_view text, size_t at) { return at < text.size() ? text[at] : '\0'; }

size_t size_until(std::string_view text, std::string_view end, size_t from) {
  const size_t at = text.find(end, from);
  return at == text.npos ? 0 : at + end.size();
}

bool skip_attribute(std::string_view html, size_t& i) {
  const size_t begin = i;
  while (i < html.size() && html.substr(i).find_first_of(" \t\r\n\"'<>/=`") != 0) ++i;
  if (i == begin) return false;
  size_t value = html.find_first_not_of(kWhiteSpace, i);
  if (value == html.npos || html[value] != '=') return true;
  value = html.find_first_not_of(kWhiteSpace, value + 1);
  if (value == html.npos) return false;
  const bool quoted = html[value] == '"' || html[value] == '\'';
  const size_t end =
      quoted ? html.find(html[value], value + 1) : html.find_first_of(" \t\r\n\"'<>=`", value);
  if (end == html.npos || (!quoted && end == value)) return false;
  i = quoted ? end + 1 : end;
  return true;
}

size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size() && kWhiteSpace.find(text[at]) != std::string_view::npos) ++at;
  return at;
}

std::string with_backslashes(std::string_view text, std::string_view always) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool reference =
        text[i] == '&' && i + 1 < text.size() && (is_alpha(text[i + 1]) || text[i + 1] == '#');
    if (reference || always.find(text[i]) != always.npos) result += '\\';
    result += text[i];
  }
  return result;
}

}  // namespace

bool is_markdown_punctuation(char c) {
  return kMarkdownPunctuation.find(c) != kMarkdownPunctuation.npos;
}

bool is_autolink(std::string_view inside) {
  if (inside.find_first_of(" \n<") != inside.npos) return false;
  const size_t colon = inside.find(':');
  const bool scheme = colon != inside.npos && colon > 1 && colon <= 32 &&
                      std::ranges::all_of(inside.substr(0, colon), [](char c) {
                        return is_alnum(c) || c == '+' || c == '.' || c == '-';
                      });
  return scheme ||
         (inside.find('@') != inside.npos && inside.find_first_of("/:=\"'\\") == inside.npos);
}

size_t size_of_inline_html(std::string_view html) {
  if (html.starts_with("<!--")) return size_until(html, "-->", 4);
  if (html.starts_with("<?")) return size_until(html, "?>", 2);
  if (html.starts_with("<![CDATA[")) return size_until(html, "]]>", 9);
  if (html.starts_with("<!")) return size_until(html, ">", 2);
  size_t i = html.starts_with("</") ? 2 : 1;
  const bool ends = i == 2;
  const auto is_name = [&](size_t at) {
    return at < html.size() && (is_alnum(html[at]) || html[at] == '-');
  };
  if (i >= html.size() || !is_alpha(html[i])) return 0;
  while (is_name(i)) ++i;
  const auto skip = [&] {
    const size_t begin = i;
    while (i < html.size() && kWhiteSpace.find(html[i]) != std::string_view::npos) ++i;
    return i > begin;
  };
  while (true) {
    const bool spaced = skip();
    if (i >= html.size()) return 0;
    if (html[i] == '>') return i + 1;
    if (!ends && html.substr(i, 2) == "/>") return i + 2;
    if (ends || !spaced || !skip_attribute(html, i)) return 0;
  }
}

size_t end_of_destination(std::string_view text, size_t at) {
  const size_t last = std::min(text.size(), at + kLongestMarkdownPart);
  at = skip_space(text, at);
  if (get(text, at) == '<') {
    while (++at < last && text[at] != '>') {
      if (text[at] == '\n' || text[at] == '<') return 0;
      at += text[at] == '\\' ? 1 : 0;
    }
    if (get(text, at++) != '>') return 0;
  } else {
    int depth = 0;
    for (; at<last&& static_cast<uint8_t>(text[at])> 0x20; ++at) {
      if (text[at] == '\\' && is_markdown_punctuation(get(text, at + 1)))
        ++at;
      else if (text[at] == '(')
        ++depth;
      else if (text[at] == ')' && --depth < 0)
        break;
    }
    if (depth > 0) return 0;
  }
  const size_t space = at;
  at = skip_space(text, at);
  const char quote = get(text, at);
  if (at > space && (quote == '"' || quote == '\'' || quote == '(')) {
    const char end = quote == '(' ? ')' : quote;
    while (++at < last && text[at] != end) at += text[at] == '\\' ? 1 : 0;
    if (get(text, at) != end) return 0;
    at = skip_space(text, at + 1);
  }
  return at < last && get(text, at) == ')' ? at + 1 : 0;
}

std::string link_label(std::string_view label) {
  std::string result;
  for (const char c : lower_case(trimmed(label))) {
    const bool space = kWhiteSpace.find(c) != std::string_view::npos;
    if (!space)
      result += c;
    else if (!result.ends_with(' '))
      result += ' ';
  }
  return result;
}

std::string escaped_markdown(std::string_view text) { return with_backslashes(text, "\\`*_[]<~"); }
std::string escaped_table_cell(std::string_view text) {
  return with_backslashes(text, "\\`*_[]<~|");
}

}  // namespace heed::document
