#include "heed/base/duration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace heed {

std::string duration_text(double seconds) {
  constexpr double kMaxSeconds = 1e15;  // fits int64_t
  const auto whole = static_cast<int64_t>(std::clamp(std::round(seconds), 0.0, kMaxSeconds));
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace heed
