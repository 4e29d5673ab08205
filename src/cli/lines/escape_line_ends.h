#pragma once

#include <string>
#include <string_view>

namespace heed::cli {

/// A text on one line: line ends become \n and \r, a backslash becomes two.
inline std::string escape_line_ends(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == '\\') line += '\\';
    line += c == '\n' ? 'n' : c == '\r' ? 'r' : c;
  }
  return line;
}

}  // namespace heed::cli
