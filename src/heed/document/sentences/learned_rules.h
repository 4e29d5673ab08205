#pragma once

#include <string>
#include <vector>

namespace heed::document {

/// What the lines of a text, such as the sources of a training, show of its sentences.
struct LearnedRules {
  /// In lower case, without their last full stop; see AbbreviationLearner.
  std::vector<std::string> abbreviations = {};
  /// Marks of class `comma` that end a sentence before a capital letter: ":".
  std::u32string ends_before_capital = {};
  /// Terminators that end no sentence before a small letter: "?".
  std::u32string inside_before_small_letter = {};
};

}  // namespace heed::document
