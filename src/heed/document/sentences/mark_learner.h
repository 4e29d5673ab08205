#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace heed::document {

/// Finds the marks with which the sentences of a text end, from its lines, which are taken for
/// sentences: a mark ends one before a capital or a small letter if at least half of the marks
/// before such a letter stand at an end of a line.
class MarkLearner {
 public:
  /// Reads a line of well-formed UTF-8.
  void read(std::string_view line);
  /// LearnedRules::ends_before_capital, by code points.
  std::u32string ends_before_capital() const;
  /// LearnedRules::inside_before_small_letter, by code points.
  std::u32string inside_before_small_letter() const;

 private:
  struct Counts {
    bool terminator = false;  // or a mark like a comma
    int64_t at_line_end = 0;
    int64_t before_small_letter = 0, before_other = 0;  // inside of a line, before a space
  };

  int64_t lines_ = 0, lines_with_small_letter_ = 0;  // the latter begin with one
  std::map<char32_t, Counts> marks_;
};

}  // namespace heed::document
