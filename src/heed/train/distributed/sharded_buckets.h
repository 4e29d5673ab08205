#pragma once

#include <unordered_map>
#include <utility>

#include "heed/train/distributed/gradient_buckets.h"

namespace heed::train {

/// Buckets of which each rank has one shard (ZeRO, stage 1; Rajbhandari et al. 2020).
class ShardedBuckets {
 public:
  /// parts() and places() are those of `rank`, one of `size` ranks.
  ShardedBuckets(std::vector<GradientBucket> buckets, int rank, int size);

  size_t count() const { return buckets_.size(); }
  const GradientBucket& operator[](size_t bucket) const { return buckets_[bucket]; }
  /// The bucket of a parameter, which must be in one.
  size_t bucket_of(const Parameter& parameter) const { return bucket_of_.at(&parameter); }
  const distribute::Bounds& bounds(size_t bucket) const { return bounds_[bucket]; }
  /// A rank's shard: elements [first, second) of a bucket.
  std::pair<int64_t, int64_t> shard(size_t bucket, int rank) const;
  std::vector<Shard> parts_of(int rank) const;

  /// The place of one of this rank's parts.
  struct Place {
    size_t bucket;
    int64_t begin;  // of its first element in the bucket
  };
  const std::vector<Shard>& parts() const { return parts_; }
  /// One for each of parts().
  const std::vector<Place>& places() const { return places_; }

 private:
  std::vector<GradientBucket> buckets_;
  std::unordered_map<const Parameter*, size_t> bucket_of_;
  int size_;
  std::vector<distribute::Bounds> bounds_;  // of each bucket's shards
  std::vector<Shard> parts_;
  std::vector<Place> places_;
};

/// Elements [begin, end) of a tensor as a vector; shares them.
Tensor elements_between(const Tensor& tensor, int64_t begin, int64_t end);

std::span<const std::byte> bytes_of_elements(const Tensor& tensor);
std::span<std::byte> bytes_of_elements(Tensor& tensor);
/// Copies bytes on all threads.
void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace heed::train
