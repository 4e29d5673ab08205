#include "heed/nn/embeddings.h"

#include <algorithm>
#include <utility>

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
      types_(table(parameters, name + ".embed_types.weight",
                   {s.type_vocab_size, s.width > 0 ? s.width : s.d_model},
                   WeightRole::token_type_embedding)),
      learned_positions_(table(parameters, name + ".embed_positions.weight",
                               {s.learned_positions, s.width > 0 ? s.width : s.d_model},
                               WeightRole::position_embedding)) {
  if (s.sinusoids) sinusoids_.emplace(*s.sinusoids);
  if (s.norm) norm_.emplace(parameters, name + ".layernorm_embedding", *s.norm);
  if (s.width > 0)
    projection_.emplace(parameters, name + ".embed_projection", Linear::Sizes{s.width, s.d_model},
                        WeightRole::embedding_projection);
}

/// The vectors of the tokens [N, E] if each part of the model has some rows of the table: the sum
/// over the parts, which have zeros for the tokens of others.
Tensor Embeddings::token_vectors(Context& context, std::span<const int32_t> ids) const {
  const int64_t begin = parts_->begin(settings_.vocab_size),
                end = parts_->end(settings_.vocab_size);
  std::vector<int32_t> own(ids.begin(), ids.end());
  for (int32_t& id : own) id = id >= begin && id < end ? static_cast<int32_t>(id - begin) : 0;
  Tensor x = ops::embedding(context, {own, {}}, tokens_, settings_.scale, {});
  for (size_t n = 0; n < ids.size(); ++n)
    if (ids[n] < begin || ids[n] >= end) {
      float* const row = x.data<float>() + static_cast<int64_t>(n) * x.cols();
      std::fill(row, row + x.cols(), 0.0f);
    }
  return all_reduce(parts_, x);
}

/// The row of the table for each position: [N].
std::vector<int32_t> Embeddings::rows_of_positions(std::span<const int32_t> ids,
                                                   std::span<const int32_t> positions) const {
  const auto first = static_cast<int32_t>(settings_.first_position);
  std::vector<int32_t> rows(positions.begin(), positions.end());
  int32_t padding = 0;  // before this token in its sequence
  for (size_t n = 0; n < positions.size(); ++n) {
    if (positions[n] == 0) padding = 0;
    const bool is_padding = settings_.padding_id >= 0 && ids[n] == settings_.padding_id;
    rows[n] = is_padding ? first - 1 : first + positions[n] - padding;
    if (is_padding) ++padding;
  }
  return rows;
}

Tensor Embeddings::forward(Context& context, std::span<const int32_t> ids,
                           std::span<const int32_t> positions,
                           std::span<const int32_t> types) const {
  std::vector<int32_t> rows;
  if (settings_.first_position != 0) positions = rows = rows_of_positions(ids, positions);
  // The row before the first position is that of padding (RoBERTa), as padding_idx in PyTorch.
  ops::PositionTable table{.fixed = {},
                           .learned = learned_positions_,
                           .padding = static_cast<int32_t>(settings_.first_position) - 1};
  if (sinusoids_ && !positions.empty())
    table.fixed = sinusoids_->rows(int64_t{1} + std::ranges::max(positions));
  Tensor x = parts_ ? token_vectors(context, ids)
                    : ops::embedding(context, {ids, positions, settings_.padding}, tokens_,
                                     settings_.scale, table);
  if (parts_ && learned_positions_)
    x = ops::add(context, x,
                 ops::embedding(context, {positions, {}}, *learned_positions_, 1.0f, {}));
  if (types_) {
    const std::vector<int32_t> first(types.empty() ? ids.size() : 0, 0);
    if (types.empty()) types = first;
    x = ops::add(context, ops::embedding(context, {types, {}}, *types_, 1.0f, {}), x);
  }
  if (norm_) x = norm_->forward(context, std::move(x));
  x = ops::dropout(context, x, settings_.dropout);            // [N, E]
  return projection_ ? projection_->forward(context, x) : x;  // [N, D]
}

}  // namespace heed::nn
