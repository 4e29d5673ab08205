#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace heed::kernels::reference {

/// Numbers as integers of 8 bits with a scale.
struct Quantised {
  float scale;
  std::vector<int> quants;
};

/// Each x * (1 / scale) to the nearest, with scale = max |x| / 127. All integers are zeros where
/// one is not finite, with a scale that is NaN, and where 1 / scale is not.
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
