#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "heed/base/error.h"
#include "heed/train/config/config.h"

namespace heed::train {

constexpr int64_t kNoUpperLimit = std::numeric_limits<int64_t>::max();

/// Throw Error, which names the value, unless it lies within the limits.
inline void check_count(std::string_view name, int64_t value, int64_t least,
                        int64_t most = kNoUpperLimit) {
  require(value >= least, "{} is {}, expected at least {}", name, value, least);
  require(value <= most, "{} is {}, expected at most {}", name, value, most);
}

inline void check_at_least(std::string_view name, double value, double least) {
  require(value >= least, "{} is {}, expected at least {}", name, value, least);
}

/// A number that is used in f32.
inline void check_number(std::string_view name, double value, double least) {
  check_at_least(name, value, least);
  require(std::isfinite(static_cast<float>(value)), "{} is {}, expected a number that fits f32",
          name, value);
}

/// The part of TrainConfig::validate() about [data].
void check_data(const TrainConfig& config);

}  // namespace heed::train
