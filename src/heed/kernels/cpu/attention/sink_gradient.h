#pragma once

#include "heed/kernels/attention.h"

namespace heed::kernels::cpu {

/// d_sinks[h] -= sum over rows n of P[n, h] (dO O)[n, h], where P = exp(sinks[h] - logsumexp[n, h])
/// is the sink's weight. Its value is 0, so it acts through the softmax's denominator alone.
void add_sink_gradient(const AttentionForward& in, const Tensor& out, const Tensor& logsumexp,
                       const Tensor& d_out, Tensor& d_sinks);

}  // namespace heed::kernels::cpu
