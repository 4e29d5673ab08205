#pragma once

#include <cstdint>
#include <functional>

#include "heed/kernels/attention.h"

namespace heed::generate {

/// Calls visit(first_query, weights) for blocks of the queries of a pass over a single sequence, in
/// order: weights [H, n, Tk] f32 belong to the queries [first_query, first_query + n). Together
/// they would take memory in proportion to the square of the length; a block takes a few MiB.
void visit_attention_weights(
    const kernels::AttentionForward& in,
    const std::function<void(int64_t first_query, const Tensor& weights)>& visit);

}  // namespace heed::generate
