#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::nn {

/// The parts of a tensor-parallel model (Shoeybi et al. 2019), of which this process has one. All
/// parts run the same passes together. Each has some of the heads of attention, of the hidden units
/// of feed-forward networks and of the rows of the vocabulary; vectors of d_model are the same
/// everywhere.
class TensorParallel {
 public:
  TensorParallel(int own, int count) : own_(own), count_(count) {}
  virtual ~TensorParallel() = default;

  int own() const { return own_; }
  int count() const { return count_; }
  /// [begin, end) of `total` elements, which count() need not divide, for part `part`.
  int64_t begin_of(int64_t total, int part) const { return total * part / count_; }
  int64_t begin(int64_t total) const { return begin_of(total, own_); }
  int64_t end(int64_t total) const { return begin_of(total, own_ + 1); }
  int64_t size(int64_t total) const { return end(total) - begin(total); }

  /// Replaces `values` by the sums over all parts, which have the same bits in each.
  virtual void add(std::span<float> values) const = 0;
  /// Part i has elements [bounds[i], bounds[i + 1]) of `values`: sends them to all.
  virtual void gather(std::span<float> values, const std::vector<int64_t>& bounds) const = 0;

 private:
  int own_, count_;
};

}  // namespace heed::nn
