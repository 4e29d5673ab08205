#pragma once

#include "heed/kernels/attention.h"

namespace heed::kernels::cpu {

/// d_sinks[h] -= sum over rows n of P[n, h] (dO O)[n, h], where P = exp(sinks[h] - log_sum[n, h])
/// is the sink's weight: its value is 0, so only the other weights of the softmax feel it.
void add_sink_gradient(const AttentionForward& in, const Tensor& out, const Tensor& log_sum,
                       const Tensor& d_out, Tensor& d_sinks);

}  // namespace heed::kernels::cpu
