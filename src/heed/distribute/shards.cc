#include "heed/distribute/shards.h"

#include <bit>
#include <cstddef>

namespace heed::distribute {

int shard_of_rank(int rank, int size) {
  if (!std::has_single_bit(static_cast<unsigned>(size))) return rank;
  int shard = 0;
  for (int bit = 1; bit < size; bit *= 2) shard = 2 * shard + (rank & bit ? 1 : 0);
  return shard;
}

Bounds shards_of(const Bounds& pieces, int size) {
  const int64_t count = std::ssize(pieces) - 1;
  Bounds bounds;
  for (int64_t shard = 0; shard <= size; ++shard)
    bounds.push_back(pieces[static_cast<size_t>(count * shard / size)]);
  return bounds;
}

bool is_bitwise_reproducible(int size, int64_t microbatches) {
  return std::has_single_bit(static_cast<unsigned>(size)) && microbatches % size == 0;
}

}  // namespace heed::distribute
