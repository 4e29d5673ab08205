#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// What separates words of ASCII text.
inline constexpr std::string_view kWhiteSpace = " \t\r\n";

/// `text` without white space at its beginning and end.
inline std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);  // npos + 1 is 0
}

/// Whether there is nothing but white space, also of form feeds and vertical tabs.
inline bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

/// The parts of a text between separators: "a, , b" has "a", "" and "b" between ", "; the empty
/// text is one empty part.
inline std::vector<std::string_view> split_at(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  parts.push_back(text);
  return parts;
}

/// `text` with a to z instead of A to Z.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

/// `text` with A to Z instead of a to z.
inline std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

}  // namespace heed
