#include "heed/nn/embeddings.h"

#include <algorithm>

#include "heed/nn/linear.h"
#include "heed/ops/dropout.h"
#include "heed/ops/elementwise.h"

namespace heed::nn {
namespace {

constexpr float kDeviation = 0.02f;  // of new position and segment vectors (BERT, GPT-2)

/// null: without rows.
const Parameter* table(Parameters& parameters, const std::string& name, const Shape& shape,
                       WeightRole role) {
  if (shape[0] == 0) return nullptr;
  return &parameters.create(name, shape, Initializer::normal(kDeviation), role);
}

}  // namespace

Embeddings::Embeddings(Parameters& parameters, const std::string& name, const Parameter& tokens,
                       Settings s)
    : settings_(s),
      parts_(parameters.parts()),
      tokens_(tokens),
      types_(table(parameters, name + ".embed_types.weight", {s.type_vocab_size, s.d_model},
                   WeightRole::token_type_embedding)),
      learned_positions_(table(parameters, name + ".embed_positions.weight",
                               {s.learned_positions, s.d_model}, WeightRole::position_embedding)) {
  if (s.sinusoids) sinusoids_.emplace(*s.sinusoids);
  if (s.norm) norm_.emplace(parameters, name + ".layernorm_embedding", *s.norm);
}

/// The vectors of a divided table: a part has zeros for the tokens of others. [N, D]
Tensor Embeddings::token_vectors(Context& context, std::span<const int32_t> ids) const {
  const int64_t begin = parts_->begin(settings_.vocab_size),
                end = parts_->end(settings_.vocab_size);
  Tensor own = Tensor::of({std::ssize(ids)}, ids);
  for (int32_t& id : std::span(own.data<int32_t>(), ids.size()))
    id = id >= begin && id < end ? static_cast<int32_t>(id - begin) : 0;
  Tensor x = ops::embedding(context, {own.values<int32_t>(), {}}, tokens_, settings_.scale, {});
  for (size_t n = 0; n < ids.size(); ++n)
    if (ids[n] < begin || ids[n] >= end) {
      float* const row = x.data<float>() + static_cast<int64_t>(n) * x.cols();
      std::fill(row, row + x.cols(), 0.0f);
    }
  return sum_of_parts(parts_, x);
}

Tensor Embeddings::forward(Context& context, std::span<const int32_t> ids,
                           std::span<const int32_t> positions,
                           std::span<const int32_t> types) const {
  Tensor shifted;
  if (settings_.first_position != 0) {
    shifted = Tensor::of({static_cast<int64_t>(positions.size())}, positions);
    for (int64_t n = 0; n < shifted.elements(); ++n)
      shifted.data<int32_t>()[n] += static_cast<int32_t>(settings_.first_position);
    positions = shifted.values<int32_t>();
  }
  ops::PositionTable table{.fixed = {}, .learned = learned_positions_};
  if (sinusoids_ && !positions.empty())
    table.fixed = sinusoids_->rows(int64_t{1} + std::ranges::max(positions));
  Tensor x = parts_ ? token_vectors(context, ids)
                    : ops::embedding(context, {ids, positions}, tokens_, settings_.scale, table);
  if (parts_ && learned_positions_)
    x = ops::add(context, x,
                 ops::embedding(context, {positions, {}}, *learned_positions_, 1.0f, {}));
  if (types_) {
    const Tensor first = Tensor::zeros({std::ssize(ids)}, DType::i32);
    if (types.empty()) types = first.values<int32_t>();
    x = ops::add(context, ops::embedding(context, {types, {}}, *types_, 1.0f, {}), x);
  }
  if (norm_) x = norm_->forward(context, x);
  return ops::dropout(context, x, settings_.dropout);  // [N, D]
}

}  // namespace heed::nn
