#include "heed/engine/rank_parts.h"

#include "heed/distribute/collectives.h"

namespace heed::engine {

RankParts::RankParts(int rank, int size)
    : nn::TensorParallel(distribute::shard_of_rank(rank, size), size) {}

void RankParts::all_reduce(std::span<float> values) const {
  messenger_->run(distribute::all_reduce(*messenger_, values));
}

void RankParts::all_gather(std::span<float> values, const std::vector<int64_t>& bounds) const {
  messenger_->run(
      distribute::all_gather(*messenger_, std::as_writable_bytes(values), bounds, sizeof(float)));
}

}  // namespace heed::engine
