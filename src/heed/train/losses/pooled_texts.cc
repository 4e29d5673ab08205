#include "heed/train/losses/pooled_texts.h"

#include "heed/base/error.h"
#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear.h"
#include "heed/ops/rows.h"
#include "heed/tasks/hidden_states.h"
#include "heed/train/checkpoints/dense_modules.h"

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

/// f(x W^T + b) [N, W].
Tensor dense_module(const model::Transformer& model, Context& context, const Tensor& x,
                    const DenseParameters& module, data::DenseFunction function) {
  const Parameter& bias = module.bias ? *module.bias : model.parameters().absent();
  Tensor y = ops::linear(context, x, *module.weight, bias);
  switch (function) {
    case data::DenseFunction::tanh:
      return ops::activation(context, ops::Activation::tanh, y);
    case data::DenseFunction::relu:
      return ops::activation(context, ops::Activation::relu, y);
    case data::DenseFunction::gelu:
      return ops::activation(context, ops::Activation::gelu, y);
    case data::DenseFunction::silu:
      return ops::activation(context, ops::Activation::silu, y);
    case data::DenseFunction::identity:
      break;
  }
  return y;
}

/// The vectors [M, W] of some tokens.
Tensor token_vectors(const model::Transformer& model, Context& context, const Tensor& states,
                     std::span<const int32_t> tokens) {
  const std::vector<DenseParameters> modules = dense_parameters(model);
  require(modules.size() == 1, "the model has no projection to vectors of tokens");
  const Tensor x = ops::to_f32(context, ops::gather_rows(context, states, tokens));  // [M, D]
  return dense_module(model, context, x, modules.front(), data::DenseFunction::identity);
}

/// The pooled states [T, D] f32 of texts.
Tensor pooled_states(Context& context, const Tensor& states, const data::Batch& batch) {
  const data::TextState pooling = batch.groups.options.pooling;
  if (pooling == data::TextState::mean) return mean_of_states(context, states, batch);
  std::vector<int32_t> rows;
  for (const auto& [begin, end] : pooled_rows(batch))
    rows.push_back(pooling == data::TextState::cls ? begin : end - 1);
  return ops::to_f32(context, ops::gather_rows(context, states, rows));
}

}  // namespace

Tensor pooled_texts(const model::Transformer& model, Context& context, const data::Batch& batch) {
  const Tensor states = tasks::hidden_states(
      model, context, {batch.source, batch.source_offsets, {}, batch.groups.attended});  // [N, D]
  if (batch.groups.options.kind == data::VectorKind::multi_vector)
    return token_vectors(model, context, states, batch.groups.scored);
  if (batch.groups.options.kind == data::VectorKind::sparse)
    return model.head().splade(context, states, batch.source_offsets);
  Tensor x = pooled_states(context, states, batch);
  const std::vector<DenseParameters> modules = dense_parameters(model);
  const std::vector<data::DenseFunction>& functions = batch.groups.options.dense;
  require(modules.size() == functions.size(), "the model has {} Dense modules, expected {}",
          modules.size(), functions.size());
  for (size_t i = 0; i < modules.size(); ++i)
    x = dense_module(model, context, x, modules[i], functions[i]);
  return x;
}

}  // namespace heed::train
