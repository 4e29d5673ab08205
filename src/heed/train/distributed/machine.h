#pragma once

#include <cstdint>

#include "heed/compute.h"
#include "heed/model/config.h"
#include "heed/tensor/dtype.h"

namespace heed::train {

/// What `compute = "auto"` means on this machine: bf16 if it multiplies bf16 faster than f32.
Compute fastest_compute();

/// The size of a step: tokens read by the encoder, read by the decoder, and predicted.
struct StepTokens {
  int64_t source = 0, decoder = 0, predicted = 0, sequences = 0;
};

/// Operations of one training step, forward and backward: 6 per token and matrix element, and 12
/// per query-key pair and column of the heads, with the widths of keys and values averaged. The
/// number of pairs assumes sequences of equal length.
double operations_of_step(const model::ModelConfig& config, const StepTokens& tokens);

}  // namespace heed::train
