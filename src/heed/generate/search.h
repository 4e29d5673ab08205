#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heed/model/transformer.h"
#include "heed/search.h"

namespace heed::generate {

using heed::Hypothesis;
using heed::kMaxBeams;
using heed::SearchOptions;

/// Throws Error when an option is out of range.
void check(const SearchOptions& options);

/// The largest number of tokens of a translation of a source with `source_tokens` tokens.
int64_t translation_limit(const SearchOptions& options, int64_t source_tokens);

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
