#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace heed {

/// The number that the whole text is; none if it is something else or does not fit the type.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

/// The same of an integer in hexadecimal digits.
template <std::integral Number>
std::optional<Number> parse_hexadecimal(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number, 16);
  return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

}  // namespace heed
