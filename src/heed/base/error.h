#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "heed/error.h"

namespace heed {

/// Throws Error with a formatted message: fail("{} is {}, expected {}", name, found, expected).
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(fmt::format(text, std::forward<Args>(args)...));
}

/// fail() unless `condition` holds.
template <typename... Args>
void require(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) fail(text, std::forward<Args>(args)...);
}

}  // namespace heed
