#pragma once

#include <concepts>
#include <type_traits>

namespace heed {

/// a / b, rounded up. Requires a >= 0 and b > 0.
template <std::integral T>
constexpr T ceil_div(T a, std::type_identity_t<T> b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// The smallest multiple of b that is at least a. Requires a >= 0 and b > 0.
template <std::integral T>
constexpr T round_up(T a, std::type_identity_t<T> b) {
  return ceil_div(a, b) * b;
}

}  // namespace heed
