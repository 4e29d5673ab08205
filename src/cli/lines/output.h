#pragma once

#include <iostream>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/json.h"

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

/// A value as one line of JSON. Bytes that are not UTF-8, as file names may have, become U+FFFD;
/// the JSON library would throw its own exception.
inline std::string json_line(const nlohmann::ordered_json& value) {
  return dump_json(value, {.replace_invalid = true}) + '\n';
}

/// Flushes standard output. Throws Error when it cannot be written.
inline void flush_output() {
  std::cout.flush();
  require(std::cout.good(), "standard output cannot be written");
}

}  // namespace heed::cli
