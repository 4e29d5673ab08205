#pragma once

#include <cstdint>
#include <vector>

#include "heed/kernels/attention.h"
#include "heed/ops/context.h"

namespace heed::ops {

/// The keys that each query should attend to, all equally: query n those in
/// keys[offsets[n], offsets[n + 1]), rows of k. A query without any is not aligned.
struct AlignedKeys {
  std::vector<int32_t> offsets;  // [Nq + 1]
  std::vector<int32_t> keys;
};

/// The cross entropy of one head's attention weights a against alignments: the sum over aligned
/// queries of -mean(log a[key]) over their keys (guided alignment, Chen et al. 2016; Garg et al.
/// 2019). With a tape, records the backward pass of the sum times `gradient_scale`, which adds to
/// the gradients of q and k. `in` is cross-attention: no mask, window, cap, bias or sinks. Throws
/// Error if it has one of these, on another head than those of q, on keys that are not of the
/// query's sequence, and on a device.
double alignment_loss(Context& context, const kernels::AttentionForward& in,
                      const AlignedKeys& aligned, int64_t head, float gradient_scale);

}  // namespace heed::ops
