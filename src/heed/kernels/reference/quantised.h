#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace heed::kernels::reference {

/// 8-bit integers with a common scale.
struct Quantised {
  float scale;
  std::vector<int> quants;
};

/// round(x * (1 / scale)) with scale = max |x| / 127. If an element is not finite, all integers are
/// zero and the scale is NaN; if 1 / scale is not finite, all are zero.
inline Quantised quantised(const std::vector<float>& x) {
  float largest = 0.0f;
  for (const float value : x) {
    if (!std::isfinite(value))
      return {std::numeric_limits<float>::quiet_NaN(), std::vector<int>(x.size())};
    largest = std::max(largest, std::fabs(value));
  }
  const float scale = largest / 127.0f, inverse = 1.0f / scale;
  if (!std::isfinite(inverse)) return {0.0f, std::vector<int>(x.size())};
  std::vector<int> quants;
  for (const float value : x) quants.push_back(static_cast<int>(std::nearbyint(value * inverse)));
  return {scale, quants};
}

}  // namespace heed::kernels::reference
