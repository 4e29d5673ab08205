#include "heed/base/json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/json_instance.h"
#include "heed/base/json_nesting.h"
#include "heed/base/reader_limits.h"

HEED_JSON_INSTANCE(, nlohmann::basic_json<>);
HEED_JSON_INSTANCE(, nlohmann::basic_json<nlohmann::ordered_map>);

namespace heed {
namespace {

/// The parser recurses once per bracket, so the depth is checked before parsing.
void check_depth(std::string_view text, const std::string& file) {
  JsonNesting nesting;
  for (const char c : text) {
    nesting.advance(c);
    require(nesting.depth <= limits::kMaxJsonDepth, "{}: brackets nest deeper than {} levels", file,
            limits::kMaxJsonDepth);
  }
}

/// The parser's message without its error number and its excerpt of the file.
std::string reason_of(const nlohmann::json::exception& error) {
  std::string_view text = error.what();
  const size_t begin = text.find("] ");
  if (begin != std::string_view::npos) text.remove_prefix(begin + 2);
  return one_line(text.substr(0, text.find("; last read")));
}

template <typename Json>
Json parse(std::string_view text, const std::string& file) {
  check_depth(text, file);
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: is not JSON: {}", file, reason_of(error));
  }
}

template <typename Json>
std::string dump(const Json& value, const JsonStyle& style) {
  return value.dump(
      style.indent, ' ', style.ascii,
      style.replace_invalid ? Json::error_handler_t::replace : Json::error_handler_t::strict);
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& file) {
  return parse<nlohmann::json>(text, file);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& file) {
  return parse<nlohmann::ordered_json>(text, file);
}

void require_unique_members(std::string_view text, const std::string& file) {
  using Json = nlohmann::json;
  std::unordered_set<std::string> names;
  const auto check_name = [&](int depth, Json::parse_event_t event, Json& name) {
    if (event != Json::parse_event_t::key || depth != 1) return true;
    require(names.insert(name.get<std::string>()).second, "{}: {} occurs twice", file,
            one_line(name.get<std::string>()));
    return true;
  };
  const Json whole = Json::parse(text, check_name);
}

std::string dump_json(const nlohmann::json& value, const JsonStyle& style) {
  return dump(value, style);
}

std::string dump_json(const nlohmann::ordered_json& value, const JsonStyle& style) {
  return dump(value, style);
}

std::string excerpt(const nlohmann::json& value, size_t max_length) {
  return shown(dump_json(value, {.replace_invalid = true}), max_length);
}

int64_t integer_of(const nlohmann::json& value, std::string_view key, const std::string& file,
                   int64_t min, int64_t max) {
  if (!value.is_number_integer())
    fail("{}: {} is {}, expected an integer", file, one_line(key), excerpt(value));
  const bool fits = !value.is_number_unsigned() ||
                    value.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
  const int64_t integer = fits ? value.get<int64_t>() : 0;
  if (!fits || integer < min || integer > max)
    fail("{}: {} is {}, expected {} to {}", file, one_line(key), excerpt(value), min, max);
  return integer;
}

template <JsonField T>
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
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    expect(found->is_array() && std::ranges::all_of(*found, &nlohmann::json::is_number),
           "a list of numbers");
    return found->template get<T>();
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    expect(found->is_array() && std::ranges::all_of(*found, &nlohmann::json::is_string),
           "a list of strings");
    return found->template get<T>();
  } else {
    expect(found->is_string(), "a string");
    return found->template get<std::string>();
  }
}

template <JsonField T>
T get_or(const nlohmann::json& object, std::string_view key, T otherwise, const std::string& file) {
  if (!object.is_object()) return get<T>(object, key, file);
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? otherwise : get<T>(object, key, file);
}

using Json = const nlohmann::json&;
using Key = std::string_view;
using File = const std::string&;
template bool get(Json, Key, File);
template int32_t get(Json, Key, File);
template int64_t get(Json, Key, File);
template float get(Json, Key, File);
template double get(Json, Key, File);
template std::string get(Json, Key, File);
template std::vector<int64_t> get(Json, Key, File);
template std::vector<double> get(Json, Key, File);
template std::vector<std::string> get(Json, Key, File);
template bool get_or(Json, Key, bool, File);
template int32_t get_or(Json, Key, int32_t, File);
template int64_t get_or(Json, Key, int64_t, File);
template float get_or(Json, Key, float, File);
template double get_or(Json, Key, double, File);
template std::string get_or(Json, Key, std::string, File);
template std::vector<int64_t> get_or(Json, Key, std::vector<int64_t>, File);
template std::vector<double> get_or(Json, Key, std::vector<double>, File);
template std::vector<std::string> get_or(Json, Key, std::vector<std::string>, File);

}  // namespace heed
