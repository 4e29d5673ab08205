#pragma once

#include <cstdint>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::generate {

/// The widest beam.
inline constexpr int kMostBeam = 256;

struct SearchOptions {
  int beam = 1;  // 1: greedy, the most probable token until end of sequence
  int n_best = 1;
  /// alpha of the length penalty lp(Y) = ((5 + |Y|) / 6)^alpha (Wu et al. 2016, equation 14; the
  /// paper takes 0.6); hypotheses are compared by log P(Y | X) / lp(Y).
  float length_penalty = 0.6f;
  /// A translation has at most this many tokens more than its source (the paper: 50).
  int64_t extra_length = 50;
  /// Without them hypotheses of greedy search have no log-probability and no score, and are found
  /// sooner. A beam cannot do without.
  bool scores = true;
};

struct Hypothesis {
  std::vector<int32_t> tokens;  // without what the decoder was given, without end of sequence
  double log_probability =
      0;             // natural logarithm, of all tokens, and of end of sequence unless cut
  double score = 0;  // log_probability / length penalty
};

/// The n best translations of each source (best first), by greedy or beam search with cached keys
/// and values. Sources [offsets[b], offsets[b + 1]) end with end of sequence. A source's result
/// does not depend on the others. The memory is kept in suitable_cache(). Threads share the sources
/// where there are enough. Throws Error on options out of range and on what Transformer::encode
/// refuses.
std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const model::Tokens& sources,
                                            const SearchOptions& options);

/// Texts that a decoder is to go on with.
struct Beginnings {
  std::vector<std::vector<int32_t>> prompts = {};  // [B], none empty
  std::vector<int64_t> most_tokens = {};           // [B], of each continuation; at least 1
  std::vector<int32_t> end_ids = {};               // tokens that end a continuation
};

/// The same for the continuations of prompts by a decoder that reads `memory` (sequence b of which
/// belongs to prompt b) as it is kept, or by one alone.
std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const model::Memory& memory, Beginnings beginnings,
                                            const SearchOptions& options);

}  // namespace heed::generate
