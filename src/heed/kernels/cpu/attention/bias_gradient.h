#pragma once

#include <vector>

#include "heed/kernels/cpu/attention/work.h"

namespace heed::kernels::cpu {

/// The gradient of the relative bias, [H, 2 R - 1]. Every block of keys of a group has its own
/// sums, in the order of the rows; these are added in the order of groups and blocks. So the result
/// does not depend on how groups are divided into tasks, each of which computes whole blocks.
class BiasGradient {
 public:
  /// Allocates nothing if there is no relative bias.
  BiasGradient(const std::vector<AttentionGroup>& groups, const AttentionShape& shape);

  /// The sums of a group's blocks, [blocks, H / G, 2 R - 1]; null when there is no relative bias.
  float* of_group(size_t group);

  /// d_bias = the sums of all groups.
  void write(Tensor& d_bias) const;

 private:
  const std::vector<AttentionGroup>& groups_;
  const AttentionShape& shape_;
  std::vector<int64_t> first_block_;  // of each group, then the number of all blocks
  Tensor sums_;
};

}  // namespace heed::kernels::cpu
