#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/generate/constrained_output.h"
#include "heed/generate/required_terms.h"
#include "heed/generate/shortlist.h"
#include "heed/generate/token_rules.h"
#include "heed/model/transformer.h"
#include "heed/search.h"

namespace heed::generate {

using heed::Hypothesis;
using heed::kMaxBeams;
using heed::SearchOptions;

/// The input of the model for one output.
struct GeneratorInput {
  std::vector<int32_t> source = {};  // the input of the encoder; empty for a decoder-only model
  std::vector<int32_t> prompt = {};  // the first input of the decoder, not empty
  int64_t max_new_tokens = 1;

  /// Tokens in the kv caches with this many paths.
  int64_t max_tokens(int64_t paths) const {
    return static_cast<int64_t>(source.size() + prompt.size()) + paths * max_new_tokens;
  }
  TokensSoFar with_output(std::span<const int32_t> output) const {
    return {source, prompt, output, max_new_tokens};
  }
};

/// The input for the translation of a source, whose output is limited by `options`. `prompt` is the
/// first input of the decoder.
GeneratorInput translation_input(const model::ModelConfig& config, const SearchOptions& options,
                                 std::vector<int32_t> source, std::vector<int32_t> prompt);

/// The tokens in which required terms must occur: those of the output, without one that is forced.
int64_t room_for_terms(const TokenRules& rules, const GeneratorInput& input);
/// Throws InputError if the terms (null: none) do not fit into the output, which RequiredTerms
/// says, or if the search is greedy.
void check_terms(const RequiredTerms* terms, const TokenRules& rules, const GeneratorInput& input,
                 const SearchOptions& options);

/// The n_best translations of each source, best first, by greedy or beam search. Sources end with
/// the end-of-sequence token, and the decoder begins with its start token. A result does not depend
/// on the other sources. The kv cache has default_cache_dtype(). Throws Error on options out of
/// range, and as Transformer::encode() and checked_logits() do.
std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            std::vector<std::vector<int32_t>> sources,
                                            const SearchOptions& options);

/// A finished hypothesis.
struct SearchResult {
  Hypothesis hypothesis;
  /// On request, for each token the cross-attention weights with which it was chosen, summed over
  /// layers and heads: [source tokens] f32.
  std::vector<Tensor> cross_attention = {};
};

/// Requests that are decoded together.
struct SearchBatch {
  std::vector<GeneratorInput> inputs = {};  // [B]
  TokenRules rules = {};
  OutputConstraint constraint = {};
  /// What each output must contain: [B], where null is nothing, or empty.
  std::vector<std::shared_ptr<const RequiredTerms>> terms = {};
  /// The only tokens of each output: [B], or empty. Those of its terms must be among them.
  std::vector<TokenList> shortlists = {};
  std::optional<DType> memory_dtype = {};  // see CacheOptions
  int64_t max_active_tokens = 0;           // see SchedulerOptions
  bool cross_attention = false;            // whether results have it
};

/// The n_best outputs of each request, best first. Throws Error as check_terms() does.
std::vector<std::vector<SearchResult>> search(const model::Transformer& model, DType dtype,
                                              const SearchBatch& batch,
                                              const SearchOptions& options);

/// The hypotheses alone.
std::vector<std::vector<Hypothesis>> hypotheses_of(std::vector<std::vector<SearchResult>> results);

}  // namespace heed::generate
