#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

/// The gradient of the rows of a table [V, D] that were looked up. The other rows, which are most
/// of a large vocabulary, are zero and take no memory.
class SparseGradient {
 public:
  /// Zero.
  SparseGradient() = default;
  /// rows [N] ascending, values [N, D] f32.
  SparseGradient(std::vector<int32_t> rows, Tensor values)
      : rows_(std::move(rows)), values_(std::move(values)) {}

  /// Adds scale * dy[n] to row rows[n]; rows [N] in any order, dy [N, D] f32 or bf16. The order of
  /// a row's sum is fixed.
  void add(std::span<const int32_t> rows, const Tensor& dy, float scale);
  void add(const SparseGradient& other) { add(other.rows_, other.values_, 1.0f); }

  /// Those of rows [first, last); shares them.
  SparseGradient between(int64_t first, int64_t last) const;

  /// The numbers of the rows, ascending.
  const std::vector<int32_t>& rows() const { return rows_; }
  /// [rows, D] f32; undefined without rows.
  const Tensor& values() const { return values_; }

 private:
  void make_room(std::span<const int32_t> rows, int64_t cols);

  std::vector<int32_t> rows_;
  Tensor values_;
};

}  // namespace heed
