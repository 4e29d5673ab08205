#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed::document {

/// Finds the abbreviations of a text, after Kiss and Strunk 2006 (Punkt): words that seldom stand
/// without a full stop, which mostly is before a small letter or a comma.
class AbbreviationLearner {
 public:
  /// Reads a line of well-formed UTF-8.
  void read(std::string_view line);
  /// Those found in all lines, in lower case without their full stop, in alphabetical order.
  std::vector<std::string> abbreviations() const;

 private:
  struct Counts {
    int64_t bare = 0;    // without a full stop
    int64_t inside = 0;  // with one that does not end a sentence
    int64_t other = 0;   // with any other
  };

  std::unordered_map<std::string, Counts> words_;
};

}  // namespace heed::document
