#include "heed/generate/search.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/generate/beam.h"
#include "heed/generate/cached_decoder.h"
#include "heed/kernels/softmax.h"

namespace heed::generate {
namespace {

void check(const SearchOptions& options) {
  require(options.beam >= 1 && options.beam <= 256, "beam is {}, expected 1 to 256", options.beam);
  require(options.n_best >= 1 && options.n_best <= options.beam,
          "n-best is {}, expected 1 to the beam, which is {}", options.n_best, options.beam);
  require(options.extra_length >= 0, "the extra length is {}, expected at least 0",
          options.extra_length);
}

std::vector<Beam> make_beams(const Beginnings& beginnings, const SearchOptions& options) {
  std::vector<Beam> beams;
  for (const int64_t most : beginnings.most_tokens)
    beams.emplace_back(options, beginnings.end_ids, most);
  return beams;
}

/// What the decoder has not seen yet of every living path of every beam: the newest token, at first
/// the prompt.
std::vector<CachedDecoder::Feed> next_feeds(std::vector<Beam>& beams,
                                            const Beginnings& beginnings) {
  std::vector<CachedDecoder::Feed> feeds;
  for (size_t b = 0; b < beams.size(); ++b)
    for (Path& path : beams[b].paths()) {
      const std::span<const int32_t> fresh = path.tokens.empty()
                                                 ? std::span<const int32_t>(beginnings.prompts[b])
                                                 : std::span<const int32_t>(path.tokens).last(1);
      feeds.push_back({fresh, path.cache_rows, static_cast<int64_t>(b)});
    }
  return feeds;
}

/// Row i of `log_probabilities` [paths of all beams, V] belongs to the i-th living path.
void advance_all(std::vector<Beam>& beams, const Tensor& log_probabilities) {
  std::vector<int64_t> first_row;
  int64_t rows = 0;
  for (const Beam& beam : beams) {
    first_row.push_back(rows);
    rows += static_cast<int64_t>(beam.paths().size());
  }
  const int64_t classes = log_probabilities.cols();
  parallel_for(static_cast<int64_t>(beams.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      Beam& beam = beams[static_cast<size_t>(b)];
      if (beam.paths().empty()) continue;
      beam.advance({log_probabilities.data<float>() + first_row[static_cast<size_t>(b)] * classes,
                    beam.paths().size() * static_cast<size_t>(classes)});
    }
  });
}

}  // namespace

std::vector<std::vector<Hypothesis>> search(const model::Transformer& model, DType dtype,
                                            const model::Memory& memory, Beginnings beginnings,
                                            const SearchOptions& options) {
  check(options);
  std::vector<Beam> beams = make_beams(beginnings, options);
  CachedDecoder decoder(model, dtype, memory, {});
  for (;;) {
    const std::vector<CachedDecoder::Feed> feeds = next_feeds(beams, beginnings);
    if (feeds.empty()) break;
    Tensor logits = decoder.feed(feeds);  // [paths, V]
    kernels::log_softmax(logits, logits);
    advance_all(beams, logits);
  }
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
  const model::Memory memory = model.encode(context, sources);
  Beginnings beginnings{.end_ids = {config.eos_id}};
  for (size_t b = 0; b + 1 < sources.offsets.size(); ++b) {
    const int64_t length = sources.offsets[b + 1] - sources.offsets[b];
    beginnings.prompts.push_back({config.start_id});
    beginnings.most_tokens.push_back(std::min(length + options.extra_length, config.max_positions));
  }
  return search(model, dtype, memory, std::move(beginnings), options);
}

}  // namespace heed::generate
