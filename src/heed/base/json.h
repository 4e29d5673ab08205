#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed {

/// Parses JSON; `file` names the source in messages. The last of several members with the same name
/// wins. Throws Error on a syntax error, with line and column, and on more than 64 levels of
/// nesting (a hostile file could exhaust the stack).
nlohmann::json parse_json(std::string_view text, const std::string& file);

/// `value` for an error message: JSON on one line of printable ASCII, at most `max_length`
/// characters and then an ellipsis.
std::string excerpt(const nlohmann::json& value, size_t max_length = 60);

/// `value` as an integer; `key` names it in messages. Throws Error unless it is an integer (2.0 is
/// not) within [min, max].
int64_t integer_of(const nlohmann::json& value, std::string_view key, const std::string& file,
                   int64_t min, int64_t max);

/// The member `key` of an object as a T (bool, a signed integer, float, double, std::string or
/// std::vector<int64_t>). Throws Error that states the file, the key, what was expected and what
/// was found.
template <typename T>
T get(const nlohmann::json& object, std::string_view key, const std::string& file) {
  if (!object.is_object()) fail("{}: expected an object, found {}", file, excerpt(object));
  const auto found = object.find(std::string(key));
  require(found != object.end(), "{}: {} is missing", file, one_line(key));
  const auto expect = [&](bool met, const char* what) {
    if (!met) fail("{}: {} is {}, expected {}", file, one_line(key), excerpt(*found), what);
  };
  if constexpr (std::is_same_v<T, bool>) {
    expect(found->is_boolean(), "true or false");
    return found->template get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    static_assert(std::is_signed_v<T>);
    return static_cast<T>(integer_of(*found, key, file, std::numeric_limits<T>::min(),
                                     std::numeric_limits<T>::max()));
  } else if constexpr (std::is_floating_point_v<T>) {
    expect(found->is_number(), "a number");
    return found->template get<T>();
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    expect(found->is_array(), "a list of integers");
    T values;
    for (const nlohmann::json& value : *found)
      values.push_back(integer_of(value, key, file, std::numeric_limits<int64_t>::min(),
                                  std::numeric_limits<int64_t>::max()));
    return values;
  } else {
    static_assert(std::is_same_v<T, std::string>);
    expect(found->is_string(), "a text");
    return found->template get<std::string>();
  }
}

/// The same; `otherwise` when the member is absent or null.
template <typename T>
T get_or(const nlohmann::json& object, std::string_view key, T otherwise, const std::string& file) {
  if (!object.is_object()) return get<T>(object, key, file);
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? otherwise : get<T>(object, key, file);
}

}  // namespace heed
