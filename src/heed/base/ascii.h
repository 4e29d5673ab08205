#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace heed {

/// What separates words of ASCII text.
inline constexpr std::string_view kWhiteSpace = " \t\r\n";

/// `text` without white space at its beginning and end.
inline std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);  // npos + 1 is 0
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
