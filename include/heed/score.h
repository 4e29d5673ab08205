#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/export.h"
#include "heed/generation.h"

namespace heed {

/// A text longer than the window is scored in overlapping windows, which begin `stride` tokens
/// apart. Each token is scored once, in the first window that contains it, so that every token
/// beyond the first window has at least window - stride tokens of context.
struct ScoreOptions {
  int64_t window = 0;  // tokens; 0: the model's context length
  int64_t stride = 0;  // 0: half the window

  bool operator==(const ScoreOptions&) const = default;
};

/// A part of a text that is scored by itself.
struct ScoreWindow {
  std::vector<int32_t> tokens;  // context and what is scored
  int64_t scored = 0;           // the last of the tokens; those before them are context
};

/// Scores of all tokens of the vocabulary before the softmax.
struct Logits {
  int64_t rows = 0, vocab_size = 0;  // T, V
  std::vector<float> values;         // [T, V]
};

/// A token of a text, and the most probable ones in its place.
struct TokenScore {
  TokenLogProbability chosen;             // the token
  std::vector<TokenLogProbability> best;  // most probable first
};

/// exp of the negative mean log-probability; 1 for an empty list.
HEED_EXPORT double perplexity(std::span<const double> log_probabilities);

/// The probability of a text under a model.
struct Score {
  std::vector<int32_t> tokens;  // of the text, or of the target
  /// Natural logarithms, of the last log_probabilities.size() tokens: of all tokens of a target,
  /// and of all but the first of a text.
  std::vector<double> log_probabilities;

  /// The log-probability of all scored tokens.
  double log_probability() const {
    double sum = 0;
    for (const double x : log_probabilities) sum += x;
    return sum;
  }
  /// exp(-log_probability() / log_probabilities.size()); 1 if there are none.
  double perplexity() const { return heed::perplexity(log_probabilities); }
};

}  // namespace heed
