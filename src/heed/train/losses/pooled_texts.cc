#include "heed/train/losses/pooled_texts.h"

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear.h"
#include "heed/ops/rows.h"
#include "heed/tasks/hidden_states.h"
#include "heed/train/checkpoints/token_projection.h"

namespace heed::train {
namespace {

/// The rows of the states of each text that are pooled: not its first `unpooled` ones. A text of no
/// others is pooled as a whole.
std::vector<std::pair<int32_t, int32_t>> pooled_rows(const data::Batch& batch) {
  std::vector<std::pair<int32_t, int32_t>> rows;
  for (size_t i = 0; i + 1 < batch.source_offsets.size(); ++i) {
    const int32_t begin = batch.source_offsets[i], end = batch.source_offsets[i + 1];
    const int32_t skipped = batch.groups.unpooled.empty() ? 0 : batch.groups.unpooled[i];
    rows.emplace_back(begin + skipped < end ? begin + skipped : begin, end);
  }
  return rows;
}

Tensor mean_of_states(Context& context, const Tensor& states, const data::Batch& batch) {
  std::vector<int32_t> rows, offsets{0};
  for (const auto& [begin, end] : pooled_rows(batch)) {
    for (int32_t row = begin; row < end; ++row) rows.push_back(row);
    offsets.push_back(static_cast<int32_t>(rows.size()));
  }
  const Tensor x = ops::to_f32(context, states);
  if (std::ssize(rows) == x.rows()) return ops::mean_rows(context, x, offsets);
  return ops::mean_rows(context, ops::gather_rows(context, x, rows), offsets);
}

/// The vectors [M, W] of some tokens.
Tensor token_vectors(const model::Transformer& model, Context& context, const Tensor& states,
                     std::span<const int32_t> tokens) {
  const Parameter* const projection = find_token_projection(model);
  require(projection != nullptr, "the model has no projection to vectors of tokens");
  const Tensor x = ops::to_f32(context, ops::gather_rows(context, states, tokens));  // [M, D]
  return ops::linear(context, x, *projection, model.parameters().absent());
}

}  // namespace

Tensor pooled_texts(const model::Transformer& model, Context& context, const data::Batch& batch) {
  const Tensor states = tasks::hidden_states(
      model, context, {batch.source, batch.source_offsets, {}, batch.groups.attended});  // [N, D]
  if (batch.groups.options.kind == data::VectorKind::multi_vector)
    return token_vectors(model, context, states, batch.groups.scored);
  if (batch.groups.options.kind == data::VectorKind::sparse)
    return model.head().splade(context, states, batch.source_offsets);
  const data::TextState pooling = batch.groups.options.pooling;
  if (pooling == data::TextState::mean) return mean_of_states(context, states, batch);
  std::vector<int32_t> rows;
  for (const auto& [begin, end] : pooled_rows(batch))
    rows.push_back(pooling == data::TextState::cls ? begin : end - 1);
  return ops::to_f32(context, ops::gather_rows(context, states, rows));
}

}  // namespace heed::train
