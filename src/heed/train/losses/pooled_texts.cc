#include "heed/train/losses/pooled_texts.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/ops/activation.h"
#include "heed/ops/columns.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear.h"
#include "heed/ops/pool_rows.h"
#include "heed/ops/rows.h"
#include "heed/tasks/hidden_states.h"
#include "heed/train/checkpoints/dense_modules.h"

namespace heed::train {
namespace {

/// The first row of the states of a text that is pooled: not its first `unpooled` ones. A text of
/// no others is pooled as a whole.
int32_t first_pooled(const data::Batch& batch, size_t text) {
  const int32_t begin = batch.source_offsets[text], end = batch.source_offsets[text + 1];
  const int32_t skipped = batch.groups.unpooled.empty() ? 0 : batch.groups.unpooled[text];
  return begin + skipped < end ? begin + skipped : begin;
}

/// The rows of the states that are pooled, text by text.
struct PooledRows {
  std::vector<int32_t> rows;     // [N]
  std::vector<int32_t> offsets;  // [T+1], of each text
};

PooledRows pooled_rows(const data::Batch& batch) {
  PooledRows pooled{.rows = {}, .offsets = {0}};
  for (size_t text = 0; text + 1 < batch.source_offsets.size(); ++text) {
    for (int32_t row = first_pooled(batch, text); row < batch.source_offsets[text + 1]; ++row)
      pooled.rows.push_back(row);
    pooled.offsets.push_back(static_cast<int32_t>(pooled.rows.size()));
  }
  return pooled;
}

/// The weights of the rows in the sum of each text, which is its weightedmean (Muennighoff 2022,
/// SGPT: a token weighs its position in the text, counted from 1) or mean_sqrt_len_tokens.
std::vector<float> weights_of(Pooling pooling, const PooledRows& pooled, const data::Batch& batch) {
  std::vector<float> weights;
  for (size_t text = 0; text + 1 < pooled.offsets.size(); ++text) {
    const int32_t begin = pooled.offsets[text], end = pooled.offsets[text + 1];
    const auto count = static_cast<double>(end - begin);
    const auto first = static_cast<double>(pooled.rows[static_cast<size_t>(begin)] -
                                           batch.source_offsets[text] + 1);
    const double positions = count * first + count * (count - 1) / 2;
    for (int32_t i = 0; i < end - begin; ++i)
      weights.push_back(static_cast<float>(
          pooling == Pooling::weightedmean ? (first + i) / positions : 1 / std::sqrt(count)));
  }
  return weights;
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

/// The state at one of the pooled rows of each text: the first, or the last.
Tensor states_at_ends(Context& context, const Tensor& states, const PooledRows& pooled,
                      bool first) {
  std::vector<int32_t> rows;
  for (size_t text = 0; text + 1 < pooled.offsets.size(); ++text) {
    const int32_t place = first ? pooled.offsets[text] : pooled.offsets[text + 1] - 1;
    rows.push_back(pooled.rows[static_cast<size_t>(place)]);
  }
  return ops::to_f32(context, ops::gather_rows(context, states, rows));
}

/// The states at the pooled rows: [N, D] f32.
Tensor states_at_rows(Context& context, const Tensor& states, const PooledRows& pooled) {
  const Tensor x = ops::to_f32(context, states);
  return std::ssize(pooled.rows) < x.rows() ? ops::gather_rows(context, x, pooled.rows) : x;
}

/// A pooling of x, the states at the pooled rows, that reads all of them.
Tensor pooled_by(Pooling pooling, Context& context, const Tensor& x, const PooledRows& pooled,
                 const data::Batch& batch) {
  require(pooling != Pooling::pooler, "the pooling {} is not trained", name_of(pooling));
  if (pooling == Pooling::max) return ops::max_rows(context, x, pooled.offsets);
  if (pooling == Pooling::mean) return ops::mean_rows(context, x, pooled.offsets);
  return ops::sum_rows(context, x, pooled.offsets, weights_of(pooling, pooled, batch));
}

/// The pooled states [T, D P] f32 of texts, of P poolings.
Tensor pooled_states(Context& context, const Tensor& states, const data::Batch& batch) {
  const PooledRows pooled = pooled_rows(batch);
  Tensor all, x;  // x: states_at_rows(), once for all poolings that need it
  for (const Pooling pooling : batch.groups.options.pooling) {
    const bool at_end = pooling == Pooling::cls || pooling == Pooling::last;
    if (!at_end && !x.defined()) x = states_at_rows(context, states, pooled);
    const Tensor one = at_end ? states_at_ends(context, states, pooled, pooling == Pooling::cls)
                              : pooled_by(pooling, context, x, pooled, batch);
    all = all.defined() ? ops::concat_columns(context, all, one) : one;
  }
  return all;
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
