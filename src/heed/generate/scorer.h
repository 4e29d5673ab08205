#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/model/transformer.h"
#include "heed/score.h"

namespace heed::generate {

using heed::perplexity;
using heed::ScoreOptions;

/// The log-probability (natural) of each of tokens[1 ..] given the tokens before it, by a
/// decoder-only model. Throws Error on a window longer than the model's context, a stride not below
/// the window, a token outside the vocabulary, and as make_caches() and checked_logits() do. With
/// `cache_dtype`, keys and values are rounded as a kv cache of this type does.
std::vector<double> score_text(const model::Transformer& model, std::span<const int32_t> tokens,
                               const ScoreOptions& options, DType dtype = DType::f32,
                               std::optional<DType> cache_dtype = {});

/// The log-probability of each token of a target given its source, by an encoder-decoder.
std::vector<double> score_target(const model::Transformer& model, std::span<const int32_t> source,
                                 std::span<const int32_t> target, DType dtype = DType::f32);

}  // namespace heed::generate
