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

/// Throws InputError with a formatted message.
template <typename... Args>
[[noreturn]] void fail_input(fmt::format_string<Args...> text, Args&&... args) {
  throw InputError(fmt::format(text, std::forward<Args>(args)...));
}

/// fail_input() unless `condition` holds.
template <typename... Args>
void require_input(bool condition, fmt::format_string<Args...> text, Args&&... args) {
  if (!condition) fail_input(text, std::forward<Args>(args)...);
}

/// Returns work(), which can fail only because of its input: makes its Error an InputError.
template <typename Work>
decltype(auto) blame_input(const Work& work) {
  try {
    return work();
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    throw InputError(error.what());
  }
}

}  // namespace heed
