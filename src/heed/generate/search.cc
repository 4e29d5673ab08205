#include "heed/generate/search.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/generate/beam.h"
#include "heed/generate/cached_decoder.h"
#include "heed/kernels/argmax.h"
#include "heed/kernels/softmax.h"

namespace heed::generate {
namespace {

constexpr int64_t kMaxNewTokens = int64_t{1} << 30;

/// The largest number of tokens of a translation of a source with `source_tokens` tokens.
int64_t translation_limit(const SearchOptions& options, int64_t source_tokens) {
  return options.max_new_tokens.value_or(source_tokens + options.max_new_tokens_over_source);
}

}  // namespace

void check(const SearchOptions& options) {
  require(options.num_beams >= 1 && options.num_beams <= kMaxBeams,
          "num_beams is {}, expected 1 to {}", options.num_beams, kMaxBeams);
  require(options.n_best >= 1 && options.n_best <= options.num_beams,
          "n_best is {}, expected 1 to {}, the value of num_beams", options.n_best,
          options.num_beams);
  require(std::isfinite(options.length_penalty),
          "the length penalty is {}, expected a finite number", options.length_penalty);
  const int64_t max_new_tokens = options.max_new_tokens.value_or(1);
  require(max_new_tokens >= 1 && max_new_tokens <= kMaxNewTokens,
          "max_new_tokens is {}, expected 1 to {}", max_new_tokens, kMaxNewTokens);
  require(options.max_new_tokens_over_source >= 0 &&
              options.max_new_tokens_over_source <= kMaxNewTokens,
          "max_new_tokens_over_source is {}, expected 0 to {}", options.max_new_tokens_over_source,
          kMaxNewTokens);
}

namespace {

std::vector<Beam> make_beams(const PromptBatch& batch, const SearchOptions& options) {
  std::vector<Beam> beams;
  for (const int64_t count : batch.max_new_tokens)
    beams.emplace_back(options, batch.eos_ids, count);
  return beams;
}

/// Searches for outputs of some of the sources of a batch.
class Search {
 public:
  Search(const PromptBatch& batch, const SearchOptions& options)
      : batch_(batch), options_(options) {}

  void add(size_t source, Beam& beam) { active_.push_back({source, &beam}); }

  void run(CachedDecoder& decoder) {
    while (!active_.empty()) {
      Tensor logits = decoder.decode(next_inputs());  // [paths, V]
      advance(logits);
      std::erase_if(active_, [](const Active& one) { return one.beam->paths().empty(); });
    }
  }

 private:
  struct Active {
    size_t source;
    Beam* beam;
  };

  /// The tokens of each path that the decoder has not read: the prompt, then the last token.
  std::span<const CachedDecoder::DecodeInput> next_inputs() {
    inputs_.clear();
    for (const auto& [source, beam] : active_)
      for (Path& path : beam->paths()) {
        const std::span<const int32_t> unread =
            path.tokens.empty() ? std::span<const int32_t>(batch_.prompts[source])
                                : std::span<const int32_t>(path.tokens).last(1);
        inputs_.push_back({unread, path.cache_rows, static_cast<int64_t>(source)});
      }
    return inputs_;
  }

  /// Row i of `logits` [paths, V] belongs to path i, counted over all beams. Overwrites `logits`.
  void advance(Tensor& logits) {
    first_rows_.assign(1, 0);
    for (const Active& one : active_)
      first_rows_.push_back(first_rows_.back() + static_cast<int64_t>(one.beam->paths().size()));
    parallel_for(static_cast<int64_t>(active_.size()), 1, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        Tensor own = logits.row_slice(first_rows_[i], first_rows_[i + 1]);
        advance(*active_[i].beam, own);
      }
    });
  }

  void advance(Beam& beam, Tensor& logits) const {
    if (options_.num_beams == 1 && !options_.scores)
      return beam.append(static_cast<int32_t>(kernels::argmax(logits.values<float>())));
    kernels::log_softmax(logits, logits);
    beam.advance(logits.values<float>());
  }

  const PromptBatch& batch_;
  const SearchOptions& options_;
  std::vector<Active> active_;
  // Scratch space: members so that steps reuse the allocations.
  std::vector<CachedDecoder::DecodeInput> inputs_;
  std::vector<int64_t> first_rows_;
};

/// Each thread decodes its own share of the sources and reads all weights for it. That pays if a
/// share has at least this many paths; otherwise the threads work on each matrix product together.
constexpr int64_t kMinPathsPerThread = 8;

}  // namespace

std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const model::Memory& memory, PromptBatch batch,
                                            const SearchOptions& options) {
  check(options);
  std::vector<Beam> beams = make_beams(batch, options);
  const auto sources = static_cast<int64_t>(beams.size());
  const int64_t shares =
      std::clamp<int64_t>(sources * options.num_beams / kMinPathsPerThread, 1, thread_count());
  parallel_in_order(shares, 1, [&](int64_t share, int64_t) {
    Search own(batch, options);
    for (int64_t b = share; b < sources; b += shares)
      own.add(static_cast<size_t>(b), beams[static_cast<size_t>(b)]);
    CachedDecoder decoder(model, dtype, memory, {});
    own.run(decoder);
  });
  std::vector<std::vector<Hypothesis>> results;
  for (const Beam& beam : beams) results.push_back(beam.best());
  return results;
}

std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const model::Tokens& sources,
                                            const SearchOptions& options) {
  check(options);
  Context context{.dtype = dtype};
  const model::ModelConfig& config = model.config();
  const model::Memory memory =
      in_cache_dtype(default_cache_dtype(model, dtype), model, model.encode(context, sources));
  PromptBatch batch{.eos_ids = config.eos_ids()};
  for (size_t b = 0; b + 1 < sources.offsets.size(); ++b) {
    const int64_t length = sources.offsets[b + 1] - sources.offsets[b];
    batch.prompts.push_back({config.decoder_start_id});
    batch.max_new_tokens.push_back(
        std::min(translation_limit(options, length), config.max_positions));
  }
  return search(model, dtype, memory, std::move(batch), options);
}

}  // namespace heed::generate
