#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::generate {

/// How a text that is longer than the model reads is cut: windows of so many tokens, each beginning
/// `stride` tokens after the one before it. A token is scored once, in the first window that holds
/// it: with at least window - stride tokens before it.
struct ScoreOptions {
  int64_t window = 0;  // 0: what the model reads
  int64_t stride = 0;  // 0: half the window
  DType dtype = DType::f32;
  /// What keys and values are rounded to before they are read, as a cache would; without it: not.
  std::optional<DType> cache_dtype = {};
};

/// The natural log-probability of each of tokens[1 ..] given those before it, by a decoder alone.
/// Throws Error on a window longer than the model reads, a stride that is not below the window, a
/// token outside the vocabulary, and a cache that the model cannot have (see make_caches).
std::vector<double> score_text(const model::Transformer& model, std::span<const int32_t> tokens,
                               const ScoreOptions& options);

/// The same of every token of a target given its source, by an encoder-decoder.
std::vector<double> score_target(const model::Transformer& model, std::span<const int32_t> source,
                                 std::span<const int32_t> target, DType dtype = DType::f32);

/// exp of the negative mean; 1 for no token.
double perplexity(std::span<const double> log_probabilities);

}  // namespace heed::generate
