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

void check(const SearchOptions& options) {
  require(options.beam >= 1 && options.beam <= kMostBeam, "beam is {}, expected 1 to {}",
          options.beam, kMostBeam);
  require(options.n_best >= 1 && options.n_best <= options.beam,
          "n-best is {}, expected 1 to the beam, which is {}", options.n_best, options.beam);
  require(std::isfinite(options.length_penalty),
          "the length penalty is {}, expected a finite number", options.length_penalty);
  require(options.extra_length >= 0, "the extra length is {}, expected at least 0",
          options.extra_length);
}

std::vector<Beam> make_beams(const Beginnings& beginnings, const SearchOptions& options) {
  std::vector<Beam> beams;
  for (const int64_t most : beginnings.most_tokens)
    beams.emplace_back(options, beginnings.end_ids, most);
  return beams;
}

/// The search for some of the sources of a batch.
class Search {
 public:
  Search(const Beginnings& beginnings, const SearchOptions& options)
      : beginnings_(beginnings), options_(options) {}

  void add(size_t source, Beam& beam) { living_.push_back({source, &beam}); }

  void run(CachedDecoder& decoder) {
    while (!living_.empty()) {
      Tensor logits = decoder.feed(next_feeds());  // [paths, V]
      advance(logits);
      std::erase_if(living_, [](const Living& one) { return one.beam->paths().empty(); });
    }
  }

 private:
  struct Living {
    size_t source;
    Beam* beam;
  };

  /// What the decoder has not seen yet of every path of every beam: the newest token, at first the
  /// prompt.
  std::span<const CachedDecoder::Feed> next_feeds() {
    feeds_.clear();
    for (const auto& [source, beam] : living_)
      for (Path& path : beam->paths()) {
        const std::span<const int32_t> fresh =
            path.tokens.empty() ? std::span<const int32_t>(beginnings_.prompts[source])
                                : std::span<const int32_t>(path.tokens).last(1);
        feeds_.push_back({fresh, path.cache_rows, static_cast<int64_t>(source)});
      }
    return feeds_;
  }

  /// Row i of `logits` [paths, V], which it changes, belongs to the i-th path of all.
  void advance(Tensor& logits) {
    first_rows_.assign(1, 0);
    for (const Living& one : living_)
      first_rows_.push_back(first_rows_.back() + static_cast<int64_t>(one.beam->paths().size()));
    parallel_for(static_cast<int64_t>(living_.size()), 1, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        Tensor own = logits.row_slice(first_rows_[i], first_rows_[i + 1]);
        advance(*living_[i].beam, own);
      }
    });
  }

  void advance(Beam& beam, Tensor& logits) const {
    if (options_.beam == 1 && !options_.scores)
      return beam.follow(static_cast<int32_t>(kernels::argmax(logits.values<float>())));
    kernels::log_softmax(logits, logits);
    beam.advance(logits.values<float>());
  }

  const Beginnings& beginnings_;
  const SearchOptions& options_;
  std::vector<Living> living_;
  // Kept, so that they need not grow anew at every step.
  std::vector<CachedDecoder::Feed> feeds_;
  std::vector<int64_t> first_rows_;
};

/// Least paths of a thread that decodes some of the sources alone, reading all of the weights: with
/// fewer, threads share every product instead.
constexpr int64_t kLeastPaths = 8;

}  // namespace

std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const model::Memory& memory, Beginnings beginnings,
                                            const SearchOptions& options) {
  check(options);
  std::vector<Beam> beams = make_beams(beginnings, options);
  const auto sources = static_cast<int64_t>(beams.size());
  const int64_t shares =
      std::clamp<int64_t>(sources * options.beam / kLeastPaths, 1, thread_count());
  parallel_in_order(shares, 1, [&](int64_t share, int64_t) {
    Search own(beginnings, options);
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
      kept_in(suitable_cache(model, dtype), model, model.encode(context, sources));
  Beginnings beginnings{.end_ids = {config.eos_id}};
  for (size_t b = 0; b + 1 < sources.offsets.size(); ++b) {
    const int64_t length = sources.offsets[b + 1] - sources.offsets[b];
    beginnings.prompts.push_back({config.start_id});
    beginnings.most_tokens.push_back(std::min(length + options.extra_length, config.max_positions));
  }
  return search(model, dtype, memory, std::move(beginnings), options);
}

}  // namespace heed::generate
