#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
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

/// Returns work(). Prefixes an Error that it throws, which stays an InputError if it is one, with
/// the name of the input: "line 3: ...".
template <typename Work>
decltype(auto) name_input(std::string_view kind, int64_t number, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    fail_input("{} {}: {}", kind, number, error.what());
  } catch (const Error& error) {
    fail("{} {}: {}", kind, number, error.what());
  }
}

}  // namespace heed
