#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::generate {

/// A text longer than the window is scored in overlapping windows, which begin `stride` tokens
/// apart. Each token is scored once, in the first window that contains it, so that every token
/// beyond the first window has at least window - stride tokens of context.
struct ScoreOptions {
  int64_t window = 0;  // tokens; 0: the model's context length
  int64_t stride = 0;  // 0: half the window
  DType dtype = DType::f32;
  /// Rounds keys and values as a kv cache of this type does; without it, they are not rounded.
  std::optional<DType> cache_dtype = {};
};

/// The log-probability (natural) of each of tokens[1 ..] given the tokens before it, by a
/// decoder-only model. Throws Error on a window longer than the model's context, a stride not below
/// the window, a token outside the vocabulary, and as make_caches() and checked_logits() do.
std::vector<double> score_text(const model::Transformer& model, std::span<const int32_t> tokens,
                               const ScoreOptions& options);

/// The log-probability of each token of a target given its source, by an encoder-decoder.
std::vector<double> score_target(const model::Transformer& model, std::span<const int32_t> source,
                                 std::span<const int32_t> target, DType dtype = DType::f32);

/// exp of the negative mean log-probability; 1 for an empty list.
double perplexity(std::span<const double> log_probabilities);

}  // namespace heed::generate
