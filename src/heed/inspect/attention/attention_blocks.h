#pragma once

#include <cstdint>
#include <functional>

#include "heed/kernels/attention.h"

namespace heed::inspect {

/// Computes the attention weights of a pass over a single sequence in blocks of queries, so that
/// memory does not grow with the square of the length. Calls visit(first_query, weights) for each
/// block in order: weights [H, n, Tk] f32 of the queries [first_query, first_query + n). A block
/// has about 2^22 weights.
void visit_attention_weights(
    const kernels::AttentionForward& in,
    const std::function<void(int64_t first_query, const Tensor& weights)>& visit);

}  // namespace heed::inspect
