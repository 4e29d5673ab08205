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

/// The seconds of a forward and backward pass over a batch of `tokens` tokens: the faster of two.
/// The optimizer's step is not included. Sets the gradients to zero.
double seconds_of_batch(const model::Transformer& model, Gradients& gradients, DType dtype,
                        int64_t tokens);

/// A token budget of `wanted`, of which `steps` steps fit into a run, or a smaller one, down to
/// half of it, so that about `min_steps` fit: a run of few steps learns more from more of them.
int64_t token_budget_for_steps(int64_t wanted, double steps, int64_t min_steps);

}  // namespace heed::train
