#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <vector>

namespace heed::generate {

/// Hands out the rows of a kv cache. A row belongs to one or more holders and is free again once
/// all have released it. The lowest free row comes first, so the rows in use stay close together.
class RowPool {
 public:
  /// A free row, with one holder. Throws Error when there are 2^31 rows.
  int32_t acquire();
  /// Adds a holder to each of `rows`.
  void retain(std::span<const int32_t> rows);
  void release(std::span<const int32_t> rows);

  /// Rows with a holder.
  int64_t in_use() const { return static_cast<int64_t>(holders_.size() - free_.size()); }

 private:
  std::vector<int32_t> holders_;  // the number of holders of each row
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> free_;
};

}  // namespace heed::generate
