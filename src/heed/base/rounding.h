#pragma once

#include <concepts>
#include <type_traits>

namespace heed {

/// a / b, rounded up. a is not negative, b is positive.
template <std::integral T>
constexpr T ceil_div(T a, std::type_identity_t<T> b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// a, or the next multiple of b above it. a is not negative, b is positive.
template <std::integral T>
constexpr T round_up(T a, std::type_identity_t<T> b) {
  return ceil_div(a, b) * b;
}

}  // namespace heed
