#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "heed/constrain/code_points.h"
#include "heed/constrain/regex.h"

namespace heed::constrain {

/// A part of a parsed pattern.
struct RegexNode {
  enum class Kind : uint8_t {
    characters,  // one of `set`
    sequence,    // of `parts`
    choice,      // of `parts`
    repetition,  // of parts[0], `min` to `max` times
    text_begin,
    text_end,    // with `negative`, also before a line feed that ends the text
    look_ahead,  // at parts[0]; `negative`: that it does not follow
  };
  Kind kind = Kind::sequence;
  CodePointSet set = {};
  std::vector<RegexNode> parts = {};
  uint32_t min = 0, max = 0;
  bool negative = false;
  /// Whether it holds only characters, sequences, choices and repetitions.
  bool is_plain = true;
  size_t position = 0;  // in the pattern, in bytes
};

/// Throws Error, with the position, for broken syntax and for what is not supported.
RegexNode parse_regex(std::string_view pattern, const RegexOptions& options);

/// Reads a pattern code point by code point.
class RegexReader {
 public:
  RegexReader(std::string_view pattern, const RegexOptions& options);

  bool at_end() const { return position_ == pattern_.size(); }
  bool is_python() const { return dialect_ == RegexDialect::python; }
  bool ignores_case() const { return ignores_case_; }
  bool dot_is_any() const { return dot_is_any_; }
  /// Reads (?i), (?s) and (?is).
  void read_flags();
  size_t position() const { return position_; }
  void go_to(size_t position) { position_ = position; }
  /// Whether `text` comes next.
  bool sees(std::string_view text) const { return pattern_.substr(position_).starts_with(text); }
  /// Reads `text` if it comes next.
  bool skip(std::string_view text);
  /// Reads a code point. Throws Error at the end.
  char32_t next();
  /// Reads decimal digits; nothing unless there is one. Throws Error for a number above 2^31.
  std::optional<uint32_t> number();
  [[noreturn]] void fail_here(std::string_view problem) const { fail_at(position_, problem); }
  [[noreturn]] void fail_at(size_t position, std::string_view problem) const;

 private:
  std::string_view pattern_;
  RegexDialect dialect_;
  bool ignores_case_, dot_is_any_;
  size_t position_ = 0;
};

// The parts of a pattern that stand for one code point.

/// After ".": what it matches.
CodePointSet read_dot(const RegexReader& reader);
/// After "[": up to the "]".
CodePointSet read_class(RegexReader& reader);
/// After a backslash outside of a class: \d, \p{L}, \n, \x41, \. and so on.
CodePointSet read_escape(RegexReader& reader);

}  // namespace heed::constrain
