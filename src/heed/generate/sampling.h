#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "heed/fill.h"
#include "heed/generate/generate_options.h"
#include "heed/generate/token_logits.h"

namespace heed::generate {

using heed::TokenProbability;

/// Throws Error when a setting is out of range or a biased token is not below `vocab_size`.
void check(const SamplingOptions& options, int64_t vocab_size);

/// Counts the tokens of a prompt and its output for the penalties.
class TokenCounts {
 public:
  void add_prompt(std::span<const int32_t> tokens);
  void add_output(int32_t token) { ++in_output_[token]; }

  /// Each token of the prompt or the output, with its number of occurrences in the output.
  const std::unordered_map<int32_t, int64_t>& in_output() const { return in_output_; }

 private:
  std::unordered_map<int32_t, int64_t> in_output_;
};

/// Whether adjust_logits() raises no logit.
bool only_lowers_logits(const SamplingOptions& options);

/// Applies penalties and biases to `logits`. A logit that would become +inf becomes the largest
/// finite float.
void adjust_logits(const SamplingOptions& options, const TokenCounts& counts,
                   const TokenLogits& logits);

/// The tokens that top-k, top-p and min-p leave of `logits` (no NaN, no +inf): at least one.
/// Their probabilities sum to 1. With top-k or top-p the most probable come first. Among equal
/// logits the smaller token id counts as more probable. Tokens with a logit of -inf are excluded;
/// throws Error when all are.
std::vector<TokenProbability> candidates(const SamplingOptions& options, const TokenLogits& logits);

/// How many of the largest logits sample_token() reads; 0: all.
int64_t largest_needed(const SamplingOptions& options);

/// Samples a token with random number `step` of the seed's stream `sequence`; with temperature 0,
/// the token with the largest logit. The result depends on nothing else. None if too few logits are
/// known. Throws Error as candidates() does.
std::optional<int32_t> sample_token(const SamplingOptions& options, const TokenLogits& logits,
                                    uint64_t sequence, uint64_t step);

}  // namespace heed::generate
