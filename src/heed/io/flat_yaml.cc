#include "heed/io/flat_yaml.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/text_lines.h"
#include "heed/base/utf8.h"

namespace heed::io {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// The bytes of a quoted scalar at the beginning of a text, with its quotes; 0 if it does not end.
size_t quoted_size(std::string_view text) {
  const char quote = text.front();
  for (size_t at = 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 == text.size() || text[at + 1] != '\'') return at + 1;
      ++at;
    }
  }
  return 0;
}

bool is_quote(char c) { return c == '"' || c == '\''; }

/// The code point of an escape of double quotes, such as \n or \x41, whose bytes are removed from
/// the text; none for one that YAML does not have.
std::optional<char32_t> take_escape(std::string_view& text) {
  constexpr std::string_view kNames = "0abtnvfre \"/\\N_LP";
  constexpr char32_t kMeanings[] = {0,    7,    8,   9,    10,   11,   12,     13,    27,
                                    0x20, 0x22, '/', '\\', 0x85, 0xa0, 0x2028, 0x2029};
  if (text.empty()) return {};
  const char name = text.front();
  text.remove_prefix(1);
  if (const size_t known = kNames.find(name); known != kNames.npos) return kMeanings[known];
  const size_t digits = name == 'x' ? 2 : name == 'u' ? 4 : name == 'U' ? 8 : 0;
  if (digits == 0 || text.size() < digits) return {};
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value, 16);
  if (error != std::errc() || end != text.data() + digits) return {};
  text.remove_prefix(digits);
  if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return {};
  return value;
}

/// Of a scalar with its quotes; none if it has an unknown escape.
std::optional<std::string> unquoted(std::string_view text) {
  const bool escapes = text.front() == '"';
  text = text.substr(1, text.size() - 2);
  std::string value;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (escapes && c == '\\') {
      const auto point = take_escape(text);
      if (!point) return {};
      append_utf8(value, *point);
    } else {
      value += c;
      if (c == '\'' && !escapes) text.remove_prefix(1);  // the second of two
    }
  }
  return value;
}

/// Where a key ends, at the colon; npos if there is none.
size_t end_of_key(std::string_view text) {
  size_t at = 0;
  if (is_quote(text.front())) at = quoted_size(text);
  for (at = text.find(':', at); at != text.npos; at = text.find(':', at + 1))
    if (at + 1 == text.size() || text[at + 1] == ' ') return at;
  return text.npos;
}

}  // namespace

FlatYaml::FlatYaml(const std::filesystem::path& path) : file_(path.string()) {
  for_each_line(path, [&](std::string_view line, size_t number) { add(line, number); });
}

FlatYaml::FlatYaml(std::string_view text, std::string file) : file_(std::move(file)) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    add(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::optional<std::string> FlatYaml::scalar(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return {};
  const YamlValue& value = found->second;
  require(!value.is_list, "{}: {} is a list, expected one value", file_, key);
  if (value.items.empty()) return {};
  return value.items.front();
}

std::optional<std::vector<std::string>> FlatYaml::list(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return {};
  require(found->second.is_list, "{}: {} is not a list", file_, key);
  return found->second.items;
}

std::string FlatYaml::scalar_of(std::string_view text, size_t number) const {
  if (!text.empty() && is_quote(text.front()) && quoted_size(text) == text.size())
    if (auto value = unquoted(text)) return *std::move(value);
  require(text.empty() || (std::string_view("&*!|>{}%@`'\"").find(text.front()) == text.npos &&
                           text.find(" #") == text.npos && text.find(": ") == text.npos),
          "{}: line {}: cannot read {}", file_, number, heed::quoted(text));
  return std::string(text);
}

void FlatYaml::set(YamlValue& value, std::string_view text, size_t number) const {
  if (text.empty() || text == "null" || text == "~") return;
  if (text.front() != '[') {
    value.items.push_back(scalar_of(text, number));
    return;
  }
  require(text.back() == ']', "{}: line {}: a list does not end", file_, number);
  value.is_list = true;
  text = trimmed(text.substr(1, text.size() - 2));
  while (!text.empty()) {
    const size_t begin = is_quote(text.front()) ? quoted_size(text) : 0;
    const size_t comma = std::min(text.find(',', begin), text.size());
    value.items.push_back(scalar_of(trimmed(text.substr(0, comma)), number));
    text = trimmed(text.substr(std::min(comma + 1, text.size())));
  }
}

void FlatYaml::add_entry(std::string_view text, size_t number) {
  const size_t colon = end_of_key(text);
  require(colon != text.npos, "{}: line {}: expected KEY: VALUE", file_, number);
  last_ = scalar_of(trimmed(text.substr(0, colon)), number);
  require(!values_.contains(last_), "{}: line {}: {} occurs twice", file_, number,
          heed::quoted(last_));
  set(values_[last_], trimmed(text.substr(colon + 1)), number);
}

void FlatYaml::add(std::string_view line, size_t number) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::string_view text = trimmed(line);
  if (text.empty() || text.front() == '#' || text == "---") return;
  const bool item = text == "-" || text.starts_with("- ");
  if (!item && line.front() != ' ') return add_entry(text, number);
  // What goes on belongs to the key before it, which has no value of its own.
  require(!last_.empty(), "{}: line {}: expected KEY: VALUE", file_, number);
  YamlValue& value = values_[last_];
  if (item) {
    require(value.is_list || value.items.empty(), "{}: line {}: an item of no list", file_, number);
    value.is_list = true;
    value.items.push_back(scalar_of(trimmed(text.substr(1)), number));
    return;
  }
  require(!value.is_list && value.items.empty(), "{}: line {}: cannot read {}", file_, number,
          heed::quoted(text));
  set(value, text, number);
}

}  // namespace heed::io
