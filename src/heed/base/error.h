#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace heed {

/// The one exception of heed. Its text is one line that says what was wrong, where, what was
/// expected and what was found; the program prints it behind "heed: error: " and exits with 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error with a formatted text: fail("{} is {}, expected {}", name, found, expected).
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
