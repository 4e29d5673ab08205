#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <vector>

namespace heed::generate {

/// Allocates the rows of a kv cache and counts the references to each; a row without references is
/// free. The lowest free row is allocated first, so the rows in use stay close together.
class RowPool {
 public:
  /// A free row, with one reference. Throws Error when there are 2^31 rows.
  int32_t acquire();
  /// Adds a reference to each of `rows`.
  void retain(std::span<const int32_t> rows);
  void release(std::span<const int32_t> rows);

  /// Rows that were ever acquired: those below this number.
  int64_t rows() const { return static_cast<int64_t>(references_.size()); }
  int32_t references(int32_t row) const { return references_[static_cast<size_t>(row)]; }
  /// Rows with a reference.
  int64_t in_use() const { return static_cast<int64_t>(references_.size() - free_.size()); }

 private:
  std::vector<int32_t> references_;  // the number of each row
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> free_;
};

}  // namespace heed::generate
