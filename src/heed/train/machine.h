#pragma once

#include <cstdint>

#include "heed/model/config.h"
#include "heed/ops/compute.h"
#include "heed/tensor/dtype.h"

namespace heed::train {

/// The arithmetic that training is done in unless another is asked for: bf16 where the machine
/// multiplies it faster than f32.
Compute fastest_compute();

/// The rate of a large matrix product on all threads in `dtype`, in operations per second, measured
/// for about a tenth of a second: what "share of the machine's peak" refers to.
double measure_peak(DType dtype);

/// What a step works on: tokens that the encoder and the decoder read and that are predicted.
struct StepTokens {
  int64_t source = 0, decoder = 0, predicted = 0, sequences = 0;
};

/// Operations of one training step (forward and backward) over the given tokens: six per weight of
/// a matrix and token, and twelve per pair of attending tokens and unit of head width, averaged as
/// if all of the `sequences` were equally long.
double operations_of_step(const model::ModelConfig& config, const StepTokens& tokens);

/// Bytes of memory that this process may still take: what the system has available, within the
/// limit of its control group.
int64_t available_memory();

}  // namespace heed::train
