#pragma once

#include <chrono>
#include <filesystem>

#include "heed/base/declared_option.h"
#include "heed/base/names.h"
#include "heed/serve/api_error.h"
#include "heed/serve/json_fields.h"

namespace heed::serve {

/// The value of the field that an option is in JSON, within what is served of it; none if it is
/// absent. Times are in seconds. Throws ApiError as JsonFields.
template <typename Declared>
auto read_declared(JsonFields& fields, const Declared& option)
    -> std::optional<typename Declared::Number> {
  using Number = typename Declared::Number;
  const std::string_view name = option.key;
  const auto& range = option.served;
  if constexpr (std::is_same_v<Number, std::string> ||
                std::is_same_v<Number, std::filesystem::path>) {
    return fields.text(name);
  } else if constexpr (std::is_same_v<Number, std::vector<std::string>>) {
    return fields.texts(name);
  } else if constexpr (std::is_same_v<Number, bool>) {
    return fields.boolean(name);
  } else if constexpr (std::is_enum_v<Number>) {
    return fields.named<Number>(name);
  } else if constexpr (std::is_same_v<Number, std::chrono::milliseconds>) {
    const auto seconds = fields.number(name, static_cast<double>(range.min) / 1000,
                                       static_cast<double>(range.max) / 1000);
    if (!seconds) return std::nullopt;
    return Number(static_cast<int64_t>(*seconds * 1000));
  } else if constexpr (std::is_floating_point_v<Number>) {
    const auto value = fields.number(name, range.min, range.max);
    if (!value) return std::nullopt;
    const auto number = static_cast<Number>(*value);
    if (range.above_min && static_cast<double>(number) <= range.min)
      throw invalid_request(fields.path_of(name),
                            fmt::format("{} is {}, expected {}", name, number, range.text()));
    return number;
  } else {
    const auto value = fields.integer(name, range.min, range.max);
    return value ? std::optional(static_cast<Number>(*value)) : std::nullopt;
  }
}

/// Sets the field of `options` if there is one in JSON.
template <typename Declared, typename Options>
void read_option(JsonFields& fields, const Declared& option, Options& options) {
  if (auto value = read_declared(fields, option)) options.*option.field = *std::move(value);
}

}  // namespace heed::serve
