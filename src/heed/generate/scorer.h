#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::generate {

/// A text longer than the model reads is scored in windows, each of which begins `stride` tokens
/// after the last. A token is scored once, in the first window that holds it; beyond the first
/// window it then has at least window - stride tokens before it.
struct ScoreOptions {
  int64_t window = 0;  // tokens; 0: as many as the model reads
  int64_t stride = 0;  // 0: half the window
  DType dtype = DType::f32;
  /// Rounds keys and values to this type, as a kv cache of that type would; without it: no
  /// rounding.
  std::optional<DType> cache_dtype = {};
};

/// The natural log-probability of each of tokens[1 ..] given those before it, by a decoder alone.
/// Throws Error on a window longer than the model reads, a stride that is not below the window, a
/// token outside the vocabulary, a cache that the model cannot have (see make_caches()), and as
/// checked_logits() does.
std::vector<double> score_text(const model::Transformer& model, std::span<const int32_t> tokens,
                               const ScoreOptions& options);

/// The same for every token of a target given its source, by an encoder-decoder.
std::vector<double> score_target(const model::Transformer& model, std::span<const int32_t> source,
                                 std::span<const int32_t> target, DType dtype = DType::f32);

/// exp of the negative mean; 1 without tokens.
double perplexity(std::span<const double> log_probabilities);

}  // namespace heed::generate
