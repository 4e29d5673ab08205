#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "heed/base/error.h"

namespace heed {

/// Parses JSON; `file` stands in messages. Throws Error on a syntax error, with its place, and on
/// nesting deeper than any file that heed reads has (a hostile one could exhaust the stack).
nlohmann::json parse_json(std::string_view text, const std::string& file);

namespace detail {
/// `found`, shortened to what fits into a message.
std::string excerpt(const nlohmann::json& found);
/// The integer, when it is one and fits [least, greatest]; throws Error otherwise.
int64_t integer_of(const nlohmann::json& value, std::string_view key, const std::string& file,
                   int64_t least, int64_t greatest);
}  // namespace detail

/// The member `key` of an object as a T (bool, int32_t, int64_t, double or std::string). Throws
/// Error that names the file, the key, what was expected and what was found.
template <typename T>
T get(const nlohmann::json& object, std::string_view key, const std::string& file) {
  require(object.is_object(), "{}: expected an object, found {}", file, detail::excerpt(object));
  const auto found = object.find(std::string(key));
  require(found != object.end(), "{}: {} is missing", file, key);
  if constexpr (std::is_same_v<T, bool>) {
    require(found->is_boolean(), "{}: {} is {}, expected true or false", file, key,
            detail::excerpt(*found));
    return found->template get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(detail::integer_of(*found, key, file, std::numeric_limits<T>::min(),
                                             std::numeric_limits<T>::max()));
  } else if constexpr (std::is_floating_point_v<T>) {
    require(found->is_number(), "{}: {} is {}, expected a number", file, key,
            detail::excerpt(*found));
    return found->template get<T>();
  } else {
    static_assert(std::is_same_v<T, std::string>);
    require(found->is_string(), "{}: {} is {}, expected a text", file, key,
            detail::excerpt(*found));
    return found->template get<std::string>();
  }
}

/// The same, or `otherwise` when the member is not there or null.
template <typename T>
T get_or(const nlohmann::json& object, std::string_view key, T otherwise, const std::string& file) {
  if (!object.is_object()) return get<T>(object, key, file);
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? otherwise : get<T>(object, key, file);
}

}  // namespace heed
