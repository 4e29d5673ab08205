#pragma once

#include <cstdint>

#include "heed/model/transformer.h"

namespace heed::train {

/// The largest token budget, at most `wanted`, whose training step fits into 75% of
/// `available_bytes`, in addition to weights and moments. It is extrapolated from the peak memory
/// of two small batches: without padding, memory is linear in the tokens. Sets the gradients to
/// zero. Throws Error when not even a small batch fits.
int64_t token_budget_that_fits(const model::Transformer& model, Gradients& gradients, DType dtype,
                               int64_t wanted, int64_t available_bytes);

}  // namespace heed::train
