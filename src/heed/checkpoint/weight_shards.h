#pragma once

#include "heed/model/config.h"
#include "heed/nn/tensor_parallel.h"
#include "heed/ops/parameter.h"

namespace heed::checkpoint {

/// The shape, in the whole model, of a parameter of a part of a tensor-parallel model.
Shape whole_shape(const Parameter& parameter, const model::ModelConfig& config,
                  const nn::TensorParallel& parts);

/// The shard of a weight that a part of a tensor-parallel model has (Megatron, Shoeybi et al.
/// 2019): the rows of its heads, hidden units or tokens, or the columns that read these. Only the
/// first part has a bias that is added to the sum over all parts. Throws Error when a block of a
/// quantised weight would be split.
Tensor shard_of(const Parameter& parameter, const Tensor& whole, const model::ModelConfig& config,
                const nn::TensorParallel& parts);

}  // namespace heed::checkpoint
