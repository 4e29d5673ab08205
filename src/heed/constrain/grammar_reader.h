#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "heed/constrain/code_points.h"

namespace heed::constrain {

/// Reads the text of a grammar, with `comment` marks that reach to the end of a line.
class GrammarReader {
 public:
  /// Throws Error unless `text` is valid UTF-8.
  GrammarReader(std::string_view text, std::initializer_list<std::string_view> comments);

  bool at_end() const { return position_ == text_.size(); }
  size_t position() const { return position_; }
  void go_to(size_t position) { position_ = position; }
  /// The byte that comes next; 0 at the end.
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  bool sees(std::string_view text) const { return text_.substr(position_).starts_with(text); }
  /// Reads `text` if it comes next.
  bool skip(std::string_view text);
  /// skip(), or throws Error.
  void expect(std::string_view text);
  /// Reads a code point. Throws Error at the end.
  char32_t next();
  /// Reads white space and comments; line ends only if `line_ends`.
  void skip_space(bool line_ends);
  /// Reads "|" and the space before it if it comes next, possibly on a further line.
  bool skip_alternative_mark();
  /// Reads letters, digits and what `others` has of ASCII; empty if none comes next.
  std::string_view name(std::string_view others);
  /// Reads a decimal number below 2^31; nothing unless a digit comes next.
  std::optional<uint32_t> number();
  /// Reads `digits` hexadecimal digits.
  char32_t hexadecimal(int digits);
  /// Behind "{": "m}", "m,}", ",n}" or "m,n}", with spaces.
  std::pair<uint32_t, uint32_t> counts();
  std::string_view text(size_t begin, size_t end) const { return text_.substr(begin, end - begin); }

  /// Throws Error with the line and the column of a position.
  [[noreturn]] void fail_at(size_t position, std::string_view problem) const;
  [[noreturn]] void fail_here(std::string_view problem) const { fail_at(position_, problem); }

 private:
  std::string_view text_;
  std::vector<std::string_view> comments_;
  size_t position_ = 0;
};

}  // namespace heed::constrain
