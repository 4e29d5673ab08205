#pragma once

#include <filesystem>

#include "heed/model/transformer.h"

namespace heed::train {

/// ColBERT's projection of states to vectors of tokens, which sentence-transformers has as a Dense
/// module after the Transformer: a parameter [W, D] that is trained with those of a model.
constexpr const char* kProjectionFolder = "1_Dense";
/// Its name in that folder's model.safetensors.
constexpr const char* kProjectionTensor = "linear.weight";

/// Gives a model a projection to vectors of `width` numbers, with random values.
void add_token_projection(model::Transformer& model, int64_t width);

/// null: the model has none.
const Parameter* find_token_projection(const model::Transformer& model);
Parameter* find_token_projection(model::Transformer& model);

}  // namespace heed::train
