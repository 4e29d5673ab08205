#pragma once

#include <string_view>
#include <vector>

#include "heed/document/document.h"
#include "heed/document/run.h"

namespace heed::document {

/// A word of a translation, in the order of the text, and what it comes from.
struct TargetWord {
  static constexpr int32_t kOfNothing = -2;  // not aligned
  static constexpr int32_t kDropped = -3;    // a placeholder that the source does not have
  static constexpr int32_t kOfNoItem = -1;   // text outside of all items

  ByteRange range;
  /// The innermost item of a run that has the source word, or one of the above.
  int32_t item = kOfNothing;
};

/// Where a part of the source went: words[word].
struct SourceLink {
  ByteRange source;
  size_t word = 0;
};

/// A translation as words, which are separated by what is no word.
struct TargetWords {
  std::vector<TargetWord> words;
  std::vector<SourceLink> links;  // in the order of the source
};

/// The words of `text`, the translation of `segment`. What the text has of the run's kept parts is
/// a word each. `alignment` has ranges within both texts.
TargetWords target_words(const Segment& segment, const Run& run, std::string_view text,
                         const std::vector<AlignedSpans>& alignment);

}  // namespace heed::document
