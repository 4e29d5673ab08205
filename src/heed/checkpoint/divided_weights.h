#pragma once

#include "heed/model/config.h"
#include "heed/nn/tensor_parallel.h"
#include "heed/ops/parameter.h"

namespace heed::checkpoint {

/// The shape, in the whole model, of a parameter of a part of a divided model.
Shape whole_shape(const Parameter& parameter, const model::ModelConfig& config,
                  const nn::TensorParallel& parts);

/// What a part of a divided model has of a weight, as Megatron divides it (Shoeybi et al. 2019):
/// the rows of its heads, hidden units or tokens, or the columns that read these. A bias that is
/// added to a sum of parts belongs to the first. Throws Error when a block of a quantised weight
/// would be divided.
Tensor divided(const Parameter& parameter, const Tensor& whole, const model::ModelConfig& config,
               const nn::TensorParallel& parts);

}  // namespace heed::checkpoint
