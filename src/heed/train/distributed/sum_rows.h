#pragma once

#include "heed/distribute/group.h"
#include "heed/ops/sparse_gradient.h"

namespace heed::train {

/// A reduce-scatter of sparse gradients of a table [V, cols]: the sums of the rows that overlap
/// this rank's shard. Bounds count elements of the table. Ranks exchange and add rows as
/// distribute::reduce_scatter() does elements, so the bits are the same on every power of two of
/// ranks. Collective; throws as Group does.
SparseGradient sum_rows(distribute::Group& group, const SparseGradient& own,
                        const distribute::Bounds& shards, int64_t cols);

}  // namespace heed::train
