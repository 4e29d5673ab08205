#include "heed/tasks/scorer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/generate/cached_decoder.h"
#include "heed/generate/logits.h"
#include "heed/kernels/softmax.h"
#include "heed/model/check_input.h"

namespace heed::tasks {
namespace {

/// Calls visit(i, row) with the log-probabilities [V] that row i of the states gives, on several
/// threads. Computes the logits of a few rows at a time: the logits of a whole window can take more
/// memory than the model.
template <typename Visit>
void visit_log_probabilities(const model::Transformer& model, Context& context,
                             const Tensor& states, const Visit& visit) {
  constexpr int64_t kRows = 128;
  for (int64_t begin = 0; begin < states.rows(); begin += kRows) {
    const int64_t rows = std::min(states.rows() - begin, kRows);
    Tensor logits = generate::checked_logits(model, context, states.row_slice(begin, begin + rows));
    kernels::log_softmax(logits, logits);
    parallel_for(rows, 1, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row)
        visit(begin + row, std::span(logits.data<float>() + row * logits.cols(),
                                     static_cast<size_t>(logits.cols())));
    });
  }
}

/// The log-probability of targets[i] given row i of the states.
std::vector<double> scores_of(const model::Transformer& model, Context& context,
                              const Tensor& states, std::span<const int32_t> targets) {
  std::vector<double> scores(targets.size());
  visit_log_probabilities(model, context, states, [&](int64_t i, std::span<const float> row) {
    const auto k = static_cast<size_t>(i);
    scores[k] = static_cast<double>(row[static_cast<size_t>(targets[k])]);
  });
  return scores;
}

/// The `top` most probable tokens; of equal ones the smaller first.
std::vector<TokenLogProbability> best_of(std::span<const float> row, size_t top) {
  std::vector<int32_t> best;
  const auto value = [&](int32_t token) { return row[static_cast<size_t>(token)]; };
  for (int32_t token = 0; token < std::ssize(row) && top > 0; ++token) {
    if (best.size() == top && value(token) <= value(best.back())) continue;
    if (best.size() == top) best.pop_back();
    const auto place =
        std::ranges::find_if(best, [&](int32_t other) { return value(other) < value(token); });
    best.insert(place, token);
  }
  std::vector<TokenLogProbability> result;
  for (const int32_t token : best) result.push_back({token, static_cast<double>(value(token))});
  return result;
}

/// The last hidden states [N, D] of one text.
Tensor states_of(const model::Transformer& model, Context& context, const model::Tokens& text,
                 std::optional<DType> cache_dtype) {
  if (!cache_dtype) return model.decode_all(context, text);
  std::vector<nn::KeyValueCache> caches = generate::make_caches(model, cache_dtype);
  const auto spans = std::make_shared<const kernels::AttentionMetadata>(
      kernels::AttentionMetadata::self(text.offsets));
  return model.decode(
      context, text.ids, {},
      {nn::positions_within(text.offsets), {spans, spans->sequences()}, nullptr, caches});
}

}  // namespace

std::vector<WindowRange> score_windows(const model::Transformer& model, int64_t count,
                                       const ScoreOptions& options) {
  require(model.has_decoder() && !model.has_encoder(),
          "scoring a text needs a decoder-only model, this one has an encoder");
  const model::ModelConfig& config = model.config();
  const int64_t max_window = config.positions == model::PositionKind::none
                                 ? std::numeric_limits<int32_t>::max()
                                 : config.max_positions;
  const int64_t window = options.window ? options.window : max_window;
  const int64_t stride = options.stride ? options.stride : std::max<int64_t>(window / 2, 1);
  require_input(window >= 2 && window <= max_window, "the window is {}, expected 2 to {} tokens",
                window, max_window);
  require_input(stride >= 1 && stride < window,
                "the stride is {}, expected 1 to {}, one below the window", stride, window - 1);
  std::vector<WindowRange> windows;
  for (int64_t begin = 0, scored = 1; scored < count; begin += stride) {
    const int64_t end = std::min(begin + window, count);
    windows.push_back({begin, end, end - scored});
    scored = end;
  }
  return windows;
}

std::vector<double> score_window(const model::Transformer& model, std::span<const int32_t> tokens,
                                 int64_t scored, DType dtype, std::optional<DType> cache_dtype) {
  model::check_tokens(model.config(), tokens);
  Context context{.dtype = dtype};
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(tokens.size())};
  const Tensor states = states_of(model, context, {tokens, offsets}, cache_dtype);
  const int64_t last = std::ssize(tokens) - 1;
  return scores_of(model, context, states.row_slice(last - scored, last),
                   tokens.last(static_cast<size_t>(scored)));
}

std::vector<TokenScore> score_tokens(const model::Transformer& model,
                                     std::span<const int32_t> tokens, int64_t top, DType dtype,
                                     std::optional<DType> cache_dtype) {
  require(model.has_decoder() && !model.has_encoder(),
          "scoring a text needs a decoder-only model, this one has an encoder");
  model::check_tokens(model.config(), tokens);
  model::check_length(model.config(), tokens);
  std::vector<TokenScore> scores(tokens.size() - 1);
  if (scores.empty()) return scores;
  Context context{.dtype = dtype};
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(tokens.size())};
  const Tensor states = states_of(model, context, {tokens, offsets}, cache_dtype);
  visit_log_probabilities(model, context, states.row_slice(0, std::ssize(scores)),
                          [&](int64_t i, std::span<const float> row) {
                            const int32_t token = tokens[static_cast<size_t>(i) + 1];
                            scores[static_cast<size_t>(i)] = {
                                {token, static_cast<double>(row[static_cast<size_t>(token)])},
                                best_of(row, static_cast<size_t>(top))};
                          });
  return scores;
}

std::vector<double> score_text(const model::Transformer& model, std::span<const int32_t> tokens,
                               const ScoreOptions& options, DType dtype,
                               std::optional<DType> cache_dtype) {
  const auto windows = score_windows(model, static_cast<int64_t>(tokens.size()), options);
  model::check_tokens(model.config(), tokens);
  std::vector<double> scores;
  for (const auto& [begin, end, scored] : windows) {
    const auto part = tokens.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    const std::vector<double> some = score_window(model, part, scored, dtype, cache_dtype);
    scores.insert(scores.end(), some.begin(), some.end());
  }
  return scores;
}

std::vector<double> score_target(const model::Transformer& model, std::span<const int32_t> source,
                                 std::span<const int32_t> target, DType dtype) {
  model::check_tokens(model.config(), target);
  if (target.empty()) return {};
  Context context{.dtype = dtype};
  const std::vector<int32_t> source_offsets{0, static_cast<int32_t>(source.size())};
  const model::Memory memory = model.encode(context, {source, source_offsets});
  std::vector<int32_t> input{model.config().decoder_start_id};
  input.insert(input.end(), target.begin(), target.end() - 1);
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(input.size())};
  return scores_of(model, context, model.decode_all(context, {input, offsets}, memory), target);
}

}  // namespace heed::tasks

double heed::perplexity(std::span<const double> log_probabilities) {
  if (log_probabilities.empty()) return 1.0;
  const double sum = std::accumulate(log_probabilities.begin(), log_probabilities.end(), 0.0);
  return std::exp(-sum / static_cast<double>(log_probabilities.size()));
}
