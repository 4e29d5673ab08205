#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace heed::generate {

/// A number that is added to a token's logit; minus infinity forbids it.
struct TokenBias {
  int32_t token = 0;
  float bias = 0;
};

/// How the next token is chosen from a row of logits. The settings apply in this order.
struct SamplingOptions {
  /// Positive logits of tokens in the prompt or the output are divided by it, negative ones
  /// multiplied (Keskar et al. 2019); 1: off.
  float repetition_penalty = 1.0f;
  float presence_penalty = 0.0f;   // subtracted from the logits of tokens in the output
  float frequency_penalty = 0.0f;  // likewise, once per occurrence
  std::vector<TokenBias> logit_bias = {};
  float temperature = 0.0f;  // logits are divided by it; 0: greedy
  int64_t top_k = 0;         // draw from the k most probable tokens; 0: all
  float top_p = 1.0f;        // draw from the most probable that sum to p (Holtzman et al. 2020)
  float min_p = 0.0f;        // exclude tokens less probable than min_p times the best
  uint64_t seed = 1;
};

/// Throws Error when a number is out of its range, or a biased token outside a vocabulary of
/// `vocab_size`.
void check(const SamplingOptions& options, int64_t vocab_size);

/// The tokens of a prompt and its output, as penalties count them.
class TokenCounts {
 public:
  void add_prompt(std::span<const int32_t> tokens);
  void add_output(int32_t token) { ++in_output_[token]; }

  /// Every token of the prompt or the output, with its number of occurrences in the output.
  const std::unordered_map<int32_t, int64_t>& in_output() const { return in_output_; }

 private:
  std::unordered_map<int32_t, int64_t> in_output_;
};

/// Applies penalties and biases to `logits` [V]. A logit that would become infinite becomes the
/// largest finite number.
void adjust_logits(const SamplingOptions& options, const TokenCounts& counts,
                   std::span<float> logits);

/// A token that may be drawn, and its probability among these.
struct TokenProbability {
  int32_t token = 0;
  double probability = 0;
};

/// The tokens that temperature, top-k, top-p and min-p leave of `logits` [V] (no NaN, no +inf): at
/// least one; their probabilities sum to 1. With top-k or top-p the most probable come first. Of
/// equal logits the lower token counts as more probable; tokens with a logit of minus infinity are
/// left out. Throws Error when all are.
std::vector<TokenProbability> candidates(const SamplingOptions& options,
                                         std::span<const float> logits);

/// Draws a token with random number `step` of stream `sequence` of the seed; with temperature 0,
/// the token with the largest logit. The result depends on nothing else.
int32_t draw_token(const SamplingOptions& options, std::span<const float> logits, uint64_t sequence,
                   uint64_t step);

}  // namespace heed::generate
