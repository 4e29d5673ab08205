#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::train {

/// A value as TOML writes it.
inline std::string toml_of(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& inner) { text << inner; });
  return text.str();
}

/// A value of a configuration as TOML writes it: a string, a number, a bool or a list of them.
template <typename T>
std::string literal(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    std::ostringstream out;
    out << toml::value<std::string>(value);
    return out.str();
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_floating_point_v<T>) {
    const std::string text = fmt::format("{}", value);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    return fmt::format("[{}]", fmt::join(value, ", "));
  } else if constexpr (std::is_same_v<T, std::vector<double>> ||
                       std::is_same_v<T, std::vector<std::string>>) {
    std::vector<std::string> elements;
    for (const auto& element : value) elements.push_back(literal(element));
    return fmt::format("[{}]", fmt::join(elements, ", "));
  } else {
    return fmt::format("{}", value);
  }
}

/// What such a value is, for messages.
template <typename T>
constexpr std::string_view kind_of() {
  if constexpr (std::is_same_v<T, std::string>) return "a string";
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_floating_point_v<T>) return "a number";
  if constexpr (std::is_same_v<T, std::vector<int64_t>>) return "a list of integers";
  if constexpr (std::is_same_v<T, std::vector<double>>) return "a list of numbers";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "a list of strings";
  return "an integer";
}

/// Throws Error, naming the key, on a value of another type.
template <typename T>
void read_value(const std::string& key, const toml::node& node, T& value) {
  std::optional<T> found;
  if constexpr (std::is_floating_point_v<T>) {
    if (node.is_number()) found = static_cast<T>(*node.value<double>());
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (node.is_integer()) found = node.value<T>();  // empty when it does not fit
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    if (const toml::array* list = node.as_array();
        list && (list->empty() || list->is_homogeneous<int64_t>())) {
      found.emplace();
      for (const toml::node& element : *list) found->push_back(*element.value<int64_t>());
    }
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    if (const toml::array* list = node.as_array();
        list && std::ranges::all_of(*list, &toml::node::is_number)) {
      found.emplace();
      for (const toml::node& element : *list) found->push_back(*element.value<double>());
    }
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (const toml::array* list = node.as_array();
        list && std::ranges::all_of(*list, &toml::node::is_string)) {
      found.emplace();
      for (const toml::node& element : *list) found->push_back(*element.value<std::string>());
    }
  } else {
    found = node.value_exact<T>();
  }
  if (!found) fail("{} is {}, expected {}", key, one_line(toml_of(node)), kind_of<T>());
  value = *found;
}

}  // namespace heed::train
