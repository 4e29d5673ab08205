#include "heed/generate/search.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/generate/beam.h"
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

std::vector<Beam> make_beams(const model::ModelConfig& config, const model::Tokens& sources,
                             const SearchOptions& options) {
  std::vector<Beam> beams;
  for (size_t b = 0; b + 1 < sources.offsets.size(); ++b) {
    const int64_t length = sources.offsets[b + 1] - sources.offsets[b];
    beams.emplace_back(options, config.eos_id,
                       std::min(length + options.extra_length, config.max_positions));
  }
  return beams;
}

/// A softmax carries a NaN to its whole row, so one number of each row tells.
void check_numbers(const Tensor& log_probabilities) {
  for (int64_t row = 0; row < log_probabilities.rows(); ++row)
    require(!std::isnan(log_probabilities.data<float>()[row * log_probabilities.cols()]),
            "the model's output is not a number: its weights are damaged");
}

/// The input of one decoding step: the newest token of every living path of every beam.
struct Step {
  std::vector<int32_t> input;
  std::vector<int32_t> positions;
  kernels::AttentionSpans own, memory;
};

/// Lays the living paths end to end; their new tokens become the rows cache_rows, cache_rows + 1,
/// ...
Step next_step(std::vector<Beam>& beams, const std::vector<int32_t>& source_offsets,
               int32_t start_id, int32_t cache_rows) {
  Step step;
  step.own.q_offsets = {0};
  for (size_t b = 0; b < beams.size(); ++b) {
    for (Path& path : beams[b].paths()) {
      step.input.push_back(path.tokens.empty() ? start_id : path.tokens.back());
      step.positions.push_back(static_cast<int32_t>(path.tokens.size()));
      path.cache_rows.push_back(cache_rows++);
      auto& rows = step.own.kv_rows;
      step.own.kv_begin.push_back(static_cast<int32_t>(rows.size()));
      rows.insert(rows.end(), path.cache_rows.begin(), path.cache_rows.end());
      step.own.kv_end.push_back(static_cast<int32_t>(rows.size()));
      step.own.q_offsets.push_back(static_cast<int32_t>(step.input.size()));
      step.memory.kv_begin.push_back(source_offsets[b]);
      step.memory.kv_end.push_back(source_offsets[b + 1]);
    }
  }
  step.memory.q_offsets = step.own.q_offsets;
  return step;
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
                                            const model::Tokens& sources,
                                            const SearchOptions& options) {
  check(options);
  Context context{.dtype = dtype};
  const model::Memory memory = model.encode(context, sources);
  std::vector<Beam> beams = make_beams(model.config(), sources, options);
  std::vector<nn::KeyValueCache> caches = model.make_caches(nn::KeyValueCache::Mode::keep);
  for (int32_t cache_rows = 0;;) {
    Step step = next_step(beams, sources.offsets, model.config().start_id, cache_rows);
    if (step.input.empty()) break;
    cache_rows += static_cast<int32_t>(step.input.size());
    const Tensor states = model.decode(
        context, step.input, memory,
        {std::move(step.positions),
         std::make_shared<const kernels::AttentionSpans>(std::move(step.own)),
         std::make_shared<const kernels::AttentionSpans>(std::move(step.memory)), caches});
    Tensor logits = model.logits(context, states);  // [paths, V]
    kernels::log_softmax(logits, logits);
    check_numbers(logits);
    advance_all(beams, logits);
  }
  std::vector<std::vector<Hypothesis>> results;
  for (const Beam& beam : beams) results.push_back(beam.best());
  return results;
}

}  // namespace heed::generate
