#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/base/rounding.h"

namespace heed::ops {

/// Rows of logits that exist at a time: parts of equal size, large enough to keep the products
/// efficient, which pack the weight for each part, and of at most 32 million numbers.
inline int64_t rows_at_a_time(int64_t rows, int64_t classes) {
  const int64_t most =
      std::clamp<int64_t>((int64_t{1} << 25) / std::max<int64_t>(classes, 1), 64, 1024);
  return std::max<int64_t>(1, ceil_div(rows, std::max<int64_t>(1, ceil_div(rows, most))));
}

}  // namespace heed::ops
