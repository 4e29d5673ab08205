#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/search.h"

namespace heed {

/// Options of a translation.
struct TranslateOptions {
  /// Beam search with 4 beams. Set `scores` if greedy search is to compute them.
  SearchOptions search = {.num_beams = 4, .scores = false};
  /// The languages of a multilingual model, by the codes of its tokenizer ("en", "en_XX",
  /// "eng_Latn"). Empty: those that its files name; translate() throws Error, which lists some
  /// codes, when these name none. OPUS-MT models for several targets have no source language.
  /// The source language "auto" is that of each line, as detect_language() tells it: translate()
  /// throws Error when it is none that the model translates from.
  std::string source_language = {}, target_language = {};
  /// Computes Candidate::alignment, from the cross-attention of the search's own passes.
  bool alignments = false;
  /// Source tokens times num_beams per batch; 0: chosen for speed. Does not change results.
  int64_t batch_tokens = 0;

  bool operator==(const TranslateOptions&) const = default;
};

/// A line of text and its translations.
struct Translation {
  std::vector<int32_t> source;        // tokens, with end of sequence
  std::vector<Candidate> candidates;  // best first; empty for an empty line

  /// The best translation; empty for an empty line.
  std::string text() const { return candidates.empty() ? std::string() : candidates.front().text; }
};

}  // namespace heed
