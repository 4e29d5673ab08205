#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/quote.h"

namespace heed {

/// Parses JSON; `file` names the source in messages. The last of several members with the same name
/// wins. Throws Error on a syntax error, with line and column, and on more than 64 levels of
/// nesting (a hostile file could exhaust the stack).
nlohmann::json parse_json(std::string_view text, const std::string& file);
/// The same, with the members of objects in their order.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& file);

/// Throws Error when an object at the top level of valid JSON has two members with the same name,
/// which parse_json() accepts.
void require_unique_members(std::string_view text, const std::string& file);

/// How JSON is written: on one line, or each member on its own line with `indent` spaces per level.
struct JsonStyle {
  int indent = -1;     // one line
  bool ascii = false;  // escape all other characters
  /// Replace invalid UTF-8 by U+FFFD; otherwise it throws nlohmann::json::type_error.
  bool replace_invalid = false;
};
std::string dump_json(const nlohmann::json& value, const JsonStyle& style = {});
std::string dump_json(const nlohmann::ordered_json& value, const JsonStyle& style = {});

/// `value` for an error message: JSON on one line of characters that can be shown, at most
/// `max_length` and then an ellipsis.
std::string excerpt(const nlohmann::json& value, size_t max_length = 60);

/// `value` as an integer; `key` names it in messages. Throws Error unless it is an integer (2.0 is
/// not) within [min, max].
int64_t integer_of(const nlohmann::json& value, std::string_view key, const std::string& file,
                   int64_t min, int64_t max);

/// What get() reads.
template <typename T>
concept JsonField = std::same_as<T, bool> || std::same_as<T, int32_t> || std::same_as<T, int64_t> ||
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::string> ||
    std::same_as<T, std::vector<int64_t>> || std::same_as<T, std::vector<double>> ||
    std::same_as<T, std::vector<std::string>>;

/// The member `key` of an object. Throws Error that states the file, the key, what was expected and
/// what was found.
template <JsonField T>
T get(const nlohmann::json& object, std::string_view key, const std::string& file);

/// The same; `otherwise` when the member is absent or null.
template <JsonField T>
T get_or(const nlohmann::json& object, std::string_view key, T otherwise, const std::string& file);

}  // namespace heed
