#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/generation.h"
#include "heed/model/transformer.h"
#include "heed/score.h"

namespace heed::tasks {

using heed::perplexity;
using heed::ScoreOptions;

/// Tokens [begin, end) of a text, of which the last `scored` are scored given those before them.
struct WindowRange {
  int64_t begin = 0, end = 0, scored = 0;
};

/// The windows in which a text of `count` tokens is scored, so that each token but the first is
/// scored once. Throws Error if the model is not decoder-only, on a window longer than its context,
/// and on a stride not below the window.
std::vector<WindowRange> score_windows(const model::Transformer& model, int64_t count,
                                       const ScoreOptions& options);

/// The log-probability (natural) of the last `scored` tokens of a window. Throws Error on a token
/// outside the vocabulary, and as make_caches() and checked_logits() do. With `cache_dtype`, keys
/// and values are rounded as a kv cache of this type does.
std::vector<double> score_window(const model::Transformer& model, std::span<const int32_t> tokens,
                                 int64_t scored, DType dtype = DType::f32,
                                 std::optional<DType> cache_dtype = {});

/// tokens[1 ..] of a text given the tokens before them, each with the `top` most probable ones.
/// Throws Error on a text longer than the context, and as score_window() does, whose
/// log-probabilities these are.
std::vector<TokenScore> score_tokens(const model::Transformer& model,
                                     std::span<const int32_t> tokens, int64_t top,
                                     DType dtype = DType::f32,
                                     std::optional<DType> cache_dtype = {});

/// The log-probability of each of tokens[1 ..] given the tokens before it: those of all windows.
std::vector<double> score_text(const model::Transformer& model, std::span<const int32_t> tokens,
                               const ScoreOptions& options, DType dtype = DType::f32,
                               std::optional<DType> cache_dtype = {});

/// The log-probability of each token of a target given its source, by an encoder-decoder.
std::vector<double> score_target(const model::Transformer& model, std::span<const int32_t> source,
                                 std::span<const int32_t> target, DType dtype = DType::f32);

}  // namespace heed::tasks
