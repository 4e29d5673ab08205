#pragma once

#include "heed/data/batch.h"
#include "heed/model/transformer.h"

namespace heed::train {

/// The vectors [T, D] f32 of the texts of a batch: the states of their tokens, pooled as
/// `batch.groups.options` says, without the first ones of each that are not pooled, so that cls is
/// the first one after these, and mapped by the model's Dense modules. Sparse ones are [T, V], and
/// those of tokens [N, W], of the tokens that have one.
Tensor pooled_texts(const model::Transformer& model, Context& context, const data::Batch& batch);

}  // namespace heed::train
