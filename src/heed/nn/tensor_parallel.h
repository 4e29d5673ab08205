#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::nn {

/// Tensor parallelism (Shoeybi et al. 2019): one of world_size() parts of a model, each with some
/// of the heads of attention, of the hidden units of feed-forward networks and of the rows of the
/// vocabulary. All parts run the same passes together; vectors of d_model are the same in each.
class TensorParallel {
 public:
  TensorParallel(int rank, int world_size) : rank_(rank), world_size_(world_size) {}
  virtual ~TensorParallel() = default;

  int rank() const { return rank_; }
  int world_size() const { return world_size_; }
  /// [begin, end) of `total` elements, which world_size() need not divide, for part `part`.
  int64_t begin_of(int64_t total, int part) const { return total * part / world_size_; }
  int64_t begin(int64_t total) const { return begin_of(total, rank_); }
  int64_t end(int64_t total) const { return begin_of(total, rank_ + 1); }
  int64_t size(int64_t total) const { return end(total) - begin(total); }

  /// Replaces `values` by the sums over all parts, which have the same bits in each.
  virtual void all_reduce(std::span<float> values) const = 0;
  /// Part i has elements [bounds[i], bounds[i + 1]) of `values`: sends them to all.
  virtual void all_gather(std::span<float> values, const std::vector<int64_t>& bounds) const = 0;

 private:
  int rank_, world_size_;
};

}  // namespace heed::nn
