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

/// The n_best translations of each source, best first, by greedy or beam search. Sources
/// [offsets[b], offsets[b + 1]) end with end of sequence. A result does not depend on the other
/// sources. The kv cache has default_cache_dtype(). Throws Error on options out of range, and as
/// Transformer::encode() and checked_logits() do.
std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const model::Tokens& sources,
                                            const SearchOptions& options);

/// Prompts for a decoder.
struct PromptBatch {
  std::vector<std::vector<int32_t>> prompts = {};  // [B], none empty
  std::vector<int64_t> max_new_tokens = {};        // [B], at least 1
  std::vector<int32_t> eos_ids = {};               // tokens that end an output
};

/// The n_best outputs of each prompt, best first. Sequence b of `memory` is the source of prompt b;
/// the memory of a decoder-only model is empty.
std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const model::Memory& memory, PromptBatch batch,
                                            const SearchOptions& options);

}  // namespace heed::generate
