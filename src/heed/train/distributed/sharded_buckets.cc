#include "heed/train/distributed/sharded_buckets.h"

#include <cstring>

#include "heed/base/parallel.h"

namespace heed::train {
namespace {

/// Bytes that one thread copies at a time.
constexpr int64_t kCopyGrain = 1 << 18;

}  // namespace

ShardedBuckets::ShardedBuckets(std::vector<GradientBucket> buckets, int rank, int size)
    : buckets_(std::move(buckets)), size_(size) {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    for (const GradientBucket::Place& place : buckets_[i].places) bucket_of_[place.parameter] = i;
    bounds_.push_back(distribute::shards_of(buckets_[i].pieces, size));
    auto [begin, end] = shard(i, rank);
    for (const Shard& part : parts_between(buckets_[i], begin, end)) {
      parts_.push_back(part);
      places_.push_back({i, begin});
      begin += part.elements();
    }
  }
}

std::pair<int64_t, int64_t> ShardedBuckets::shard(size_t bucket, int rank) const {
  const auto at = static_cast<size_t>(distribute::shard_of_rank(rank, size_));
  return {bounds_[bucket][at], bounds_[bucket][at + 1]};
}

std::vector<Shard> ShardedBuckets::parts_of(int rank) const {
  std::vector<Shard> parts;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const auto [begin, end] = shard(i, rank);
    for (const Shard& part : parts_between(buckets_[i], begin, end)) parts.push_back(part);
  }
  return parts;
}

Tensor elements_between(const Tensor& tensor, int64_t begin, int64_t end) {
  return tensor.reshaped({tensor.elements(), 1}).row_slice(begin, end).reshaped({end - begin});
}

std::span<const std::byte> bytes_of_elements(const Tensor& tensor) {
  return {tensor.raw(), static_cast<size_t>(tensor.bytes())};
}

std::span<std::byte> bytes_of_elements(Tensor& tensor) {
  return {tensor.raw(), static_cast<size_t>(tensor.bytes())};
}

void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) {
  parallel_for(std::ssize(to), kCopyGrain, [&](int64_t begin, int64_t end) {
    std::memcpy(to.data() + begin, from.data() + begin, static_cast<size_t>(end - begin));
  });
}

}  // namespace heed::train
