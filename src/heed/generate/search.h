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
  /// alpha of the length penalty lp(Y) = ((5 + |Y|) / 6)^alpha (Wu et al. 2016, equation 14; the
  /// paper takes 0.6); hypotheses are compared by log P(Y | X) / lp(Y).
  float length_penalty = 0.6f;
  /// Largest number of tokens of a translation; without it, that of its source plus
  /// max_new_tokens_over_source (50 in Vaswani et al. 2017, section 6.1). A PromptBatch has its own
  /// limits instead.
  std::optional<int64_t> max_new_tokens = {};
  int64_t max_new_tokens_over_source = 50;
  /// Whether hypotheses of greedy search have a log-probability and a score; without, the search is
  /// faster. Beam search always has them.
  bool scores = true;
};

/// Throws Error when a number is out of its range.
void check(const SearchOptions& options);

struct Hypothesis {
  std::vector<int32_t> tokens;  // without the prompt and without end of sequence
  double log_probability =
      0;             // natural logarithm, of all tokens, and of end of sequence unless cut
  double score = 0;  // log_probability / length penalty
};

/// The n best translations of each source (best first), by greedy or beam search with cached keys
/// and values. Sources [offsets[b], offsets[b + 1]) end with end of sequence. A source's result
/// does not depend on the others. Keys and values are kept in suitable_cache(). Throws Error on
/// options out of range, as Transformer::encode() does, and as checked_logits() does.
std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const model::Tokens& sources,
                                            const SearchOptions& options);

/// Prompts for a decoder.
struct PromptBatch {
  std::vector<std::vector<int32_t>> prompts = {};  // [B], none empty
  std::vector<int64_t> max_new_tokens = {};        // [B], at least 1
  std::vector<int32_t> eos_ids = {};               // tokens that end an output
};

/// The n best outputs for each prompt. `memory` holds the keys and values of the sources (sequence
/// b belongs to prompt b); it is empty for a decoder alone.
std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const model::Memory& memory, PromptBatch batch,
                                            const SearchOptions& options);

}  // namespace heed::generate
