#pragma once

#include <chrono>
#include <string>

namespace heed {

inline double seconds_between(std::chrono::steady_clock::time_point begin,
                              std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

/// "1:02:03" or "4:05".
std::string duration_text(double seconds);

}  // namespace heed
