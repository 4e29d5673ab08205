#pragma once

#include <cstdint>

#include "heed/model/transformer.h"

namespace heed::train {

/// The largest token budget up to `wanted` whose training step fits into three quarters of
/// `available_bytes`, beside weights and moments. Found by taking two small steps forward and
/// backward and measuring: without padding, memory is linear in the tokens. The gradients are zero
/// afterwards. Throws Error when not even a small batch fits.
int64_t token_budget_that_fits(const model::Transformer& model, Gradients& gradients, DType dtype,
                               int64_t wanted, int64_t available_bytes);

}  // namespace heed::train
