#pragma once

#include <cstdint>
#include <vector>

namespace heed::distribute {

/// How a sequence of elements is divided among ranks: shard i is [bounds[i], bounds[i + 1]). Rank r
/// has shard shard_of_rank(r).
using Bounds = std::vector<int64_t>;

/// The shard of a rank. With a power of two of ranks it is the number of the rank with its bits
/// reversed, as recursive halving with distance doubling leaves them; otherwise the rank.
int shard_of_rank(int rank, int size);

/// The bounds of the shards of `size` ranks, each of whole pieces. If `size` does not divide the
/// number of pieces, shards differ by at most one piece.
Bounds shards_of(const Bounds& pieces, int size);

/// Whether all sums have the same bits on this number of ranks as on one: a power of two, at most
/// the number of microbatches.
bool is_bitwise_reproducible(int size, int64_t microbatches);

}  // namespace heed::distribute
