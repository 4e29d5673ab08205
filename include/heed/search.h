#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/export.h"

namespace heed {

/// The largest number of beams.
inline constexpr int kMaxBeams = 256;

/// Greedy search and beam search.
struct SearchOptions {
  int num_beams = 1;  // hypotheses kept at each step, 1 to kMaxBeams; 1: greedy search
  int n_best = 1;     // hypotheses returned, at most num_beams
  /// alpha of the length penalty lp(Y) = ((5 + |Y|) / 6)^alpha (Wu et al. 2016, equation 14);
  /// hypotheses are ranked by log P(Y | X) / lp(Y). 0.6 as in Vaswani et al. 2017, section 6.1.
  float length_penalty = 0.6f;
  /// Largest number of tokens of a translation; without it, that of its source plus
  /// max_new_tokens_over_source. Model::search_batch() has the limit of GenerateOptions instead.
  std::optional<int64_t> max_new_tokens = {};
  /// Tokens beyond those of the source; 50 in Vaswani et al. 2017, section 6.1.
  int64_t max_new_tokens_over_source = 50;
  /// Whether greedy search computes log-probabilities and scores; it is faster without. Beam search
  /// always does.
  bool scores = true;

  bool operator==(const SearchOptions&) const = default;
};

/// Throws InputError when a number is out of range.
HEED_EXPORT void check(const SearchOptions& options);

/// One output of a search.
struct Hypothesis {
  std::vector<int32_t> tokens;  // without the prompt and the end token
  /// Natural logarithm, of all tokens; includes the end token unless the length limit was reached.
  double log_probability = 0;
  double score = 0;  // log_probability / length penalty
  /// Natural logarithms, of each of `tokens`; empty where log_probability is not computed.
  std::vector<double> token_log_probabilities = {};
  /// Whether the model ended it; otherwise the length limit did.
  bool complete = true;
};

/// A pair of aligned words, both counted from 0.
struct AlignedWords {
  int32_t source = 0, target = 0;  // counted from 0
};

/// An alignment in Pharaoh format: "0-0 1-2 2-1", source word first.
HEED_EXPORT std::string pharaoh(const std::vector<AlignedWords>& alignment);

/// A word of a translation and the probability that it is right.
struct WordConfidence {
  std::string text;       // as it stands in the translation
  double confidence = 0;  // 0 to 1
};

/// A hypothesis as text.
struct Candidate {
  std::string text;       // empty if the model has no tokenizer
  Hypothesis hypothesis;  // its tokens and its score
  /// With TranslateOptions::alignments or Request::alignments: for each word of the text, separated
  /// by spaces, the word of the source that it attends to most.
  std::vector<AlignedWords> alignment = {};
  /// With TranslateOptions::confidence: how probably the text is right, as heed/confidence.h
  /// defines it.
  std::optional<double> confidence = {};
  std::vector<WordConfidence> words = {};  // likewise: its words, in order
};

}  // namespace heed
