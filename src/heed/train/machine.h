#pragma once

#include <cstdint>

#include "heed/model/config.h"
#include "heed/ops/compute.h"
#include "heed/tensor/dtype.h"

namespace heed::train {

/// The arithmetic that training is done in unless another is asked for: bf16 where the machine
/// multiplies it faster than f32.
Compute fastest_compute();

/// The most operations per second in `dtype` of which the machine is capable on all threads
/// (kernels::measure_arithmetic()), measured for about a tenth of a second.
double peak_of_machine(DType dtype);

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
