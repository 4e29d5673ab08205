#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::generate {

inline constexpr int kMaxBeams = 256;

struct SearchOptions {
  int num_beams = 1;  // hypotheses kept at each step; 1: greedy search
  int n_best = 1;     // hypotheses returned, at most num_beams
  /// alpha of the length penalty lp(Y) = ((5 + |Y|) / 6)^alpha (Wu et al. 2016, equation 14);
  /// hypotheses are ranked by log P(Y | X) / lp(Y). 0.6 as in Vaswani et al. 2017, section 6.1.
  float length_penalty = 0.6f;
  /// Largest number of tokens of a translation; without it, that of its source plus
  /// max_new_tokens_over_source (50 in Vaswani et al. 2017, section 6.1). A SearchBatch has its own
  /// limits instead.
  std::optional<int64_t> max_new_tokens = {};
  int64_t max_new_tokens_over_source = 50;
  /// Whether greedy search computes log-probabilities and scores; it is faster without. Beam search
  /// always does.
  bool scores = true;
};

/// Throws Error when an option is out of range.
void check(const SearchOptions& options);

/// The largest number of tokens of a translation of a source with `source_tokens` tokens.
int64_t translation_limit(const SearchOptions& options, int64_t source_tokens);

struct Hypothesis {
  std::vector<int32_t> tokens;  // without the prompt and the end token
  /// Natural logarithm, of all tokens; includes the end token unless the length limit was reached.
  double log_probability = 0;
  double score = 0;  // log_probability / length penalty
};

/// The n_best translations of each source, best first, by greedy or beam search. Sources
/// [offsets[b], offsets[b + 1]) end with end of sequence. A result does not depend on the other
/// sources. The kv cache has default_cache_dtype(). Throws Error on options out of range, and as
/// Transformer::encode() and checked_logits() do.
std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const model::Tokens& sources,
                                            const SearchOptions& options);

/// Requests that are decoded together.
struct SearchBatch {
  std::vector<std::vector<int32_t>> sources = {};  // [B] of an encoder-decoder, else none
  std::vector<std::vector<int32_t>> prompts = {};  // [B], the first input of the decoder, not empty
  std::vector<int64_t> max_new_tokens = {};        // [B], at least 1
  std::vector<int32_t> eos_ids = {};               // tokens that end an output
  std::optional<DType> memory_dtype = {};          // see CacheOptions
  int64_t max_active_tokens = 0;                   // see SchedulerOptions
};

/// The n_best outputs of each request, best first.
std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const SearchBatch& batch, const SearchOptions& options);

}  // namespace heed::generate
