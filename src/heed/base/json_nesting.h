#pragma once

namespace heed {

/// What surrounds a position of a JSON text, which may be incomplete: brackets and a string.
struct JsonNesting {
  int depth = 0;
  bool inside_string = false;
  bool escaped = false;  // the next character, by a backslash

  /// Moves past the next character of the text.
  void advance(char c) {
    if (escaped) {
      escaped = false;
    } else if (c == '"') {
      inside_string = !inside_string;
    } else if (inside_string) {
      escaped = c == '\\';
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
};

}  // namespace heed
