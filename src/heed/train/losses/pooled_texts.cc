#include "heed/train/losses/pooled_texts.h"

#include <cmath>
#include <numeric>

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
  Tensor states;                   // [N, D] f32
  std::vector<int32_t> offsets;    // [T+1], of each text
  std::vector<int32_t> positions;  // [N], in the text, counted from 1
};

PooledRows pooled_rows(Context& context, const Tensor& states, const data::Batch& batch) {
  PooledRows pooled{.states = ops::to_f32(context, states), .offsets = {0}, .positions = {}};
  std::vector<int32_t> rows;
  for (size_t i = 0; i + 1 < batch.source_offsets.size(); ++i) {
    const int32_t start = batch.source_offsets[i], end = batch.source_offsets[i + 1];
    for (int32_t row = first_pooled(batch, i); row < end; ++row) {
      rows.push_back(row);
      pooled.positions.push_back(row - start + 1);
    }
    pooled.offsets.push_back(static_cast<int32_t>(rows.size()));
  }
  if (std::ssize(rows) < states.rows())
    pooled.states = ops::gather_rows(context, pooled.states, rows);
  return pooled;
}

/// The weights of the rows in the sum of each text, which is its weightedmean (Muennighoff 2022,
/// SGPT) or mean_sqrt_len_tokens.
std::vector<float> weights_of(Pooling pooling, const PooledRows& rows) {
  std::vector<float> weights;
  for (size_t text = 0; text + 1 < rows.offsets.size(); ++text) {
    const auto begin = rows.positions.begin() + rows.offsets[text],
               end = rows.positions.begin() + rows.offsets[text + 1];
    const auto root = std::sqrt(static_cast<double>(end - begin));
    const auto sum = static_cast<double>(std::accumulate(begin, end, int64_t{0}));
    for (auto position = begin; position < end; ++position)
      weights.push_back(
          static_cast<float>(pooling == Pooling::weightedmean ? *position / sum : 1 / root));
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

Tensor states_pooled_by(Pooling pooling, Context& context, const PooledRows& rows) {
  const std::vector<int32_t>& offsets = rows.offsets;
  std::vector<int32_t> taken;
  switch (pooling) {
    case Pooling::mean:
      return ops::mean_rows(context, rows.states, offsets);
    case Pooling::mean_sqrt_len_tokens:
    case Pooling::weightedmean:
      return ops::sum_rows(context, rows.states, offsets, weights_of(pooling, rows));
    case Pooling::max:
      return ops::max_rows(context, rows.states, offsets);
    case Pooling::cls:
      taken.assign(offsets.begin(), offsets.end() - 1);
      break;
    case Pooling::last:
      for (size_t text = 1; text < offsets.size(); ++text) taken.push_back(offsets[text] - 1);
      break;
    case Pooling::pooler:
      fail("the pooling {} is not trained", name_of(pooling));
  }
  return ops::gather_rows(context, rows.states, taken);
}

/// The pooled states [T, D P] f32 of texts, of P poolings.
Tensor pooled_states(Context& context, const Tensor& states, const data::Batch& batch) {
  const PooledRows rows = pooled_rows(context, states, batch);
  Tensor all;
  for (const Pooling pooling : batch.groups.options.pooling) {
    const Tensor one = states_pooled_by(pooling, context, rows);
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
