#include "heed/generate/search.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/generate/beam.h"
#include "heed/generate/generate_options.h"
#include "heed/generate/scheduler.h"

namespace heed {

void check(const SearchOptions& options) {
  check_all<generate::SearchOption>(options);
  require_input(options.n_best <= options.num_beams,
                "n_best is {}, expected 1 to {}, the value of num_beams", options.n_best,
                options.num_beams);
}

namespace generate {

GeneratorInput translation_input(const model::ModelConfig& config, const SearchOptions& options,
                                 std::vector<int32_t> source, std::vector<int32_t> prompt) {
  // The last output token is not read.
  const int64_t most = config.max_positions - static_cast<int64_t>(prompt.size()) + 1;
  const int64_t limit = options.max_new_tokens.value_or(static_cast<int64_t>(source.size()) +
                                                        options.max_new_tokens_over_source);
  return {.source = std::move(source),
          .prompt = std::move(prompt),
          .max_new_tokens = std::min(limit, most)};
}

int64_t room_for_terms(const TokenRules& rules, const GeneratorInput& input) {
  return input.max_new_tokens - (rules.forced_eos_ids.empty() ? 0 : 1);
}

void check_terms(const RequiredTerms* terms, const TokenRules& rules, const GeneratorInput& input,
                 const SearchOptions& options) {
  if (!terms) return;
  require_input(options.num_beams > 1,
                "required terms need beam search: num_beams is 1, expected 2 to {}", kMaxBeams);
  const bool forces_first = rules.forced_bos_id >= 0 && input.prompt.size() == 1;
  terms->check(room_for_terms(rules, input) - (forces_first ? 1 : 0), rules.eos_ids);
}

namespace {

bool has_terms(const SearchBatch& batch, size_t b) {
  return !batch.terms.empty() && batch.terms[b];
}

/// Each thread decodes its own share of the sources and reads all weights for it. That pays if a
/// share has at least this many paths; otherwise the threads work on each matrix product together.
/// A device has one queue of work: there is one share.
constexpr int64_t kMinPathsPerThread = 8;

/// Decodes every `stride`th request of a batch, from `first` on.
void search_share(const model::Transformer& model, const SchedulerOptions& options,
                  const SearchBatch& batch, std::vector<BeamState>& decodings, size_t first,
                  size_t stride) {
  Scheduler scheduler(model, options);
  for (size_t b = first; b < decodings.size(); b += stride)
    scheduler.add({.source = batch.inputs[b].source,
                   .decoding = &decodings[b],
                   .max_tokens = batch.inputs[b].max_tokens(decodings[b].max_paths()),
                   .cross_attention = batch.cross_attention || has_terms(batch, b),
                   .shortlist = batch.shortlists.empty() ? nullptr : batch.shortlists[b]});
  while (!scheduler.idle())
    for (const Scheduler::Progress& progress : scheduler.step())
      if (progress.error) std::rethrow_exception(progress.error);
}

}  // namespace

std::vector<std::vector<SearchResult>> search(const model::Transformer& model, DType dtype,
                                              const SearchBatch& batch,
                                              const SearchOptions& options) {
  check(options);
  std::vector<BeamState> decodings;
  for (size_t b = 0; b < batch.inputs.size(); ++b) {
    const auto terms = batch.terms.empty() ? nullptr : batch.terms[b];
    check_terms(terms.get(), batch.rules, batch.inputs[b], options);
    decodings.emplace_back(options, batch.inputs[b], batch.rules, batch.constraint, terms);
  }
  const int64_t shares = model.device()
                             ? 1
                             : std::clamp<int64_t>(static_cast<int64_t>(decodings.size()) *
                                                       options.num_beams / kMinPathsPerThread,
                                                   1, thread_count());
  const SchedulerOptions scheduling{
      .dtype = dtype,
      .cache = {.memory_dtype = batch.memory_dtype},
      .max_active_tokens = (batch.max_active_tokens + shares - 1) / shares};
  parallel_in_order(shares, 1, [&](int64_t share, int64_t) {
    search_share(model, scheduling, batch, decodings, static_cast<size_t>(share),
                 static_cast<size_t>(shares));
  });
  std::vector<std::vector<SearchResult>> results;
  for (const BeamState& decoding : decodings) results.push_back(decoding.best());
  return results;
}

std::vector<std::vector<Hypothesis>> hypotheses_of(std::vector<std::vector<SearchResult>> results) {
  std::vector<std::vector<Hypothesis>> all;
  for (std::vector<SearchResult>& request : results) {
    std::vector<Hypothesis>& hypotheses = all.emplace_back();
    for (SearchResult& result : request) hypotheses.push_back(std::move(result.hypothesis));
  }
  return all;
}

std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            std::vector<std::vector<int32_t>> sources,
                                            const SearchOptions& options) {
  check(options);
  const model::ModelConfig& config = model.config();
  SearchBatch batch{.rules = {.eos_ids = config.eos_ids()},
                    .memory_dtype = default_cache_dtype(model, dtype)};
  for (std::vector<int32_t>& source : sources)
    batch.inputs.push_back(
        translation_input(config, options, std::move(source), {config.decoder_start_id}));
  return hypotheses_of(search(model, dtype, batch, options));
}

}  // namespace generate
}  // namespace heed
