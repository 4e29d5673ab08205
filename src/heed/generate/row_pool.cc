#include "heed/generate/row_pool.h"

#include <limits>

#include "heed/base/error.h"

namespace heed::generate {

int32_t RowPool::acquire() {
  if (!free_.empty()) {
    const int32_t row = free_.top();
    free_.pop();
    references_[static_cast<size_t>(row)] = 1;
    return row;
  }
  require(references_.size() < static_cast<size_t>(std::numeric_limits<int32_t>::max()),
          "the sequences of one batch have more than 2^31 tokens");
  references_.push_back(1);
  return static_cast<int32_t>(references_.size() - 1);
}

void RowPool::retain(std::span<const int32_t> rows) {
  for (const int32_t row : rows) ++references_[static_cast<size_t>(row)];
}

void RowPool::release(std::span<const int32_t> rows) {
  for (const int32_t row : rows)
    if (--references_[static_cast<size_t>(row)] == 0) free_.push(row);
}

}  // namespace heed::generate
